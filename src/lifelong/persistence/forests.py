"""Forests as plain arrays: children, features and thresholds of all nodes, tree after tree.

Nothing else of scikit-learn's trees is stored: no impurities and no numbers of rows, which say
something about rows and nothing about where a row falls. Before arrays become trees again every
node is checked, so that no file can lead a tree out of its arrays or around in a circle.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from lifelong.encoders.forest import FittedForest, tree_from_nodes
from lifelong.persistence.checking import Arrays, Scope, expect, keys
from lifelong.persistence.kinds import CustomKind, unpack, unpacked
from lifelong.persistence.text import Json
from lifelong.schema import Array, Whole

MAX_TREES = 10_000
_MAX_FEATURES = 2**31 - 2


def pack_forest(forest: Any, arrays: Arrays, at: str) -> Json:
    """A :class:`FittedForest`."""
    expect(type(forest) is FittedForest, at, f"is a {type(forest).__name__}, not a forest")
    return pack_trees(forest.trees, arrays, at)


def unpack_forest(
    node: Json, arrays: Arrays, at: str, n_features: int | None = None
) -> FittedForest:
    """A forest on rows of ``n_features`` numbers."""
    trees = unpack_trees(node, arrays, at, n_features)
    return FittedForest.of(trees, trees.left)


def _pack_of_columns(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    node = pack_forest(value, arrays, at)
    scope["forest leaves"] = value.n_leaves
    return node


def _unpack_of_columns(node: Json, arrays: Arrays, at: str, scope: Scope) -> FittedForest:
    forest = unpack_forest(node, arrays, at, scope["columns"])
    scope["forest leaves"] = forest.n_leaves
    return forest


OF_COLUMNS = CustomKind(_pack_of_columns, _unpack_of_columns)
"""A forest on an encoder's representation."""


def _pack_any(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    expect(type(value) is FittedForest, at, f"is a {type(value).__name__}, not a forest")
    return pack_trees(value.trees, arrays, at, missing=True)


def _unpack_any(node: Json, arrays: Arrays, at: str, scope: Scope) -> FittedForest:
    trees = unpack_trees(node, arrays, at, missing=True)
    return FittedForest.of(trees, trees.left)


ANY_FOREST = CustomKind(_pack_any, _unpack_any)
"""A forest on rows with missing entries; whoever holds it checks how many numbers it reads."""


def pack_trees(
    trees: Sequence[Tree], arrays: Arrays, at: str, n_classes: int = 0, missing: bool = False
) -> Json:
    """scikit-learn's trees; with ``n_classes`` also the class shares in their nodes.

    With ``missing`` also where each node sends rows that miss its number.
    """
    expect(0 < len(trees) <= MAX_TREES, at, f"has no tree, or more than {MAX_TREES}")
    trees = list(trees)
    place = _inside(at)
    arrays[f"{place}nodes"] = np.array([tree.node_count for tree in trees], dtype=np.int64)
    columns = {"left": "children_left", "right": "children_right", "feature": "feature"}
    for name, field in columns.items():
        whole = np.concatenate([getattr(tree, field) for tree in trees])
        arrays[place + name] = whole.astype(np.int32)
    arrays[f"{place}threshold"] = np.concatenate([tree.threshold for tree in trees])
    if n_classes:
        arrays[f"{place}value"] = np.concatenate([tree.value[:, 0, :] for tree in trees])
    if missing:
        sent = [tree.__getstate__()["nodes"]["missing_go_to_left"] for tree in trees]
        arrays[f"{place}missing"] = np.concatenate(sent).astype(np.uint8)
    return {"features": int(trees[0].n_features)}


def unpack_trees(
    node: Json,
    arrays: Arrays,
    at: str,
    n_features: int | None = None,
    n_classes: int = 0,
    missing: bool = False,
) -> "StoredTrees":
    """Trees, every node checked."""
    keys(node, {"features"}, at)
    found = unpacked(Whole(1, _MAX_FEATURES), node["features"], f"{at}.features")
    fits = n_features in (None, found)
    expect(fits, at, f"reads rows of {found} numbers, not {n_features}")
    place = _inside(at)
    sizes = _column(arrays, f"{place}nodes", "int64", (None,))
    n_nodes = len(arrays.get(f"{place}left", ()))
    adds_up = (
        0 < len(sizes) <= MAX_TREES
        and sizes.min() >= 1
        and sizes.max() <= n_nodes
        and sizes.sum() == n_nodes
    )
    expect(bool(adds_up), at, "has trees whose sizes do not add up")
    left = _column(arrays, f"{place}left", "int32", (n_nodes,))
    right = _column(arrays, f"{place}right", "int32", (n_nodes,))
    feature = _column(arrays, f"{place}feature", "int32", (n_nodes,))
    # A node that asks whether a number is there at all has an infinite threshold.
    threshold = _column(arrays, f"{place}threshold", "float64", (n_nodes,), finite=not missing)
    expect(not np.isnan(threshold).any(), at, "has a threshold that is no number")
    value = None
    if n_classes:
        value = _column(arrays, f"{place}value", "float64", (n_nodes, n_classes))
    sent_left = np.zeros(n_nodes, dtype=np.uint8)
    if missing:
        sent_left = _column(arrays, f"{place}missing", "uint8", (n_nodes,))
    trees = []
    ends = np.cumsum(sizes).tolist()
    for end, size in zip(ends, sizes.tolist(), strict=True):
        own = slice(end - size, end)
        shares = None
        if value is not None:
            shares = value[own]
        nodes = Nodes(left[own], right[own], feature[own], threshold[own], shares, sent_left[own])
        _check(nodes, found, at)
        trees.append(nodes)
    return StoredTrees(trees, found)


def _inside(at: str) -> str:
    """How the names of arrays at a place begin."""
    if not at:
        return ""
    return f"{at}."


def _column(
    arrays: Arrays, at: str, dtype: str, shape: tuple[int | None, ...], finite: bool = True
) -> NDArray[Any]:
    kind = Array(dtype, shape, finite=finite)
    found: NDArray[Any] = unpack(kind, "C", arrays, at, Scope())
    return found


class Nodes(NamedTuple):
    """The nodes of one tree."""

    left: NDArray[np.int32]  # -1: a leaf
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64] | None  # (nodes, K)
    missing: NDArray[np.uint8] | None = None  # 1: rows that miss the number go left


