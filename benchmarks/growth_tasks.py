"""What one more task, a prediction and a task's bytes cost as tasks grow from 10 to 1000, without
and with a budget.
"""

import os
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.measure import Row, timed
from benchmarks.streams import Rows, flat_tasks
from lifelong import SillyForest

BUDGET = 10


class Point(NamedTuple):
    """Costs with T tasks known."""

    n_tasks: int
    learn: float  # CPU seconds of one more task
    predict: float  # CPU seconds of 1000 rows of one task
    bytes_per_task: float


def rows(quick: bool) -> Iterator[Row]:
    """Small tasks, 100 rows × 50 features: exponents of T, and what 1000 of them cost in all."""
    if quick:
        sizes = [10, 32, 100]
    else:
        sizes = [10, 32, 100, 316, 1000]
    stream = flat_tasks(max(sizes), 100, 50, n_classes=5)
    for mode, budget, most in (("growing", None, 1.0), (f"budget of {BUDGET}", BUDGET, 0.1)):
        points, seconds = _grow(
            SillyForest(budget=budget, random_state=0), stream, [BUDGET + 5, *sizes[1:]]
        )
        what = f"{mode}, {points[0].n_tasks} → {points[-1].n_tasks} tasks"
        yield _exponent(
            f"{what}: one more task",
            points,
            [point.learn for point in points],
            most,
            _linear(points),
        )
        # Every encoder sees every row: linear, as far as a clock can tell.
        linear = most if budget else 1.05
        yield _exponent(
            f"{what}: predict 1000 rows", points, [point.predict for point in points], linear
        )
        yield _exponent(
            f"{what}: bytes per task", points, [point.bytes_per_task for point in points], most
        )
        if budget is None:
            what = f"{len(stream)} tasks × 100 × 50"
            yield _absolute(f"{what}: learning in all", seconds, 600)
            yield _absolute(f"{what}: predict 1000 rows of one task", points[-1].predict, 0.35)


def _grow(
    learner: SillyForest, stream: list[Rows], sizes: Sequence[int]
) -> tuple[list[Point], float]:
    """Costs at several numbers of tasks, and the CPU seconds of learning in all."""
    X = np.concatenate([X for X, _ in stream[:10]])
    spent: list[float] = []
    points = []
    for t, (rows_of_task, labels) in enumerate(stream):
        spent.append(
            timed(lambda t=t, X=rows_of_task, y=labels: learner.partial_fit(X, y, task=t))["CPU s"]
        )
        if t + 1 in sizes:
            predicting = [timed(lambda: learner.predict(X, task=0))["CPU s"] for _ in range(3)]
            sizes_now = learner.sizes()
            held = sum(size for content, size in sizes_now.items() if content != "parameters")
            point = Point(
                t + 1, statistics.median(spent[-5:]), statistics.median(predicting), held / (t + 1)
            )
            points.append(point)
    return points, sum(spent)


def _exponent(
    work: str, points: Sequence[Point], values: Sequence[float], most: float, note: str = ""
) -> Row:
    """The slope of log cost over log T, by least squares."""
    slope = float(np.polyfit(np.log([point.n_tasks for point in points]), np.log(values), 1)[0])
    unit = "B" if "bytes" in work else "CPU s"
    return Row(
        work,
        "exponent of T",
        slope,
        "≤",
        most,
        values[-1],
        values[0],
        unit,
        load=os.getloadavg()[0],
        note=note,
    )


def _linear(points: Sequence[Point]) -> str:
    slope, base = np.polyfit(
        [point.n_tasks for point in points], [point.learn for point in points], 1
    )
    return f"{base * 1e3:.0f} ms + {slope * 1e6:.0f} µs per task known"


def _absolute(work: str, seconds: float, most: float) -> Row:
    return Row(work, "CPU seconds", seconds, "≤", most, seconds, load=os.getloadavg()[0])
