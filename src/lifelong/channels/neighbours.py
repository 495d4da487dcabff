"""A channel that asks the nearest rows of the task in each encoder's representation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

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

    n_neighbours: int | None = None
    class_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rows: Mapping[TaskName, tuple[Representation, Codes]] = field(default_factory=dict)

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
    ) -> "NeighboursChannel":
        """Remember the rows."""
        Z, y = held_out(Z, y, in_bag)
        if name in self.rows:
            old_Z, old_y = self.rows[name]
            Z, y = np.concatenate([old_Z, Z]), np.concatenate([old_y, y])
        return replace(self, rows={**self.rows, name: (Z, y)})

    def only(self, names: Collection[TaskName]) -> "NeighboursChannel":
        """Forget the rows seen through all other encoders."""
        return replace(self, rows={name: rows for name, rows in self.rows.items() if name in names})

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Average the neighbours' votes over encoders."""
        votes = np.zeros((n_rows_of(representations), len(self.class_counts)))
        for name, Z in representations.items():
            known, y = self.rows.get(name, (Z[:0], np.zeros(0, dtype=np.intp)))
            if len(y):
                k = min(self.n_neighbours or max(1, round(len(y) ** 0.5)), len(y))
                nearest = NearestNeighbors(n_neighbors=k).fit(known).kneighbors(Z, return_distance=False)  # (n, k)
                votes += np.eye(len(self.class_counts))[y[nearest]].mean(axis=1)
        return average(votes, self.class_counts)

    @property
    def nbytes(self) -> int:
        """Bytes of the remembered representations."""
        return sum(Z.nbytes + y.nbytes for Z, y in self.rows.values())
