"""Many rows down all trees of a forest, eight rows abreast.

A row that goes down a tree waits at every node for a number from memory, and half of the guesses
that the processor makes meanwhile are wrong. Here eight rows go down together, and nothing is
guessed: the two children of a node lie side by side, and a comparison is the step to one of them.
That takes a third of the time of scikit-learn's ``Tree.apply`` (``python -m benchmarks walking``).
It needs numba (the extra ``fast``); the leaves are those of ``Tree.apply``, bit for bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lifelong._cache import Cache
from lifelong._extras import usable_numba
from lifelong._validation import Rows

ABREAST = 8
"""Rows that go down a tree together; 16 and 32 were slower."""

ENOUGH_ROWS = 512
"""Rows after which pairing a forest's nodes has paid for itself, in one batch or several."""

NODES_PER_ROW = 8
"""The same for large trees: they must be asked at least one row for so many nodes of each."""

WARM_UP = 20_000_000
"""Walks (a row down a tree) that a process makes before it compiles this. That takes a second,
and so many walks save half of one."""

_CALL = 50  # walks that take as long as one call of ``Tree.apply`` does

NODE = np.dtype(
    [
        ("threshold", "f4"),  # a row whose number is larger goes right; infinite in a leaf
        ("feature", "i4"),  # 0 in a leaf
        ("left", "i4"),  # the right child is the next one; a leaf is its own left child
        ("missing", "i4"),  # 1: rows that miss the number go right
    ]
)
_READY = Cache(128 * 2**20)  # paired nodes of the forests asked last
_rows_asked: "WeakKeyDictionary[Any, int]" = WeakKeyDictionary()  # of forests not paired yet
_walks = 0


class Compiled(NamedTuple):
    """Both loops, compiled."""

    pair: Callable[..., int]
    walk: Callable[..., None]


@dataclass(frozen=True, eq=False)
class PairedNodes:
    """The nodes of all trees of a forest, siblings side by side.

    Attributes
    ----------
    roots, depths : (B,)
        Where each tree begins, and how many steps lead to its deepest leaf.
    nodes : (N,)
        Their fields are those of ``NODE``.
    leaves : (N,)
        The number of a leaf, where there is one.
    """

    roots: NDArray[np.int64]
    depths: NDArray[np.int64]
    nodes: NDArray[Any]
    leaves: NDArray[np.int32]

    @classmethod
    def of(cls, forest: Any, pair: Callable[..., int]) -> "PairedNodes":
        """Of a fitted forest; ``pair`` is :func:`pair_nodes`, compiled or not."""
        sizes = [tree.node_count for tree in forest.trees]
        ends = np.cumsum(sizes)
        roots = (ends - sizes).astype(np.int64)
        depths = np.zeros(len(roots), dtype=np.int64)
        nodes = np.zeros(ends[-1], dtype=NODE)
        leaves = np.zeros(ends[-1], dtype=np.int32)
        each = zip(forest.trees, forest.leaf_of_node, roots, strict=True)
        for b, (tree, numbers, root) in enumerate(each):
            known = tree.__getstate__()["nodes"]
            depths[b] = pair(known, numbers, root, nodes, leaves)
        return cls(roots, depths, nodes, leaves)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.roots, self.depths, self.nodes, self.leaves)
        return sum(array.nbytes for array in arrays)


def leaves_of_many(forest: Any, rows: Rows) -> NDArray[np.int32] | None:
    """The leaf of each row in each tree (B, n); None where scikit-learn is the faster way.

    Parameters
    ----------
    forest : FittedForest
    rows : (n, p)
        float32.
    """
    n_trees = len(forest.trees)
    compiled = loops_if_warm(len(rows), n_trees)
    if compiled is None:
        return None
    paired = _READY.get(forest)
    if paired is None:
        n_asked = _rows_asked.get(forest, 0) + len(rows)
        n_nodes = sum(tree.node_count for tree in forest.trees)
        if n_asked < max(ENOUGH_ROWS, n_nodes / n_trees / NODES_PER_ROW):
            _rows_asked[forest] = n_asked
            return None
        paired = PairedNodes.of(forest, compiled.pair)
        _READY.put(forest, paired)
    leaves = np.empty((n_trees, len(rows)), dtype=np.int32)
    in_order = np.ascontiguousarray(rows)
    compiled.walk(in_order, paired.roots, paired.depths, paired.nodes, paired.leaves, leaves)
    return leaves


