"""Decision forests as encoders: the representation of a row is the leaf it reaches in each tree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from lifelong._labels import Codes
from lifelong._validation import Rows
from lifelong.encoders.base import Mask, honest_split
from lifelong.encoders.growing import ToGrowOn, grow_trees
from lifelong.encoders.walking import leaves_of_few
from lifelong.encoders.walking_many import ABREAST, leaves_of_many
from lifelong.schema import COUNT, SHARE, AnyOf, Text, maybe, saved

Leaves = NDArray[np.int32]  # (n, B): forest-wide leaf numbers, 0 … n_leaves-1


def flatten(X: Rows) -> Rows:
    """A tree reads an image as its pixels."""
    return X.reshape(len(X), -1)


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A forest that has been grown.

    Leaves are numbered through all its trees, so that one table can hold them all.

    Attributes
    ----------
    trees : sequence of scikit-learn's Tree
        Their structure alone; what they say about classes is in channels.
    leaf_of_node : tuple of arrays
        Per tree: node number → number of the leaf, −1 for inner nodes.
    n_leaves : int
        Through all trees.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 4), dtype=np.float32)
    >>> forest = ForestEncoder(n_trees=3).fit(X, np.arange(30) % 2, rng=rng)
    >>> bool(forest.encode(X).max() < forest.n_leaves)
    True

    See Also
    --------
    lifelong.ForestEncoder : how it is grown.
    """

    saved_as: ClassVar[str] = "forest"
    trees: Sequence[Tree]
    leaf_of_node: tuple[Leaves, ...]
    n_leaves: int

    @classmethod
    def of(
        cls, trees: Sequence[Tree], left: Iterable[NDArray[Any]] | None = None
    ) -> "FittedForest":
        """Number the leaves of ``trees``: the nodes of each that have no ``left`` child."""
        numbers = []
        n_leaves = 0
        if left is None:
            left = (tree.children_left for tree in trees)
        for children in left:
            is_leaf = children < 0
            number = np.where(is_leaf, n_leaves + np.cumsum(is_leaf) - 1, -1).astype(np.int32)
            numbers.append(number)
            n_leaves += int(is_leaf.sum())
        return cls(trees, tuple(numbers), n_leaves)

    def encode(self, X: Rows, n_trees: int | None = None) -> Leaves:
        """The leaf of each row in each tree, or in the first ``n_trees`` trees."""
        # a channel's forest may read another forest's leaves
        rows = np.asarray(flatten(X), dtype=np.float32)
        if n_trees is not None and n_trees < len(self.trees):
            return self._encoded_by(rows, n_trees)
        found = None
        if len(rows) >= ABREAST:
            found = leaves_of_many(self, rows)
        if found is None:
            found = leaves_of_few(self, rows)
        if found is not None:
            return found.T
        return self._encoded_by(rows, len(self.trees))

    def _encoded_by(self, rows: Rows, n_trees: int) -> Leaves:
        """Tree by tree, by scikit-learn."""
        leaves = np.empty((n_trees, len(rows)), dtype=np.int32)
        trees = self.trees[:n_trees]
        for tree, number, place in zip(trees, self.leaf_of_node[:n_trees], leaves, strict=True):
            # mode="raise", the default, would take a copy
            number.take(tree.apply(rows), out=place, mode="clip")
        return leaves.T

    @property
    def n_features(self) -> int:
        """How many numbers of a row the trees read."""
        trees: Any = self.trees
        if hasattr(trees, "n_features"):  # of a file, where trees are made when they are needed
            return int(trees.n_features)
        return int(trees[0].n_features)

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
    n_trees : int, default 10
        Trees per encoder. More trees say more about a row, and take as much more time and memory.
    max_depth : int or None, default 30
        Deepest level of a tree; None grows until leaves are pure.
    max_samples : float, default 0.67
        Share of rows that each tree trains on, drawn without replacement and independently per
        tree. The others are held out: from them the task's own channel learns.
    max_features : "sqrt", "log2", int, float or None, default "sqrt"
        Columns that a split looks at, as in scikit-learn. The paper is silent; the default is ours.
    min_samples_leaf : int or float, default 1
        Rows that a leaf has at least.
    n_jobs : int, optional
        Threads. The forest does not depend on it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 4), dtype=np.float32)
    >>> y = np.arange(30) % 2
    >>> ForestEncoder(n_trees=3).fit(X, y, rng=rng).encode(X).shape
    (30, 3)

    See Also
    --------
    lifelong.NetworkEncoder : networks instead of forests.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: SiLLy-F.
    """

    takes_weights: ClassVar[bool] = True
    n_trees: int = saved(COUNT, default=10)
    max_depth: int | None = saved(maybe(COUNT), default=30)
    max_samples: float = saved(SHARE, default=0.67)
    max_features: Any = saved(AnyOf((maybe(Text(("sqrt", "log2"))), COUNT, SHARE)), default="sqrt")
    min_samples_leaf: int = saved(AnyOf((COUNT, SHARE)), default=1)
    n_jobs: int | None = field(default=None, compare=False, repr=False)

    def with_threads(self, n_jobs: int | None) -> "ForestEncoder":
        """The same encoder on so many threads: growing trees leaves Python's lock."""
        return replace(self, n_jobs=n_jobs)

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
        weights: NDArray[np.float64] | None = None,
    ) -> FittedForest:
        """Grow each tree on its own in-bag rows."""
        if in_bag is None:
            in_bag = self.split(y, rng=rng)
        times: NDArray[Any] = in_bag
        if weights is not None:
            times = in_bag * weights[:, None]
        return grow_forest(
            flatten(X),
            y,
            weights=times,
            rng=rng,
            n_jobs=self.n_jobs,
            max_depth=self.max_depth,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
        )


def grow_forest(
    X: Rows,
    y: Codes,
    *,
    weights: NDArray[Any],
    rng: np.random.Generator,
    n_jobs: int | None,
    **tree: Any,
) -> FittedForest:
    """One tree per column of ``weights`` (n, B), numbers or yes and no.

    A row of weight 0 is never looked at.
    """
    trees = grow_trees(ToGrowOn.of(X, y), weights, tree, rng=rng, n_jobs=n_jobs)
    return FittedForest.of(trees)


_NODE = Tree(1, np.ones(1, dtype=np.intp), 1).__getstate__()["nodes"].dtype


def tree_from_nodes(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    threshold: NDArray[Any],
    missing_left: NDArray[Any],
    n_features: int,
    values: NDArray[np.float64] | None = None,
) -> Tree:
    """scikit-learn's tree of nodes that are right: the caller has checked them, or made them.

    Parameters
    ----------
    left, right : (nodes,)
        Children; −1 in a leaf.
    feature, threshold : (nodes,)
        What an inner node asks.
    missing_left : (nodes,)
        Whether rows that miss the number go left.
    n_features : int
        How many numbers a row has.
    values : (nodes, K), optional
        What nodes answer.
    """
    nodes = np.zeros(len(left), dtype=_NODE)
    nodes["left_child"] = left
    nodes["right_child"] = right
    nodes["feature"] = feature
    nodes["threshold"] = threshold
    nodes["missing_go_to_left"] = np.asarray(missing_left) != 0
    if values is None:
        values = np.zeros((len(left), 1))
    tree = Tree(n_features, np.array([values.shape[1]], dtype=np.intp), 1)
    # Prediction does not look at the depth.
    tree.__setstate__(
        {
            "max_depth": 0,
            "node_count": len(left),
            "nodes": nodes,
            "values": np.ascontiguousarray(values, dtype=np.float64)[:, None, :],
        }
    )
    return tree