class StoredTrees(Sequence[Tree]):
    """Trees made when the first row comes: scikit-learn needs 76 bytes for a node, a file 20."""

    def __init__(self, nodes: list[Nodes], n_features: int) -> None:
        self.left = [tree.left for tree in nodes]
        self._n = len(nodes)
        self._nodes = nodes
        self.n_features = n_features
        self._made: list[Tree] | None = None

    def _trees(self) -> list[Tree]:
        nodes = self._nodes  # read before _made is: another thread may be making the same trees
        if self._made is None:
            self._made = [_tree(tree, self.n_features) for tree in nodes]
            self._nodes = []
            self.left = []
        return self._made

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, at: int) -> Tree: ...
    @overload
    def __getitem__(self, at: slice) -> list[Tree]: ...
    def __getitem__(self, at: int | slice) -> Tree | list[Tree]:
        return self._trees()[at]


def _check(nodes: Nodes, n_features: int, at: str) -> None:
    left = nodes.left
    right = nodes.right
    feature = nodes.feature
    n = len(left)
    inner = left != -1
    children = np.concatenate([left[inner], right[inner]])
    parents = np.tile(np.flatnonzero(inner), 2)
    # Children come after their parents, and every node but the root is the child of exactly one: a
    # tree, and no loop.
    expect(
        bool((right[~inner] == -1).all() and (children > parents).all() and (children < n).all()),
        at,
        "is no tree",
    )
    expect(bool((np.bincount(children, minlength=n)[1:] == 1).all()), at, "is no tree")
    expect(
        bool((feature[inner] >= 0).all() and (feature[inner] < n_features).all()),
        at,
        "asks for unknown columns",
    )


def _tree(nodes: Nodes, n_features: int) -> Tree:
    """scikit-learn's tree of checked nodes."""
    left, right, feature, threshold, value, missing = nodes
    if missing is None:
        missing = np.zeros(len(left), dtype=np.uint8)
    return tree_from_nodes(left, right, feature, threshold, missing, n_features, value)
