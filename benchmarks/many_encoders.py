"""SiLLy-F's answers for one of 1000 tasks, against the same with scikit-learn's ``Tree.apply``: all
forests are walked, and their posteriors added up.

``growth_tasks`` learns the 1000 tasks as well, which takes minutes.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import flat_tasks
from benchmarks.walking import by_tree
from lifelong.channels.leaf import count_leaves, leaf_votes
from lifelong.encoders import ForestEncoder, walking_many
from lifelong.encoders.forest import FittedForest

N_CLASSES = 5
MOST = 0.35 / 0.66  # seconds that are wanted, and that it took before


def rows(quick: bool) -> Iterator[Row]:
    """1000 rows of the first task, whose channel reads every forest; both sides add alike."""
    n_tasks = 1000
    repeats = 5
    if quick:
        n_tasks = 50
        repeats = 3
    stream = flat_tasks(n_tasks, 100, 50, n_classes=N_CLASSES)
    forests = [
        ForestEncoder(10).fit(X, y, rng=np.random.default_rng(t)) for t, (X, y) in enumerate(stream)
    ]
    X, y = stream[0]
    tables = [count_leaves(f.encode(X), y, f.n_leaves, N_CLASSES) for f in forests]
    asked = np.concatenate([X for X, _ in stream[:10]])
    note = "without numba"
    if find_spec("numba") is not None:
        walking_many.WARM_UP = 0
        note = "with numba"

    def votes(leaves_of: Callable[[FittedForest], NDArray[np.int32]]) -> NDArray[np.float64]:
        total = np.zeros((len(asked), N_CLASSES))
        for forest, table in zip(forests, tables, strict=True):
            total += leaf_votes(leaves_of(forest), table)
        return total

    def ours() -> NDArray[np.float64]:
        return votes(lambda forest: forest.encode(asked))

    def theirs() -> NDArray[np.float64]:
        return votes(lambda forest: by_tree(forest, asked).T)

    if not np.array_equal(ours(), theirs()):
        raise AssertionError("the two sides answer differently")
    pairs = in_turn(side(ours), side(theirs), repeats)
    work = f"SiLLy-F, 1000 rows of one of {n_tasks} tasks: forests and sums"
    yield compare(work, "Tree.apply, the same bits", pairs, "≤", MOST, note=note)
