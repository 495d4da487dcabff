"""Streams from decoded copies: a task's rows are taken out of the memory-mapped arrays when the
task is asked for.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels
from lifelong._random import generator
from lifelong._validation import Rows, check_count
from lifelong.exceptions import DatasetError, ParameterError
from lifelong.tasks._rows import RowNumbers, draw, rows_of_classes
from lifelong.tasks.base import Task, TaskName, TaskStream
from lifelong.tasks.splits import overlapping_classes


@dataclass(frozen=True)
class Part:
    """Images (n, c, h, w) of bytes, their labels, and what to call them in an error."""

    X: NDArray[np.uint8]
    y: Labels
    name: str


@dataclass(frozen=True)
class Choice:
    """Which rows of each class a task gets; None means all."""

    rows_per_class: int | None
    test_rows_per_class: int | None
    seed: int

    def __post_init__(self) -> None:
        check_count(self.rows_per_class, "rows_per_class", optional=True)
        check_count(self.test_rows_per_class, "test_rows_per_class", optional=True)


def pixels(images: NDArray[np.uint8], rows: RowNumbers) -> Rows:
    """Those images as float32 in [0, 1]."""
    return np.divide(images[rows], 255, dtype=np.float32)


def colour(images: NDArray[np.uint8], rows: RowNumbers) -> Rows:
    """Those images as float32 in [0, 1] with three channels; grey ones are repeated."""
    chosen = pixels(images, rows)
    if chosen.shape[1] == 1:
        return np.repeat(chosen, 3, axis=1)
    return chosen


def class_groups(
    classes: Sequence[Any], *, classes_per_task: int, overlapping_tasks: int | None, seed: int
) -> dict[TaskName, list[Any]]:
    """The classes of tasks 1, 2, …: in order, or drawn with replacement for overlapping tasks."""
    check_count(classes_per_task, "classes_per_task")
    if overlapping_tasks is not None:
        drawn = overlapping_classes(
            classes, n_tasks=overlapping_tasks, classes_per_task=classes_per_task, random_state=seed
        )
        return dict(enumerate(drawn, start=1))
    starts = range(0, len(classes), classes_per_task)
    return {
        number: list(classes[at : at + classes_per_task])
        for number, at in enumerate(starts, start=1)
    }


def stream_of_classes(
    train: Part,
    test: Part,
    groups: dict[TaskName, list[Any]],
    choice: Choice,
    to_rows: Callable[..., Rows] = pixels,
) -> TaskStream:
    """One lazy task per group of classes: training rows from ``train``, test rows from ``test``."""
    _check_every_class(train, groups, choice.rows_per_class or 1, "rows_per_class")
    _check_every_class(test, groups, choice.test_rows_per_class or 1, "test_rows_per_class")

    def task(name: TaskName) -> Task:
        rng = generator(choice.seed, name, "rows")
        learn = draw(rows_of_classes(train.y, groups[name]), choice.rows_per_class, rng)
        ask = draw(rows_of_classes(test.y, groups[name]), choice.test_rows_per_class, rng)
        return Task(
            name, to_rows(train.X, learn), train.y[learn], to_rows(test.X, ask), test.y[ask]
        )

    return TaskStream.lazy({name: partial(task, name) for name in groups})


def stream_of_pools(
    pools: dict[TaskName, list[RowNumbers]], part: Part, choice: Choice
) -> TaskStream:
    """One lazy task per pool of rows by class: so many of each for learning, the rest for tests."""
    if choice.rows_per_class is None:
        raise ParameterError(
            "rows_per_class=None leaves no test rows: train and test share these rows. Give a"
            " number."
        )
    for name, groups in pools.items():
        short = min(map(len, groups))
        if short <= choice.rows_per_class:
            raise DatasetError(
                f"{part.name} has a class with {short} rows in task {name!r}: too few for "
                f"rows_per_class={choice.rows_per_class} and at least one test row. Ask for fewer."
            )

    def task(name: TaskName) -> Task:
        rng = generator(choice.seed, name, "rows")
        learn = draw(pools[name], choice.rows_per_class, rng)
        rest = [np.setdiff1d(rows, learn) for rows in pools[name]]
        ask = draw(rest, choice.test_rows_per_class, rng)
        return Task(name, pixels(part.X, learn), part.y[learn], pixels(part.X, ask), part.y[ask])

    return TaskStream.lazy({name: partial(task, name) for name in pools})


def _check_every_class(part: Part, groups: dict[TaskName, list[Any]], n: int, option: str) -> None:
    """Raise unless each class has at least ``n`` rows."""
    seen, counts = np.unique(part.y, return_counts=True)
    count: dict[Hashable, int] = dict(zip(seen.tolist(), counts.tolist(), strict=True))
    for label in {label for group in groups.values() for label in group}:
        if count.get(label, 0) < n:
            raise DatasetError(
                f"{part.name} has {count.get(label, 0)} rows of class {label!r}; {option} wants"
                f" {n}. Ask for at most {min(count.values())}, or fetch the full dataset."
            )
