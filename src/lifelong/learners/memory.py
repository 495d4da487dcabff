"""Which rows of old tasks are kept, so that later encoders can help them (replay)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes, Rows


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows of one task."""

    X: Rows
    y: Codes
    rows: NDArray[np.intp] | None = None  # (n,): which of the task's rows, in order of arrival; None: all of them

    def with_rows(self, more: "StoredRows") -> "StoredRows":
        """These rows and more."""
        return StoredRows(
            np.concatenate([self.X, more.X]),
            np.concatenate([self.y, more.y]),
            None if self.rows is None or more.rows is None else np.concatenate([self.rows, more.rows]),
        )

    @property
    def nbytes(self) -> int:
        """Bytes of rows and labels."""
        return self.X.nbytes + self.y.nbytes + (0 if self.rows is None else self.rows.nbytes)


def keep(X: Rows, y: Codes, share: float, *, first: int = 0, rng: np.random.Generator) -> StoredRows:
    """A copy of exactly ``round(share · n)`` rows, spread evenly over the classes; the rest is gone.

    ``first`` is the number of the first of these rows in the task's history.

    >>> kept = keep(np.zeros((10, 1), np.float32), np.repeat([0, 1], 5), 0.4, rng=np.random.default_rng(0))
    >>> np.bincount(kept.y)
    array([2, 2])
    """
    n_kept = round(share * len(y))
    by_class = np.argsort(y + rng.random(len(y)))  # sorted by class, random within a class
    every = np.floor((np.arange(n_kept) + rng.random()) * len(y) / max(n_kept, 1)).astype(np.intp)
    chosen = np.sort(by_class[every])
    return StoredRows(X[chosen], y[chosen], first + chosen)
