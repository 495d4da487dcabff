"""scikit-learn's handwritten digits seen from several angles: a real stream that needs no download.

1797 images of 8×8 pixels are dealt out to the tasks without overlap: no image is in two tasks, nor
in the training and the test rows of one.
"""

import numpy as np
from sklearn.datasets import load_digits

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_count
from lifelong.exceptions import InputError
from lifelong.tasks.base import Task, TaskStream
from lifelong.tasks.splits import rotate_images


def digits(
    *, n_tasks: int = 6, rows_per_class: int = 8, step: float = 30.0, random_state: RandomState = 0
) -> TaskStream:
    """Tasks ``0°``, ``30°``, …: the ten digits, each task's camera turned by ``step`` degrees more.

    >>> digits()
    TaskStream(6 tasks: '0°', '30°', '60°', '90°', '120°', '150°')
    >>> digits()[1]
    Task('30°', train (80, 1, 8, 8), test (220, 1, 8, 8), 10 classes)
    """
    check_count(n_tasks, "n_tasks")
    images, labels = load_digits(return_X_y=True)
    images = images.reshape(-1, 1, 8, 8).astype(np.float32)
    rng = generator(seed_from(random_state), "digits")
    shares = _deal(labels, n_tasks, rng)
    if min(np.bincount(labels[rows], minlength=10).min() for rows in shares) <= rows_per_class:
        raise InputError(
            f"{rows_per_class} rows per class leave no test rows with {n_tasks} tasks. Ask for"
            " fewer."
        )

    def task(position: int) -> Task:
        rows = shares[position]
        degrees = position * step
        train = np.concatenate(
            [rows[labels[rows] == digit][:rows_per_class] for digit in range(10)]
        )
        test = np.setdiff1d(rows, train)
        X_train, X_test = (rotate_images(images[rows_of], degrees) for rows_of in (train, test))
        return Task(f"{degrees:g}°", X_train, labels[train], X_test, labels[test])

    return TaskStream(task(position) for position in range(n_tasks))


def _deal(labels: np.ndarray, n_tasks: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Row numbers for each task, every class spread evenly, in random order."""
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return [rng.permutation(by_class[start::n_tasks]) for start in range(n_tasks)]
