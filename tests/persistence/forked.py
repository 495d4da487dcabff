"""Work for processes of their own: predicting by spawned and forked readers, and being
interrupted.
"""

import os
import random
import signal
import statistics
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from small import forest, rows, same_answers

from lifelong import load, save
from lifelong.exceptions import LifelongError

X = rows(1234, n=10)[0]


def ask(learners, task, answers) -> None:
    """What learners that came from another process answer."""
    answers.put([learner.predict_proba(X, task=task) for learner in learners])


def ask_while_another_thread_was_saving(folder: Path, answers) -> None:
    """In a forked child: the parent's lock is not ours, and reading needs none."""
    learner = load(folder)
    task = next(iter(learner.tasks_))
    answers.put(learner.predict_proba(X, task=task))


def interrupt_often(folder: Path, times: int, seed: int, kind: str) -> dict[str, int]:
    """Ctrl-C at random moments; a lesson is learnt as a whole or not at all, and never lost.

    With ``kind="store"`` the learner has a store; with ``"save"`` it is saved after every lesson.
    """
    chance = random.Random(seed)
    figures = {"interrupts": 0, "during": 0, "learnt": 0}
    learner = _restarted(folder, kind)
    in_folder = in_memory = forest(budget=3)  # what should be known there
    taken = [0.02]  # seconds for a lesson
    for number in range(times):
        task = number % 5
        base = in_folder if kind == "store" else in_memory  # a store goes on from the newest state
        after = forest(budget=3)
        after.knowledge_ = base._known()
        after.partial_fit(*rows(number), task=task)

        def lesson(learner=learner, task=task, number=number):
            begun = time.perf_counter()
            learner.partial_fit(*rows(number), task=task)
            if kind == "save":
                save(learner, folder)
            taken.append(time.perf_counter() - begun)

        expected = statistics.median(taken[-9:])
        done = interrupted(lesson, after=chance.uniform(0, 1) * expected)
        if not done:  # else on a machine that has become slower no lesson ever ends
            taken.append(1.1 * expected)
        figures["interrupts"] += 1
        figures["during"] += not done
        found = _one_of(learner, [in_memory, in_folder, after])
        stored = _one_of(_stored(folder), [in_folder, found, after])
        assert not done or (found is after and stored is after), "an acknowledged lesson is gone"
        figures["learnt"] += stored is after
        in_memory, in_folder = found, stored
        if number % 10 == 9:
            learner = _restarted(folder, kind)
            in_memory = in_folder
    return figures


def interrupted(work, after: float) -> bool:
    """Do something, with a Ctrl-C after so many seconds; whether it has come to its end."""
    # A shell starts its background jobs with SIGINT ignored, and Python then never raises.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = False
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        work()
        done = True
        _wait_for(timer)
    except KeyboardInterrupt:
        pass
    except LifelongError as error:
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
    while timer.is_alive():
        with suppress(KeyboardInterrupt):
            _wait_for(timer)
    return done


def _wait_for(timer: threading.Timer) -> None:
    timer.join()
    time.sleep(0.002)  # Python looks for signals between two instructions


def _restarted(folder: Path, kind: str):
    if kind == "store":
        return forest(budget=3, store=folder)
    return _stored(folder)


def _stored(folder: Path):
    if (folder / "manifest.json").exists():
        return load(folder)
    return forest(budget=3)


def _one_of(learner, states):
    """The state that a learner is in."""
    for state in states:
        if not learner._tasks() or not state._tasks():
            if not learner._tasks() and not state._tasks():
                return state
        elif same_answers(learner, state):
            return state
    raise AssertionError("half a lesson, or one that was lost")


if __name__ == "__main__":
    where, n, start, what = sys.argv[1:]
    print(interrupt_often(Path(where), int(n), int(start), what))  # noqa: T201
