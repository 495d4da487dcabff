"""Few rows, and many, down a forest against scikit-learn's ``Tree.apply``; and one row of one of
100 tasks of a table against a scikit-learn forest of 300 trees.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import Row, compare, in_turn, side
from lifelong import LifelongClassifier
from lifelong.encoders import ForestEncoder, walking_many
from lifelong.encoders.walking import WARM_UP

TIMES = 50  # a single ask is too short for a clock


def rows(quick: bool) -> Iterator[Row]:
    """A small forest and a large one; then learning and asking tables."""
    note = "without numba"
    if find_spec("numba") is not None:
        note = "with numba"
    repeats = 5 if quick else 15
    for n, n_trees in [(100, 100), (10_000, 300)]:
        rng = np.random.default_rng(0)
        X = rng.random((n, 20), dtype=np.float32)
        y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.random(n) / 2 > 1).astype(int)
        forest = ForestEncoder(n_trees).fit(X, y, rng=rng)
        for n_rows in (1, 10, 32):
            asked = rng.random((n_rows, 20), dtype=np.float32)
            ours = many(lambda f=forest, a=asked: f.encode(a))
            for _ in range(WARM_UP // TIMES + 1):
                ours()
            pairs = in_turn(
                side(ours), side(many(lambda f=forest, a=asked: by_tree(f, a))), repeats
            )
            work = f"{n_rows} rows down {n_trees} trees of {n} rows, {TIMES} times"
            yield compare(work, "Tree.apply", pairs, "≤", 1.0, note=note)
        asked = rng.random((1000, 20), dtype=np.float32)
        if find_spec("numba") is not None:
            walking_many.WARM_UP = 0
            forest.encode(asked)
        pairs = in_turn(
            side(lambda f=forest, a=asked: f.encode(a)),
            side(lambda f=forest, a=asked: by_tree(f, a)),
            repeats,
        )
        work = f"1000 rows down {n_trees} trees of {n} rows"
        yield compare(work, "Tree.apply", pairs, "≤", 0.5, note=note)
    yield from of_tables(10 if quick else 100, repeats, note)


def of_tables(n_tasks: int, repeats: int, note: str) -> Iterator[Row]:
    """Learning all tasks (one pair), and one row of one task."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_tasks, 200, 20)).astype(np.float32)
    slopes = rng.normal(size=20) + rng.normal(size=(n_tasks, 20)) / 2
    y = (np.einsum("tnp,tp->tn", X, slopes) > 0).astype(int)
    names = np.repeat([f"task {number}" for number in range(n_tasks)], 200)
    model = LifelongClassifier(random_state=0)
    model.fit(X.reshape(-1, 20), y.ravel(), task=names)
    large = RandomForestClassifier(300, random_state=0).fit(X[0], y[0])
    one = X[0, :1]
    ours = many(lambda: model.predict(one, task="task 0"))
    for _ in range(WARM_UP // TIMES + 1):
        ours()
    pairs = in_turn(side(ours), side(many(lambda: large.predict(one))), repeats)
    work = f"LifelongClassifier, one row of one of {n_tasks} tasks, {TIMES} times"
    yield compare(work, "RandomForestClassifier(300)", pairs, "≤", 1.0, note=note)


def many(work: Callable[[], object]) -> Callable[[], object]:
    """The work :data:`TIMES` times over."""
    return lambda: [work() for _ in range(TIMES)]


def by_tree(forest: object, X: np.ndarray) -> np.ndarray:
    """The leaves, tree by tree."""
    pairs = zip(forest.trees, forest.leaf_of_node, strict=True)
    return np.stack([number[tree.apply(X)] for tree, number in pairs])
