"""Errors of other kinds than the share of mistakes, and of numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from lifelong import LifelongClassifier, LifelongRegressor, SillyForest, Task, TaskStream, evaluate
from lifelong.evaluation.errors import ErrorKind, ErrorTable
from lifelong.evaluation.scoring import Scoring, find_scoring
from lifelong.exceptions import ParameterError
from lifelong.experiments import make_learner
from lifelong.tasks.simulations import xor_stream


def forest(seed):
    return SillyForest(5, random_state=seed)


def stream_of(seed):
    return xor_stream(60, n_test=50, random_state=seed)


def tables(target, seed=0):
    """Two tasks with text and holes."""
    rng = np.random.default_rng(seed)
    tasks = []
    for name in ("Lyon", "Nice"):
        dose = rng.normal(size=60)
        frame = pd.DataFrame({"dose": dose, "sex": rng.choice(["f", "m"], 60)})
        frame.loc[::9, "dose"] = np.nan
        y = np.where(dose > 0, "yes", "no") if target == "class" else 3 * dose + 1
        tasks.append(Task(name, frame[:40], y[:40], frame[40:], y[40:], target))
    return TaskStream(tasks)


def taught(learner, stream):
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


def test_log_loss_and_auc_are_those_of_scikit_learn():
    stream = stream_of(0)
    learner = taught(forest(0), stream)
    for task in stream:
        probabilities = learner.predict_proba(task.X_test, task.name)
        loss = find_scoring("neg_log_loss", "class").of_learner(learner, task)
        assert loss == pytest.approx(log_loss(task.y_test, probabilities))
        auc = find_scoring("roc_auc", "class").of_learner(learner, task)
        assert auc == pytest.approx(1 - roc_auc_score(task.y_test, probabilities[:, 1]))


def test_transfers_are_log_ratios_of_the_chosen_errors():
    table = evaluate(forest, stream_of, 2, scoring="neg_log_loss")
    assert table.kind == ErrorKind("log loss", is_share=False)
    np.testing.assert_allclose(
        table.transfer, np.log(table.single.mean(axis=0) / table.errors[:, :, -1].mean(axis=0))
    )
    np.testing.assert_allclose(table.transfer, table.forward_transfer + table.backward_transfer)
    assert np.isfinite(table.gain).all()
    assert np.isnan(table.accuracy).all()
    assert "log loss" in repr(table)


def test_the_accuracy_scorer_is_the_share_of_mistakes():
    usual = evaluate(forest, stream_of, 1)
    asked = evaluate(forest, stream_of, 1, scoring="accuracy")
    np.testing.assert_array_equal(usual.errors, asked.errors)
    assert usual.kind == asked.kind == ErrorKind("error rate")


@pytest.mark.parametrize("name", ["lifelong", "table-rf", "pooled-rf"])
def test_tables_are_evaluated_by_any_metric_of_classes(name):
    def make(seed):
        return make_learner(name, random_state=seed, n_estimators=10)

    for scoring in (None, "neg_log_loss", "roc_auc", "f1"):
        table = evaluate(make, tables("class"), 1, scoring=scoring)
        assert table.errors.shape == (1, 2, 2)
        if scoring != "neg_log_loss":  # a few trees are sure, and wrong once
            assert (table.error < 0.5).all()
        assert list(table.references) == ["rf"]


@pytest.mark.parametrize("scoring", [None, "squared error", "absolute error", "r2"])
@pytest.mark.parametrize("name", ["lifelong-number", "table-rf", "pooled-rf"])
def test_numbers_are_evaluated(name, scoring):
    settings = {} if name.startswith("lifelong") else {"target": "number"}

    def make(seed):
        return make_learner(name, random_state=seed, n_estimators=10, **settings)

    stream = tables("number")
    table = evaluate(make, stream, 1, scoring=scoring)
    learner = taught(make(0), stream)
    for t, task in enumerate(stream):
        off = learner.predict(task.X_test, task=task.name) - task.y_test
        expected = {
            "absolute error": np.mean(np.abs(off)),
            "r2": 1 - r2_score(task.y_test, off + task.y_test),
        }.get(scoring, np.mean(off**2))
        assert table.errors[0, t, 1] == pytest.approx(expected)
    np.testing.assert_allclose(table.transfer, table.forward_transfer + table.backward_transfer)
    if name == "table-rf":
        np.testing.assert_array_equal(table.transfer, 0)  # a control learns nothing from others
    if scoring == "r2":
        assert table.summary()["accuracy"] == pytest.approx(1 - table.error.mean())
    else:
        assert np.isnan(table.summary()["accuracy"])
        assert table.summary()["error"] == pytest.approx(table.error.mean())


def test_a_squared_error_of_zero_is_no_half_mistake():
    kind = ErrorKind("squared error", is_share=False)
    errors = np.zeros((1, 1, 1))
    table = ErrorTable("x", ["t"], np.array([10]), errors, np.zeros((1, 1)), kind=kind)
    assert table.transfer.tolist() == [0.0]
    assert table.repetition(0).kind == kind


def test_an_unknown_scoring_suggests_the_nearest():
    with pytest.raises(ParameterError, match="Unknown scoring 'roc_acu'. Did you mean 'roc_auc'"):
        evaluate(forest, stream_of, 1, scoring="roc_acu")


def test_a_metric_that_does_not_fit_says_so_with_the_task():
    with pytest.raises(ParameterError, match="'1 − roc_auc' cannot be measured on task 'Lyon'"):
        evaluate(
            lambda seed: LifelongRegressor(n_estimators=5), tables("number"), 1, scoring="roc_auc"
        )
    one_class = [replace_test(task, "yes") for task in tables("class")]
    with pytest.raises(ParameterError, match="cannot be measured on task 'Lyon'"):
        evaluate(
            lambda seed: LifelongClassifier(n_estimators=5),
            TaskStream(one_class),
            1,
            scoring="roc_auc",
        )


def replace_test(task, label):
    rows = np.flatnonzero(task.y_test == label)
    return Task(task.name, task.X_train, task.y_train, task.X_test[rows], task.y_test[rows])


def test_a_label_that_a_learner_does_not_know_costs_the_most():
    X = np.zeros((4, 1))
    learner = forest(0).partial_fit(X, ["a", "b", "a", "b"], task="t")
    task = Task("t", X, ["a", "b", "a", "b"], X[:1], ["c"])
    loss = find_scoring("log loss", "class").of_learner(learner, task)
    assert loss == pytest.approx(-np.log(np.finfo(float).eps))


def test_an_error_of_ones_own_is_measured():
    def worst(model, X, y):
        return float(np.max(np.abs(model.predict(X) - y)))

    scoring = Scoring(ErrorKind("largest error", is_share=False), worst)
    table = evaluate(
        lambda seed: LifelongRegressor(n_estimators=5, random_state=seed),
        tables("number"),
        1,
        scoring=scoring,
    )
    squared = evaluate(
        lambda seed: LifelongRegressor(n_estimators=5, random_state=seed), tables("number"), 1
    )
    assert table.kind.name == "largest error"
    assert (table.error**2 > squared.error).all()
