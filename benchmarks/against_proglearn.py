"""SiLLy-F and SiLLy-N against ProgLearn's forest and network, each in its own process and
environment.
"""

from collections.abc import Iterator
from functools import partial

from benchmarks.measure import Row, compare, in_turn
from benchmarks.proglearn import MissingError, both_workers
from benchmarks.worker import Worker


def rows(quick: bool) -> Iterator[Row]:
    """Four figures per number of tasks; one row that says why where ProgLearn is missing."""
    try:
        with both_workers() as (ours, theirs):
            yield from _forest(ours, theirs, quick)
            yield from _network(ours, theirs, quick)
    except MissingError as reason:
        yield Row("SiLLy-F and SiLLy-N", "ProgLearn 0.0.7", None, note=str(reason))


def _forest(ours: Worker, theirs: Worker, quick: bool) -> Iterator[Row]:
    sizes = [10, 20, 40]
    n_features = 3072
    if quick:
        sizes = [5]
        n_features = 784
    # What is imported, compiled or cached at first use is nobody's merit.
    for worker in (ours, theirs):
        worker.ask("forest", tasks=2, rows=100, features=n_features)
    for size in sizes:
        settings = {"tasks": size, "rows": 500, "features": n_features}
        repeats = 3 if size <= 10 else 1
        pairs = in_turn(
            partial(ours.ask, "forest", **settings),
            partial(theirs.ask, "forest", **settings),
            repeats,
        )
        what = f"{size} tasks × 500 × {n_features}"
        against = "ProgLearn's forest"
        yield compare(f"SiLLy-F, {what}: learning in all", against, pairs, "≥", 1, figure="total")
        yield compare(
            "… channels, rows pushed through trees", against, pairs, "≥", 100, figure="channels"
        )
        yield compare("… channels, counting alone", against, pairs, "≥", 100, figure="counting")
        yield compare("… predict 500 rows", against, pairs, "≥", 30, figure="predict")
        target = 20 if size == 40 else None
        yield compare(
            "… bytes of channels", against, pairs, "≥", target, figure="bytes of channels"
        )


def _network(ours: Worker, theirs: Worker, quick: bool) -> Iterator[Row]:
    n_tasks = 5
    repeats = 3
    if quick:
        n_tasks = 2
        repeats = 1
    for worker in (ours, theirs):
        worker.ask("network", tasks=2, rows=100, epochs=1)
    settings = {"tasks": n_tasks, "rows": 500, "epochs": 5}
    pairs = in_turn(
        partial(ours.ask, "network", **settings),
        partial(theirs.ask, "network", **settings),
        repeats,
    )
    what = f"SiLLy-N, {n_tasks} tasks × 500 × 28×28, 5 epochs"
    against = "ProgLearn's network"
    yield compare(f"{what}: learning in all", against, pairs, "≥", 2, figure="total")
    yield compare("… predict 500 rows", against, pairs, "≥", 10, figure="predict")
    yield compare("… predict one row", against, pairs, "≥", 10, figure="predict one row")
