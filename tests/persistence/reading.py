"""Readers that predict while a writer learns: every answer must be that of some state the writer
has been in.
"""

import hashlib
import random
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from small import forest, rows

from lifelong import Store, load

SERVER = get_context("forkserver")
SERVER.set_forkserver_preload(
    ["lifelong.persistence.store", "lifelong.learners", "sklearn.tree", "small"]
)
ROWS = 20
X = rows(1234, n=10)[0]


def touched(step: int) -> int:
    """The task of a step: two new ones, then more rows of an old one."""
    return step if step % 3 != 2 else step - 1 - step % 2


def digest(learner: Any, task: int) -> str:
    return hashlib.sha256(learner.predict_proba(X, task=task).tobytes()).hexdigest()


def write(folder: Path, seconds: float, said) -> None:
    """Learn for a while; say, for every state, what a learner without a store answers about the
    task that changed.
    """
    stored, plain = forest(budget=2, store=folder), forest(budget=2)
    answers: dict[tuple[int, int], str] = {}
    end, step = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        task = touched(step)
        for learner in (plain, stored):
            learner.partial_fit(*rows(step, n=ROWS), task=task)
        for one in (
            plain.tasks_ if step < 2 else [task]
        ):  # the first two tasks bring encoders and change the others
            answers[one, plain.tasks_[one].n_rows * 10 + min(step, 1)] = digest(plain, one)
        if step == 0:
            said.send("ready")
        step += 1
    said.send((step, answers))


def read(folder: Path, seconds: float, seed: int, said) -> None:
    """Load or look, predict for a random task, and note what was seen."""
    chance, notes, end = random.Random(seed), [], time.monotonic() + seconds
    lazy = forest(budget=2, store=Store(folder, cache_bytes=20_000)) if seed % 2 else None
    while time.monotonic() < end:
        learner = load(folder) if lazy is None else lazy
        if lazy is not None and chance.random() < 0.2:
            lazy.knowledge_ = lazy._opened().newest(lazy, lazy._known())
        task = chance.choice(list(learner.tasks_))
        before, answer, after = (
            state_of(learner, task),
            digest(learner, task),
            state_of(learner, task),
        )
        vector = tuple(record.n_rows for record in learner.tasks_.values())
        notes.append((task, before, after, answer, vector))
    said.send(notes)


def state_of(learner: Any, task: int) -> int:
    return learner.tasks_[task].n_rows * 10 + min(len(learner.encoders_), 2) - 1


def watch(folder: Path, seconds: float, n_readers: int, context: Any = SERVER) -> dict[str, int]:
    """Run a writer and readers; check every note."""
    writer, from_writer = _start(context, write, folder, seconds)
    assert from_writer.recv() == "ready"
    readers = [_start(context, read, folder, seconds - 0.5, seed) for seed in range(n_readers)]
    notes = [note for _, pipe in readers for note in pipe.recv()]
    n_steps, answers = from_writer.recv()
    for process, _ in [(writer, from_writer), *readers]:
        process.join()
        assert process.exitcode == 0
    vectors = _vectors(n_steps)
    for task, before, after, answer, vector in notes:
        assert answer in (answers[task, before], answers[task, after]), (
            f"a wrong answer about task {task}"
        )
        assert vector in vectors, "a state that never was"
    return {
        "readers": n_readers,
        "answers": len(notes),
        "lessons": n_steps,
        "states": len({note[4] for note in notes}),
    }


def _vectors(n_steps: int) -> set[tuple[int, ...]]:
    n_rows: dict[int, int] = {}
    vectors = set()
    for step in range(n_steps):
        n_rows[touched(step)] = n_rows.get(touched(step), 0) + ROWS
        vectors.add(tuple(n_rows.values()))
    return vectors


def _start(context: Any, target: Any, *arguments: Any) -> tuple[Any, Any]:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*arguments, theirs))
    process.start()
    theirs.close()
    return process, ours
