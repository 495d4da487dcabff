"""Experiments in which nobody says which task a row is from."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny import run, tiny_spec

from lifelong import Task, TaskStream, evaluate
from lifelong.evaluation.unaware import unaware_error
from lifelong.experiments import make_learner
from lifelong.experiments.catalogue import experiment
from lifelong.experiments.spec import LearnerSpec, Part
from lifelong.experiments.streams import make_stream

PART = Part("xor, xnor", "xor", {"n": 60, "n_test": 50, "second": "xnor"}, unaware=True)
LEARNERS = (
    LearnerSpec("silly-f", parameters={"n_estimators": 2}),
    LearnerSpec("nearest-mean"),
    LearnerSpec("chance"),
)


def apart(n=40):
    """Two tasks in different places, with the same labels."""
    rng = np.random.default_rng(0)
    made = []
    for t in range(2):
        y = np.arange(2 * n) % 3
        X = rng.normal(scale=0.3, size=(2 * n, 2)) + np.stack([y, np.full(2 * n, 10.0 * t)], axis=1)
        made.append(Task(f"t{t}", X[:n], y[:n], X[n:], y[n:]))
    return TaskStream(made)


def test_a_part_without_tasks_measures_task_and_label(tmp_path):
    spec = tiny_spec(parts=(PART,), learners=LEARNERS, repetitions=1)
    rows = run(spec, tmp_path)
    assert all(row.done for row in rows)
    stream, learner = make_stream(PART, 0), make_learner("silly-f", 0, n_estimators=2)
    for stage, task in enumerate(stream):
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        for known in list(stream)[: stage + 1]:
            found = [
                row.error
                for row in rows
                if (row.learner, row.task, row.stage, row.kind)
                == ("silly-f", known.name, stage, "stage")
            ]
            assert found == [unaware_error(learner, known)]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["silly-f"]["accuracy"] < summary["silly-f"]["single_accuracy"]
    assert all(0 <= means["reference_accuracy"] <= 1 for means in summary.values())


def test_runs_from_before_the_option_go_on():
    known = replace(PART, unaware=False)
    assert tiny_spec().hash == "4213301b904dd81d"  # as it was then
    assert tiny_spec(parts=(known,)).hash != tiny_spec(parts=(PART,)).hash


def test_nearest_mean_finds_tasks_that_lie_apart_and_chance_does_not():
    stream = apart()
    means, chance = make_learner("nearest-mean"), make_learner("chance", 0)
    for learner in (means, chance):
        for task in stream:
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
    for task in stream:
        assert unaware_error(means, task) < 0.2
        assert unaware_error(chance, task) > 0.6
    accuracy = [1 - unaware_error(chance, task) for task in apart(3000)]
    assert np.mean(accuracy) == pytest.approx(1 / 6, abs=0.02)


def test_the_class_means_do_not_depend_on_how_rows_arrive():
    task = apart()[1]
    whole, batches = make_learner("nearest-mean"), make_learner("nearest-mean")
    first = apart()[0]
    for learner in (whole, batches):
        learner.partial_fit(first.X_train, first.y_train, task="t0")
    whole.partial_fit(task.X_train, task.y_train, task="t1")
    batches.partial_fit(task.X_train[:1], task.y_train[:1], task="t1", classes=[0, 1, 2])
    batches.partial_fit(task.X_train[1:], task.y_train[1:], task="t1")
    np.testing.assert_allclose(whole.knowledge_.means["t1"], batches.knowledge_.means["t1"])
    table = evaluate(lambda seed: make_learner("nearest-mean", seed), apart(), 1)
    assert (table.reference_accuracy > 0.7).all()


@pytest.mark.parametrize("name", ["task-unaware-cifar", "task-unaware-spoken-digit"])
def test_the_catalogue_asks_without_a_task(name):
    for smoke in (False, True):
        spec = experiment(name).spec(smoke=smoke)
        assert all(part.unaware for part in spec.parts)
        labels = {learner.label for learner in spec.learners}
        assert {"silly-n", "silly-f", "er", "lwf", "randumb", "nearest-mean", "chance"} <= labels
