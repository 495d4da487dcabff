"""Rows of several tasks, from which one encoder learns, and what it remembers of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes
from lifelong._validation import Rows
from lifelong.encoders.base import Mask
from lifelong.tasks.base import TaskName

_PER_CLASS = 10  # rows that tell how rows of a class differ


class RowsOfTask(NamedTuple):
    """Rows of one task, for an encoder that is shared."""

    task: TaskName
    X: Rows  # (n, …)
    y: Codes  # (n,)
    rows: NDArray[np.intp]  # (n,): their numbers in the task's history
    in_bag: Mask  # (n,): those that it may train on
    n_classes: int
    weights: NDArray[np.float64] | None = None  # (n,)


class HeadOfTask(NamedTuple):
    """What a shared encoder knows of one task."""

    task: TaskName
    n_classes: int
    seen: NDArray[np.intp]  # numbers of the task's rows that it has trained on, in order


def heads_of(of_tasks: Sequence[RowsOfTask]) -> tuple[HeadOfTask, ...]:
    """What is remembered of tasks whose rows in bag were trained on."""
    return tuple(
        HeadOfTask(rows.task, rows.n_classes, np.sort(rows.rows[rows.in_bag])) for rows in of_tasks
    )


def classes_of_all(of_tasks: Sequence[RowsOfTask]) -> Codes:
    """Labels of the rows of all tasks (n,): each task's classes come after those before."""
    firsts = np.cumsum([0, *(rows.n_classes for rows in of_tasks)])
    return np.concatenate([first + rows.y for first, rows in zip(firsts, of_tasks, strict=False)])


def even_sample(of_tasks: Sequence[RowsOfTask], most: int) -> tuple[Rows, Codes]:
    """At most so many rows in bag, evenly sampled, with the labels of :func:`classes_of_all`.

    Of many classes these would be too few rows of each: then they are of fewer tasks.
    """
    n_classes = sum(rows.n_classes for rows in of_tasks)
    of_tasks = of_tasks[:: -(-_PER_CLASS * n_classes // most)]
    in_bag = np.concatenate([rows.in_bag for rows in of_tasks])
    numbers = np.flatnonzero(in_bag)
    n = min(most, len(numbers))
    chosen = numbers[np.linspace(0, len(numbers), n, endpoint=False).astype(int)]
    X = np.concatenate([rows.X for rows in of_tasks])
    return X[chosen], classes_of_all(of_tasks)[chosen]
