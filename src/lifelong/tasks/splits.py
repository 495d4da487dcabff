"""How tasks are made and changed: from classes, order, rows per class, random labels, rotation."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import ndimage

from lifelong._labels import Labels, check_labels, classes_in
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_count, check_rows
from lifelong.exceptions import InputError
from lifelong.tasks.base import Task, TaskName, TaskStream


def split_classes(
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    classes_per_task: int,
    classes: Sequence[Any] | None = None,
) -> TaskStream:
    """Classes in label order (or that of ``classes``), so many per task → a stream named 1, 2, ….

    >>> X, y = np.zeros((6, 2)), np.repeat([3, 1, 2], 2)
    >>> [task.classes for task in split_classes(X, y, X, y, classes_per_task=2)]
    [[1, 2], [3]]
    """
    X_train = check_rows(X_train)
    X_test = check_rows(X_test)
    y_train = check_labels(y_train, n_rows=len(X_train))
    y_test = check_labels(y_test, n_rows=len(X_test))
    if classes is not None:
        order = list(classes)
    else:
        order = classes_in(y_train)

    def task(start: int) -> Task:
        train, test = (
            _is_among(y, order[start : start + classes_per_task]) for y in (y_train, y_test)
        )
        return Task(
            start // classes_per_task + 1,
            X_train[train],
            y_train[train],
            X_test[test],
            y_test[test],
        )

    return TaskStream(task(start) for start in range(0, len(order), classes_per_task))


def overlapping_classes(
    classes: Sequence[Any], *, n_tasks: int, classes_per_task: int, random_state: RandomState = None
) -> list[list[Any]]:
    """The classes of ``n_tasks`` tasks, drawn with replacement: distinct in a task, not between.

    >>> overlapping_classes("abcd", n_tasks=3, classes_per_task=2, random_state=0)
    [['a', 'b'], ['b', 'd'], ['a', 'c']]
    """
    check_count(n_tasks, "n_tasks")
    if not 1 <= classes_per_task <= len(classes):
        raise InputError(
            f"{classes_per_task} classes per task cannot be drawn from {len(classes)}. Ask for"
            " fewer."
        )
    seed = seed_from(random_state)
    draws = (
        generator(seed, "overlapping classes", number).permutation(len(classes))
        for number in range(n_tasks)
    )
    return [[classes[position] for position in sorted(drawn[:classes_per_task])] for drawn in draws]


def rows_per_class(task: Task, n: int, *, random_state: RandomState = None) -> Task:
    """The task with ``n`` training rows per class, drawn by ``random_state``; test rows stay."""
    if task.target == "number":
        raise InputError(f"Task {task.name!r} has numbers, not classes.")
    rng = generator(seed_from(random_state), task.name, "rows per class")
    groups = [np.flatnonzero(_is_among(task.y_train, [label])) for label in task.classes]
    short = [label for label, rows in zip(task.classes, groups, strict=True) if len(rows) < n]
    if short:
        raise InputError(
            f"Task {task.name!r} has fewer than {n} training rows of class {short[0]!r}. Ask for"
            " fewer rows."
        )
    chosen = np.concatenate([rng.permutation(rows)[:n] for rows in groups])
    return replace(task, X_train=task.X_train[chosen], y_train=task.y_train[chosen])


def reorder(stream: TaskStream, order: Sequence[TaskName]) -> TaskStream:
    """The same tasks in another order of names."""
    if sorted(map(repr, order)) != sorted(map(repr, stream.names)):
        raise InputError(
            f"An order names each task once. Tasks: {stream.names}; order: {list(order)}."
        )
    return TaskStream.lazy({name: partial(stream.named, name) for name in order})


def shuffle_order(stream: TaskStream, *, random_state: RandomState = None) -> TaskStream:
    """The same tasks in a random order."""
    rng = generator(seed_from(random_state), "task order")
    return reorder(stream, [stream.names[position] for position in rng.permutation(len(stream))])


def shuffle_labels(task: Task, *, random_state: RandomState = None) -> Task:
    """The task with its training labels dealt out at random: an adversary that teaches nothing."""
    rng = generator(seed_from(random_state), task.name, "label shuffle")
    return replace(task, y_train=rng.permutation(task.y_train))


def rotate(task: Task, degrees: float) -> Task:
    """The task with every image turned; what turns in from outside repeats the edge."""
    return replace(
        task,
        X_train=rotate_images(task.X_train, degrees),
        X_test=rotate_images(task.X_test, degrees),
    )


def rotate_images(X: Any, degrees: float) -> np.ndarray:
    """Images (n, c, h, w) turned counter-clockwise by ``degrees``."""
    if len(X.shape) != 4:
        raise InputError(
            f"Only images (n, c, h, w) can be rotated; these rows have shape {X.shape}."
        )
    if degrees % 90 == 0:  # exact: no pixel is interpolated
        return np.ascontiguousarray(np.rot90(X, int(degrees // 90), axes=(2, 3)))
    return np.asarray(
        ndimage.rotate(X, degrees, axes=(3, 2), reshape=False, order=1, mode="nearest")
    )


def halve(task: Task, *, random_state: RandomState = None) -> tuple[Task, Task]:
    """Two tasks with half the training rows of each class; both keep all test rows."""
    rng = generator(seed_from(random_state), task.name, "halve")
    shuffled = rng.permutation(len(task.y_train))
    dealt = shuffled
    if task.target == "class":  # by class, random within a class; then dealt out in turn
        codes = np.array([task.classes.index(label) for label in task.y_train[shuffled].tolist()])
        dealt = shuffled[np.argsort(codes, kind="stable")]
    first, second = (
        replace(
            task, name=f"{task.name}-{side}", X_train=task.X_train[rows], y_train=task.y_train[rows]
        )
        for side, rows in (("a", dealt[0::2]), ("b", dealt[1::2]))
    )
    return first, second


def _is_among(labels: Labels, wanted: Sequence[Any]) -> np.ndarray:
    chosen = set(wanted)
    return np.fromiter(
        (label in chosen for label in labels.tolist()), dtype=bool, count=len(labels)
    )
