"""The ridge channel: equal to the textbook, honest, and deaf to encoders that do not help."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from lifelong.channels import RidgeChannel, ridge_solver
from lifelong.channels.ridge_solver import features, solve
from lifelong.encoders import ForestEncoder

RNG = np.random.default_rng


def blobs(n=120, d=6, n_classes=3, seed=0, spread=1.0):
    rng = RNG(seed)
    y = np.arange(n) % n_classes
    centres = RNG(99).normal(size=(n_classes, d)) * 2
    return (centres[y] + spread * rng.normal(size=(n, d))).astype(np.float32), y


def indicators(y):
    return np.eye(y.max() + 1)[y]


def scale_of(Z):
    centred = Z - Z.mean(axis=0)
    return np.mean(np.sum(centred**2, axis=1))


def test_the_solution_is_ridge_regression_on_centred_indicators():
    (Z, y), (test, _) = blobs(), blobs(seed=1)
    Y = indicators(y)
    solution, _ = solve(Z, Y, rng=RNG(0), penalty=0.7)
    textbook = Ridge(alpha=0.7 * scale_of(Z)).fit(Z, Y - Y.mean(axis=0))
    np.testing.assert_allclose(solution.scores(test), textbook.predict(test), atol=1e-5)


def test_leave_one_out_scores_equal_leaving_each_row_out():
    Z, y = blobs(n=40)
    Y = indicators(y)
    _, scores = solve(Z, Y, rng=RNG(0), penalty=0.5)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        # the intercept is refitted without row i, so the prediction is compared on the scale of the indicators
        model = Ridge(alpha=0.5 * scale_of(Z)).fit(Z[others], Y[others])
        np.testing.assert_allclose(scores[i] + Y.mean(axis=0), model.predict(Z[i : i + 1])[0], atol=1e-6)


def test_leaf_features_count_the_trees_in_which_two_rows_meet():
    Z, y = blobs()
    forest = ForestEncoder(n_trees=7).fit(Z, y, rng=RNG(0))
    leaves = forest.encode(Z)
    A = features(leaves, forest.n_leaves)
    share = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    np.testing.assert_allclose((A @ A.T).toarray(), share, atol=1e-6)


def test_many_rows_take_the_nystroem_form_and_answer_almost_the_same(monkeypatch):
    (Z, y), (test, _) = blobs(n=1500, spread=3.0), blobs(n=600, seed=1, spread=3.0)
    exact, exact_scores = solve(Z, indicators(y), rng=RNG(0))
    monkeypatch.setattr(ridge_solver, "MAX_ROWS", 500)
    monkeypatch.setattr(ridge_solver, "LANDMARKS", 300)
    short, short_scores = solve(Z, indicators(y), rng=RNG(0))
    np.testing.assert_allclose(short.scores(test), exact.scores(test), atol=0.02)
    np.testing.assert_allclose(short_scores, exact_scores, atol=0.02)


def test_the_penalty_grows_with_the_noise():
    quiet, loud = (solve(blobs(spread=spread)[0], indicators(blobs()[1]), rng=RNG(0))[0] for spread in (0.5, 6.0))
    assert quiet.penalty < loud.penalty
    assert quiet.skill > loud.skill


def channel_with(useful=True, n_useless=0, own=True, n=200, weights="learnt"):
    """A task with its own encoder (held-out half), perhaps a useful other one, and encoders that show pure noise."""
    Z, y = blobs(n=n, spread=2.0)
    other, _ = blobs(n=n, spread=1.5, seed=5)
    channel = RidgeChannel(weights).with_class_counts(np.bincount(y))
    if own:
        channel = channel.update("own", None, Z, y, in_bag=np.arange(n) < n // 2, rng=RNG(0))
    if useful:
        channel = channel.update("useful", None, other, y, rng=RNG(0))
    for u in range(n_useless):
        channel = channel.update(f"noise {u}", None, RNG(u).normal(size=(n, 30)).astype(np.float32), y, rng=RNG(0))
    return channel


def test_an_encoder_that_does_not_help_gets_next_to_no_weight():
    weights = channel_with(n_useless=3).mixing.weights
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["useful"] > 0.2
    assert all(weights[f"noise {u}"] < 0.02 for u in range(3))


def test_noise_alone_leaves_the_own_encoder_in_charge():
    weights = channel_with(useful=False, n_useless=4).mixing.weights
    assert weights["own"] > 0.85


def test_equal_weights_are_the_papers_average():
    weights = channel_with(n_useless=2, weights="equal").mixing.weights
    np.testing.assert_allclose(list(weights.values()), 1 / 4)


def test_noise_encoders_change_hardly_any_answer():
    (own, _), (other, truth) = blobs(n=900, spread=2.0, seed=7), blobs(n=900, spread=1.5, seed=8)
    noise = {f"noise {u}": RNG(u + 50).normal(size=(900, 30)).astype(np.float32) for u in range(5)}
    clean = channel_with().predict_proba({"own": own, "useful": other})
    noisy = channel_with(n_useless=5).predict_proba({"own": own, "useful": other, **noise})
    right = [(posteriors.argmax(axis=1) == truth).mean() for posteriors in (clean, noisy)]
    assert right[1] > right[0] - 0.01


def test_posteriors_are_calibrated():
    test, truth = blobs(n=3000, spread=2.0, seed=3)
    channel = channel_with(useful=False, n=300)
    posteriors = channel.predict_proba({"own": test})
    confidence, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == truth
    assert confidence.mean() == pytest.approx(right.mean(), abs=0.05)


def test_without_its_own_encoder_a_task_listens_to_the_others():
    weights = channel_with(own=False).mixing.weights
    assert weights == {"useful": 1.0}


def test_rows_that_only_some_encoders_have_seen_are_matched_by_number():
    Z, y = blobs(n=100)
    whole = RidgeChannel().with_class_counts(np.bincount(y))
    whole = whole.update("own", None, Z, y, in_bag=np.arange(100) < 50, rng=RNG(0))
    stored = np.arange(100)[::-3]  # a replayed share, in another order
    mixed = whole.update("late", None, Z[stored], y[stored], rows=stored, rng=RNG(0))
    assert mixed.mixing.weights["late"] > 0
    assert np.isfinite(mixed.predict_proba({"own": Z, "late": Z})).all()


def test_a_forest_channel_judges_its_own_trees_by_rows_they_have_not_seen():
    """Labels are random: only an honest estimate sees that there is nothing to learn."""
    rng = RNG(0)
    X, y = rng.normal(size=(150, 4)).astype(np.float32), rng.integers(3, size=150)
    encoder = ForestEncoder(n_trees=30)
    in_bag = encoder.split(y, rng=rng)
    forest = encoder.fit(X, y, in_bag=in_bag, rng=rng)
    channel = RidgeChannel().with_class_counts(np.bincount(y))
    view = channel.update("t", forest, forest.encode(X), y, in_bag=in_bag, rng=rng).own["t"]
    assert (view.honest.argmax(axis=1) == view.y).mean() < 0.45


def test_more_rows_of_a_task_move_the_solution_towards_them():
    Z, y = blobs(n=60, d=40, spread=6.0)
    more, labels = blobs(n=600, d=40, spread=6.0, seed=4)
    test, truth = blobs(n=2000, d=40, spread=6.0, seed=9)
    before = RidgeChannel().with_class_counts(np.bincount(y)).update("u", None, Z, y, rng=RNG(0))
    after = before.update("u", None, more, labels, rows=np.arange(60, 660), rng=RNG(0))
    right = [(channel.predict_proba({"u": test}).argmax(axis=1) == truth).mean() for channel in (before, after)]
    assert right[1] > right[0] + 0.03


def test_one_row_one_class_and_no_rows_are_legal():
    Z, y = blobs(n=30)
    empty = RidgeChannel().with_class_counts(np.array([2, 1, 1]))
    np.testing.assert_allclose(empty.predict_proba({"u": Z[:2]}), [[0.5, 0.25, 0.25]] * 2)
    one_row = RidgeChannel().with_class_counts(np.array([1, 0])).update("u", None, Z[:1], y[:1], rng=RNG(0))
    assert np.isfinite(one_row.predict_proba({"u": Z})).all()
    one_class = RidgeChannel().with_class_counts(np.array([30])).update("u", None, Z, np.zeros(30, int), rng=RNG(0))
    np.testing.assert_allclose(one_class.predict_proba({"u": Z}), 1)
