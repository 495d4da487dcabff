"""A table of many tasks: LifelongClassifier against the forests of the tasks alone."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import Row, compare, in_turn, side, timed
from lifelong import LifelongClassifier
from lifelong.encoders.growing_compiled import compiled_loops

N_TREES = 100
N_COLUMNS = 20


class Drawn(NamedTuple):
    """Rows of all tasks, and the level of each task."""

    X: NDArray[np.float64]
    y: NDArray[np.bool_]
    tasks: NDArray[np.intp]
    levels: NDArray[np.float64]


def drawn(
    rng: np.random.Generator,
    n_tasks: int,
    n_rows: int,
    levels: NDArray[np.float64] | None = None,
) -> Drawn:
    """Rows of tasks whose boundaries differ by a level, with a product of two columns in it."""
    X = rng.normal(size=(n_tasks * n_rows, N_COLUMNS))
    tasks = np.repeat(np.arange(n_tasks), n_rows)
    if levels is None:
        levels = rng.normal(scale=0.5, size=n_tasks)
    y = X[:, 0] + X[:, 1] * X[:, 2] + levels[tasks] + rng.normal(size=len(X)) > 0
    return Drawn(X, y, tasks, levels)


def rows(quick: bool) -> Iterator[Row]:
    """One ``fit`` of all tasks against a forest of as many trees for each of them."""
    n_tasks = 100
    n_rows = 200
    repeats = 3
    if quick:
        n_tasks = 10
        repeats = 1
    X, y, tasks, _ = drawn(np.random.default_rng(0), n_tasks, n_rows)

    def ours() -> None:
        LifelongClassifier(n_estimators=N_TREES, random_state=0).fit(X, y, task=tasks)

    def forests() -> None:
        for task in range(n_tasks):
            of_task = tasks == task
            RandomForestClassifier(N_TREES, random_state=0).fit(X[of_task], y[of_task])

    pooled = np.column_stack([X, tasks])
    work = f"LifelongClassifier.fit, {n_tasks} tasks × {n_rows} × {N_COLUMNS}"
    note = "without numba"
    if compiled_loops() is not None:
        note = "with numba; compiling takes some seconds more, once per process"
    if not quick:
        ours()  # compiles

    if find_spec("lightgbm") is not None:  # the extra ``boost``
        boosted = import_module("lightgbm").LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
        pair = (timed(ours), timed(lambda: boosted.fit(pooled, y)))
        yield compare(work, "one LightGBM on all rows", [pair], "", None, note=note)
    yield compare(
        work,
        f"{n_tasks} forests of {N_TREES} trees",
        in_turn(side(ours), side(forests), repeats),
        "≤",
        1.5,
        note=note,
    )
