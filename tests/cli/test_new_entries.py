"""A new learner or dataset is one file and one entry: then the command line knows it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from lifelong import Task, TaskStream
from lifelong.cli import app
from lifelong.experiments.spec import Part
from lifelong.experiments.streams import make_stream
from lifelong.learners import Learner
from lifelong.learners.knowledge import TasksKnown
from lifelong.references import LEARNERS, Entry
from lifelong.report.runs import read_run
from lifelong.report.sections import section
from lifelong.tasks.datasets import DATASETS, Dataset, load


class Majority(Learner):
    """Every row belongs to the class that its task has seen most."""

    def __init__(self, *, random_state=None):
        self.random_state = random_state

    def _start(self, seed, in_shape, names):
        return TasksKnown(seed, in_shape, names)

    def _learn(self, known, lesson):
        return known.recorded(lesson)

    def _posteriors(self, known, X, task):
        counts = known.tasks[task].class_counts
        return np.tile(counts / counts.sum(), (len(X), 1))

    def plain_models(self, n_tasks):
        from sklearn.dummy import DummyClassifier

        return {"majority": DummyClassifier(strategy="prior")}

    def sizes(self):
        return {"parameters": 0, "encoders": 0, "channels": 0, "rows": 0}


def two_lines(*, n_tasks=2, rows_per_class=5, random_state=0):
    """Two classes on a line, one side each."""
    X = np.linspace(-1, 1, 4 * rows_per_class, dtype=np.float32)[:, None]
    y = (X[:, 0] > 0).astype(int)
    names = [f"line {number}" for number in range(n_tasks)]
    return TaskStream([Task(name, X[::2], y[::2], X[1::2], y[1::2]) for name in names])


@pytest.fixture
def new_learner(monkeypatch):
    entry = Entry(
        f"{__name__}:Majority",
        "the class seen most",
        trains_network=False,
        growing=True,
        paper="Nobody, Nowhere",
        year=1999,
    )
    monkeypatch.setitem(LEARNERS, "new", entry)


@pytest.fixture
def new_dataset(monkeypatch):
    dataset = Dataset("lines", two_lines, 2, 2, (1,), (), "two classes on a line", terms="MIT")
    monkeypatch.setitem(DATASETS, "lines", dataset)


def invoke(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def test_a_learner_with_an_entry_is_listed_run_and_reported(new_learner, tmp_path):
    listed = invoke("list", "learners").output
    assert "the class seen most (Nobody, Nowhere 1999)" in listed
    arguments = ("run", "xor-xnor", "--smoke", "--learners", "new,silly-f", "--out", tmp_path)
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert list(summary) == ["new", "silly-f"]
    assert 0.3 < summary["new"]["accuracy"] < 0.7
    assert summary["new"]["reference_accuracy"] == pytest.approx(summary["new"]["accuracy"])
    strip = section(read_run(tmp_path)).whole[0].figure.axes[0]
    assert "new *" in [text.get_text() for text in strip.get_yticklabels()]
    assert invoke("report", tmp_path).exit_code == 0


def test_a_report_is_made_where_nobody_knows_the_learner(new_learner, tmp_path, monkeypatch):
    done = invoke("run", "xor-xnor", "--smoke", "--learners", "new", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    monkeypatch.delitem(LEARNERS, "new")
    assert invoke("report", tmp_path).exit_code == 0
    assert "new is most accurate" in (tmp_path / "report.html").read_text()


def test_a_typo_suggests_the_new_name_too(new_learner, tmp_path):
    done = invoke("run", "xor-xnor", "--smoke", "--learners", "neww", "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "Unknown learner 'neww'. Did you mean 'new'?" in done.stderr


def test_a_dataset_with_an_entry_is_listed_loaded_and_streamed(new_dataset):
    assert "two classes on a line" in invoke("list", "datasets").output
    (line,) = [one for one in invoke("data", "list").output.splitlines() if one.startswith("lines")]
    assert "MIT" in line
    assert "40" in line  # rows
    assert "needs no files" in invoke("data", "check", "lines").output
    assert load("lines", n_tasks=3).names == ["line 0", "line 1", "line 2"]
    part = Part("p", "lines", {"rows_per_class": 3})
    assert len(make_stream(part, seed=0)[0].y_train) == 6
