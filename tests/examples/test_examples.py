"""The examples run with small settings and without files, say what they stand on, and draw their
pictures.
"""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {
    "speakers": (
        "--digits --rows-per-class 2 --trees 2 --repetitions 1",
        "stand in for six speakers",
    ),
    "sites": ("--rows 20 --trees 5 --repetitions 1", "LifelongClassifier"),
    "who_helps_whom": ("--tasks 2 --trees 2", "own"),
    "learnt_weights": ("--rows 20 --repetitions 1", "ridge, learnt weights"),
}
HAS_PICTURE = {"speakers", "sites", "learnt_weights"}


@pytest.mark.parametrize("name", SMALL)
def test_the_example_runs_and_says_what_it_stands_on(name, monkeypatch, capsys, tmp_path):
    options, says = SMALL[name]
    drawn = ["--picture", str(tmp_path / name)] if name in HAS_PICTURE else []
    monkeypatch.setattr(sys, "argv", [name, *options.split(), *drawn])
    monkeypatch.syspath_prepend(str(EXAMPLES))
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert says in capsys.readouterr().out
    if drawn:
        assert (tmp_path / f"{name}.svg").stat().st_size > 5000
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_sites_reads_a_table_of_your_own(monkeypatch, capsys, tmp_path):
    lines = ["site,a,b,state"]
    lines += [
        f"{site},{row % 7},{row % 3},{'on' if row % 2 else 'off'}"
        for site in ("x", "y")
        for row in range(16)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    options = ["--table", str(tmp_path / "rows.csv"), "--task-column", "site", "--trees", "2"]
    monkeypatch.setattr(sys, "argv", ["sites", *options, "--label-column", "state"])
    runpy.run_path(str(EXAMPLES / "sites.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "diabetes" not in said
    assert said.splitlines()[-1].startswith("LifelongClassifier")


def test_sites_runs_on_a_machine_without_the_real_table(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("LIFELONG_DATA", str(tmp_path))
    options = ["--rows", "20", "--trees", "5", "--repetitions", "1"]
    monkeypatch.setattr(sys, "argv", ["sites", *options])
    runpy.run_path(str(EXAMPLES / "sites.py"), run_name="__main__")
    assert "diabetes: patients of five ages" in capsys.readouterr().out


def test_years_on_a_budget_leaves_as_many_files_as_it_had(capsys, tmp_path):
    years = runpy.run_path(str(EXAMPLES / "years.py"))
    months = years["live"](14, 12, 2, 2, tmp_path / "store")
    after_the_budget = [month.files for month in months[10:]]
    assert max(after_the_budget) == min(after_the_budget)
    assert months[-1].kilobytes < 1.1 * months[10].kilobytes
    years["draw"](tmp_path / "years", months)
    assert "year   1: forest" in capsys.readouterr().out
    assert (tmp_path / "years.svg").stat().st_size > 5000
