"""What some trees of a forest answer, added to what other forests have answered, in one loop.

A task of a table asks a few trees of each of hundreds of forests. Calls of numpy, and of
scikit-learn for each tree, would take nearly all of the time for one row, and half of it for many.
With numba (the extra ``fast``) one compiled loop walks the trees of a forest and adds up what its
leaves answer. The sums are those of :meth:`AnsweringForest.answers`, bit for bit: the same numbers
are added in the same order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._cache import Cache
from lifelong._validation import Rows
from lifelong.encoders.answers import FEW_ANSWERS, AnsweringForest, Answers
from lifelong.encoders.forest import FittedForest
from lifelong.encoders.walking_many import ABREAST, NODE, PairedNodes, loops_if_warm

_READY = Cache(128 * 2**20)  # the first trees of the forests asked last


@dataclass(frozen=True, eq=False)
class FirstTrees:
    """The first trees of a forest, and what their leaves answer.

    Attributes
    ----------
    paired : PairedNodes
    answers : (leaves, K)
    """

    paired: PairedNodes
    answers: NDArray[np.float32]

    @classmethod
    def of(cls, answering: AnsweringForest, n_trees: int, pair: Callable[..., int]) -> "FirstTrees":
        """The first ``n_trees`` trees of a forest whose leaves all answer."""
        forest = answering.forest
        numbers = forest.leaf_of_node[:n_trees]
        n_leaves = int(numbers[-1].max()) + 1
        first = FittedForest(forest.trees[:n_trees], numbers, n_leaves)
        return cls(PairedNodes.of(first, pair), answering.leaf_answers(n_leaves))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.paired.nbytes + self.answers.nbytes


def add_answers(
    answering: AnsweringForest, X: Rows, n_trees: int, share: float, total: Answers
) -> None:
    """Add ``share`` times what the first ``n_trees`` trees answer to ``total`` (n, K).

    Parameters
    ----------
    answering : AnsweringForest
    X : (n, p)
        As its trees read them.
    n_trees : int
        At most as many as there are.
    share : float
    total : (n, K)
        Is written; has a column for every answer of the forest, and perhaps more.
    """
    first = _first_trees(answering, X, n_trees)
    if first is None:
        total[:, : answering.n_answers] += share * answering.answers(X, n_trees)
        return
    paired = first.paired
    rows = np.ascontiguousarray(X, dtype=np.float32)
    add = compiled_adding()
    add(rows, paired.roots, paired.depths, paired.nodes, paired.leaves, first.answers, share, total)


def _first_trees(answering: AnsweringForest, X: Rows, n_trees: int) -> FirstTrees | None:
    """The trees ready for the loop; None where numpy is asked."""
    loops = loops_if_warm(len(X), n_trees)
    if loops is None or answering.n_answers > FEW_ANSWERS:
        return None
    ready: FirstTrees | None = _READY.get(answering)
    if ready is not None and len(ready.paired.roots) == n_trees:
        return ready
    if not answering.all_leaves_answer:
        return None
    ready = FirstTrees.of(answering, n_trees, loops.pair)
    _READY.put(answering, ready)
    return ready


@cache
def compiled_adding() -> Callable[..., None]:
    """:func:`add_abreast` compiled by numba."""
    import numba

    node = numba.from_dtype(NODE)
    may_be_read_only = numba.types.Array(numba.float32, 2, "C", readonly=True)
    whole = numba.int64[::1]
    numbers = numba.int32[::1]
    signature = numba.void(
        may_be_read_only,
        whole,
        whole,
        node[::1],
        numbers,
        numba.float32[:, ::1],
        numba.float64,
        numba.float64[:, ::1],
    )
    compiled: Callable[..., None] = numba.njit(signature, nogil=True)(add_abreast)
    return compiled


def add_abreast(
    X: Rows,
    roots: NDArray[np.int64],
    depths: NDArray[np.int64],
    nodes: NDArray[Any],
    leaves: NDArray[np.int32],
    answers: NDArray[np.float32],
    share: float,
    total: Answers,
) -> None:
    """Add ``share`` times the mean answer of all trees to ``total``: the loop to compile.

    Rows go down eight abreast, as in :func:`lifelong.encoders.walking_many.walk_abreast`.
    """
    misses = False
    for value in X.ravel():
        misses |= value != value  # NaN is not equal to itself
    n = len(X)
    n_answers = answers.shape[1]
    at = np.empty(ABREAST, dtype=np.int32)
    sums = np.empty((ABREAST, n_answers), dtype=np.float32)
    for first in range(0, n, ABREAST):
        together = min(ABREAST, n - first)
        sums[:] = 0
        for b in range(len(roots)):
            for r in range(together):
                at[r] = roots[b]
            for _ in range(depths[b]):
                for r in range(together):
                    node = nodes[at[r]]
                    value = X[first + r, node["feature"]]
                    right = value > node["threshold"]
                    if misses:
                        right |= (value != value) & (node["missing"] == 1)
                    at[r] = node["left"] + right
            for r in range(together):
                leaf = leaves[at[r]]
                for k in range(n_answers):
                    sums[r, k] += answers[leaf, k]
        for r in range(together):
            for k in range(n_answers):
                total[first + r, k] += share * (np.float64(sums[r, k]) / len(roots))
