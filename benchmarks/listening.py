"""What is lost by asking some trees of some other tasks instead of all trees of all tasks, on a
stream of 300 related tasks.
"""

import os
from collections.abc import Iterator

import numpy as np

from benchmarks.growth_tables import tasks
from benchmarks.measure import Row
from lifelong import LifelongClassifier
from lifelong.learners import table_others

FORESTS = (10, 100)  # trees


def rows(quick: bool) -> Iterator[Row]:
    """Accuracy with all trees of all others minus accuracy; half of each task's rows are tested."""
    n_tasks = 300
    if quick:
        n_tasks = 60
    stream = list(tasks(n_tasks))
    for n_trees in FORESTS:
        few = accuracy(stream, n_trees)
        every = accuracy(stream, n_trees, asks_all=True)
        lost = float((every - few).mean())
        error = float((every - few).std(ddof=1) / np.sqrt(n_tasks))
        asked = table_others.trees_asked(n_trees, min(n_tasks - 1, table_others.MOST_OTHERS))
        work = f"{n_tasks} tasks: accuracy lost by asking {asked} of {n_trees} trees of each other"
        note = f"± {error:.4f}; accuracies {few.mean():.4f} and {every.mean():.4f}"
        yield Row(work, "all trees of all", lost, "≤", 0.003, load=os.getloadavg()[0], note=note)


def accuracy(
    stream: list[tuple[np.ndarray, np.ndarray]], n_trees: int, *, asks_all: bool = False
) -> np.ndarray:
    """Of every task (T,)."""
    limits = (table_others.MOST_OTHERS, table_others.WHOLE_FORESTS)
    if asks_all:
        table_others.MOST_OTHERS = len(stream)
        table_others.WHOLE_FORESTS = len(stream)
    try:
        return _accuracy(stream, n_trees)
    finally:
        table_others.MOST_OTHERS, table_others.WHOLE_FORESTS = limits


def _accuracy(stream: list[tuple[np.ndarray, np.ndarray]], n_trees: int) -> np.ndarray:
    half = len(stream[0][0]) // 2
    X = np.concatenate([X[:half] for X, _ in stream])
    y = np.concatenate([y[:half] for _, y in stream])
    names = np.repeat(np.arange(len(stream)), half)
    model = LifelongClassifier(n_estimators=n_trees, shared=None, random_state=0)
    model.fit(X, y, task=names)
    found = [model.score(X[half:], y[half:], task=t) for t, (X, y) in enumerate(stream)]
    return np.array(found)
