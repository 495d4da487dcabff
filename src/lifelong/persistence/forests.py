"""Forests as plain arrays: children, features and thresholds of all nodes of all trees, one tree after another.

Nothing else of scikit-learn's trees is stored: no impurities and no numbers of rows, which say something about rows and
nothing about where a row falls. Before arrays become trees again every node is checked, so that no file can lead a tree
out of its arrays or around in a circle.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from lifelong.encoders.forest import FittedForest
from lifelong.persistence.kinds import Array, Arrays, Whole, expect, keys
from lifelong.persistence.text import Json

MAX_TREES = 10_000
_MAX_FEATURES = 2**31 - 2
_NODE = Tree(1, np.ones(1, dtype=np.intp), 1).__getstate__()["nodes"].dtype


@dataclass(frozen=True)
class ForestKind:
    """A :class:`FittedForest` on rows of ``n_features`` numbers."""

    n_features: int | None = None

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        expect(type(value) is FittedForest, at, f"is a {type(value).__name__}, not a forest")
        return TreesKind(self.n_features).pack(value.trees, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> FittedForest:
        return FittedForest.of(TreesKind(self.n_features).unpack(node, arrays, at))


@dataclass(frozen=True)
class TreesKind:
    """scikit-learn's trees; with ``n_classes`` also the class shares in their nodes."""

    n_features: int | None = None
    n_classes: int = 0

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        trees = list(value)
        expect(0 < len(trees) <= MAX_TREES, at, f"has no tree, or more than {MAX_TREES}")
        place = f"{at}." if at else ""
        arrays[f"{place}nodes"] = np.array([tree.node_count for tree in trees], dtype=np.int64)
        for name, field in (("left", "children_left"), ("right", "children_right"), ("feature", "feature")):
            arrays[place + name] = np.concatenate([getattr(tree, field) for tree in trees]).astype(np.int32)
        arrays[f"{place}threshold"] = np.concatenate([tree.threshold for tree in trees])
        if self.n_classes:
            arrays[f"{place}value"] = np.concatenate([tree.value[:, 0, :] for tree in trees])
        return {"features": int(trees[0].n_features)}

    def unpack(self, node: Json, arrays: Arrays, at: str) -> list[Tree]:
        keys(node, {"features"}, at)
        n_features = Whole(1, _MAX_FEATURES).unpack(node["features"], arrays, f"{at}.features")
        expect(self.n_features in (None, n_features), at, f"reads rows of {n_features} numbers, not {self.n_features}")
        place = f"{at}." if at else ""
        sizes = Array("int64", (None,)).unpack("C", arrays, f"{place}nodes")
        n_nodes = len(arrays.get(f"{place}left", ()))
        fits = 0 < len(sizes) <= MAX_TREES and sizes.min() >= 1 and sizes.max() <= n_nodes and sizes.sum() == n_nodes
        expect(bool(fits), at, "has trees whose sizes do not add up")
        left, right, feature = (
            Array("int32", (n_nodes,)).unpack("C", arrays, place + name) for name in ("left", "right", "feature")
        )
        threshold = Array("float64", (n_nodes,)).unpack("C", arrays, f"{place}threshold")
        value = None
        if self.n_classes:
            value = Array("float64", (n_nodes, self.n_classes)).unpack("C", arrays, f"{place}value")
        trees, start = [], 0
        for size in sizes.tolist():
            part = slice(start, start + size)
            shares = np.zeros((size, 1)) if value is None else value[part]
            trees.append(_tree(Nodes(left[part], right[part], feature[part], threshold[part]), n_features, shares, at))
            start += size
        return trees


class Nodes(NamedTuple):
    """The nodes of one tree."""

    left: NDArray[np.int32]  # -1: a leaf
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]


def _tree(nodes: Nodes, n_features: int, value: NDArray[np.float64], at: str) -> Tree:
    """A tree of checked nodes; ``value`` (nodes, K)."""
    left, right, feature, threshold = nodes
    n = len(left)
    inner = left != -1
    children = np.concatenate([left[inner], right[inner]])
    parents = np.tile(np.flatnonzero(inner), 2)
    # Children come after their parents, and every node but the root is the child of exactly one: a tree, and no loop.
    expect(bool((right[~inner] == -1).all() and (children > parents).all() and (children < n).all()), at, "is no tree")
    expect(bool((np.bincount(children, minlength=n)[1:] == 1).all()), at, "is no tree")
    expect(bool((feature[inner] >= 0).all() and (feature[inner] < n_features).all()), at, "asks for unknown columns")
    packed = np.zeros(n, dtype=_NODE)
    for name, part in (("left_child", left), ("right_child", right), ("feature", feature), ("threshold", threshold)):
        packed[name] = part
    tree = Tree(n_features, np.array([value.shape[1]], dtype=np.intp), 1)
    # Prediction does not look at the depth.
    values = np.ascontiguousarray(value, dtype=np.float64)[:, None, :]
    tree.__setstate__({"max_depth": 0, "node_count": n, "nodes": packed, "values": values})
    return tree
