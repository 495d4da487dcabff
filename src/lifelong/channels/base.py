"""What a channel is: it belongs to one task and sees the representations of all encoders."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.encoders.base import Mask, Representation
from lifelong.tasks.base import TaskName

Posteriors = NDArray[np.float64]  # (n, K), rows sum to 1


class Channel(Protocol):
    """v_t: representations of all encoders → posteriors of task t.

    A channel is a value: every method returns a new channel and leaves the old one as it was, so that a failure half
    way through a task leaves nothing behind. An empty channel is also the description of what to learn.
    """

    @property
    def nbytes(self) -> int: ...

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> Self:
        """The task's rows seen so far, by class (K,): sets K, which may grow, and the class priors."""
        ...

    def update(
        self,
        name: TaskName,
        encoder: Any,  # a FittedEncoder of the kind this channel reads
        Z: Representation,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rows: NDArray[np.intp] | None = None,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> Self:
        """Algorithms 2 and 3: take in rows of the task as the encoder called ``name`` represents them.

        ``in_bag`` is given when it is the task's own encoder and says which rows it trained on, (n,) or per tree
        (n, B): honest channels pass it to :func:`~lifelong.encoders.base.held_out`. ``rows`` numbers the rows in the
        order in which the task got them. ``rng`` is None for a channel that says ``draws = False``. A channel that says
        ``in_pieces = True`` gets many rows a few thousand at a time, ``in_bag`` with each. A channel that can let rows
        count more or less also takes ``weights`` (n,): it is given only when a user gives sample weights.
        """
        ...

    def only(self, names: Collection[TaskName]) -> Self:
        """The channel as it would be had it never met any other encoder."""
        ...

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Algorithm 4: the encoders' representations of n rows → posteriors (n, K)."""
        ...


def n_rows_of(representations: Mapping[TaskName, Representation]) -> int:
    """How many rows the encoders have represented."""
    return len(next(iter(representations.values())))


def priors(class_counts: NDArray[np.int64]) -> Posteriors:
    """What to answer when no encoder knows anything: the task's class shares (K,)."""
    return np.asarray(class_counts / class_counts.sum(), dtype=np.float64)


def average(votes: NDArray[np.float64], class_counts: NDArray[np.int64]) -> Posteriors:
    """Summed votes (n, K), each vote a distribution → their mean; a row without votes gets the priors."""
    total = votes.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, votes / total, priors(class_counts))
