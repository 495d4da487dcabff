"""What is lost by asking 32 other tasks instead of all, on a stream of 300 related tasks."""

import os
from collections.abc import Iterator

import numpy as np

from benchmarks.growth_tables import tasks
from benchmarks.measure import Row
from lifelong import LifelongClassifier
from lifelong.learners import table_others

N_TREES = 10


def rows(quick: bool) -> Iterator[Row]:
    """Accuracy with all others minus accuracy with 32; half of each task's rows are tested."""
    n_tasks = 300
    if quick:
        n_tasks = 60
    stream = list(tasks(n_tasks))
    few = accuracy(stream)
    most = table_others.MOST_OTHERS
    table_others.MOST_OTHERS = n_tasks
    try:
        every = accuracy(stream)
    finally:
        table_others.MOST_OTHERS = most
    lost = float((every - few).mean())
    error = float((every - few).std(ddof=1) / np.sqrt(n_tasks))
    work = f"{n_tasks} tasks: accuracy lost by asking {most} others, not all"
    note = f"± {error:.4f}; accuracies {few.mean():.4f} and {every.mean():.4f}"
    yield Row(work, "all others", lost, "≤", 0.003, load=os.getloadavg()[0], note=note)


def accuracy(stream: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Of every task (T,)."""
    half = len(stream[0][0]) // 2
    X = np.concatenate([X[:half] for X, _ in stream])
    y = np.concatenate([y[:half] for _, y in stream])
    names = np.repeat(np.arange(len(stream)), half)
    model = LifelongClassifier(n_estimators=N_TREES, shared=None, random_state=0)
    model.fit(X, y, task=names)
    found = [model.score(X[half:], y[half:], task=t) for t, (X, y) in enumerate(stream)]
    return np.array(found)
