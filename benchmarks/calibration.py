"""How far probabilities are from what happens, and how many rows intervals hold, on real tables.

``python -m benchmarks.calibration --repetitions 3`` prints the tables of docs/my-data.md.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from lifelong.evaluation.calibration import calibration, interval_coverage, together
from lifelong.experiments import make_learner
from lifelong.learners import LifelongRegressor
from lifelong.tasks import TaskStream
from lifelong.tasks.datasets import load

TABLES = ("heart", "adult", "beijing", "vowel", "amazon")
LEARNERS = ("lifelong", "table-rf", "pooled-rf")
LEVELS = (0.5, 0.8, 0.9, 0.95)
ROWS = {"rows_per_task": 50, "test_rows_per_task": 300}


def taught(learner: Any, stream: TaskStream) -> Any:
    """The learner after all tasks."""
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


def calibration_lines(repetitions: int) -> Iterator[str]:
    """A line per table: mean ECE over repetitions, of the rows of all tasks together."""
    yield "| table | by chance | " + " | ".join(LEARNERS) + " |"
    yield "|---|---|" + "---|" * len(LEARNERS)
    for table in TABLES:
        found: dict[str, list[float]] = {name: [] for name in LEARNERS}
        chance = []
        for seed in range(repetitions):
            stream = load(f"tables-{table}", random_state=seed, **ROWS)
            for name in LEARNERS:
                learner = taught(make_learner(name, random_state=seed), stream)
                curve = together(calibration(learner, stream).values())
                found[name].append(curve.calibration_error)
                if name == "lifelong":
                    chance.append(curve.chance_error)
        cells = [f"{np.mean(errors):.3f} ± {np.std(errors):.3f}" for errors in found.values()]
        yield f"| {table} | {np.mean(chance):.3f} | " + " | ".join(cells) + " |"


def coverage_lines(repetitions: int) -> Iterator[str]:
    """A line per level: the share of held-out scores in their interval, mean over schools."""
    yield "| interval | rows inside, mean over schools | schools' quartiles |"
    yield "|---|---|---|"
    shares: dict[float, list[float]] = {level: [] for level in LEVELS}
    for seed in range(repetitions):
        stream = load("tables-school", random_state=seed, **ROWS)
        learner = taught(LifelongRegressor(random_state=seed), stream)
        for task in stream:
            for level in LEVELS:
                ends = learner.predict(task.X_test, task=task.name, interval=level)
                shares[level].append(interval_coverage(ends, task.y_test))
    for level, found in shares.items():
        lower, upper = np.percentile(found, [25, 75])
        yield f"| {level:.0%} | {np.mean(found):.1%} | {lower:.0%} to {upper:.0%} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    repetitions = parser.parse_args().repetitions
    for line in calibration_lines(repetitions):
        print(line, flush=True)
    print()
    for line in coverage_lines(repetitions):
        print(line, flush=True)


if __name__ == "__main__":
    main()
