"""Linear encoders: held-out answers, against models that are fitted without the rows."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression, Ridge

from lifelong.encoders import linear
from lifelong.encoders.linear import FOLDS, LinearEncoder
from lifelong.rows.views import DenseView


def rows(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    scores = np.nan_to_num(X[:, 0]) + 0.5 * rng.normal(size=n)
    return X, scores


def fitted(X, y, n_answers=2, aim="classes", weights=None, categories=()):
    rng = np.random.default_rng(3)
    return LinearEncoder().fit(
        X, y, n_answers=n_answers, aim=aim, rng=rng, weights=weights, categories=categories
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_answers_are_those_of_a_model_without_the_fold(n_classes, weighted):
    X, scores = rows(100)
    y = np.digitize(scores, [0, 1][: n_classes - 1]).astype(np.int64)
    weights = None
    if weighted:
        weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
        weights /= weights.mean()
    fit = fitted(X, y, n_classes, weights=weights)
    Z = DenseView.of(X)(X)
    fold = np.random.default_rng(3).permutation(len(y)) % FOLDS
    for number in range(FOLDS):
        inside = fold == number
        model = LogisticRegression(C=0.3, max_iter=200, tol=1e-3)
        own = None if weights is None else weights[~inside]
        model.fit(Z[~inside], y[~inside], sample_weight=own)
        wanted = model.predict_proba(Z[inside])
        np.testing.assert_allclose(fit.held_out[inside], wanted, atol=1e-6)


def test_a_row_decides_nothing_about_its_own_held_out_answer():
    X, scores = rows()
    y = (scores > 0).astype(np.int64)
    before = fitted(X, y).held_out
    for row in range(0, len(y), 7):
        other = y.copy()
        other[row] = 1 - y[row]
        np.testing.assert_array_equal(fitted(X, other).held_out[row], before[row])


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_answers_of_ridge_are_those_of_a_fit_without_the_row(weighted):
    X, y = rows(50)
    weights = None
    times = np.ones(len(y))
    if weighted:
        times = np.random.default_rng(1).uniform(0.3, 3, len(y))
        times /= times.mean()
        weights = times
    fit = fitted(X, y, 1, "number", weights=weights)
    Z = DenseView.of(X)(X).astype(np.float64)
    # the penalty that was chosen is the one with which all rows give the same slopes
    penalties = [
        alpha
        for alpha in linear._PENALTIES
        if np.allclose(Ridge(alpha).fit(Z, y, times).coef_, fit.model.slopes[0], atol=1e-5)
    ]
    assert len(penalties) == 1
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        model = Ridge(penalties[0]).fit(Z[others], y[others], times[others])
        assert fit.held_out[row, 0] == pytest.approx(model.predict(Z[[row]])[0], abs=1e-6)


def test_the_unit_of_weights_does_not_matter():
    X, scores = rows()
    weights = np.random.default_rng(1).uniform(0.3, 3, len(scores))
    for y, n_answers, aim in ((scores, 1, "number"), ((scores > 0).astype(int), 2, "classes")):
        one = fitted(X, y, n_answers, aim, weights=weights)
        other = fitted(X, y, n_answers, aim, weights=1000 * weights)
        np.testing.assert_allclose(one.model.answers(X), other.model.answers(X), atol=1e-5)
        np.testing.assert_allclose(one.held_out, other.held_out, atol=1e-5)


def test_answers_are_the_softmax_of_slopes_and_intercepts():
    X, scores = rows()
    y = (scores > 0).astype(np.int64)
    model = fitted(X, y).model
    Z = model.view(X)
    by_hand = [softmax(model.slopes @ z + model.intercepts) for z in Z]
    np.testing.assert_allclose(model.answers(X), by_hand, atol=1e-5)
    assert (model.answers(X).argmax(axis=1) == y).mean() > 0.8
    np.testing.assert_array_equal(model.encode(X), Z)


def test_classes_without_rows_are_never_the_answer():
    X, scores = rows()
    y = np.where(scores > 0, 3, 1).astype(np.int64)
    fit = fitted(X, y, 5)
    assert set(fit.model.answers(X).argmax(axis=1)) <= {1, 3}
    assert fit.model.answers(X)[:, [0, 2, 4]].max() < 1e-9
    assert np.isfinite(fit.model.intercepts).all()


@pytest.mark.parametrize("aim", ["classes", "number"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_are_enough_to_answer(aim, n):
    X = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    y = np.zeros(n, dtype=np.int64)
    n_answers = 2
    if aim == "number":
        y = np.arange(n, dtype=np.float64)
        n_answers = 1
    fit = fitted(X, y, n_answers, aim)
    assert np.isfinite(fit.model.answers(X)).all()
    assert fit.held_out.shape == (n, n_answers)


def test_columns_that_never_vary_leave_the_mean():
    X = np.ones((10, 2), dtype=np.float32)
    y = np.arange(10, dtype=np.float64)
    assert fitted(X, y, 1, "number").model.answers(X)[:, 0] == pytest.approx([4.5] * 10)
    answers = fitted(X, (y > 6).astype(np.int64)).model.answers(X)
    np.testing.assert_allclose(answers, [[0.7, 0.3]] * 10, atol=1e-6)


def test_more_rows_than_it_trains_on_have_no_held_out_answer(monkeypatch):
    monkeypatch.setattr(linear, "MAX_ROWS", 40)
    X, scores = rows()
    fit = fitted(X, (scores > 0).astype(np.int64))
    assert (~np.isnan(fit.held_out[:, 0])).sum() == 40
    assert np.isfinite(fit.model.answers(X)).all()
