"""SiLLy-N's channel in the paper: a small random forest on each encoder's representation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.channels.base import Posteriors, n_rows_of
from lifelong.channels.leaf import LeafChannel
from lifelong.encoders.base import FittedEncoder, Mask, Representation, held_out
from lifelong.encoders.forest import FittedForest, grow_forest
from lifelong.tasks.base import TaskName


@dataclass(frozen=True, eq=False)
class ForestChannel:
    """An ordinary random forest (bootstrap rows, √d features) per encoder; posteriors average over encoders.

    The forests cut up the representation and a leaf channel counts what falls into their leaves, so rows that arrive
    later are simply counted too.
    """

    n_trees: int = 20
    forests: Mapping[TaskName, FittedForest] = field(default_factory=dict)
    leaves: LeafChannel = field(default_factory=LeafChannel)

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "ForestChannel":
        """Set K and the priors."""
        return replace(self, leaves=self.leaves.with_class_counts(class_counts))

    def update(
        self,
        name: TaskName,
        encoder: FittedEncoder,  # noqa: ARG002
        Z: Representation,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rows: NDArray[np.intp] | None = None,  # noqa: ARG002
        rng: np.random.Generator,
        n_jobs: int | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> "ForestChannel":
        """Grow the forest for a new encoder, or count more rows in the one that is there."""
        w = weights if weights is None or in_bag is None else weights[~in_bag]
        Z, y = held_out(Z, y, in_bag)
        if len(y) == 0:
            return self
        times: NDArray[Any] | None = None if w is None else np.tile(w[:, None], self.n_trees)
        forest = self.forests.get(name)
        if forest is None:
            drawn = rng.multinomial(len(y), np.full(len(y), 1 / len(y)), size=self.n_trees).T  # (n, B): the bootstrap
            times = drawn if times is None else drawn * times
            bag = np.asarray(times, dtype=np.float64)
            forest = grow_forest(Z, y, weights=bag, rng=rng, n_jobs=n_jobs, max_features="sqrt")
        leaves = self.leaves.update(name, forest, forest.encode(Z), y, times=times)
        return replace(self, forests={**self.forests, name: forest}, leaves=leaves)

    def only(self, names: Collection[TaskName]) -> "ForestChannel":
        """Forget the forests on all other encoders."""
        forests = {name: forest for name, forest in self.forests.items() if name in names}
        return replace(self, forests=forests, leaves=self.leaves.only(names))

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Average the forests' posteriors over encoders."""
        no_leaves = np.empty((n_rows_of(representations), 0), dtype=np.int32)  # an encoder that saw no row of the task
        leaves = {u: self.forests[u].encode(Z) if u in self.forests else no_leaves for u, Z in representations.items()}
        return self.leaves.predict_proba(leaves)

    @property
    def nbytes(self) -> int:
        """Bytes of the forests and their tables."""
        return sum(forest.nbytes for forest in self.forests.values()) + self.leaves.nbytes
