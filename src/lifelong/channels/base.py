"""What a channel is: it belongs to one task and sees the representations of all encoders."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes
from lifelong.encoders.base import Mask, Representation, take_rows
from lifelong.tasks.base import TaskName

Posteriors = NDArray[np.float64]  # (n, K), rows sum to 1
Weights = NDArray[np.float64]  # (n,)


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows of a task as one encoder represents them: all that a channel gets to see.

    Parameters
    ----------
    Z : (n, d) dense vectors, or (n, B) leaves
        An entry of −1 is a tree that abstains.
    y : (n,)
        Labels, as positions in the task's classes.
    rows : (n,)
        Which of the task's rows, in the order in which it got them.
    weights : (n,), optional
        How much each row counts; None, the default: 1.
    in_bag : (n,) or (n, B), optional
        Given where it is the task's own encoder: the rows that it, or each of its trees, trained
        on. None, the default: the encoder has trained on none of them.
    n_leaves : int, default 0
        Leaves of a forest, through all its trees; 0 for dense vectors.
    n_answers : int, default 0
        So many of the last columns are the encoder's own posteriors over its own classes; 0, the
        default: none are.
    about_task : (int, int), optional
        The first of these posteriors that is about the task's classes, and how many are, where an
        encoder has trained on several tasks. None, the default: the first ones are.

    Examples
    --------
    An encoder that has trained on the first of three rows:

    >>> Z = np.zeros((3, 2), dtype=np.float32)
    >>> in_bag = np.array([True, False, False])
    >>> seen = Seen(Z, np.array([0, 1, 1]), np.arange(3), in_bag=in_bag)
    >>> seen.held_out().rows
    array([1, 2])

    See Also
    --------
    lifelong.Channel : what learns from it.
    """

    Z: Representation
    y: Codes
    rows: NDArray[np.intp]
    weights: Weights | None = None
    in_bag: Mask | None = None
    n_leaves: int = 0
    n_answers: int = 0
    about_task: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def held_out(self) -> "Seen":
        """What an honest channel learns from: rows that the encoder has not trained on.

        A part of an encoder (a tree) never answers for a row it trained on: that entry becomes −1.
        """
        if self.in_bag is None:
            return self
        if self.in_bag.ndim == 2:
            return replace(self, Z=np.where(self.in_bag, np.int32(-1), self.Z), in_bag=None)
        return replace(self.take(~self.in_bag), in_bag=None)

    def take(self, which: Any) -> "Seen":
        """Some of the rows: a slice, a mask or positions."""
        return replace(
            self,
            Z=self.Z[which],
            y=self.y[which],
            rows=self.rows[which],
            weights=take_rows(self.weights, which),
            in_bag=take_rows(self.in_bag, which),
        )


@runtime_checkable
class Channel(Protocol):
    """What to learn: settings, and how a channel begins.

    Any object with this method will do; :func:`lifelong.testing.check_channel` tests yours.

    Examples
    --------
    >>> from lifelong import LeafChannel
    >>> isinstance(LeafChannel(), Channel)
    True

    See Also
    --------
    lifelong.LeafChannel, lifelong.ForestChannel : the paper's.
    lifelong.RidgeChannel, lifelong.NeighboursChannel : others of ours.
    lifelong.Silly : a learner with a channel of your choice.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: Algorithms 2 to 4.
    """

    def start(self, class_counts: NDArray[np.int64]) -> "FittedChannel":
        """A channel that has seen nothing yet, for a task with these rows per class (K,)."""
        ...


class _Fitted(Protocol):
    """v_t, learnt: representations of all encoders → posteriors of task t.

    It is a value: every method returns a new channel and leaves the old one as it was, so that a
    failure half way through a task leaves nothing behind.
    """

    @property
    def nbytes(self) -> int: ...

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> Self:
        """The task's rows seen so far, by class (K,): sets K, which may grow, and the priors."""
        ...

    def only(self, names: Collection[TaskName]) -> Self:
        """The channel as it would be had it never met any other encoder."""
        ...

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Algorithm 4: the encoders' representations of n rows → posteriors (n, K)."""
        ...


@runtime_checkable
class PlainChannel(_Fitted, Protocol):
    """A fitted channel that counts, keeps or solves: nothing about it is random."""

    def update(self, name: TaskName, seen: Seen) -> Self:
        """Algorithms 2 and 3: take in rows of the task as the encoder called ``name`` sees them."""
        ...


@runtime_checkable
class RandomChannel(_Fitted, Protocol):
    """A fitted channel that trains something random on each encoder."""

    def train(
        self, name: TaskName, seen: Seen, *, rng: np.random.Generator, n_jobs: int | None
    ) -> Self:
        """Algorithms 2 and 3, with randomness from ``rng``."""
        ...


FittedChannel = PlainChannel | RandomChannel
"""A channel that has learnt: a :class:`PlainChannel`, or a :class:`RandomChannel` where learning
is random."""


@runtime_checkable
class PiecewiseChannel(Protocol):
    """A fitted channel that takes many rows a few at a time, so that nobody needs all at once."""

    rows_at_once: ClassVar[int]


@runtime_checkable
class WeightedChannel(Protocol):
    """A fitted channel that lets rows count more or less, as ``Seen.weights`` says."""

    takes_weights: ClassVar[bool]


@runtime_checkable
class SelectiveChannel(Protocol):
    """A fitted channel that knows which encoders it reads: nobody need ask the others."""

    @property
    def reads(self) -> Collection[TaskName]: ...


@runtime_checkable
class InfluenceChannel(Protocol):
    """A fitted channel that knows how much each encoder has to do with its answers."""

    def influence(self) -> Mapping[TaskName, float]:
        """How much each encoder tells about the task's labels: at least 0."""
        ...


def n_rows_of(representations: Mapping[TaskName, Representation]) -> int:
    """How many rows the encoders have represented."""
    return len(next(iter(representations.values())))


def priors(class_counts: NDArray[np.int64]) -> Posteriors:
    """What to answer when no encoder knows anything: the task's class shares (K,)."""
    return np.asarray(class_counts / class_counts.sum(), dtype=np.float64)


def average(votes: NDArray[np.float64], class_counts: NDArray[np.int64]) -> Posteriors:
    """Summed votes (n, K), each vote a distribution → their mean; no votes give the priors."""
    total = votes.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, votes / total, priors(class_counts))


def join_weights(
    old: Weights | None, n_old: int, new: Weights | None, n_new: int
) -> Weights | None:
    """Weights of old and new rows together; rows without a weight count 1."""
    if old is None and new is None:
        return None
    if old is None:
        old = np.ones(n_old)
    if new is None:
        new = np.ones(n_new)
    return np.concatenate([old, new])


def no_counts() -> NDArray[np.int64]:
    """Class counts of a channel that has not begun."""
    return np.zeros(0, dtype=np.int64)
