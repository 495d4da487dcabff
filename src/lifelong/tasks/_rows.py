"""Which rows a task gets: so many of each class, or a share of each class."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels

RowNumbers = NDArray[np.intp]


def rows_of_classes(labels: Labels, classes: Iterable[object]) -> list[RowNumbers]:
    """For each class the numbers of its rows, in order."""
    return [np.flatnonzero(labels == label) for label in classes]


def draw(groups: list[RowNumbers], n: int | None, rng: np.random.Generator) -> RowNumbers:
    """``n`` rows of each group at random (all of them for None), in order of their number."""
    if n is None:
        chosen = groups
    else:
        chosen = [rng.permutation(rows)[:n] for rows in groups]
    return np.sort(np.concatenate(chosen))


def draw_share(
    groups: list[RowNumbers], share: float, rng: np.random.Generator
) -> tuple[RowNumbers, RowNumbers]:
    """Rows for training and for testing: that share of all rows, and of each group up to one row.

    >>> train, test = draw_share([np.arange(5), np.arange(5, 10)], 0.5, np.random.default_rng(0))
    >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
    (5, 5, True)
    """
    shuffled = np.concatenate([rng.permutation(rows) for rows in groups])
    # Every 1/share-th row along the groups. The small number keeps 0.55 · 20 from falling just
    # short of 11.
    quota = np.floor(np.arange(len(shuffled) + 1) * share + 1e-9)
    chosen = np.diff(quota) > 0
    return np.sort(shuffled[chosen]), np.sort(shuffled[~chosen])
