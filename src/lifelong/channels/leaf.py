"""SiLLy-F's channel: how many of the task's rows, by class, fell into each leaf of each forest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lifelong._validation import Codes
from lifelong.channels.base import Posteriors, average, n_rows_of
from lifelong.encoders.base import Mask, held_out
from lifelong.encoders.forest import FittedForest, Leaves
from lifelong.tasks.base import TaskName

Counts = NDArray[Any]  # (leaves, K) unsigned


@dataclass(frozen=True, eq=False)
class LeafChannel:
    """Class posteriors per leaf; a leaf that saw no row of the task abstains. Posteriors average over all trees."""

    class_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tables: Mapping[TaskName, Counts] = field(default_factory=dict)

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
        times: NDArray[np.int64] | None = None,
    ) -> "LeafChannel":
        """Drop the task's rows into the leaves and count; ``times`` (n, B) says how often each tree counts a row."""
        Z, y = held_out(Z, y, in_bag)
        table = count_leaves(Z, y, encoder.n_leaves, len(self.class_counts), times)
        if name in self.tables:
            table = smallest(self.tables[name].astype(np.uint64) + table)
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


def count_leaves(Z: Leaves, y: Codes, n_leaves: int, n_classes: int, times: NDArray[np.int64] | None = None) -> Counts:
    """Rows per (leaf, class); entries of -1 are not counted."""
    cell = Z * np.intp(n_classes) + y[:, None]  # (n, B): position in the flattened table
    asked = Z >= 0
    counts = np.bincount(cell[asked], None if times is None else times[asked], minlength=n_leaves * n_classes)
    return smallest(counts.reshape(n_leaves, n_classes))


def smallest(counts: NDArray[Any]) -> Counts:
    """The same counts in the smallest unsigned integers that hold them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def leaf_votes(Z: Leaves, table: Counts) -> NDArray[np.float64]:
    """Sum over trees of the posteriors in each row's leaves; an empty leaf adds nothing."""
    per_leaf = table.sum(axis=1, keepdims=True, dtype=np.float64)
    posteriors = table / np.maximum(per_leaf, 1)  # (leaves, K)
    n, n_trees = Z.shape
    # Row i of this matrix marks the leaves of row i: the product sums their posteriors without an (n, B, K) array.
    membership = csr_array((np.ones(Z.size), Z.ravel(), np.arange(0, Z.size + 1, n_trees)), shape=(n, len(table)))
    return np.asarray(membership @ posteriors)