def loops_if_warm(n_rows: int, n_trees: int) -> Compiled | None:
    """The compiled loops, once a process has made walks enough; it is about to make these."""
    global _walks
    _walks += (n_rows + _CALL) * n_trees
    if not is_warm():
        return None
    return compiled_loops()


def is_warm() -> bool:
    """Whether a process has made walks enough to compile what follows them, too."""
    return _walks >= WARM_UP


@cache
def compiled_loops() -> Compiled | None:
    """Both loops compiled by numba; None without a numba that compiles."""
    numba = usable_numba()
    if numba is None:
        return None
    node = numba.from_dtype(NODE)
    may_be_read_only = numba.types.Array(numba.float32, 2, "C", readonly=True)
    whole = numba.int64[::1]
    # One signature, for rows that may be written as well: it is compiled once.
    walk = numba.njit(
        numba.void(
            may_be_read_only, whole, whole, node[::1], numba.int32[::1], numba.int32[:, ::1]
        ),
        nogil=True,
    )
    return Compiled(numba.njit(nogil=True)(pair_nodes), walk(walk_abreast))


def pair_nodes(
    known: NDArray[Any],
    numbers: NDArray[np.int32],
    root: int,
    nodes: NDArray[Any],
    leaves: NDArray[np.int32],
) -> int:
    """Lay the nodes of one tree out in pairs, from ``root`` on; how deep the tree is.

    In scikit-learn's trees, and in checked files, children come after their parents.

    Parameters
    ----------
    known : (m,)
        scikit-learn's nodes.
    numbers : (m,)
        The number of each leaf.
    root : int
        Where the tree begins in ``nodes`` and ``leaves``, which are written.
    """
    place = np.full(len(known), root, dtype=np.int32)
    depth = np.zeros(len(known), dtype=np.int32)
    free = root + 1
    for i in range(len(known)):
        at = place[i]
        node = nodes[at]
        left = known[i]["left_child"]
        if left < 0:
            node["threshold"] = np.inf
            node["left"] = at
            leaves[at] = numbers[i]
            continue
        right = known[i]["right_child"]
        # The largest float32 that is not above the threshold: the same float32 numbers are above.
        threshold = np.float32(known[i]["threshold"])
        if threshold > known[i]["threshold"]:
            threshold = np.nextafter(threshold, np.float32(-np.inf))
        node["threshold"] = threshold
        node["feature"] = known[i]["feature"]
        node["left"] = free
        node["missing"] = 1 - known[i]["missing_go_to_left"]
        place[left] = free
        place[right] = free + 1
        depth[left] = depth[i] + 1
        depth[right] = depth[i] + 1
        free += 2
    return int(depth.max())


def walk_abreast(
    X: Rows,
    roots: NDArray[np.int64],
    depths: NDArray[np.int64],
    nodes: NDArray[Any],
    leaves: NDArray[np.int32],
    found: NDArray[np.int32],
) -> None:
    """Write the leaf of each row in each tree into ``found`` (B, n): the loop to compile."""
    misses = False
    for value in X.ravel():
        misses |= value != value  # NaN is not equal to itself
    n = len(X)
    at = np.empty(ABREAST, dtype=np.int32)
    for b in range(len(roots)):
        for first in range(0, n, ABREAST):
            begin = min(first, max(n - ABREAST, 0))  # the last rows go with some for a second time
            together = min(ABREAST, n)
            for r in range(together):
                at[r] = roots[b]
            for _ in range(depths[b]):
                for r in range(together):
                    node = nodes[at[r]]
                    value = X[begin + r, node["feature"]]
                    right = value > node["threshold"]
                    if misses:
                        right |= (value != value) & (node["missing"] == 1)
                    at[r] = node["left"] + right
            for r in range(together):
                found[b, begin + r] = leaves[at[r]]
