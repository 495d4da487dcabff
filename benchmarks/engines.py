"""Many tasks at once on two workers of each engine, against one by one in this process.

    python -m benchmarks.engines [--engines local,ray,dask] [--tasks 6] [--epochs 10] [--repeats 3]

Both sides of a ratio are measured in turn, with workers that are warm. Half is the best that two
cores can do; on a machine that others use as well, the ratio says what is left of it. The results
are compared, too: bit for bit.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

import lifelong
from lifelong import SillyForest, SillyNetwork, Task

Learner = SillyForest | SillyNetwork


def tasks(n: int, rows: int) -> list[Task]:
    """Small images of ten classes that differ in brightness."""
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 10
    draw = lambda: (rng.random((rows, 3, 16, 16)) + y[:, None, None, None] / 10).astype(np.float32)  # noqa: E731
    return [Task(f"t{number}", draw(), y, draw()[:20], y[:20]) for number in range(n)]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def learner(kind: str, epochs: int, n_jobs: int | None) -> Learner:
    if kind == "networks":
        return SillyNetwork(
            "cnn", width=0.25, epochs=epochs, channel="ridge", n_jobs=n_jobs, random_state=0
        )
    return SillyForest(50, n_jobs=n_jobs, random_state=0)


def block(engine: str) -> AbstractContextManager[Any]:
    return lifelong.engine(engine, n_workers=None if engine == "local" else 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", default="local,ray,dask")
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    stream = tasks(chosen.tasks, chosen.rows)
    for engine in chosen.engines.split(","):
        with block(engine):
            for kind in ("networks", "forests"):
                learnt: dict[str, Learner] = {}

                def many(kind: str = kind, learnt: dict[str, Learner] = learnt) -> None:
                    learnt["many"] = learner(kind, chosen.epochs, 2).partial_fit_many(stream)

                def one_by_one(kind: str = kind, learnt: dict[str, Learner] = learnt) -> None:
                    with lifelong.engine("local"):
                        learnt["one by one"] = learner(kind, chosen.epochs, None).partial_fit_many(
                            stream
                        )

                many()  # the workers have imported everything
                pairs = [(seconds(many), seconds(one_by_one)) for _ in range(chosen.repeats)]
                ratios = sorted(a / b for a, b in pairs)
                print(
                    f"{engine:6s} {chosen.tasks} {kind}:"
                    f" {statistics.median(a for a, _ in pairs):6.2f} s, one by one"
                    f" {statistics.median(b for _, b in pairs):6.2f} s, ratio"
                    f" {statistics.median(ratios):.2f} ({ratios[0]:.2f} … {ratios[-1]:.2f}), load"
                    f" {os.getloadavg()[0]:.0f}",
                    flush=True,
                )
                for task in stream:
                    answers = [
                        taught.predict_proba(task.X_test, task=task.name)
                        for taught in learnt.values()
                    ]
                    np.testing.assert_array_equal(*answers)


if __name__ == "__main__":
    main()
