"""Work for processes of their own: predicting by spawned and forked readers, and being
interrupted.
"""

import os
import random
import signal
import sys
import threading
import time
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
    """Ctrl-C at random moments; a lesson is learnt as a whole or not at all, and never lost."""
    chance = random.Random(seed)
    figures = {"interrupts": 0, "during": 0, "learnt": 0}
    learner, plain = _pair(folder, kind)
    number = 0
    usual = 0.02
    while figures["interrupts"] < times:
        number += 1
        task = number % 5
        after = forest(budget=3)
        after.knowledge_ = plain._known()
        after.partial_fit(*rows(number), task=task)
        timer = threading.Timer(
            chance.uniform(0, 1.3 * usual), os.kill, (os.getpid(), signal.SIGINT)
        )
        interrupted = False
        begun = time.perf_counter()
        try:
            timer.start()
            learner.partial_fit(*rows(number), task=task)
            if kind == "save":
                save(learner, folder)
            usual = 0.8 * usual + 0.2 * (time.perf_counter() - begun)
            timer.join()
            time.sleep(0.001)
        except KeyboardInterrupt:
            interrupted = True
        except LifelongError as error:
            if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise
            interrupted = True
        finally:
            _wait(timer)
        figures["interrupts"] += 1
        figures["during"] += interrupted
        plain = _check(folder, learner, plain, after, kind, interrupted)
        figures["learnt"] += plain is after
        if number % 10 == 0:
            learner, plain = _pair(folder, kind)
    return figures


def _wait(timer: threading.Timer) -> None:
    """Until the signal has come, if it is still on its way."""
    while True:
        try:
            timer.join()
            time.sleep(0.001)
            return
        except KeyboardInterrupt:
            continue


def _pair(folder: Path, kind: str):
    """A learner as after a restart, and what it should know."""
    stored = (folder / "manifest.json").exists()
    if kind == "store":
        learner = forest(budget=3, store=folder)
    else:
        learner = load(folder) if stored else forest(budget=3)
    plain = load(folder) if stored else forest(budget=3)
    return learner, plain


def _check(folder: Path, learner, plain, after, kind: str, interrupted: bool):
    """The learner is as before the lesson or as after it, and so is the folder."""
    found = _which(learner, plain, after)
    assert found is not None, "half a lesson"
    assert interrupted or found is after, "a lesson that was acknowledged is not there"
    if (folder / "manifest.json").exists():
        stored = _which(load(folder), plain, after)
        assert stored is not None, "the folder holds neither state"
        assert interrupted or stored is after
        if kind == "store":
            return stored
    return found


def _which(learner, before, after):
    if _same(learner, after):
        return after
    if _same(learner, before):
        return before
    return None


def _same(one, other) -> bool:
    if not one._tasks() or not other._tasks():
        return not one._tasks() and not other._tasks()
    return same_answers(one, other)


if __name__ == "__main__":
    where, n, start, what = sys.argv[1:]
    print(interrupt_often(Path(where), int(n), int(start), what))  # noqa: T201
