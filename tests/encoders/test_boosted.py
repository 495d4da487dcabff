"""Boosted trees: what scikit-learn has grown, as plain trees and numbers."""

import numpy as np
import pytest
from scipy.special import softmax
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


def by_hand(make, X, y, n_rounds, leaves=8):
    """scikit-learn's models, each without a fold, and the fold of each row."""
    draws = np.random.default_rng(1)
    fold = draws.permutation(len(y)) % boosted.FOLDS
    models = []
    for number in range(boosted.FOLDS):
        seed = int(draws.integers(2**31 - 1))
        model = make(
            max_leaf_nodes=leaves, max_iter=n_rounds, random_state=seed, **boosted._SETTINGS
        )
        models.append(model.fit(X[fold != number], y[fold != number]))
    return models, fold


@pytest.fixture
def one_size(monkeypatch):
    """No other size is tried."""
    monkeypatch.setattr(boosted, "SIZES", boosted.SIZES[boosted.FIRST_SIZE :][:1])
    monkeypatch.setattr(boosted, "FIRST_SIZE", 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_are_those_of_scikit_learns_mean_score(n_classes, one_size):
    X = some_rows()
    y = labels_of(X, n_classes)
    fit = fit_boosted(X, y, n_answers=n_classes, aim="classes", rng=np.random.default_rng(1))
    models, fold = by_hand(HistGradientBoostingClassifier, X, y, 30)
    logs = np.mean([np.log(model.predict_proba(X)) for model in models], axis=0)
    np.testing.assert_allclose(fit.model.answers(X), softmax(logs, axis=1), atol=1e-6)
    for number, model in enumerate(models):
        inside = fold == number
        np.testing.assert_allclose(fit.held_out[inside], model.predict_proba(X[inside]), atol=1e-6)


def test_numbers_are_those_of_scikit_learns_mean(one_size):
    X = some_rows()
    y = np.nan_to_num(X[:, 0]).astype(np.float64)
    fit = fit_boosted(X, y, n_answers=1, aim="number", rng=np.random.default_rng(1))
    models, _ = by_hand(HistGradientBoostingRegressor, X, y, 30)
    mean = np.mean([model.predict(X) for model in models], axis=0)
    np.testing.assert_allclose(fit.model.answers(X)[:, 0], mean, atol=1e-5)


def trees_and_leaves(model):
    n_trees = len(model.forest.trees)
    return n_trees, model.forest.n_leaves / n_trees


def test_targets_with_little_noise_get_large_trees_and_noise_small_ones():
    X = np.nan_to_num(some_rows(2000))
    exact = np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) * X[:, 2]
    noise = X[:, 0] + 5 * np.random.default_rng(2).normal(size=2000)
    large = fit_boosted(X, exact, n_answers=1, aim="number", rng=np.random.default_rng(1))
    small = fit_boosted(X, noise, n_answers=1, aim="number", rng=np.random.default_rng(1))
    assert trees_and_leaves(large.model) == (boosted.FOLDS * 300, 16)
    assert trees_and_leaves(small.model) == (boosted.FOLDS * 150, 4)


@pytest.mark.parametrize("seed", range(4))
def test_the_size_that_stays_is_the_one_that_a_search_by_hand_finds(seed):
    X = some_rows(400, seed)
    noise = np.random.default_rng(seed).normal(size=400)
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + (0.2, 0.5, 1.0, 2.0)[seed] * noise
    fit = fit_boosted(X, y, n_answers=1, aim="number", rng=np.random.default_rng(1))
    errors = {}
    for size in boosted.SIZES:
        n_rounds = min(size.rounds, 400 // size.rows_per_round)
        models, fold = by_hand(HistGradientBoostingRegressor, X, y, n_rounds, size.leaves)
        answers = np.empty(400)
        for number, model in enumerate(models):
            answers[fold == number] = model.predict(X[fold == number])
        errors[size.leaves] = (answers - y) ** 2
    best = 8
    for leaves in (16, 32, 64):
        gain = errors[best] - errors[leaves]
        if gain.mean() <= gain.std() / 20:
            break
        best = leaves
    gain = errors[8] - errors[4]
    if best == 8 and gain.mean() > gain.std() / 20:
        best = 4
    np.testing.assert_allclose((fit.held_out[:, 0] - y) ** 2, errors[best], atol=1e-4)


def test_a_class_of_one_row_is_known_and_that_row_has_no_held_out_answer():
    X = some_rows()
    y = labels_of(X, 2)
    y[7] = 2
    fit = fit_boosted(X, y, n_answers=3, aim="classes", rng=np.random.default_rng(0))
    assert np.isnan(fit.held_out[7]).all()
    assert np.isfinite(np.delete(fit.held_out, 7, axis=0)).all()
    assert fit.model.classes.tolist() == [0, 1, 2]


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
    ("n_rows", "n_classes"), [(70, 2), (300, 1), (400, 50)], ids=["few rows", "one", "many"]
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


@pytest.mark.parametrize(("worth_it", "leaves"), [(0.01, 16), (1.0, 8)])
def test_of_many_rows_larger_trees_have_to_gain_a_share_of_the_loss(monkeypatch, worth_it, leaves):
    monkeypatch.setattr(boosted, "ROWS_TO_COMPARE", 100)  # one fold has as many
    monkeypatch.setattr(boosted, "WORTH_IT", worth_it)
    X = np.nan_to_num(some_rows(2000))
    y = np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) * X[:, 2]
    fit = fit_boosted(X, y, n_answers=1, aim="number", rng=np.random.default_rng(1))
    assert trees_and_leaves(fit.model)[1] == leaves
