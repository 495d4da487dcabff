"""Strips from ``table.csv`` and ``tasks.csv`` alone: results without rows can be drawn as well."""

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from lifelong.report.strip import Quartiles, Strip, StripRow, Values, strip_of

_SIDES = ("lower", "median", "upper")
Line = dict[str, str]


def written_strip(
    folder: Path,
    statistic: str,
    *,
    streams: Collection[str],
    learners: Sequence[str] = (),
    growing: Collection[str] = (),
) -> Strip:
    """One statistic of all learners of a folder of results, the most accurate first.

    Parameters
    ----------
    folder : path
        With ``table.csv`` and ``tasks.csv``.
    statistic : str
        A column of both.
    streams : names
        Whose tasks are dots.
    learners : labels, default all
        Only these; those that were not measured are left out.
    growing : labels, default none
        Learners that get a star.
    """
    table = {line["learner"]: line for line in _lines(folder / "table.csv")}
    tasks = [line for line in _lines(folder / "tasks.csv") if line["stream"] in streams]
    found = [label for label in table if not learners or label in learners]
    order = sorted(found, key=lambda label: -float(table[label]["accuracy"]))
    rows = [
        _row(
            label,
            [line for line in tasks if line["learner"] == label],
            statistic,
            _whole(table[label], statistic),
            label in growing,
        )
        for label in order
    ]
    return strip_of(statistic, rows)


def written_orders(folder: Path, learner: str, statistic: str = "transfer") -> Strip:
    """One learner on several streams: a strip per stream, a dot per task."""
    tasks = [line for line in _lines(folder / "tasks.csv") if line["learner"] == learner]
    streams = dict.fromkeys(line["stream"] for line in tasks)
    nothing = Quartiles(float("nan"), float("nan"), float("nan"))
    rows = [
        _row(stream, [line for line in tasks if line["stream"] == stream], statistic, nothing)
        for stream in streams
    ]
    return strip_of(statistic, rows)


def _row(
    label: str, tasks: list[Line], statistic: str, whole: Quartiles, growing: bool = False
) -> StripRow:
    by_stream = [
        sum(line["stream"] == stream for line in tasks)
        for stream in dict.fromkeys(line["stream"] for line in tasks)
    ]
    ages = np.concatenate([np.linspace(0, 1, n_tasks) for n_tasks in by_stream])
    dots = Quartiles(*(_column(tasks, f"{statistic}_{side}") for side in _SIDES))
    return StripRow(label, _column(tasks, statistic), ages, whole, dots, growing)


def _whole(line: Line, statistic: str) -> Quartiles:
    return Quartiles(*(float(line[f"{statistic}_{side}"]) for side in _SIDES))


def _column(lines: list[Line], name: str) -> Values:
    return np.array([float(line[name]) for line in lines])


def _lines(path: Path) -> list[Line]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
