"""Processes that save and are killed with -9 at random moments."""

import random
import time
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from small import forest, rows, same_answers

from lifelong import load, save
from lifelong.learners.base import Learner

SERVER = get_context("forkserver")  # has imported everything, so that a start takes milliseconds
SERVER.set_forkserver_preload(
    ["lifelong.persistence.store", "lifelong.learners", "sklearn.tree", "small"]
)
MOST = 9  # tasks; then a new directory


def lesson(learner: Learner, number: int) -> None:
    """Two new tasks, then more rows of an old one, and so on."""
    task = number if number % 3 != 2 else number - 2
    learner.partial_fit(*rows(number, n=30), task=task)


@cache
def after(n_lessons: int) -> Learner:
    """The learner that was never killed."""
    learner = forest()
    for number in range(n_lessons):
        lesson(learner, number)
    return learner


def lessons_of(learner: Learner) -> int:
    """How many lessons a learner has had: 30 rows each."""
    return sum(record.n_rows for record in learner.tasks_.values()) // 30


def work(folder: Path, said, stored: bool) -> None:
    """In a process of its own: go on where the directory is, and say every lesson after it was
    saved.
    """
    if stored:
        learner: Learner = forest(store=folder)
        start = lessons_of(learner) if getattr(learner, "tasks_", None) else 0
    else:
        learner = load(folder) if (folder / "manifest.json").exists() else forest()
        start = lessons_of(learner) if hasattr(learner, "tasks_") else 0
    said.send(start)
    for number in range(start, MOST):
        lesson(learner, number)
        if not stored:
            save(learner, folder)
        said.send(number + 1)


def start_and_kill(folder: Path, stored: bool, chance: random.Random) -> tuple[int, bool]:
    """The last lesson that was acknowledged, and whether the process was still working when it was
    killed.

    How long a lesson takes depends on the machine, so the first one is timed; the kill comes at a
    random moment of the lessons after it, or of the first one.
    """
    ours, theirs = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=work, args=(folder, theirs, stored))
    process.start()
    theirs.close()
    first = last = ours.recv()
    begun = time.monotonic()
    if chance.random() < 0.8 and last < MOST - 2:
        last = ours.recv()
        _LESSON[0] = time.monotonic() - begun
    ours.poll(
        chance.uniform(0, 1.2) * _LESSON[0]
    )  # returns at once when a lesson ends: that is a moment, too
    time.sleep(chance.choice([0, chance.uniform(0, _LESSON[0])]))
    killed = process.is_alive()
    process.kill()
    process.join()
    while ours.poll():
        try:
            last = ours.recv()
        except EOFError:
            break
    if last == first:  # else a machine that has become slower never comes past this lesson
        _LESSON[0] *= 1.2
    return last, killed


_LESSON = [0.05]  # seconds


def check(folder: Path, acknowledged: int) -> int:
    """The directory loads, holds every acknowledged lesson, and is as if nothing had happened."""
    if acknowledged == 0 and not (folder / "manifest.json").exists():
        return 0
    learner = load(folder)
    had = lessons_of(learner)
    assert had >= acknowledged, f"{acknowledged} lessons were acknowledged, {had} are there"
    assert same_answers(learner, after(had)), (
        f"the learner after {had} lessons is not the one that was saved"
    )
    return had


def leftovers(folder: Path) -> bool:
    """Whether the kill has left something that no manifest refers to: it came while files were
    written.
    """
    if not folder.exists():
        return False
    manifest = folder / "manifest.json"
    text = manifest.read_text() if manifest.exists() else ""
    return any(
        path.name not in text
        for path in folder.iterdir()
        if path.name not in ("lock", "manifest.json")
    )


def kill_often(base: Path, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill so many times; figures of what happened."""
    chance, figures = (
        random.Random(seed),
        {"kills": 0, "directories": 0, "leftovers": 0, "unacknowledged": 0},
    )
    while figures["kills"] < kills:
        folder, stored, acknowledged = base / str(figures["directories"]), chance.random() < 0.5, 0
        figures["directories"] += 1
        while acknowledged < MOST and figures["kills"] < kills:
            last, killed = start_and_kill(folder, stored, chance)
            acknowledged = max(acknowledged, last)
            figures["kills"] += killed
            had = check(folder, acknowledged)
            figures["unacknowledged"] += had > acknowledged
            figures["leftovers"] += leftovers(folder)
            acknowledged = had
    return figures
