"""What an encoder is, and the honest split that every encoder trains behind."""

from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes, Rows

Representation = NDArray[Any]  # dense vectors (n, d) float32, or one leaf per tree (n, B) int32
Mask = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


class FittedEncoder(Protocol):
    """u_t, learnt: rows → representation. It never changes again."""

    @property
    def nbytes(self) -> int: ...
    @property
    def n_parameters(self) -> int: ...
    def encode(self, X: Rows) -> Representation: ...


@runtime_checkable
class LeafEncoder(Protocol):
    """A fitted encoder whose representation is leaves, numbered 0 … n_leaves − 1 through all its
    trees.
    """

    n_leaves: int


@runtime_checkable
class AnsweringEncoder(Protocol):
    """A fitted encoder whose last ``n_answers`` columns are its own posteriors over its own
    classes.
    """

    @property
    def n_answers(self) -> int: ...


@runtime_checkable
class SharingEncoder(Protocol):
    """A fitted encoder that stands on something which other encoders stand on, too: that counts
    once.
    """

    @property
    def shared(self) -> Any: ...


class Encoder(Protocol):
    """What to learn: how u_t is trained from a task's rows."""

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask:
        """Which rows are in-bag: (n,) for the whole encoder, or (n, B) for each of its B parts."""
        ...

    def fit(
        self, X: Rows, y: Codes, *, in_bag: Mask | None = None, rng: np.random.Generator
    ) -> FittedEncoder:
        """Algorithm 1: train on the in-bag rows only."""
        ...


@runtime_checkable
class WeightedEncoder(Protocol):
    """An encoder whose ``fit`` also takes ``weights`` (n,): how much each row counts."""

    takes_weights: ClassVar[bool]

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask: ...

    def fit(
        self,
        X: Rows,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rng: np.random.Generator,
        weights: NDArray[np.float64] | None = None,
    ) -> FittedEncoder: ...


@runtime_checkable
class ThreadedEncoder(Protocol):
    """An encoder that trains on threads: work that leaves Python's lock need not go to other
    processes.
    """

    def with_threads(self, n_jobs: int | None) -> Encoder:
        """The same encoder, which trains on so many threads; the result does not depend on it."""
        ...


@runtime_checkable
class ComparableEncoder(Protocol):
    """An encoder that knows plain models of one task to compare with."""

    def plain_models(self, random_state: Any) -> dict[str, Any]:
        """Unfitted models by name."""
        ...


def honest_split(y: Codes, share: float, *, rng: np.random.Generator, n_splits: int = 1) -> Mask:
    """Draw in-bag rows without replacement, ``n_splits`` times independently → (n, n_splits)
    booleans.

    Stratified when every class has at least two rows: then every class is on both sides of every
    split. Otherwise the split ignores classes. At least one row is in-bag; with more than one row,
    at least one is held out unless ``share`` is 1.

    >>> honest_split(np.array([0, 0, 0, 1, 1, 1]), 0.67, rng=np.random.default_rng(0)).sum()
    np.int64(4)
    """
    if share >= 1:
        return np.ones((len(y), n_splits), dtype=bool)
    rows_per_class = np.bincount(y)
    smallest = rows_per_class.min(initial=2, where=rows_per_class > 0)
    groups = y
    if smallest < 2:
        groups = np.zeros_like(y)
    sizes = np.bincount(groups)  # (K,)
    quota = np.clip(np.round(share * sizes), 1, np.maximum(sizes - 1, 1))
    # Random keys in [0, 1) added to the class sort rows by class and randomly within a class.
    keys = groups[:, None] + rng.random((len(y), n_splits))
    order = np.argsort(keys, axis=0)  # (n, n_splits)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])  # where each class begins in that order
    rank = np.arange(len(y))[:, None] - first[groups[order]]
    in_bag = np.empty((len(y), n_splits), dtype=bool)
    np.put_along_axis(in_bag, order, rank < quota[groups[order]], axis=0)
    return in_bag


def take_rows(values: NDArray[Scalar] | None, rows: Any) -> NDArray[Scalar] | None:
    """Some rows of an array that may not be there: None stays None."""
    if values is None:
        return None
    return np.asarray(values[rows])


def n_leaves_of(encoder: FittedEncoder) -> int:
    """Leaves of a forest, through all its trees; 0 for every other encoder."""
    if isinstance(encoder, LeafEncoder):
        return encoder.n_leaves
    return 0


def n_answers_of(encoder: FittedEncoder) -> int:
    """How many of the last columns are the encoder's own posteriors; 0 if it gives none."""
    if isinstance(encoder, AnsweringEncoder):
        return encoder.n_answers
    return 0
