"""A channel that asks the nearest rows of the task in each encoder's representation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from lifelong._validation import Codes
from lifelong.channels.base import Posteriors, average, n_rows_of
from lifelong.encoders.base import FittedEncoder, Mask, Representation, held_out
from lifelong.tasks.base import TaskName


@dataclass(frozen=True, eq=False)
class NeighboursChannel:
    """Votes of the k nearest rows per encoder, averaged over encoders.

    ``n_neighbours=None`` takes k = √n: as rows arrive k grows without bound while k/n falls to 0, which is what makes
    nearest neighbours consistent. The channel keeps the representation of every row it has seen.
    """

    draws: ClassVar[bool] = False
    n_neighbours: int | None = None
    class_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rows: Mapping[TaskName, tuple[Representation, Codes]] = field(default_factory=dict)
    weights: Mapping[TaskName, NDArray[np.float64]] = field(default_factory=dict)  # of those rows, if any was given

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "NeighboursChannel":
        """Set K and the priors."""
        return replace(self, class_counts=class_counts)

    def update(
        self,
        name: TaskName,
        encoder: FittedEncoder,  # noqa: ARG002
        Z: Representation,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rows: NDArray[np.intp] | None = None,  # noqa: ARG002
        rng: np.random.Generator | None = None,  # noqa: ARG002 - nothing is random here
        n_jobs: int | None = None,  # noqa: ARG002
        weights: NDArray[np.float64] | None = None,
    ) -> "NeighboursChannel":
        """Remember the rows."""
        w = weights if weights is None or in_bag is None else weights[~in_bag]
        Z, y = held_out(Z, y, in_bag)
        old_Z, old_y = self.rows.get(name, (Z[:0], y[:0]))
        kept = dict(self.weights)
        if w is not None or name in kept:
            w = np.ones(len(y)) if w is None else w
            kept[name] = np.concatenate([kept.get(name, np.ones(len(old_y))), w])
        joined = np.concatenate([old_Z, Z]), np.concatenate([old_y, y])
        return replace(self, rows={**self.rows, name: joined}, weights=kept)

    def only(self, names: Collection[TaskName]) -> "NeighboursChannel":
        """Forget the rows seen through all other encoders."""
        rows = {name: one for name, one in self.rows.items() if name in names}
        weights = {name: one for name, one in self.weights.items() if name in names}
        return replace(self, rows=rows, weights=weights)

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Average the neighbours' votes over encoders."""
        votes = np.zeros((n_rows_of(representations), len(self.class_counts)))
        for name, Z in representations.items():
            known, y = self.rows.get(name, (Z[:0], np.zeros(0, dtype=np.intp)))
            if len(y):
                k = min(self.n_neighbours or max(1, round(len(y) ** 0.5)), len(y))
                nearest = NearestNeighbors(n_neighbors=k).fit(known).kneighbors(Z, return_distance=False)  # (n, k)
                w = self.weights.get(name, np.ones(len(y)))[nearest]
                cells = np.arange(len(Z))[:, None] * votes.shape[1] + y[nearest]  # (n, k): places in votes
                shares = w / w.sum(axis=1, keepdims=True)
                votes += np.bincount(cells.ravel(), shares.ravel(), minlength=votes.size).reshape(votes.shape)
        return average(votes, self.class_counts)

    @property
    def nbytes(self) -> int:
        """Bytes of the remembered representations."""
        rows = sum(Z.nbytes + y.nbytes for Z, y in self.rows.values())
        return rows + sum(w.nbytes for w in self.weights.values())
