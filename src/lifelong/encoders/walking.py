"""One row, or a few, down all trees of a forest at once.

scikit-learn's ``Tree.apply`` is called once per tree: for one row the calls take nearly all of the
time. Here the nodes of all trees lie in one array. With numba (the extra ``fast``) one compiled
loop walks them; without it numpy walks one row down many trees. Both find the leaves that
``Tree.apply`` finds, bit for bit, as they compare the same numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from lifelong._cache import Cache
from lifelong._extras import usable_numba
from lifelong._validation import Rows

FEW_ROWS = 32
"""Rows up to which the compiled loop is taken: 4 to 20 times as fast as scikit-learn for ten
rows, 1.4 to 3 times for 100 (``python -m benchmarks walking``). Few enough that no forest is made
compact because it is trained."""

MANY_TREES = 64
"""Trees from which numpy walks one row faster than scikit-learn: about 2.5 times for 100 trees,
and four times slower for ten."""

WARM_UP = 100
"""Small batches that a process answers before numba is imported and compiles, which takes a
second: a command that asks one row must not wait for it."""

_NODE = np.dtype(
    [
        ("threshold", "f8"),
        ("feature", "i4"),  # −1 in a leaf
        ("left", "i4"),  # in a leaf: its number
        ("right", "i4"),
        ("missing", "i4"),  # 1: rows that miss the number go left
    ],
    align=True,
)
_READY = Cache(128 * 2**20)  # compact nodes of the forests asked last
_asked = count(1)


@dataclass(frozen=True, eq=False)
class CompactNodes:
    """The nodes of all trees of a forest, 24 bytes each.

    Attributes
    ----------
    roots : (B,)
        Where each tree begins.
    nodes : (N,)
        Their fields are those of ``_NODE``.
    """

    roots: NDArray[np.int64]
    nodes: NDArray[Any]

    @classmethod
    def of(cls, trees: Sequence[Tree], leaf_of_node: Sequence[NDArray[np.int32]]) -> "CompactNodes":
        """Of scikit-learn's trees whose leaves are numbered."""
        sizes = np.array([tree.node_count for tree in trees])
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        first = np.repeat(roots, sizes)
        known = np.concatenate([tree.__getstate__()["nodes"] for tree in trees])
        is_leaf = known["left_child"] < 0
        nodes = np.zeros(len(known), dtype=_NODE)
        nodes["threshold"] = known["threshold"]
        nodes["feature"] = np.where(is_leaf, -1, known["feature"])
        nodes["left"] = np.where(is_leaf, np.concatenate(leaf_of_node), known["left_child"] + first)
        nodes["right"] = np.where(is_leaf, 0, known["right_child"] + first)
        nodes["missing"] = known["missing_go_to_left"]
        return cls(roots, nodes)

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return self.roots.nbytes + self.nodes.nbytes


def leaves_of_few(forest: Any, rows: Rows) -> NDArray[np.int32] | None:
    """The leaf of each row in each tree (B, n); None where scikit-learn is the faster way.

    Parameters
    ----------
    forest : FittedForest
    rows : (n, p)
        float32.
    """
    n_trees = len(forest.trees)
    if not 0 < len(rows) <= FEW_ROWS:
        return None
    walk = None
    if next(_asked) > WARM_UP:
        walk = compiled_walk()
    by_numpy = len(rows) == 1 and n_trees >= MANY_TREES
    if walk is None and not by_numpy:
        return None
    compact = _READY.get(forest)
    if compact is None:
        compact = CompactNodes.of(forest.trees, forest.leaf_of_node)
        _READY.put(forest, compact)
    if walk is None:
        return walk_one_row(rows[0], compact)[:, None]
    leaves = np.empty((n_trees, len(rows)), dtype=np.int32)
    # A copy in C order, that may be written: one signature, so numba compiles once.
    walk(np.array(rows, dtype=np.float32, order="C"), compact.roots, compact.nodes, leaves)
    return leaves


@cache
def compiled_walk() -> Callable[..., None] | None:
    """:func:`walk_rows` compiled by numba; None without a numba that compiles."""
    numba = usable_numba()  # half a second, for those who ask many rows one by one
    if numba is None:
        return None
    walk: Callable[..., None] = numba.njit(nogil=True)(walk_rows)
    return walk


def walk_rows(
    X: Rows, roots: NDArray[np.int64], nodes: NDArray[Any], leaves: NDArray[np.int32]
) -> None:
    """Write the leaf of each row in each tree into ``leaves`` (B, n): the loop to compile."""
    for b in range(len(roots)):
        for i in range(len(X)):
            node = nodes[roots[b]]
            while node["feature"] >= 0:
                value = X[i, node["feature"]]
                # NaN is not equal to itself, and not at most anything
                if value <= node["threshold"] or (value != value and node["missing"] == 1):
                    node = nodes[node["left"]]
                else:
                    node = nodes[node["right"]]
            leaves[b, i] = node["left"]


def walk_one_row(row: NDArray[np.float32], compact: CompactNodes) -> NDArray[np.int32]:
    """The leaf of one row in each tree (B,): all trees one level down at a time."""
    at = compact.roots.copy()
    walking = np.arange(len(at))
    while len(walking):
        node = compact.nodes[at[walking]]
        inner = node["feature"] >= 0
        walking = walking[inner]
        node = node[inner]
        value = row[node["feature"]]
        goes_left = (value <= node["threshold"]) | (np.isnan(value) & (node["missing"] == 1))
        at[walking] = np.where(goes_left, node["left"], node["right"])
    leaves: NDArray[np.int32] = compact.nodes["left"][at]
    return leaves
