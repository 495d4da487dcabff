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
    weights: NDArray[np.float64] | None = None  # (n,): how much each row counts; None: 1
    in_bag: NDArray[np.bool_] | None = None  # (n,) or (n, B): rows that the task's own encoder has trained on

    def with_rows(self, more: "StoredRows") -> "StoredRows":
        """These rows and more."""
        return StoredRows(
            np.concatenate([self.X, more.X]),
            np.concatenate([self.y, more.y]),
            None if self.rows is None or more.rows is None else np.concatenate([self.rows, more.rows]),
            self._joined_weights(more),
            None if self.in_bag is None else np.concatenate([self.in_bag, self._not_in_bag(len(more.y))]),
        )

    def piece(self, part: slice) -> "StoredRows":
        """Some of these rows, which know their numbers."""
        numbers = np.arange(len(self.y)) if self.rows is None else self.rows
        return StoredRows(
            self.X[part],
            self.y[part],
            numbers[part],
            None if self.weights is None else self.weights[part],
            None if self.in_bag is None else self.in_bag[part],
        )

    def _not_in_bag(self, n: int) -> NDArray[np.bool_]:
        """Rows that come later: the encoder has not seen them."""
        assert self.in_bag is not None
        return np.zeros((n, *self.in_bag.shape[1:]), dtype=bool)

    def _joined_weights(self, more: "StoredRows") -> NDArray[np.float64] | None:
        if self.weights is None and more.weights is None:
            return None
        return np.concatenate([np.ones(len(one.y)) if one.weights is None else one.weights for one in (self, more)])

    @property
    def nbytes(self) -> int:
        """Bytes of rows and labels."""
        optional = sum(part.nbytes for part in (self.rows, self.weights, self.in_bag) if part is not None)
        return self.X.nbytes + self.y.nbytes + optional


def keep(
    X: Rows,
    y: Codes,
    share: float,
    *,
    first: int = 0,
    weights: NDArray[np.float64] | None = None,
    in_bag: NDArray[np.bool_] | None = None,
    rng: np.random.Generator,
) -> StoredRows:
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
    kept = [None if part is None else part[chosen] for part in (weights, in_bag)]
    return StoredRows(X[chosen], y[chosen], first + chosen, *kept)  # type: ignore[arg-type]
