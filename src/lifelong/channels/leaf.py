"""SiLLy-F's channel: how many of the task's rows, by class, fell into each leaf of each forest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lifelong._cache import Cache
from lifelong._labels import Codes
from lifelong.channels.base import Posteriors, Seen, average, n_rows_of, no_counts
from lifelong.channels.summing import sum_over_trees
from lifelong.encoders.base import take_rows
from lifelong.encoders.forest import Leaves
from lifelong.schema import COUNT, COUNTERS, Array, PerEncoder, saved
from lifelong.tasks.base import TaskName

Counts = NDArray[Any]  # (leaves, K): unsigned, or fractions where rows have weights

_READY = Cache(64 * 2**20)  # posteriors of the tables used last, in eight times their bytes


@dataclass(frozen=True)
class LeafChannel:
    """Class posteriors per leaf, averaged over all trees of all encoders: the paper's for forests.

    A leaf that saw no row of the task abstains.

    Parameters
    ----------
    min_rows : int, default 1
        A floor for privacy: what fewer rows of one call say about a leaf is not kept. Higher
        floors make more leaves abstain.

    Examples
    --------
    >>> from lifelong import SillyForest
    >>> SillyForest(channel=LeafChannel(min_rows=5)).channel
    LeafChannel(min_rows=5)

    See Also
    --------
    RidgeChannel : closed form, with learnt weights; more accurate and larger.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: SiLLy-F.
    """

    min_rows: int = saved(COUNT, default=1)

    def start(self, class_counts: NDArray[np.int64]) -> "FittedLeaf":
        """A channel that has seen nothing yet."""
        return FittedLeaf(self.min_rows, class_counts)


@dataclass(frozen=True, eq=False)
class FittedLeaf:
    """A leaf channel that has learnt: a table of counts per encoder."""

    takes_weights: ClassVar[bool] = True
    min_rows: int = saved(COUNT, default=1)
    class_counts: NDArray[np.int64] = field(default_factory=no_counts)
    tables: Mapping[TaskName, Counts] = saved(
        PerEncoder(Array(COUNTERS, ("leaves", "K"))), default_factory=dict
    )

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "FittedLeaf":
        """Set K and the priors; tables gain empty columns for new classes."""
        tables = self.tables
        more = len(class_counts) - len(self.class_counts)
        if more:
            tables = {u: np.pad(table, ((0, 0), (0, more))) for u, table in self.tables.items()}
        return replace(self, class_counts=class_counts, tables=tables)

    def update(self, name: TaskName, seen: Seen) -> "FittedLeaf":
        """Drop the task's rows into the leaves and count."""
        seen = seen.held_out()
        n_classes = len(self.class_counts)
        times = None
        if seen.weights is not None:
            times = np.broadcast_to(seen.weights[:, None], seen.Z.shape)
        table = count_leaves(seen.Z, seen.y, seen.n_leaves, n_classes, times)
        if self.min_rows > 1:
            # (leaves, 1): rows, whatever they weigh
            in_leaf = count_leaves(seen.Z, np.zeros_like(seen.y), seen.n_leaves, 1)
            table = smallest(np.where(in_leaf < self.min_rows, 0, table))
        if name in self.tables:
            table = add_counts(self.tables[name], table)
        return replace(self, tables={**self.tables, name: table})

    def only(self, names: Collection[TaskName]) -> "FittedLeaf":
        """Forget the tables of all other encoders."""
        tables = {name: table for name, table in self.tables.items() if name in names}
        return replace(self, tables=tables)

    def predict_proba(
        self,
        representations: Mapping[TaskName, Leaves],
        shares: Mapping[TaskName, float] | None = None,
    ) -> Posteriors:
        """Average the posteriors of the leaves that a row falls into, over trees and forests.

        ``shares`` has encoders whose trees count less than one vote each.
        """
        votes = np.zeros((n_rows_of(representations), len(self.class_counts)))
        for name, Z in representations.items():
            if name not in self.tables:
                continue
            of_encoder = leaf_votes(Z, self.tables[name])
            if shares is not None and name in shares:
                of_encoder *= shares[name]
            votes += of_encoder
        return average(votes, self.class_counts)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return sum(table.nbytes for table in self.tables.values())


def count_leaves(
    Z: Leaves, y: Codes, n_leaves: int, n_classes: int, times: NDArray[Any] | None = None
) -> Counts:
    """Rows per (leaf, class); ``times`` (n, B) says how often each tree counts a row.

    Entries of −1 are not counted.
    """
    places = Z * np.intp(n_classes) + y[:, None]  # in the table; those of leaf −1 are negative
    if times is None:
        cell = places.ravel(order="K")  # any order will do: that of memory
        weights = None
    else:
        cell = places.ravel(order="C")
        weights = times.ravel()
    asked = cell >= 0
    if not asked.all():
        cell = cell[asked]
        weights = take_rows(weights, asked)
    counts = np.bincount(cell, weights, minlength=n_leaves * n_classes)
    return smallest(counts.reshape(n_leaves, n_classes))


def add_counts(known: Counts, more: Counts) -> Counts:
    """The counts of both, in numbers that are wide enough."""
    if known.dtype.kind == "f":
        return smallest(known.astype(np.float64) + more)
    return smallest(known.astype(np.uint64) + more)


def smallest(counts: NDArray[Any]) -> Counts:
    """The same counts in the smallest unsigned integers that hold them; fractions in 32 bits."""
    if counts.dtype.kind == "f" and (counts != np.floor(counts)).any():
        return counts.astype(np.float32)
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def leaf_votes(Z: Leaves, table: Counts) -> NDArray[np.float64]:
    """Sum over trees of the posteriors in each row's leaves (n, K).

    An empty leaf adds nothing, nor does an entry of −1.
    """
    posteriors = _READY.get(table)
    if posteriors is None and Z.size < len(table):  # few rows: their leaves will do
        asked = Z >= 0
        table = table[Z[asked]]
        Z = np.where(asked, np.cumsum(asked).reshape(Z.shape) - 1, -1)
        posteriors = leaf_posteriors(table)
    elif posteriors is None:
        posteriors = leaf_posteriors(table)
        _READY.put(table, posteriors)
    return sum_over_trees(posteriors, Z.T)


def leaf_posteriors(table: Counts) -> NDArray[np.float64]:
    """Class shares in each leaf (leaves + 1, K); the last line, which leaf −1 finds, is zeros."""
    posteriors = np.zeros((len(table) + 1, table.shape[1]))
    posteriors[:-1] = table
    per_leaf = np.einsum("lk->l", posteriors)
    posteriors /= np.where(per_leaf > 0, per_leaf, 1)[:, None]
    return posteriors
