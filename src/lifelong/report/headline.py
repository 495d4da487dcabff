"""The headline table as data: a row per learner, quartiles, who is best; also ``table.csv``."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lifelong._spreadsheet import safe_cell
from lifelong.evaluation.errors import ErrorTable
from lifelong.experiments.tables import Results, summary
from lifelong.report.strip import quartiles

COLUMNS = {  # statistic → heading, what it is
    "accuracy": ("accuracy", "after all tasks, mean over tasks"),
    "single_accuracy": ("single", "the learner taught one task alone"),
    "reference_accuracy": (
        "reference",
        "a plain model of the same family and total size, all rows of one task",
    ),
    "gain": (
        "gain",
        "log(reference error / final error): above 0, it beats the plain single-task model",
    ),
    "forward_transfer": ("FT", "forward transfer: what earlier tasks brought, log ratio of errors"),
    "backward_transfer": (
        "BT",
        "backward transfer: what later tasks brought; below 0 is forgetting",
    ),
    "transfer": ("T", "transfer: what all other tasks brought; T = FT + BT"),
    "train_seconds": ("train s", "seconds to learn a task, mean over tasks"),
    "predict_seconds": ("predict s", "seconds per 1000 rows after the last task"),
    "bytes": ("MB", "encoders, channels and stored rows after the last task"),
}
_LESS_IS_BETTER = {"train_seconds", "predict_seconds", "bytes"}
_NO_QUARTILES = {"single_accuracy", "reference_accuracy", *_LESS_IS_BETTER}
_SIGNED = {"gain", "forward_transfer", "backward_transfer", "transfer"}


@dataclass(frozen=True)
class CellData:
    """One number of the table; ``spread`` is the median over repetitions, and the quartiles."""

    value: float | None
    text: str
    spread: str = ""
    best: bool = False
    sign: str = ""  # "up" or "down" for statistics around 0


@dataclass(frozen=True)
class HeadlineRow:
    """One learner."""

    label: str
    repetitions: int
    cells: dict[str, CellData]


def headline(results: Results) -> list[HeadlineRow]:
    """Best accuracy first."""
    means = summary(results)
    best = {column: _best(column, [row[column] for row in means.values()]) for column in COLUMNS}
    rows = []
    for label, values in means.items():
        tables = results.headline(label)
        cells = {column: _cell(column, values[column], best[column], tables) for column in COLUMNS}
        rows.append(HeadlineRow(label, min(len(table.errors) for table in tables), cells))
    return sorted(rows, key=lambda row: -(row.cells["accuracy"].value or 0))


def _best(column: str, values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known or column in {"single_accuracy", "reference_accuracy"}:  # controls: no contest
        return None
    if column in _LESS_IS_BETTER:
        return min(known)
    return max(known)


def _cell(
    column: str, value: float | None, best: float | None, tables: Sequence[ErrorTable]
) -> CellData:
    if value is None:
        return CellData(None, "–")
    spread = ""
    if column not in _NO_QUARTILES and min(len(table.errors) for table in tables) > 1:
        lower, median, upper = (number(column, side) for side in quartiles(tables, column))
        spread = f"{median} ({lower} … {upper})"
    sign = ""
    if column in _SIGNED and abs(value) >= 5e-4:
        sign = "up" if value > 0 else "down"
    return CellData(value, number(column, value), spread, best is not None and value == best, sign)


def number(column: str, value: float) -> str:
    """A value of a column as text."""
    if column == "bytes":
        if value < 1e8:
            return f"{value / 1e6:.1f}"
        return f"{value / 1e6:.0f}"
    if column in _LESS_IS_BETTER:
        if value < 1:
            return f"{value:.3f}"
        return f"{value:.1f}"
    if column in _SIGNED and abs(value) < 5e-4:
        return "0"
    text = f"{value:.3f}"
    if column in _SIGNED:
        text = f"{value:+.3f}"
    return text.replace("-", "−")


def write_table(path: Path, results: Results) -> None:
    """``table.csv``: a line per learner, means over tasks with the quartiles over repetitions."""
    means = summary(results)
    spread = [column for column in COLUMNS if column not in _NO_QUARTILES]
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        names = [f"{column}_{side}" for column in spread for side in ("lower", "median", "upper")]
        writer.writerow(["experiment", "learner", "repetitions", *COLUMNS, *names])
        for label, values in means.items():
            tables = results.headline(label)
            sides = np.ravel([quartiles(tables, column) for column in spread])
            numbers = [
                "" if values[column] is None else f"{values[column]:.6g}" for column in COLUMNS
            ]
            repetitions = min(len(table.errors) for table in tables)
            writer.writerow(
                [
                    safe_cell(results.spec.experiment),
                    safe_cell(label),
                    repetitions,
                    *numbers,
                    *(f"{side:.6g}" for side in sides),
                ]
            )
