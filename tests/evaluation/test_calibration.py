"""Probabilities that mean what they say, and intervals that hold what they promise."""

import numpy as np
import pytest

from lifelong import LifelongClassifier, LifelongRegressor
from lifelong.evaluation.calibration import (
    calibration,
    interval_coverage,
    reliability_curve,
    together,
)
from lifelong.exceptions import InputError
from lifelong.tasks.datasets import load


def drawn(n, seed, wrong_by=0.0):
    """Probabilities of two labels, and labels drawn from them (or from others)."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.5, 1, n)
    right = rng.random(n) < p - wrong_by
    y = np.where(right, "a", "b")
    return np.column_stack([p, 1 - p]), y


def test_a_model_that_is_sure_and_right_has_no_error():
    curve = reliability_curve([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], ["a", "b"])
    assert curve.calibration_error == 0
    assert curve.rows.tolist() == [0] * 9 + [2]
    assert np.isnan(curve.accuracy[:9]).all()


def test_the_error_is_the_mean_distance_weighted_by_rows():
    sure = [[0.95, 0.05]] * 8 + [[0.65, 0.35]] * 2
    y = ["a"] * 6 + ["b"] * 2 + ["a", "b"]
    curve = reliability_curve(sure, y, ["a", "b"])
    assert curve.calibration_error == pytest.approx(0.8 * (0.95 - 0.75) + 0.2 * (0.65 - 0.5))


def test_right_probabilities_have_the_error_of_chance_and_wrong_ones_more():
    errors = []
    chances = []
    for seed in range(40):
        curve = reliability_curve(*drawn(200, seed), ["a", "b"])
        errors.append(curve.calibration_error)
        chances.append(curve.chance_error)
    assert np.mean(errors) == pytest.approx(np.mean(chances), rel=0.1)
    wrong = reliability_curve(*drawn(4000, 0, wrong_by=0.2), ["a", "b"])
    assert wrong.calibration_error == pytest.approx(0.2, abs=0.03)


def test_curves_of_two_tasks_together_are_that_of_all_rows():
    first = drawn(50, 0)
    second = drawn(90, 1)
    both = reliability_curve(
        np.vstack([first[0], second[0]]), np.concatenate([first[1], second[1]]), ["a", "b"]
    )
    joined = together(reliability_curve(*rows, ["a", "b"]) for rows in (first, second))
    np.testing.assert_allclose(joined.confidence, both.confidence)
    np.testing.assert_allclose(joined.accuracy, both.accuracy)
    assert joined.calibration_error == pytest.approx(both.calibration_error)


@pytest.mark.parametrize(
    ("probabilities", "problem"),
    [
        ([[0.5, 0.5, 0.0]], "there are 2 classes"),
        ([[0.5, 0.6]], "must sum to 1"),
        ([[1.5, -0.5]], "must not be negative"),
        (np.zeros((0, 2)), "at least one row"),
    ],
)
def test_what_is_no_probability_is_refused(probabilities, problem):
    with pytest.raises(InputError, match=problem):
        reliability_curve(probabilities, ["a"] * len(probabilities), ["a", "b"])


def test_intervals_need_two_ends_for_every_number():
    assert interval_coverage([[0, 1], [0, 1]], [0.5, 1]) == 1
    with pytest.raises(InputError, match="a lower and an upper end"):
        interval_coverage([[0, 1]], [0.5, 1])


def taught(learner, stream):
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


@pytest.mark.data
def test_probabilities_on_heart_are_calibrated():
    curves = []
    for seed in range(2):
        stream = load("tables-heart", random_state=seed)
        learner = taught(LifelongClassifier(n_estimators=50, random_state=seed), stream)
        of_tasks = calibration(learner, stream)
        assert list(of_tasks) == stream.names
        curves += of_tasks.values()
    curve = together(curves)
    assert curve.rows.sum() > 400
    assert curve.calibration_error < 0.06  # right probabilities would have .03 by chance


@pytest.mark.data
def test_intervals_of_school_scores_hold_what_they_promise():
    stream = load("tables-school", rows_per_task=50, random_state=0)[:25]
    learner = taught(LifelongRegressor(n_estimators=30, random_state=0), stream)
    for level in (0.5, 0.9):
        inside = [
            interval_coverage(
                learner.predict(task.X_test, task=task.name, interval=level), task.y_test
            )
            for task in stream
        ]
        assert np.mean(inside) == pytest.approx(level, abs=0.05)
