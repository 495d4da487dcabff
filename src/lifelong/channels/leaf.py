"""SiLLy-F's channel: how many of the task's rows, by class, fell into each leaf of each forest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lifelong._cache import Cache
from lifelong._validation import Codes
from lifelong.channels.base import Posteriors, average, n_rows_of
from lifelong.encoders.base import Mask, held_out
from lifelong.encoders.forest import FittedForest, Leaves
from lifelong.tasks.base import TaskName

Counts = NDArray[Any]  # (leaves, K): unsigned, or fractions where rows have weights

_READY = Cache(64 * 2**20)  # posteriors of tables, in eight times their bytes: as many as were used last


@dataclass(frozen=True, eq=False)
class LeafChannel:
    """Class posteriors per leaf; a leaf that saw no row of the task abstains. Posteriors average over all trees.

    ``min_rows`` is a floor for privacy: what fewer rows of one call say about a leaf is not kept (docs/privacy.md).
    """

    draws: ClassVar[bool] = False
    class_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tables: Mapping[TaskName, Counts] = field(default_factory=dict)
    min_rows: int = 1

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "LeafChannel":
        """Set K and the priors; tables gain empty columns for new classes."""
        more = len(class_counts) - len(self.class_counts)
        tables = (
            self.tables if not more else {u: np.pad(table, ((0, 0), (0, more))) for u, table in self.tables.items()}
        )
        return replace(self, class_counts=class_counts, tables=tables)

    def update(
        self,
        name: TaskName,
        encoder: FittedForest,
        Z: Leaves,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rows: NDArray[np.intp] | None = None,  # noqa: ARG002
        rng: np.random.Generator | None = None,  # noqa: ARG002 - counting is not random
        n_jobs: int | None = None,  # noqa: ARG002
        weights: NDArray[np.float64] | None = None,
        times: NDArray[Any] | None = None,
    ) -> "LeafChannel":
        """Drop the task's rows into the leaves and count; ``times`` (n, B) says how often each tree counts a row."""
        if weights is not None:
            times = np.broadcast_to(weights[:, None], Z.shape)  # in_bag of trees leaves all rows in place
        Z, y = held_out(Z, y, in_bag)
        table = count_leaves(Z, y, encoder.n_leaves, len(self.class_counts), times)
        if self.min_rows > 1:
            in_leaf = count_leaves(Z, np.zeros_like(y), encoder.n_leaves, 1)  # (leaves, 1): rows, whatever they weigh
            table = smallest(np.where(in_leaf < self.min_rows, 0, table))
        if name in self.tables:
            known = self.tables[name]
            table = smallest(known.astype(np.float64 if known.dtype.kind == "f" else np.uint64) + table)
        return replace(self, tables={**self.tables, name: table})

    def only(self, names: Collection[TaskName]) -> "LeafChannel":
        """Forget the tables of all other encoders."""
        return replace(self, tables={name: table for name, table in self.tables.items() if name in names})

    def predict_proba(self, representations: Mapping[TaskName, Leaves]) -> Posteriors:
        """Average the posteriors of the leaves that a row falls into, over trees and forests."""
        votes = np.zeros((n_rows_of(representations), len(self.class_counts)))
        for name, Z in representations.items():
            if name in self.tables:
                votes += leaf_votes(Z, self.tables[name])
        return average(votes, self.class_counts)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return sum(table.nbytes for table in self.tables.values())


def count_leaves(Z: Leaves, y: Codes, n_leaves: int, n_classes: int, times: NDArray[Any] | None = None) -> Counts:
    """Rows per (leaf, class); entries of -1 are not counted."""
    # Places in the table; all those of leaf -1 are negative. Without weights any order will do: that of memory.
    cell = (Z * np.intp(n_classes) + y[:, None]).ravel(order="K" if times is None else "C")
    weights = None if times is None else times.ravel()
    asked = cell >= 0
    if not asked.all():
        cell, weights = cell[asked], None if weights is None else weights[asked]
    counts = np.bincount(cell, weights, minlength=n_leaves * n_classes)
    return smallest(counts.reshape(n_leaves, n_classes))


def smallest(counts: NDArray[Any]) -> Counts:
    """The same counts in the smallest unsigned integers that hold them; fractions in 32 bits."""
    if counts.dtype.kind == "f" and (counts != np.floor(counts)).any():
        return counts.astype(np.float32)
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def leaf_votes(Z: Leaves, table: Counts) -> NDArray[np.float64]:
    """Sum over trees of the posteriors in each row's leaves; an empty leaf adds nothing, nor does an entry of -1."""
    posteriors = _READY.get(table)
    if posteriors is None and Z.size < len(table):  # few rows: their leaves will do
        asked = Z >= 0
        table, Z = table[Z[asked]], np.where(asked, np.cumsum(asked).reshape(Z.shape) - 1, -1)
        posteriors = leaf_posteriors(table)
    elif posteriors is None:
        posteriors = leaf_posteriors(table)
        _READY.put(table, posteriors)
    votes = np.zeros((len(Z), table.shape[1]))
    for leaves in Z.T:
        votes += posteriors.take(leaves, axis=0)
    return votes


def leaf_posteriors(table: Counts) -> NDArray[np.float64]:
    """Class shares in each leaf (leaves + 1, K); the last line, which leaf -1 finds, is all zeros."""
    posteriors = np.zeros((len(table) + 1, table.shape[1]))
    posteriors[:-1] = table
    per_leaf = np.einsum("lk->l", posteriors)
    posteriors /= np.where(per_leaf > 0, per_leaf, 1)[:, None]
    return posteriors
