"""SiLLy-N's channel in the paper: a small random forest on each encoder's representation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lifelong.channels.base import Posteriors, Seen, average, n_rows_of, no_counts
from lifelong.channels.leaf import Counts, add_counts, count_leaves, leaf_votes
from lifelong.encoders.base import Representation
from lifelong.encoders.forest import FittedForest, grow_forest
from lifelong.schema import COUNT, COUNTERS, Array, Custom, PerEncoder, Record, saved
from lifelong.tasks.base import TaskName


@dataclass(frozen=True)
class ForestChannel:
    """An ordinary random forest (bootstrap, √d features) per encoder: the paper's for networks.

    Posteriors average over encoders. The forests cut up the representation, and rows are counted
    in their leaves, so rows that arrive later are simply counted, too.

    Parameters
    ----------
    n_trees : int, default 20
        Trees per encoder. More trees give smoother posteriors and take as much more time.

    Examples
    --------
    >>> ForestChannel(n_trees=5)
    ForestChannel(n_trees=5)

    See Also
    --------
    RidgeChannel : closed form; faster and more accurate on networks.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: SiLLy-N.
    """

    n_trees: int = saved(COUNT, default=20)

    def start(self, class_counts: NDArray[np.int64]) -> "FittedForestChannel":
        """A channel that has seen nothing yet."""
        return FittedForestChannel(self.n_trees, class_counts)


@dataclass(frozen=True, eq=False)
class CountingForest:
    """A forest on one encoder's representation, and rows of each class in its leaves."""

    forest: FittedForest = saved(Custom("forest of columns"))
    table: Counts = saved(Array(COUNTERS, ("forest leaves", "K")))

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return self.forest.nbytes + self.table.nbytes


@dataclass(frozen=True, eq=False)
class FittedForestChannel:
    """A forest channel that has learnt."""

    takes_weights: ClassVar[bool] = True
    n_trees: int = saved(COUNT, default=20)
    class_counts: NDArray[np.int64] = field(default_factory=no_counts)
    forests: Mapping[TaskName, CountingForest] = saved(
        PerEncoder(Record(CountingForest, named=False)), default_factory=dict
    )

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "FittedForestChannel":
        """Set K and the priors; tables gain empty columns for new classes."""
        forests = self.forests
        more = len(class_counts) - len(self.class_counts)
        if more:
            forests = {
                u: replace(grown, table=np.pad(grown.table, ((0, 0), (0, more))))
                for u, grown in self.forests.items()
            }
        return replace(self, class_counts=class_counts, forests=forests)

    def train(
        self, name: TaskName, seen: Seen, *, rng: np.random.Generator, n_jobs: int | None
    ) -> "FittedForestChannel":
        """Grow the forest for a new encoder, or count more rows in the one that is there."""
        seen = seen.held_out()
        if len(seen) == 0:
            return self
        times: NDArray[Any] | None = None
        if seen.weights is not None:
            times = np.tile(seen.weights[:, None], self.n_trees)
        known = self.forests.get(name)
        if known is None:
            drawn = bootstrap(len(seen), self.n_trees, rng=rng)
            if times is None:
                times = drawn
            else:
                times = drawn * times
            bag = np.asarray(times, dtype=np.float64)
            forest = grow_forest(
                seen.Z, seen.y, weights=bag, rng=rng, n_jobs=n_jobs, max_features="sqrt"
            )
        else:
            forest = known.forest
        leaves = forest.encode(seen.Z)
        table = count_leaves(leaves, seen.y, forest.n_leaves, len(self.class_counts), times)
        if known is not None:
            table = add_counts(known.table, table)
        return replace(self, forests={**self.forests, name: CountingForest(forest, table)})

    def only(self, names: Collection[TaskName]) -> "FittedForestChannel":
        """Forget the forests on all other encoders."""
        forests = {name: grown for name, grown in self.forests.items() if name in names}
        return replace(self, forests=forests)

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Average the forests' posteriors over encoders."""
        votes = np.zeros((n_rows_of(representations), len(self.class_counts)))
        for name, Z in representations.items():
            if name in self.forests:  # else the encoder saw no row of the task
                grown = self.forests[name]
                votes += leaf_votes(grown.forest.encode(Z), grown.table)
        return average(votes, self.class_counts)

    @property
    def nbytes(self) -> int:
        """Bytes of the forests and their tables."""
        return sum(grown.nbytes for grown in self.forests.values())


def bootstrap(n_rows: int, n_trees: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each tree draws each row (n, B)."""
    alike = np.full(n_rows, 1 / n_rows)
    return rng.multinomial(n_rows, alike, size=n_trees).T
