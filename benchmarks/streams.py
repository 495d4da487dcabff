"""Rows to measure with: their numbers do not matter, their shapes do."""

import numpy as np

Rows = tuple[np.ndarray, np.ndarray]


def flat_tasks(n_tasks: int, n_rows: int, n_features: int, n_classes: int = 10) -> list[Rows]:
    """Tasks with classes around means that all tasks share, float32."""
    rng = np.random.default_rng(0)
    means = rng.random((n_classes, n_features))
    labels = [rng.permutation(np.arange(n_rows) % n_classes) for _ in range(n_tasks)]
    return [
        ((means[y] + rng.normal(size=(n_rows, n_features))).astype(np.float32), y) for y in labels
    ]


def image_tasks(
    n_tasks: int, n_rows: int, shape: tuple[int, int, int], n_classes: int = 10
) -> list[Rows]:
    """The same as images (n, c, h, w)."""
    flat = flat_tasks(n_tasks, n_rows, int(np.prod(shape)), n_classes)
    return [(X.reshape(n_rows, *shape), y) for X, y in flat]
