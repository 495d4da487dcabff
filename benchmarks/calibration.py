"""How far probabilities are from what happens, and how many rows intervals hold, on real tables.

``python -m benchmarks.calibration --repetitions 5`` appends figures to
docs/results/calibration/rows.csv and puts the tables of docs/my-data.md between their marks. What
is there already is not measured again.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.table import put
from lifelong.evaluation.calibration import calibration, interval_coverage, together
from lifelong.experiments import make_learner
from lifelong.learners import LifelongRegressor
from lifelong.tasks import TaskStream
from lifelong.tasks.datasets import load

RESULTS = Path("docs/results/calibration/rows.csv")
PAGE = Path("docs/my-data.md")
CALIBRATION_MARKS = ("<!-- calibration: begin -->", "<!-- calibration: end -->")
COVERAGE_MARKS = ("<!-- coverage: begin -->", "<!-- coverage: end -->")
ROWS = {"rows_per_task": 50, "test_rows_per_task": 300}
TABLES = ("heart", "adult", "beijing", "vowel", "amazon")
LEARNERS = {
    "lifelong": "LifelongClassifier",
    "table-rf": "a forest per task",
    "pooled-rf": "one forest, a column per task",
}
NUMBERS: dict[str, dict[str, Any]] = {
    "school": {},
    "beijing": {"target": "number"},
    "beijing, later days": {"target": "number", "split": "time"},
}
REGRESSOR = "lifelong-numbers"
LEVELS = (0.5, 0.8, 0.9, 0.95)
ECE = "calibration error"
CHANCE = "calibration error by chance"


class Result(NamedTuple):
    """One figure of one learner in one draw of a table's rows."""

    table: str
    learner: str
    seed: int
    figure: str
    value: float


def taught(learner: Any, stream: TaskStream) -> Any:
    """The learner after all tasks."""
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


def calibration_of(table: str, name: str, seed: int) -> Iterator[Result]:
    """Expected calibration error, of the rows of all tasks together."""
    stream = load(f"tables-{table}", random_state=seed, **ROWS)
    learner = taught(make_learner(name, random_state=seed), stream)
    curve = together(calibration(learner, stream).values())
    yield Result(table, name, seed, ECE, curve.calibration_error)
    yield Result(table, name, seed, CHANCE, curve.chance_error)


def coverage_of(table: str, seed: int) -> Iterator[Result]:
    """For each level the share of held-out numbers in their interval: the mean and the quartiles
    over tasks.
    """
    name = table.split(",")[0]
    stream = load(f"tables-{name}", random_state=seed, **ROWS, **NUMBERS[table])
    learner = taught(LifelongRegressor(random_state=seed), stream)
    for level in LEVELS:
        shares = []
        for task in stream:
            ends = learner.predict(task.X_test, task=task.name, interval=level)
            shares.append(interval_coverage(ends, task.y_test))
        lower, upper = np.percentile(shares, [25, 75])
        found = {"mean": np.mean(shares), "lower quartile": lower, "upper quartile": upper}
        for figure, value in found.items():
            yield Result(table, REGRESSOR, seed, f"inside {level:.0%}, {figure}", float(value))


def read() -> list[Result]:
    """What was measured before."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return [
            Result(
                line["table"],
                line["learner"],
                int(line["seed"]),
                line["figure"],
                float(line["value"]),
            )
            for line in csv.DictReader(file)
        ]


def append(results: list[Result]) -> None:
    """One line each; the header first, if the file is new."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    is_new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        if is_new:
            lines.writerow(Result._fields)
        for result in results:
            lines.writerow([*result[:4], f"{result.value:.5f}"])


def calibration_table(frame: pd.DataFrame) -> Iterator[str]:
    """A line per table: mean and standard deviation over draws."""
    yield "| table | by chance | " + " | ".join(LEARNERS.values()) + " |"
    yield "|---|---|" + "---|" * len(LEARNERS)
    for table in TABLES:
        found = frame[frame.table == table]
        errors = found[found.figure == ECE]
        ours = found[(found.figure == CHANCE) & (found.learner == "lifelong")]
        cells = [f"{ours.value.mean():.3f}"]
        for name in LEARNERS:
            values = errors[errors.learner == name].value
            cells.append(f"{values.mean():.3f} ± {values.std():.3f}")
        yield f"| {table} | " + " | ".join(cells) + " |"


def coverage_table(frame: pd.DataFrame) -> Iterator[str]:
    """A line per level: for each table the mean over tasks, and their quartiles."""
    yield "| interval | " + " | ".join(NUMBERS) + " |"
    yield "|---|" + "---|" * len(NUMBERS)
    for level in LEVELS:
        cells = []
        for table in NUMBERS:
            of_table = frame[frame.table == table]
            mean, lower, upper = (
                of_table[of_table.figure == f"inside {level:.0%}, {figure}"].value
                for figure in ("mean", "lower quartile", "upper quartile")
            )
            cells.append(
                f"{mean.mean():.1%} ± {mean.std():.1%} ({lower.mean():.0%} to {upper.mean():.0%})"
            )
        yield f"| {level:.0%} | " + " | ".join(cells) + " |"


def main() -> None:
    """Measure what is not there yet, and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    results = read()
    done = {result[:3] for result in results}
    wanted = [(table, REGRESSOR) for table in NUMBERS]
    wanted += [(table, name) for table in TABLES for name in LEARNERS]
    for seed in range(repetitions):
        for table, name in wanted:
            if (table, name, seed) in done:
                continue
            if name == REGRESSOR:
                new = list(coverage_of(table, seed))
            else:
                new = list(calibration_of(table, name, seed))
            append(new)
            results += new
            print(table, name, seed, flush=True)
    frame = pd.DataFrame(results)
    for marks, table in (
        (CALIBRATION_MARKS, calibration_table(frame)),
        (COVERAGE_MARKS, coverage_table(frame)),
    ):
        text = "\n".join(table) + "\n"
        print(text)
        put(PAGE, marks[0], text, marks[1])


if __name__ == "__main__":
    main()
