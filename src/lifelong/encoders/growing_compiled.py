"""Growing classification trees in compiled loops: the trees of scikit-learn, bit for bit.

scikit-learn sorts the rows of a node by float32 numbers, for every column that a split looks at.
Here each column becomes ranks, once for a forest, and ranks sort in one or two passes over the
rows. Random numbers are drawn in the same order from the same generator, and what is compared is
computed from whole counts in the same order, so the trees are the same. That holds for classes, and
where a row counts once or not at all. It needs numba (the extra ``fast``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from lifelong._extras import usable_numba
from lifelong._validation import Rows

MISSING = 65_535
"""The rank of what is missing. A column may have so many different numbers."""

WARM_UP = 300_000_000
"""Work that a process does before it compiles the loops, which takes some seconds: for each tree on
n rows n (log₂ n)², as rows are sorted once in each of log₂ n generations of nodes. From there on
the loops save as much time in as much work."""

_CLASS_BITS = 16
_work = 0.0

Grow = Callable[..., tuple[int, int]]
""":func:`lifelong.encoders.growing_loops.grow_tree`."""


class Limits(NamedTuple):
    """Parameters of trees, as whole numbers."""

    max_features: int  # columns that a split looks at
    max_depth: int
    min_leaf: int  # rows


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows whose columns are ranks of their numbers.

    Attributes
    ----------
    columns : (p, n) uint32
        A rank, :data:`MISSING` where there is no number, and below it the row's class (16 bits).
    values : (m,)
        The different numbers of each column in order, column after column.
    starts : (p + 1,)
        Where each column begins in ``values``.
    n_classes : int
    """

    columns: NDArray[np.uint32]
    values: NDArray[np.float32]
    starts: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(cls, X: Rows, classes: NDArray[np.float64], n_classes: int) -> "RankedRows | None":
        """Rows (n, p); None if there are too many classes or different numbers."""
        if n_classes >= MISSING:
            return None
        n, p = X.shape
        columns = np.empty((p, n), dtype=np.uint32)
        found = []
        for number, column in enumerate(columns):
            values, ranks = np.unique(X[:, number], return_inverse=True)
            if len(values) >= MISSING:
                return None
            if np.isnan(values[-1]):  # NaN sorts last, and all of them are one
                values = values[:-1]
                ranks = np.where(ranks == len(values), MISSING, ranks)
            column[:] = ranks << _CLASS_BITS | classes.astype(np.int64)
            found.append(values)
        starts = np.cumsum([0, *(len(values) for values in found)])
        return cls(columns, np.concatenate(found), starts, n_classes)


def loops_if_warm(n_rows: NDArray[np.int64]) -> Grow | None:
    """The compiled loops, once a process has grown trees enough.

    It is about to grow trees on so many rows each (B,).
    """
    global _work
    _work += float((n_rows * np.log2(n_rows) ** 2).sum())
    if _work < WARM_UP:
        return None
    return compiled_loops()


@cache
def compiled_loops() -> Grow | None:
    """The loops, compiled with the first tree; None without a numba that compiles."""
    if usable_numba() is None:
        return None
    grow: Grow = import_module("lifelong.encoders.growing_loops").grow_tree
    return grow


def by_loops(
    grow: Grow,
    rows: RankedRows,
    in_bag: NDArray[np.bool_],
    limits: Limits,
    jobs: Sequence[tuple[int, int]],
) -> list[Tree]:
    """A tree for some columns of ``in_bag`` (n, B), each with its seed."""
    p = len(rows.columns)
    counts = np.ones(1, dtype=np.intp)
    bare = Tree(p, counts, 1).__getstate__()
    random_state = np.random.RandomState(0)
    trees = []
    for column, seed in jobs:
        some = np.flatnonzero(in_bag[:, column])
        nodes = np.zeros(2 * len(some), dtype=bare["nodes"].dtype)
        random_state.seed(seed)
        n_nodes, depth = grow(
            rows.columns,
            rows.values,
            rows.starts,
            rows.n_classes,
            some,
            limits.max_features,
            limits.max_depth,
            limits.min_leaf,
            random_state.randint(0, np.iinfo(np.int32).max),  # as the splitter draws its seed
            nodes,
        )
        tree = Tree(p, counts, 1)
        state = {
            "max_depth": depth,
            "node_count": n_nodes,
            "nodes": nodes[:n_nodes].copy(),
            "values": np.zeros((n_nodes, 1, 1)),
        }
        tree.__setstate__({**bare, **state})
        trees.append(tree)
    return trees
