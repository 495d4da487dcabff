"""What an encoder is, and the honest split that every encoder trains behind."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes, Rows

Representation = NDArray[Any]  # dense vectors (n, d) float32, or one leaf per tree (n, B) int32
Mask = NDArray[np.bool_]


class FittedEncoder(Protocol):
    """u_t, learnt: rows → representation. It never changes again."""

    @property
    def nbytes(self) -> int: ...
    @property
    def n_parameters(self) -> int: ...
    def encode(self, X: Rows) -> Representation: ...


class Encoder(Protocol):
    """What to learn: how u_t is trained from a task's rows."""

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask:
        """Which rows are in-bag: (n,) for the whole encoder, or (n, B) for each of its B parts."""
        ...

    def fit(
        self,
        X: Rows,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> FittedEncoder:
        """Algorithm 1: train on the in-bag rows only."""
        ...


def honest_split(y: Codes, share: float, *, rng: np.random.Generator, n_splits: int = 1) -> Mask:
    """Draw in-bag rows without replacement, ``n_splits`` times independently → (n, n_splits) booleans.

    Stratified when every class has at least two rows: then every class is on both sides of every split. Otherwise the
    split ignores classes. At least one row is in-bag; with more than one row, at least one is held out unless
    ``share`` is 1.

    >>> honest_split(np.array([0, 0, 0, 1, 1, 1]), 0.67, rng=np.random.default_rng(0)).sum()
    np.int64(4)
    """
    if share >= 1:
        return np.ones((len(y), n_splits), dtype=bool)
    groups = y if np.bincount(y).min(initial=2, where=np.bincount(y) > 0) >= 2 else np.zeros_like(y)
    sizes = np.bincount(groups)  # (K,)
    quota = np.clip(np.round(share * sizes), 1, np.maximum(sizes - 1, 1))
    # Random keys in [0, 1) added to the class sort rows by class and randomly within a class.
    order = np.argsort(groups[:, None] + rng.random((len(y), n_splits)), axis=0)  # (n, n_splits)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])  # where each class begins in that order
    rank = np.arange(len(y))[:, None] - first[groups[order]]
    in_bag = np.empty((len(y), n_splits), dtype=bool)
    np.put_along_axis(in_bag, order, rank < quota[groups[order]], axis=0)
    return in_bag


def held_out(Z: Representation, y: Codes, in_bag: Mask | None) -> tuple[Representation, Codes]:
    """What an honest channel learns from: rows that the encoder has not trained on (all, if ``in_bag`` is None).

    A part of an encoder (a tree) never answers for a row it trained on: that entry becomes -1, an abstention.
    """
    if in_bag is None:
        return Z, y
    if in_bag.ndim == 2:
        return np.where(in_bag, np.int32(-1), Z), y
    return Z[~in_bag], y[~in_bag]
