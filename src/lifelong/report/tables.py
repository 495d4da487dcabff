"""Error tables as text: on the terminal, and as CSV."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table
from rich.text import Text

from lifelong._spreadsheet import safe_cell
from lifelong._terminal import printable
from lifelong.evaluation.errors import ErrorTable

COLUMNS = {  # statistic → heading
    "accuracy": "accuracy",
    "single_accuracy": "single",
    "reference_accuracy": "reference",
    "forward_transfer": "FT",
    "backward_transfer": "BT",
    "transfer": "T",
    "gain": "gain",
}
LEGEND = (
    "accuracy: after all tasks, mean over tasks · single: the learner taught one task alone · "
    "reference: a plain model of the same family and total size, all rows of one task · "
    "FT, BT, T: forward, backward, total transfer (logarithm of error ratios; positive helps) · "
    "gain: the same against the reference"
)


def summary_table(title: str, tables: Sequence[ErrorTable]) -> Table:
    """One row per learner, means over tasks; best accuracy bold, gains green, losses red."""
    drawn = Table(
        title=Text(printable(title)),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    drawn.add_column("learner", no_wrap=True)
    for heading in COLUMNS.values():
        drawn.add_column(heading, justify="right", no_wrap=True)
    best = max(float(np.mean(table.accuracy)) for table in tables)
    for table in tables:
        drawn.add_row(
            Text(printable(table.learner)),
            *(_cell(statistic, table, best) for statistic in COLUMNS),
        )
    return drawn


def _cell(statistic: str, table: ErrorTable, best: float) -> Text:
    value = float(np.mean(getattr(table, statistic)))
    if np.isnan(value):
        return Text("–")
    if statistic.endswith("accuracy"):
        style = "bold" if statistic == "accuracy" and value == best else ""
        return Text(f"{value:.3f}", style)
    if abs(value) < 5e-4:
        return Text("0")
    return Text(f"{value:+.3f}", "green" if value > 0 else "red")


def write_csv(path: Path, parts: Sequence[tuple[str, ErrorTable]]) -> None:
    """One line per (stream, learner, task), with the quartiles over repetitions."""
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        spread = [
            f"{statistic}_{side}" for statistic in COLUMNS for side in ("lower", "median", "upper")
        ]
        writer.writerow(["stream", "learner", "task", "repetitions", *COLUMNS, *spread])
        for title, table in parts:
            columns = [getattr(table, statistic) for statistic in COLUMNS]
            for name in COLUMNS:
                sides = table.spread(name)
                columns += [sides[side] for side in ("lower", "median", "upper")]
            for t, task in enumerate(table.tasks):
                values = [f"{column[t]:.6g}" for column in columns]
                names = [safe_cell(name) for name in (title, table.learner, task)]
                writer.writerow([*names, len(table.single), *values])
