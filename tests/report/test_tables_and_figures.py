"""Tables and figures come from error tables alone, and their words from the data."""

import csv
import io

import numpy as np
import pytest
from rich.console import Console

from lifelong.evaluation import ErrorTable
from lifelong.report.figures import draw_data, draw_errors, draw_transfer, write
from lifelong.report.tables import COLUMNS, summary_table, write_csv
from lifelong.tasks.datasets import load
from lifelong.tasks.simulations import xor_stream


def measured(learner="silly-f", final=0.1):
    errors = np.array([[[0.2, final], [np.nan, 0.3]]])
    return ErrorTable(
        learner,
        ["a", "b"],
        np.array([100, 100]),
        errors,
        np.array([[0.2, 0.4]]),
        {"rf": np.array([[0.2, 0.2]])},
    )


def test_the_summary_shows_every_statistic_and_fits_a_narrow_terminal():
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(summary_table("a stream", [measured(), measured("silly-n", 0.3)]))
    text = console.export_text()
    for heading in COLUMNS.values():
        assert heading in text
    assert "0.800" in text  # mean of 1 - 0.1 and 1 - 0.3
    assert "+0.347" in text  # mean backward transfer: log(0.2 / 0.1) / 2
    assert "…" not in text


def test_the_csv_has_a_line_per_task_and_the_quartiles(tmp_path):
    write_csv(tmp_path / "table.csv", [("a stream", measured())])
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["task"] for row in rows] == ["a", "b"]
    assert float(rows[0]["backward_transfer"]) == pytest.approx(np.log(2), abs=1e-5)
    assert float(rows[0]["accuracy_median"]) == pytest.approx(0.9)


def test_titles_state_what_the_data_say():
    better, worse = draw_errors({"s": [measured()]}), draw_errors({"s": [measured(final=0.4)]})
    assert "1 of 1 old tasks" in better.axes[0].get_title(loc="left")
    assert "0 of 1 old tasks" in worse.axes[0].get_title(loc="left")
    assert "helped 2 of 2" in draw_transfer({"s": [measured()]}).axes[0].get_title(loc="left")


def test_figures_are_written_as_svg_and_png(tmp_path):
    streams = [xor_stream(20, random_state=0), load("digits", n_tasks=2)]
    for name, figure in {
        "data": draw_data(streams),
        "transfer": draw_transfer({"s": [measured()]}),
    }.items():
        paths = write(figure, tmp_path / name)
        assert [path.suffix for path in paths] == [".svg", ".png"]
        assert all(path.stat().st_size > 1000 for path in paths)
