"""Decision forests as encoders: the representation of a row is the leaf that each tree puts it into."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from lifelong._parallel import parallel_map
from lifelong._validation import Codes, Rows
from lifelong.encoders.base import Mask, honest_split

Leaves = NDArray[np.int32]  # (n, B): forest-wide leaf numbers, 0 … n_leaves-1


def flatten(X: Rows) -> Rows:
    """A tree reads an image as its pixels."""
    return X.reshape(len(X), -1)


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A forest that has been grown. Leaves are numbered through all its trees, so that one table can hold them all."""

    trees: Sequence[Tree]
    leaf_of_node: tuple[Leaves, ...]  # per tree: node number → forest-wide leaf number (inner nodes: -1)
    n_leaves: int

    @classmethod
    def of(cls, trees: Sequence[Tree], left: Iterable[NDArray[Any]] | None = None) -> "FittedForest":
        """Number the leaves of ``trees``: the nodes of each that have no ``left`` child."""
        numbers, n_leaves = [], 0
        for children in (tree.children_left for tree in trees) if left is None else left:
            is_leaf = children < 0
            number = np.where(is_leaf, n_leaves + np.cumsum(is_leaf) - 1, -1).astype(np.int32)
            numbers.append(number)
            n_leaves += int(is_leaf.sum())
        return cls(trees, tuple(numbers), n_leaves)

    def encode(self, X: Rows) -> Leaves:
        """The leaf of each row in each tree."""
        rows = np.asarray(flatten(X), dtype=np.float32)  # a channel's forest may read another forest's leaves
        leaves = np.empty((len(self.trees), len(rows)), dtype=np.int32)
        for tree, number, place in zip(self.trees, self.leaf_of_node, leaves, strict=True):
            number.take(tree.apply(rows), out=place, mode="clip")  # "raise", the default, would take a copy
        return leaves.T

    @property
    def n_parameters(self) -> int:
        """A feature and a threshold per inner node."""
        return int(2 * sum(tree.node_count - tree.n_leaves for tree in self.trees))

    @property
    def nbytes(self) -> int:
        """Bytes of the trees' nodes and leaf numbers."""
        nodes = sum(tree.__getstate__()["nodes"].nbytes for tree in self.trees)
        return int(nodes + sum(number.nbytes for number in self.leaf_of_node))


@dataclass(frozen=True)
class ForestEncoder:
    """How to grow a forest encoder.

    Parameters
    ----------
    n_trees, max_depth, max_features, min_samples_leaf
        As in scikit-learn's forests. Defaults are the paper's; ``max_features="sqrt"`` is ours, the paper is silent.
    max_samples : float
        Share of rows that each tree trains on, drawn without replacement and independently per tree.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.random((30, 4), dtype=np.float32), np.arange(30) % 2
    >>> ForestEncoder(n_trees=3).fit(X, y, rng=rng).encode(X).shape
    (30, 3)
    """

    workers: ClassVar[str] = "threads"  # growing leaves Python's lock: no rows need go to other processes
    n_trees: int = 10
    max_depth: int | None = 30
    max_samples: float = 0.67
    max_features: Any = "sqrt"
    min_samples_leaf: int = 1

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask:
        """In-bag rows of each tree (n, B)."""
        return honest_split(y, self.max_samples, rng=rng, n_splits=self.n_trees)

    def fit(
        self,
        X: Rows,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rng: np.random.Generator,
        n_jobs: int | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> FittedForest:
        """Grow each tree on its own in-bag rows."""
        in_bag = self.split(y, rng=rng) if in_bag is None else in_bag
        return grow_forest(
            flatten(X),
            y,
            weights=in_bag if weights is None else in_bag * weights[:, None],
            rng=rng,
            n_jobs=n_jobs,
            max_depth=self.max_depth,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
        )


def grow_forest(
    X: Rows, y: Codes, *, weights: NDArray[Any], rng: np.random.Generator, n_jobs: int | None, **tree: Any
) -> FittedForest:
    """One tree per column of ``weights`` (n, B), numbers or yes and no; a row of weight 0 is never looked at."""
    DecisionTreeClassifier(**tree)._validate_params()  # once: for every tree it is a quarter of a small tree's time
    seeds = np.asarray(rng.integers(2**31 - 1, size=weights.shape[1])).tolist()
    grow = partial(_grow_tree, X, y, weights, tree)
    return FittedForest.of(parallel_map(grow, list(enumerate(seeds)), n_jobs=n_jobs, prefer="threads"))


def _grow_tree(X: Rows, y: Codes, weights: NDArray[Any], parameters: dict[str, Any], job: tuple[int, int]) -> Tree:
    column, seed = job
    model = DecisionTreeClassifier(random_state=seed, **parameters)
    # X is float32 and finite (checked at the edge), so scikit-learn need not look again for every tree.
    with config_context(skip_parameter_validation=True):
        model.fit(X, y, sample_weight=weights[:, column].astype(np.float64), check_input=False)
    return _without_class_counts(model.tree_)


def _without_class_counts(tree: Tree) -> Tree:
    """The tree's structure alone: an encoder has no opinion on classes, and channels keep their own counts."""
    state = tree.__getstate__()
    bare = Tree(tree.n_features, np.ones(1, dtype=np.intp), 1)
    bare.__setstate__({**state, "values": np.zeros((tree.node_count, 1, 1))})
    return bare
