"""A linear correction of others' answers, and many linear models asked at once."""

import numpy as np
import pytest
from scipy.special import log_softmax

from lifelong.encoders import correcting
from lifelong.encoders.asking_linear import answers_of_each
from lifelong.encoders.correcting import added_by, corrected, fit_correction
from lifelong.encoders.linear import FOLDS, LinearEncoder
from lifelong.rows.views import DenseView

AIMS = ("classes", "number")
each_aim = pytest.mark.parametrize("aim", AIMS)
WIDTHS = {"few columns": 4, "more columns than rows": 60}
each_width = pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)


def task(aim, width=4, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=n)
    if aim == "number":
        return X, signal, rng.normal(size=(n, 1))
    offset = log_softmax(rng.normal(size=(n, 3)), axis=1)
    return X, np.digitize(signal, [-0.5, 0.5]), offset


def fit(aim, X, targets, offset, weights=None):
    rng = np.random.default_rng(1)
    return fit_correction(X, targets, offset, aim=aim, rng=rng, weights=weights)


def columns(X):
    """As the correction penalises them: the level, then the columns, a row of about unit length."""
    Z = DenseView.of(X)(X).astype(np.float64)
    level = np.full((len(X), 1), correcting.SPREAD_OF_LEVEL)
    return np.hstack([level, correcting.SPREAD * Z / np.sqrt(Z.shape[1])])


def slopes_of(model, X):
    """In units of those columns."""
    width = len(model.view.kept)
    level = model.intercepts / correcting.SPREAD_OF_LEVEL
    return np.vstack([level, model.slopes.T * np.sqrt(width) / correcting.SPREAD]).astype(float)


@each_width
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_of_classes_are_where_the_penalised_likelihood_has_no_slope(width, weighted):
    X, y, offset = task("classes", width)
    times = np.linspace(0.5, 1.5, len(y)) if weighted else np.ones(len(y))
    model = fit("classes", X, y, offset, times if weighted else None).model
    Z = columns(X)
    B = slopes_of(model, X)
    wrong = np.exp(log_softmax(offset + Z @ B, axis=1)) - np.eye(3)[y]
    at_zero = np.abs(Z.T @ (times[:, None] * (np.exp(offset) - np.eye(3)[y]))).max()
    assert np.abs(Z.T @ (times[:, None] * wrong) + B).max() < 1e-3 * at_zero


@each_width
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_of_numbers_are_those_of_ridge_regression_on_what_others_leave(width, weighted):
    X, y, offset = task("number", width)
    times = np.linspace(0.5, 1.5, len(y)) if weighted else np.ones(len(y))
    model = fit("number", X, y, offset, times if weighted else None).model
    Z = columns(X)
    W = np.diag(times)
    expected = np.linalg.solve(Z.T @ W @ Z + np.eye(Z.shape[1]), Z.T @ W @ (y[:, None] - offset))
    np.testing.assert_allclose(slopes_of(model, X), expected, rtol=1e-3, atol=1e-5)


@each_aim
@each_width
def test_what_is_added_to_a_row_held_out_does_not_depend_on_its_target(aim, width):
    X, y, offset = task(aim, width)
    before = fit(aim, X, y, offset)
    changed = y.copy()
    changed[7] = (y[7] + 1) % 3 if aim == "classes" else y[7] + 10
    after = fit(aim, X, changed, offset)
    np.testing.assert_array_equal(before.held_out[7], after.held_out[7])
    assert not np.array_equal(before.model.slopes, after.model.slopes)


@each_aim
def test_rows_held_out_are_answered_by_a_model_of_the_other_folds(aim):
    X, y, offset = task(aim)
    found = fit(aim, X, y, offset).held_out
    fold = np.random.default_rng(1).permutation(len(y)) % FOLDS
    Z = columns(X)
    for number in range(FOLDS):
        inside = fold == number
        slopes = correcting._fitted(
            Z[~inside], y[~inside], offset[~inside], np.ones((~inside).sum()), aim
        )
        np.testing.assert_allclose(found[inside], Z[inside] @ slopes, atol=1e-8)


@each_aim
def test_of_many_rows_some_are_fitted_and_the_rest_is_held_out_as_it_is(aim, monkeypatch):
    monkeypatch.setattr(correcting, "MAX_ROWS", 30)
    X, y, offset = task(aim, n=100)
    found = fit(aim, X, y, offset)
    assert np.isfinite(found.held_out).all()
    same = np.isclose(found.held_out, added_by(found.model, X), atol=1e-5).all(axis=1)
    assert same.sum() >= 70


@each_aim
def test_a_correction_of_nothing_changes_nothing(aim):
    _, _, offset = task(aim)
    expected = np.exp(offset) if aim == "classes" else offset
    np.testing.assert_allclose(corrected(offset, np.zeros(offset.shape), aim), expected)


@each_aim
def test_what_is_added_does_not_depend_on_how_many_rows_are_asked(aim):
    X, y, offset = task(aim, 9, n=200)
    model = fit(aim, X, y, offset).model
    every = added_by(model, X)
    for row in range(len(X)):
        np.testing.assert_array_equal(added_by(model, X[row : row + 1])[0], every[row])


def models_of_many(aim):
    """Linear models of tasks with holes in different places, other labels, and fewer columns."""
    rng = np.random.default_rng(3)
    found = []
    for number in range(12):
        X = (rng.normal(size=(30, 5)) * (1 + number)).astype(np.float32)
        X[:, 3] = rng.integers(0, 4, 30)
        X[rng.random(X.shape) < 0.1 * (number % 3)] = np.nan
        X[:, 1] = 2.0 if number == 5 else X[:, 1]  # a column that does not vary
        y = (np.nan_to_num(X[:, 0]) > 0).astype(int)
        n_answers = 2 + number % 2
        if aim == "number":
            y = np.nan_to_num(X[:, 0]).astype(float)
            n_answers = 1
        width = 4 if number == 7 else 5
        found.append(
            LinearEncoder()
            .fit(
                X[:, :width],
                y,
                n_answers=n_answers,
                aim=aim,
                rng=rng,
                categories=((3, 4),),
                holds_out=False,
            )
            .model
        )
    return found


@each_aim
def test_many_linear_models_answer_together_as_each_does_alone(aim, monkeypatch):
    models = models_of_many(aim)
    rng = np.random.default_rng(4)
    X = (5 * rng.normal(size=(50, 6))).astype(np.float32)  # a column that came later
    X[:, 3] = rng.integers(0, 6, 50)  # and categories
    X[rng.random(X.shape) < 0.2] = np.nan
    n_answers = 1 if aim == "number" else 3
    together = answers_of_each(models, X, n_answers)
    for model, found in zip(models, together, strict=True):
        k = model.n_answers
        expected = model.answers(X[:, : model.view.n_places])
        np.testing.assert_allclose(found[:, :k], expected, rtol=1e-5, atol=1e-6)
        assert not found[:, k:].any()
    monkeypatch.setattr("lifelong.encoders.asking_linear._NUMBERS_AT_ONCE", 1)
    np.testing.assert_array_equal(answers_of_each(models, X, n_answers), together)


def test_without_holding_out_the_model_is_the_same():
    X, y, _ = task("classes")
    make = LinearEncoder()
    given = {"n_answers": 3, "aim": "classes"}
    one = make.fit(X, y, rng=np.random.default_rng(0), **given)
    other = make.fit(X, y, rng=np.random.default_rng(0), holds_out=False, **given)
    np.testing.assert_array_equal(one.model.slopes, other.model.slopes)
    assert np.isnan(other.held_out).all()
