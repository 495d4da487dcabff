"""The stream on which learners are tuned: CIFAR-100's classes in another order, on rows that no
table uses.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifelong import Task, TaskStream
from lifelong.tasks.datasets import load
from lifelong.tasks.datasets._cache import decoded
from lifelong.tasks.datasets.cifar import CIFAR_100

CLASSES_PER_TASK = 10
SEEDS_LEFT_OUT = (0,)  # of cifar-10x10; the subset of 100 rows per class allows no more
_ORDER = 2026  # seed of the order of classes and of rows


def tuning_stream(
    data_dir: str | Path | None = None,
    *,
    n_tasks: int = 10,
    rows_per_class: int = 30,
    judged_per_class: int = 20,
) -> TaskStream:
    """Tasks of ten classes, images (3, 32, 32) in [0, 1].

    All rows are from the training file: those that ``cifar-10x10`` learns from by default (seed 0)
    are left out, by their pixels. Rows of its test file, by which tables judge, are never looked
    at. (Of the official 500 rows per class those of all repetitions could be left out; of the
    subset's 100 nothing would remain.)

    Parameters
    ----------
    data_dir : path, optional
        Folder with the official files.
    n_tasks : int, default 10
        The first tasks of the stream.
    rows_per_class, judged_per_class : int, defaults 30 and 20
        Rows of each class to learn from, and at most so many others to judge a trial by.
    """
    arrays = decoded(CIFAR_100, data_dir)
    y = np.asarray(arrays["y_train"])
    free = unused(arrays["X_train"], rows_of_tables(data_dir))
    groups = class_order(np.unique(y))[:n_tasks]
    tasks = []
    for number, classes in enumerate(groups, start=1):
        learn, judge = split(y, free, classes, rows_per_class, judged_per_class)
        X_learn, X_judge = (
            np.divide(arrays["X_train"][rows], 255, dtype=np.float32) for rows in (learn, judge)
        )
        tasks.append(Task(f"tuning {number}", X_learn, y[learn], X_judge, y[judge]))
    return TaskStream(tasks)


def rows_of_tables(data_dir: str | Path | None) -> set[bytes]:
    """The pixels of the training rows that ``cifar-10x10`` draws."""
    used = set()
    for seed in SEEDS_LEFT_OUT:
        for task in load("cifar-10x10", data_dir, test_rows_per_class=1, random_state=seed):
            pixels = np.rint(255 * task.X_train).astype(np.uint8)
            used.update(row.tobytes() for row in pixels)
    return used


def unused(X: NDArray[np.uint8], used: Iterable[bytes]) -> NDArray[np.intp]:
    """The numbers of the rows that are not among the used ones."""
    taken = set(used)
    return np.flatnonzero([np.ascontiguousarray(row).tobytes() not in taken for row in X])


def class_order(classes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The classes of each task."""
    order = np.random.default_rng(_ORDER).permutation(classes)
    return [
        order[start : start + CLASSES_PER_TASK] for start in range(0, len(order), CLASSES_PER_TASK)
    ]


def split(
    y: NDArray[np.intp],
    free: NDArray[np.intp],
    classes: NDArray[np.intp],
    n_learn: int,
    n_judge: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Of each class so many free rows to learn from, and at most so many others to judge by."""
    learn = []
    judge = []
    for label in classes:
        rng = np.random.default_rng([_ORDER, int(label)])
        rows = rng.permutation(free[y[free] == label])
        if len(rows) <= n_learn:
            raise ValueError(
                f"Class {label} has {len(rows)} free rows; {n_learn} to learn from leave none to"
                " judge by. Ask for fewer."
            )
        learn.append(rows[:n_learn])
        judge.append(rows[n_learn : n_learn + n_judge])
    return np.concatenate(learn), np.concatenate(judge)
