"""Several ways to read the same encoders, and how they become one."""

from typing import NamedTuple

import numpy as np

from lifelong._validation import Codes
from lifelong.channels.ridge_mixing import learnt_share
from lifelong.channels.ridge_solver import Features, LinearMap, Scores, features, loudness, skill_of
from lifelong.encoders.base import Representation
from lifelong.tasks.base import TaskName


class Reading(NamedTuple):
    """Encoders → class scores, and what the reading says of rows whose labels it has not seen."""

    maps: dict[TaskName, LinearMap]
    honest: Scores  # (n, K)
    handicapped: Scores  # (n, K): the same with fewer trees than the task's own forest is judged by
    skill: float

    @classmethod
    def of(
        cls, maps: dict[TaskName, LinearMap], honest: Scores, Y: Scores, handicapped: Scores | None = None
    ) -> "Reading":
        """A reading whose honest scores say how much it tells about the labels."""
        return cls(maps, honest, honest if handicapped is None else handicapped, skill_of(honest, Y))


def both(
    one: Reading, other: Reading, y: Codes, shares: Scores, share: float | None = None, cost: float = 0.0
) -> Reading:
    """Two readings as one, equally loud; how much of the other, honest scores decide if ``share`` does not say.

    ``y`` are the labels of the rows that judge, ``shares`` (K,) those of the classes among all rows of the task. To
    listen to the other alone takes evidence of ``cost`` nats.
    """
    if not other.honest.any():
        return one
    if not one.honest.any():
        return other
    gain = loudness(one.honest) / loudness(other.honest)
    if share is None:
        share = learnt_share(one.honest + shares, gain * other.honest + shares, y, cost)
    a, b = 1 - share, share * gain
    maps = {name: sum_of(a, one.maps[name], b, other.maps[name]) for name in one.maps}
    honest, handicapped = (a * first + b * second for first, second in zip(one[1:3], other[1:3], strict=True))
    return Reading(maps, honest, handicapped, max(one.skill, other.skill))


def sum_of(a: float, one: LinearMap, b: float, other: LinearMap) -> LinearMap:
    """a · one + b · other."""
    coefficients = np.float32(a) * one.coefficients + np.float32(b) * other.coefficients
    return LinearMap(coefficients, a * one.intercept + b * other.intercept)


class LeafVotes(NamedTuple):
    """The paper's reading of a forest: a leaf has the mean label of the task's rows in it."""

    totals: Scores  # (leaves, K): sums of centred class indicators
    counts: Scores  # (leaves,)

    @classmethod
    def of(cls, Z: Representation, n_leaves: int, Y: Scores) -> "LeafVotes":
        """All rows vote in the leaves (n, B) that they are in; a tree that abstains (-1) has no leaf."""
        inside = _inside(Z, n_leaves)
        return cls(np.asarray(inside.T @ Y), np.asarray(inside.sum(axis=0)))

    def linear_map(self, n_trees: int, times: float = 1.0) -> LinearMap:
        """Leaf indicators → the mean over trees, perhaps multiplied."""
        means = times * self.totals / np.maximum(self.counts, 1)[:, None]
        return LinearMap((means / np.sqrt(n_trees)).astype(np.float32), np.zeros(self.totals.shape[1]))

    def without_the_row(self, Z: Representation, Y: Scores) -> Scores:
        """Mean over a row's trees of the mean label of the *other* rows in its leaf; a leaf without others says 0."""
        inside = _inside(Z, len(self.counts))
        weights = np.where(self.counts > 1, 1 / np.maximum(self.counts - 1, 1), 0)
        total = inside @ (weights[:, None] * self.totals) - Y * (inside @ weights)[:, None]
        return np.asarray(total / np.maximum((Z >= 0).sum(axis=1), 1)[:, None])


def _inside(Z: Representation, n_leaves: int) -> Features:
    """Which leaves a row is in (n, leaves): 1 or 0."""
    leaves = features(Z, n_leaves)
    leaves.data[:] = 1
    return leaves
