"""CIFAR 10×10: CIFAR-100's classes in label order as 10 tasks of 10; also flat rows (tabular)."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lifelong._random import RandomState, seed_from
from lifelong.tasks.base import Task, TaskStream
from lifelong.tasks.datasets._cache import decoded
from lifelong.tasks.datasets._streams import Choice, Part, class_groups, stream_of_classes
from lifelong.tasks.datasets.cifar import CIFAR_100


def cifar_10x10(
    data_dir: str | Path | None = None,
    *,
    rows_per_class: int | None = 50,
    test_rows_per_class: int | None = None,
    classes_per_task: int = 10,
    overlapping_tasks: int | None = None,
    random_state: RandomState = 0,
) -> TaskStream:
    """Tasks 1 to 10 of ten classes each, images (3, 32, 32) in [0, 1].

    Parameters
    ----------
    rows_per_class, test_rows_per_class : int or None
        How many rows of each class, drawn anew for each ``random_state``; None: all. The paper has
        50 and all (100).
    classes_per_task : int
        Classes in label order, so many per task.
    overlapping_tasks : int or None
        Instead of splitting the classes, draw this many tasks of classes with replacement (the
        paper: 20 tasks of 10).
    """
    seed = seed_from(random_state)
    choice = Choice(rows_per_class, test_rows_per_class, seed)
    arrays = decoded(CIFAR_100, data_dir)
    train = Part(arrays["X_train"], np.asarray(arrays["y_train"]), "cifar-100-binary/train.bin")
    test = Part(arrays["X_test"], np.asarray(arrays["y_test"]), "cifar-100-binary/test.bin")
    classes = np.union1d(train.y, test.y).tolist()
    groups = class_groups(
        classes, classes_per_task=classes_per_task, overlapping_tasks=overlapping_tasks, seed=seed
    )
    return stream_of_classes(train, test, groups, choice)


def tabular_cifar(
    data_dir: str | Path | None = None,
    *,
    rows_per_class: int | None = 50,
    test_rows_per_class: int | None = None,
    classes_per_task: int = 10,
    overlapping_tasks: int | None = None,
    random_state: RandomState = 0,
) -> TaskStream:
    """The tasks of :func:`cifar_10x10` with the very same rows, each flattened to 3,072 numbers."""
    images = cifar_10x10(
        data_dir,
        rows_per_class=rows_per_class,
        test_rows_per_class=test_rows_per_class,
        classes_per_task=classes_per_task,
        overlapping_tasks=overlapping_tasks,
        random_state=random_state,
    )
    return images.map(_flatten)


def _flatten(task: Task) -> Task:
    X_train, X_test = (X.reshape(len(X), -1) for X in (task.X_train, task.X_test))
    return replace(task, X_train=X_train, X_test=X_test)
