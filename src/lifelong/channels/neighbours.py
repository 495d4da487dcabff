"""A channel that asks the nearest rows of the task in each encoder's representation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from lifelong._labels import Codes
from lifelong.channels.base import (
    Posteriors,
    Seen,
    Weights,
    average,
    join_weights,
    n_rows_of,
    no_counts,
)
from lifelong.encoders.base import Representation
from lifelong.schema import (
    COUNT,
    Array,
    Kind,
    PerEncoder,
    Places,
    Record,
    Represented,
    maybe,
    saved,
)
from lifelong.tasks.base import TaskName

_COUNT_OR_NONE: Kind = maybe(COUNT)


@dataclass(frozen=True)
class NeighboursChannel:
    """Votes of the k nearest rows per encoder, averaged over encoders.

    The channel keeps the representation of every row it has seen.

    Parameters
    ----------
    n_neighbours : int, optional
        k: more neighbours give smoother posteriors. None, the default, takes k = √n: as rows
        arrive k grows without bound while k/n falls to 0, which is what makes nearest neighbours
        consistent.

    Examples
    --------
    >>> NeighboursChannel(n_neighbours=3)
    NeighboursChannel(n_neighbours=3)

    See Also
    --------
    RidgeChannel : keeps a sample of the rows, and answers faster.

    References
    ----------
    Stone, Consistent Nonparametric Regression, Annals of Statistics 1977: when nearest neighbours
    are consistent.
    """

    n_neighbours: int | None = saved(_COUNT_OR_NONE, default=None)

    def start(self, class_counts: NDArray[np.int64]) -> "FittedNeighbours":
        """A channel that has seen nothing yet."""
        return FittedNeighbours(self.n_neighbours, class_counts)


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Rows that the channel remembers through one encoder."""

    Z: Representation = saved(Represented("n", dense="float32"))
    y: Codes = saved(Places("n", below="K"))
    weights: Weights | None = saved(maybe(Array("float64", ("n",))), default=None)

    def with_rows(self, seen: Seen) -> "KnownRows":
        """These and more rows; a row without a weight counts 1."""
        weights = join_weights(self.weights, len(self.y), seen.weights, len(seen))
        Z = np.concatenate([self.Z, seen.Z])
        y = np.concatenate([self.y, seen.y])
        return KnownRows(Z, y, weights)

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        arrays = (self.Z, self.y, self.weights)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True, eq=False)
class FittedNeighbours:
    """A neighbours channel that has learnt: rows by encoder."""

    takes_weights: ClassVar[bool] = True
    n_neighbours: int | None = saved(_COUNT_OR_NONE, default=None)
    class_counts: NDArray[np.int64] = field(default_factory=no_counts)
    rows: Mapping[TaskName, KnownRows] = saved(PerEncoder(Record(KnownRows)), default_factory=dict)

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "FittedNeighbours":
        """Set K and the priors."""
        return replace(self, class_counts=class_counts)

    def update(self, name: TaskName, seen: Seen) -> "FittedNeighbours":
        """Remember the rows."""
        seen = seen.held_out()
        known = self.rows.get(name, KnownRows(seen.Z[:0], seen.y[:0]))
        return replace(self, rows={**self.rows, name: known.with_rows(seen)})

    def only(self, names: Collection[TaskName]) -> "FittedNeighbours":
        """Forget the rows seen through all other encoders."""
        return replace(self, rows={name: rows for name, rows in self.rows.items() if name in names})

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Average the neighbours' votes over encoders."""
        votes = np.zeros((n_rows_of(representations), len(self.class_counts)))
        for name, Z in representations.items():
            known = self.rows.get(name)
            if known is not None and len(known.y):
                votes += self._votes(known, Z)
        return average(votes, self.class_counts)

    def _votes(self, known: KnownRows, Z: Representation) -> NDArray[np.float64]:
        """Votes (n, K) of the nearest rows, each row's together 1."""
        n = len(known.y)
        k = min(self.n_neighbours or max(1, round(n**0.5)), n)
        search = NearestNeighbors(n_neighbors=k).fit(known.Z)
        nearest = search.kneighbors(Z, return_distance=False)  # (n, k)
        weights = known.weights
        if weights is None:
            weights = np.ones(n)
        weights = weights[nearest]  # (n, k)
        normalised = weights / weights.sum(axis=1, keepdims=True)
        n_classes = len(self.class_counts)
        cells = np.arange(len(Z))[:, None] * n_classes + known.y[nearest]  # (n, k): places in votes
        votes = np.bincount(cells.ravel(), normalised.ravel(), minlength=len(Z) * n_classes)
        return np.asarray(votes, dtype=np.float64).reshape(len(Z), n_classes)

    @property
    def nbytes(self) -> int:
        """Bytes of the remembered representations."""
        return sum(rows.nbytes for rows in self.rows.values())
