"""Boosted trees: what scikit-learn has grown, as plain trees and numbers."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from lifelong.encoders import boosted
from lifelong.encoders.boosted import fit_boosted


def some_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def labels_of(X, n_classes):
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1])
    return np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_are_those_of_scikit_learn(n_classes):
    X = some_rows()
    y = labels_of(X, n_classes)
    fit = fit_boosted(X, y, n_answers=n_classes, aim="classes", rng=np.random.default_rng(1))
    draws = np.random.default_rng(1)
    draws.permutation(len(y))
    seed = [int(draws.integers(2**31 - 1)) for _ in range(boosted.FOLDS + 1)][-1]
    theirs = HistGradientBoostingClassifier(
        max_iter=30, random_state=seed, **boosted._SETTINGS
    ).fit(X, y)
    np.testing.assert_allclose(fit.model.answers(X), theirs.predict_proba(X), atol=1e-6)


def test_numbers_are_those_of_scikit_learn():
    X = some_rows()
    y = np.nan_to_num(X[:, 0]).astype(np.float64)
    fit = fit_boosted(X, y, n_answers=1, aim="number", rng=np.random.default_rng(1))
    draws = np.random.default_rng(1)
    draws.permutation(len(y))
    seed = [int(draws.integers(2**31 - 1)) for _ in range(boosted.FOLDS + 1)][-1]
    theirs = HistGradientBoostingRegressor(max_iter=30, random_state=seed, **boosted._SETTINGS)
    theirs.fit(X, y)
    np.testing.assert_allclose(fit.model.answers(X)[:, 0], theirs.predict(X), atol=1e-5)


def test_no_row_is_answered_by_trees_that_have_seen_it():
    # Labels are noise: trees that have seen a row answer it well, others no better than chance.
    X = some_rows(1000)
    y = np.random.default_rng(5).integers(2, size=1000)
    fit = fit_boosted(X, y, n_answers=2, aim="classes", rng=np.random.default_rng(0))
    seen = (fit.model.answers(X).argmax(axis=1) == y).mean()
    held_out = (fit.held_out.argmax(axis=1) == y).mean()
    assert seen > 0.65
    assert abs(held_out - 0.5) < 0.06


def test_a_class_without_rows_is_never_the_answer():
    X = some_rows()
    y = 2 * labels_of(X, 2)
    fit = fit_boosted(X, y, n_answers=4, aim="classes", rng=np.random.default_rng(0))
    answers = fit.model.answers(X)
    assert answers.shape == (300, 4)
    assert answers[:, [1, 3]].max() < 1e-6
    np.testing.assert_allclose(answers.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("n_rows", "n_classes"), [(100, 2), (300, 1), (400, 50)], ids=["few rows", "one", "many"]
)
def test_too_few_rows_or_too_many_classes_are_not_boosted(n_rows, n_classes):
    X = some_rows(n_rows)
    y = np.arange(n_rows) % n_classes
    rng = np.random.default_rng(0)
    assert fit_boosted(X, y, n_answers=n_classes, aim="classes", rng=rng) is None


def test_rows_beyond_the_limit_are_answered_without_having_been_seen(monkeypatch):
    monkeypatch.setattr(boosted, "MAX_ROWS", 250)
    X = some_rows(300)
    y = labels_of(X, 2)
    fit = fit_boosted(X, y, n_answers=2, aim="classes", rng=np.random.default_rng(0))
    assert np.isfinite(fit.held_out).all()
    assert (fit.held_out.argmax(axis=1) == y).mean() > 0.8
