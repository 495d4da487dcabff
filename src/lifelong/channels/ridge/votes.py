"""The vote of leaves: the paper's way to read a forest."""

from typing import NamedTuple

import numpy as np

from lifelong.channels.base import Weights
from lifelong.channels.ridge.solver import Features, LinearMap, Scores, features
from lifelong.encoders.base import Representation


class LeafVotes(NamedTuple):
    """The paper's reading of a forest: a leaf has the mean label of the task's rows in it."""

    totals: Scores  # (leaves, K): sums of centred class indicators
    counts: Scores  # (leaves,): rows, or their weights

    @classmethod
    def of(
        cls, Z: Representation, n_leaves: int, Y: Scores, weights: Weights | None = None
    ) -> "LeafVotes":
        """All rows vote in the leaves (n, B) that they are in; −1 is a tree that abstains."""
        inside = _inside(Z, n_leaves)
        if weights is None:
            return cls(np.asarray(inside.T @ Y), np.asarray(inside.sum(axis=0)))
        return cls(np.asarray(inside.T @ (weights[:, None] * Y)), np.asarray(inside.T @ weights))

    def linear_map(self, n_trees: int, times: float = 1.0) -> LinearMap:
        """Leaf indicators → the mean over trees, perhaps multiplied."""
        means = times * self.totals / np.where(self.counts > 0, self.counts, 1)[:, None]
        coefficients = (means / np.sqrt(n_trees)).astype(np.float32)
        return LinearMap(coefficients, np.zeros(self.totals.shape[1]))

    def without_the_row(
        self, Z: Representation, Y: Scores, weights: Weights | None = None
    ) -> Scores:
        """Mean over a row's trees of the mean label of the *other* rows in its leaf.

        A leaf without others says 0.
        """
        n_asked = np.maximum((Z >= 0).sum(axis=1), 1)[:, None]
        if weights is not None:
            return np.asarray(self._without_the_weighted_row(Z, Y, weights) / n_asked)
        inside = _inside(Z, len(self.counts))
        scale = np.where(self.counts > 1, 1 / np.maximum(self.counts - 1, 1), 0)
        total = inside @ (scale[:, None] * self.totals) - Y * (inside @ scale)[:, None]
        return np.asarray(total / n_asked)

    def _without_the_weighted_row(self, Z: Representation, Y: Scores, weights: Weights) -> Scores:
        total = np.zeros_like(Y)
        for leaves in Z.T:
            asked = leaves >= 0
            others = self.counts[leaves] - weights
            known = asked & (others > 1e-9 * weights)
            sums = self.totals[leaves] - weights[:, None] * Y
            means = sums / np.where(known, others, 1)[:, None]
            total += np.where(known[:, None], means, 0)
        return total


def _inside(Z: Representation, n_leaves: int) -> Features:
    """Which leaves a row is in (n, leaves): 1 or 0."""
    leaves = features(Z, n_leaves)
    leaves.data[:] = 1
    return leaves
