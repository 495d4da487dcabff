"""``lifelong health``: a table on the terminal and a page with reliability curves."""

import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lifelong import LifelongClassifier, LifelongRegressor, SillyForest, load, save
from lifelong.cli import app
from lifelong.evaluation.health import health
from report.pages import browse, needs_chromium

SCRIPT = "<script>x()</script>"
SEEN = """
  return {
    scripts: document.scripts.length,
    names: [...document.querySelectorAll("th[scope=row]")].map((cell) => cell.textContent),
    figures: [...document.querySelectorAll("figure svg")].map((svg) => svg.clientHeight),
    page: document.documentElement.scrollWidth,
    window: innerWidth,
  };
"""


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.output


def rows(n=90, seed=0):
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=n).round(3)
    frame = pd.DataFrame({"site": rng.choice(["Lyon", SCRIPT], n), "dose": dose})
    frame["ill"] = np.where(dose + rng.normal(size=n) > 0, "yes", "no")
    return frame.assign(days=(dose + rng.normal(size=n)).round(3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of classes and one of numbers, and a file of new rows."""
    folder = tmp_path_factory.mktemp("models")
    learnt = rows()
    X = learnt[["site", "dose"]]
    parameters = {"task_column": "site", "n_estimators": 5, "random_state": 0}
    save(LifelongClassifier(**parameters).fit(X, learnt.ill), folder / "classes")
    save(LifelongRegressor(**parameters).fit(X, learnt.days), folder / "numbers")
    rows(seed=1).to_csv(folder / "new.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("kind", "label", "titles"),
    [("classes", "ill", "accuracy  log-loss"), ("numbers", "days", "RMSE  abs. error")],
)
def test_a_line_per_task_and_a_page(folder, kind, label, titles):
    own = run("health", folder / kind)
    assert titles in own
    assert SCRIPT in own
    assert (folder / kind / "health.html").exists()
    assert run("verify", folder / kind)  # the page does not count as damage
    given = run(
        *("health", folder / kind, "--input", folder / "new.csv"),
        *("--label-column", label, "--out", folder / "new.html"),
    )
    new = rows(seed=1)
    expected = health(load(folder / kind), new[["site", "dose"]], new[label])
    for task in expected.tasks:
        shown = [f"{score:.3f}" for score in task.scores.values()]
        assert any(all(score in line for score in shown) for line in given.splitlines())
    assert (folder / "new.html").exists()


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_a_narrow_terminal_cuts_names_and_no_numbers(folder, width, monkeypatch):
    monkeypatch.setattr(sys.modules["lifelong.cli.health"], "_WIDE", width)
    head, *lines = run("health", folder / "classes").splitlines()
    assert len(head) <= width
    titles = head.split()
    numbers = lines[0].split()[1 : len(titles) - 1]  # Lyon has no note
    assert titles[:3] == ["task", "rows", "accuracy"]
    assert "alone" in titles
    assert len(numbers) == len(titles) - 2
    assert all(float(number) >= 0 for number in numbers)
    left_out = [title for title in ("log-loss", "AUC", "ECE", "guess") if title not in titles]
    assert (left_out == []) == (width >= 80)
    assert not left_out or f"No room for {', '.join(left_out)}" in "\n".join(lines)


def test_mistakes_are_one_line(folder, tmp_path):
    new = folder / "new.csv"
    model = folder / "classes"
    assert "go together" in run("health", model, "--input", new, code=1)
    assert "Did you mean 'ill'" in run(
        "health", model, "--input", new, "--label-column", "il", code=1
    )
    assert "leave --task out" in run(
        "health", model, "--input", new, "--label-column", "ill", "--task", "Lyon", code=1
    )
    assert "Give --input" in run("health", model, "--task", "Lyon", code=1)
    odd = tmp_path / "odd.csv"
    rows(seed=1).assign(ill="perhaps").to_csv(odd, index=False)
    assert "No task has learnt the label 'perhaps'" in run(
        "health", model, "--input", odd, "--label-column", "ill", code=1
    )
    forest = SillyForest(n_estimators=2, random_state=0)
    save(forest.partial_fit([[0.0], [1.0]], [0, 1], task="a"), tmp_path / "forest")
    assert "models of tables" in run("health", tmp_path / "forest", code=1)


@pytest.mark.parametrize(
    ("kind", "width", "dark"), [("classes", 1200, False), ("numbers", 500, True)]
)
def test_the_page_shows_every_task_in_a_browser_and_runs_no_name(
    folder, tmp_path, kind, width, dark
):
    needs_chromium()
    run("health", folder / kind)
    page = folder / kind / "health.html"
    seen, complaints = browse(page, tmp_path, script=SEEN, width=width, dark=dark)
    assert seen["scripts"] == 2  # the page's own, and the one that looks
    assert sorted(seen["names"]) == sorted(["Lyon", SCRIPT])
    assert len(seen["figures"]) == 1 + 2
    assert min(seen["figures"]) > 100
    assert seen["page"] <= seen["window"]
    assert complaints == []
