"""The ridge channel: equal to the textbook, honest, and deaf to encoders that do not help."""

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge

from lifelong import SillyForest, SillyNetwork
from lifelong.channels import RidgeChannel, Seen
from lifelong.channels.ridge import FittedRidge, RidgeSettings
from lifelong.channels.ridge.mixing import mix
from lifelong.channels.ridge.readings import (
    both,
    cross_task,
    in_task,
    read_by_regression,
    read_by_votes,
    votes_of_held_out,
)
from lifelong.channels.ridge.settings import DEFAULT
from lifelong.channels.ridge.solver import features, kernel, linear_map, solve
from lifelong.channels.ridge.views import View
from lifelong.encoders import ForestEncoder
from lifelong.learners import algorithms
from lifelong.tasks.simulations import gaussian_xor

RNG = np.random.default_rng


def seen(Z, y, in_bag=None, rows=None, n_leaves=0, n_answers=0, weights=None):
    rows = np.arange(len(y)) if rows is None else rows
    return Seen(Z, y, rows, weights, in_bag, n_leaves, n_answers)


def view_of(Z, n_leaves, y, rows, in_bag, n_answers=0):
    return View.of(seen(Z, y, in_bag, rows, n_leaves, n_answers), DEFAULT)


def blobs(n=120, d=6, n_classes=3, seed=0, spread=1.0):
    rng = RNG(seed)
    y = np.arange(n) % n_classes
    centres = RNG(99).normal(size=(n_classes, d)) * 2
    return (centres[y] + spread * rng.normal(size=(n, d))).astype(np.float32), y


def indicators(y):
    return np.eye(y.max() + 1)[y]


def centred(y):
    Y = indicators(y)
    return Y - Y.mean(axis=0)


def scale_of(Z):
    around = Z - Z.mean(axis=0)
    return np.mean(np.sum(around**2, axis=1))


def test_the_solution_is_ridge_regression_on_centred_indicators():
    (Z, y), (test, _) = blobs(), blobs(seed=1)
    K, scale = kernel(Z)
    solution = linear_map(Z, solve(K, centred(y), penalty=0.7).alpha, scale)
    textbook = Ridge(alpha=0.7 * scale_of(Z)).fit(Z, centred(y))
    np.testing.assert_allclose(solution.scores(test), textbook.predict(test), atol=1e-5)


def test_leave_one_out_scores_equal_leaving_each_row_out():
    Z, y = blobs(n=40)
    Y = indicators(y)
    scores = solve(kernel(Z).K, centred(y), penalty=0.5).loo
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        # the intercept is refitted without row i, so the prediction is compared on the scale of the
        # indicators
        model = Ridge(alpha=0.5 * scale_of(Z)).fit(Z[others], Y[others])
        np.testing.assert_allclose(
            scores[i] + Y.mean(axis=0), model.predict(Z[i : i + 1])[0], atol=1e-6
        )


def weights_of(y):
    return RNG(3).uniform(0.2, 3.0, size=len(y))


def test_with_weights_the_solution_is_weighted_ridge_regression():
    (Z, y), (test, _) = blobs(n=60), blobs(seed=1)
    w = weights_of(y)
    Y = indicators(y) - np.average(indicators(y), axis=0, weights=w)
    K, scale = kernel(Z, weights=w)
    solution = linear_map(Z, solve(K, Y, penalty=0.7, weights=w).alpha, scale, w)
    textbook = Ridge(alpha=0.7 * scale).fit(Z, Y, sample_weight=w / w.mean())
    np.testing.assert_allclose(solution.scores(test), textbook.predict(test), atol=1e-5)


def test_with_weights_leave_one_out_scores_equal_leaving_each_row_out():
    Z, y = blobs(n=40)
    w = weights_of(y)
    mean = np.average(indicators(y), axis=0, weights=w)
    K, scale = kernel(Z, weights=w)
    scores = solve(K, indicators(y) - mean, penalty=0.5, weights=w).loo
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        model = Ridge(alpha=0.5 * scale)
        model.fit(Z[others], indicators(y)[others], sample_weight=(w / w.mean())[others])
        np.testing.assert_allclose(scores[i] + mean, model.predict(Z[i : i + 1])[0], atol=1e-5)


def test_with_weights_landmarks_that_span_the_features_lose_nothing():
    Z, y = blobs(n=150)
    w = weights_of(y)
    Y = indicators(y) - np.average(indicators(y), axis=0, weights=w)
    landmarks = np.arange(0, 150, 2)
    exact, few = kernel(Z, weights=w), kernel(Z, landmarks, w)
    assert few.scale == pytest.approx(exact.scale, rel=1e-5)
    whole = solve(exact.K, Y, weights=w)
    part = solve(few.K, Y, landmarks=landmarks, weights=w)
    assert part.penalty == whole.penalty
    np.testing.assert_allclose(part.loo, whole.loo, atol=1e-3)


def test_a_row_of_weight_3_votes_in_a_leaf_like_three_rows():
    X, y = blobs(spread=3.0)
    forest = ForestEncoder(n_trees=6).fit(X, y, rng=RNG(0))
    Z, w = forest.encode(X), RNG(1).integers(1, 4, size=len(y)).astype(float)
    often = np.repeat(np.arange(len(y)), w.astype(int))
    one = View.of(seen(Z, y, n_leaves=forest.n_leaves, weights=w), DEFAULT)
    three = View.of(seen(Z[often], y[often], n_leaves=forest.n_leaves), DEFAULT)
    maps = [read_by_votes({"u": view}, {"u": 1.0}, 3, None).maps["u"] for view in (one, three)]
    np.testing.assert_allclose(maps[0].coefficients, maps[1].coefficients, atol=1e-6)


@pytest.mark.parametrize("in_bag", [False, True])
@pytest.mark.parametrize("of_leaves", [False, True])
def test_weights_that_are_all_alike_change_nothing_but_rounding(of_leaves, in_bag):
    (Z, y), (test, _) = blobs(spread=2.0), blobs(seed=1, spread=2.0)
    forest = ForestEncoder(n_trees=8)
    bag = forest.split(y, rng=RNG(0)) if of_leaves else RNG(0).random(len(y)) < 0.7
    grown = forest.fit(Z, y, in_bag=bag if of_leaves else None, rng=RNG(0))
    rows = (grown.encode(Z), grown.encode(test)) if of_leaves else (Z, test)
    bag = bag if in_bag else None
    answers = []
    for weights in (None, np.full(len(y), 2.0)):
        shown = seen(rows[0], y, bag, n_leaves=grown.n_leaves if of_leaves else 0, weights=weights)
        channel = RidgeChannel().start(np.bincount(y)).update("u", shown)
        answers.append(channel.predict_proba({"u": rows[1]}))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-4)


def test_each_kernel_is_computed_once(monkeypatch):
    """Three encoders of other tasks and the own one: a kernel each, and none of them twice."""
    computed = []

    def counting(A, landmarks=None, weights=None):
        computed.append(A.tobytes())
        return kernel(A, landmarks, weights)

    monkeypatch.setattr("lifelong.channels.ridge.views.kernel", counting)
    monkeypatch.setattr("lifelong.channels.ridge.readings.kernel", counting)
    assert channel_with(n_useless=2).readout.r2 > 0
    assert len(computed) == len(set(computed)) == 4


def test_leaf_features_count_the_trees_in_which_two_rows_meet():
    Z, y = blobs()
    forest = ForestEncoder(n_trees=7).fit(Z, y, rng=RNG(0))
    leaves = forest.encode(Z)
    A = features(leaves, forest.n_leaves)
    share = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    np.testing.assert_allclose((A @ A.T).toarray(), share, atol=1e-6)


def test_several_encoders_are_one_regression_on_their_features_side_by_side():
    y = blobs()[1]
    parts = {
        f"u{u}": (RNG(u).normal(size=(120, 5)) + 0.7 * y[:, None] * (u + 1)).astype(np.float16)
        for u in range(3)
    }
    channel = RidgeChannel("equal").start(np.bincount(y))
    for name, Z in parts.items():
        channel = channel.update(name, seen(Z, y))
    joint = np.hstack(
        [
            (Z - Z.mean(axis=0)) / np.sqrt(3 * scale_of(Z))
            for Z in (Z.astype(float) for Z in parts.values())
        ]
    )
    solution = solve(joint @ joint.T, centred(y))
    said = sum(
        one.scores(parts[name].astype(np.float32)) for name, one in channel.readout.maps.items()
    )
    np.testing.assert_allclose(said, joint @ joint.T @ solution.alpha, atol=1e-4)


@pytest.mark.parametrize("of_leaves", [False, True])
def test_landmarks_that_span_the_features_lose_nothing(of_leaves):
    Z, y = blobs(n=150)
    forest = ForestEncoder(n_trees=7, max_depth=3).fit(Z, y, rng=RNG(0))
    A = features(forest.encode(Z), forest.n_leaves) if of_leaves else Z
    landmarks, Y = (
        np.arange(0, 150, 1 if of_leaves else 2),
        centred(y),
    )  # some leaves have a single row
    (K, scale), (K_m, scale_m) = kernel(A), kernel(A, landmarks)
    assert scale_m == pytest.approx(scale, rel=1e-5)
    np.testing.assert_allclose(K_m, K[:, landmarks], atol=1e-5)
    exact, few = solve(K, Y), solve(K_m, Y, landmarks=landmarks)
    assert few.penalty == exact.penalty
    assert few.r2 == pytest.approx(exact.r2, abs=1e-4)
    assert not np.delete(few.alpha, landmarks, axis=0).any()
    np.testing.assert_allclose(few.loo, exact.loo, atol=1e-3)
    maps = [linear_map(A, exact.alpha, scale), linear_map(A, few.alpha, scale_m)]
    np.testing.assert_allclose(maps[1].scores(A), maps[0].scores(A), atol=1e-3)


def test_the_own_encoder_learns_from_more_rows_than_there_are_landmarks():
    few = RidgeSettings(landmarks=100, max_rows=100, max_own_rows=700)
    (Z, y), (test, truth) = blobs(n=1000, d=90, spread=6.0), blobs(n=2000, d=90, seed=1, spread=6.0)
    in_bag = np.arange(1000) % 7 > 0
    empty = RidgeChannel(settings=few).start(np.bincount(y))
    own, other = empty.update("u", seen(Z, y, in_bag=in_bag)), empty.update("u", seen(Z, y))
    assert (len(own.views["u"].y), len(other.views["u"].y)) == (700, 100)
    right = [
        (one.predict_proba({"u": test}).argmax(axis=1) == truth).mean() for one in (own, other)
    ]
    assert right[0] > right[1] + 0.03


def test_other_encoders_learn_from_more_rows_than_there_are_landmarks():
    (Z, y), (test, truth) = blobs(n=1000, d=90, spread=6.0), blobs(n=2000, d=90, seed=1, spread=6.0)
    halves, asked = ({"u": rows[:, :45], "v": rows[:, 45:]} for rows in (Z, test))
    right = {}
    for landmarks, most in ((100, 100), (100, 1000), (1000, 1000)):
        settings = RidgeSettings(landmarks=landmarks, max_rows=most)
        channel = RidgeChannel(settings=settings).start(np.bincount(y))
        for name, rows in halves.items():
            channel = channel.update(name, seen(rows, y))
        right[landmarks, most] = (channel.predict_proba(asked).argmax(axis=1) == truth).mean()
    assert right[100, 1000] > right[100, 100] + 0.03
    assert right[100, 1000] > right[1000, 1000] - 0.02


@pytest.mark.parametrize("others", [0, 1])
def test_a_large_task_of_forests_answers_about_as_if_all_rows_were_landmarks(others):
    (X, y), (test, truth) = blobs(n=900, spread=3.0), blobs(n=900, seed=1, spread=3.0)
    answers = []
    for most in (200, 900):
        channel = RidgeChannel(settings=RidgeSettings(landmarks=most))
        learner = SillyForest.best(n_estimators=20, channel=channel, random_state=0).partial_fit(
            X, y, task="t"
        )
        for other in range(others):
            learner.partial_fit(*blobs(n=900, seed=2 + other, spread=3.0), task=other)
        answers.append(learner.predict(test, task="t"))
    few, exact = answers
    assert (few == exact).mean() > (0.85 if others else 0.93)
    assert (few == truth).mean() > (exact == truth).mean() - 0.01


def test_of_a_large_task_an_even_sample_is_kept_whatever_the_batches():
    (Z, y), (test, _) = blobs(n=1500, spread=3.0), blobs(n=600, seed=1, spread=3.0)
    empty = RidgeChannel(settings=RidgeSettings(max_rows=300)).start(np.bincount(y))
    whole = empty.update("u", seen(Z, y))
    batches = empty
    for start in range(0, 1500, 250):
        rows = np.arange(start, start + 250)
        batches = batches.update("u", seen(Z[rows], y[rows], rows=rows))
    assert len(whole.views["u"].rows) == 300
    assert np.bincount(whole.views["u"].y).min() > 80
    assert np.array_equal(whole.predict_proba({"u": test}), batches.predict_proba({"u": test}))


def test_the_penalty_grows_with_the_noise():
    quiet, loud = (
        solve(kernel(blobs(spread=spread)[0])[0], centred(blobs()[1])) for spread in (0.5, 6.0)
    )
    assert quiet.penalty < loud.penalty
    assert quiet.r2 > loud.r2


def test_where_four_rows_judge_another_encoder_that_tells_as_much_counts_as_much_as_the_own():
    (Z, y), (other, _) = blobs(n=200, spread=5.0), blobs(n=200, spread=5.0, seed=5)
    channel = RidgeChannel().start(np.bincount(y))
    channel = channel.update("own", seen(Z, y, in_bag=np.arange(200) >= 4)).update(
        "other", seen(other, y)
    )
    assert channel.readout.influence["other"] == pytest.approx(0.5, abs=0.04)


def channel_with(useful=True, n_useless=0, own=True, n=200, weights="learnt"):
    """A task with its own encoder (held-out half), perhaps a useful other one, and encoders that
    show pure noise.
    """
    Z, y = blobs(n=n, spread=2.0)
    other, _ = blobs(n=n, spread=1.5, seed=5)
    channel = RidgeChannel(weights).start(np.bincount(y))
    if own:
        channel = channel.update("own", seen(Z, y, in_bag=np.arange(n) < n // 2))
    if useful:
        channel = channel.update("useful", seen(other, y))
    for u in range(n_useless):
        channel = channel.update(
            f"noise {u}", seen(RNG(u).normal(size=(n, 30)).astype(np.float32), y)
        )
    return channel


def test_an_encoder_that_does_not_help_gets_next_to_no_weight():
    weights = channel_with(n_useless=3).readout.influence
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["useful"] > 0.2
    assert all(weights[f"noise {u}"] < 0.02 for u in range(3))


def test_noise_alone_leaves_the_own_encoder_in_charge():
    weights = channel_with(useful=False, n_useless=4).readout.influence
    assert weights["own"] > 0.85


def test_equal_weights_are_the_papers_average():
    views = channel_with(n_useless=2).views
    own, others = views["own"], {name: view for name, view in views.items() if name != "own"}
    mixing = mix(
        in_task("own", own, 3, DEFAULT),
        [cross_task(others, 3, DEFAULT, own, equal=True)],
        np.full(3, 1 / 3),
        equal=True,
        default_temperature=5.0,
    )
    assert (mixing.own, mixing.cross) == (pytest.approx(1 / 4), [pytest.approx(3 / 4)])


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
    weights = channel_with(own=False).readout.influence
    assert weights == {"useful": pytest.approx(1)}


def test_rows_that_only_some_encoders_have_seen_are_matched_by_number():
    Z, y = blobs(n=100)
    whole = RidgeChannel().start(np.bincount(y))
    whole = whole.update("own", seen(Z, y, in_bag=np.arange(100) < 50))
    stored = np.arange(100)[::-2]  # a replayed share, in another order
    mixed = whole.update("late", seen(Z[stored], y[stored], rows=stored))
    assert mixed.readout.influence["late"] > 0
    assert np.isfinite(mixed.predict_proba({"own": Z, "late": Z})).all()


def other_forests(X, y, n_trees=12):
    """Two forests that grew on other labels, as a task with labels y sees them."""
    views = {}
    for u, labels in enumerate((y, RNG(0).permutation(y))):
        forest = ForestEncoder(n_trees).fit(*blobs(seed=10 + u)[:1], labels[:120], rng=RNG(u))
        views[f"u{u}"] = view_of(forest.encode(X), forest.n_leaves, y, np.arange(len(y)), None)
    return views


def test_votes_of_leaves_leave_each_row_out():
    X, y = blobs(spread=3.0)
    views, shares, Y = other_forests(X, y), {"u0": 0.7, "u1": 0.3}, centred(y)
    reading = read_by_votes(views, shares, 3, 5)
    for n_trees, scores in ((12, reading.held_out), (5, reading.fewer_trees)):
        for i in range(len(y)):
            said = np.zeros(3)
            for name, view in views.items():
                for tree in range(n_trees):
                    others = (view.Z[:, tree] == view.Z[i, tree]) & (np.arange(len(y)) != i)
                    said += shares[name] * (Y[others].mean(axis=0) if others.any() else 0) / n_trees
            np.testing.assert_allclose(scores[i], said, atol=1e-6)
    view = views["u0"]
    said = sum(Y[view.Z[:, tree] == view.Z[0, tree]].mean(axis=0) for tree in range(12)) / 12
    np.testing.assert_allclose(
        reading.maps["u0"].scores(view.features()[:1])[0], 0.7 * said, atol=1e-6
    )


def test_of_two_readings_the_one_that_knows_the_labels_is_believed():
    X, y = blobs(n=300, spread=2.0)
    regression = read_by_regression(other_forests(X, y), {"u0": 0.5, "u1": 0.5}, 3)
    noise = RNG(3).normal(size=(300, 3))
    ignorant, shares = (
        regression._replace(held_out=noise, fewer_trees=noise, r2=0.0),
        np.full(3, 1 / 3),
    )
    for mixed in (both(regression, ignorant, y, shares), both(ignorant, regression, y, shares)):
        right = [(one.held_out.argmax(axis=1) == y).mean() for one in (mixed, regression)]
        assert right[0] > right[1] - 0.01


def own_view_with_answer(answer, in_bag, y, informative=False):
    """Layers of noise, or layers that tell the labels, and what the network says itself."""
    layers = blobs(n=len(y), spread=1.0)[0] if informative else RNG(8).normal(size=(len(y), 6))
    return view_of(
        np.hstack([layers, answer]), 0, y, np.arange(len(y)), in_bag, n_answers=answer.shape[1]
    )


def test_a_network_whose_layers_tell_nothing_is_believed_what_it_says_itself():
    y, in_bag = np.arange(300) % 3, RNG(0).random(300) < 0.8
    right = RNG(1).random(300) < 0.8
    answer = np.eye(3)[np.where(right, y, (y + 1) % 3)]
    view = own_view_with_answer(answer, in_bag, y)
    scores = in_task("t", view, 3, DEFAULT).maps["t"].scores(view.features())
    assert ((scores.argmax(axis=1) == y) == right).mean() > 0.98


def test_a_network_that_knows_its_training_rows_by_heart_is_read_by_its_layers():
    y, in_bag = np.arange(300) % 3, RNG(0).random(300) < 0.8
    answer = np.eye(3)[np.where(in_bag, y, RNG(1).integers(3, size=300))]
    with_answer = own_view_with_answer(answer, in_bag, y, informative=True)
    without = view_of(with_answer.Z[:, :-3], 0, y, np.arange(300), in_bag)
    said, plain = (in_task("t", view, 3, DEFAULT) for view in (with_answer, without))
    assert (said.held_out.argmax(axis=1) == said.y).mean() > (
        plain.held_out.argmax(axis=1) == plain.y
    ).mean() - 0.02


def test_where_few_rows_judge_chance_does_not_speak_for_a_poorer_answer():
    """It knows its training rows by heart; of others it says what half of the layers say."""
    lost = []
    for seed in range(10):
        (layers, y), (test, truth) = (
            blobs(n=150, spread=2.0, seed=seed),
            blobs(n=600, spread=2.0, seed=99 + seed),
        )
        in_bag, half = RNG(seed).random(150) < 0.92, Ridge().fit(layers[:, :3], indicators(y))
        answer, of_test = (np.eye(3)[half.predict(Z[:, :3]).argmax(axis=1)] for Z in (layers, test))
        answer[in_bag] = np.eye(3)[y[in_bag]]
        asked = view_of(np.hstack([layers, answer]), 0, y, np.arange(150), in_bag, n_answers=3)
        plain = view_of(layers, 0, y, np.arange(150), in_bag)
        said = (
            in_task("t", asked, 3, DEFAULT)
            .maps["t"]
            .scores(np.hstack([test, of_test]).astype(np.float32))
        )
        without = in_task("t", plain, 3, DEFAULT).maps["t"].scores(test)
        lost.append(
            (without.argmax(axis=1) == truth).mean() - (said.argmax(axis=1) == truth).mean()
        )
    assert np.mean(lost) < 0.01


def test_a_class_that_came_after_the_network_is_learnt_by_its_layers():
    """The network answers for two classes; rows of a third came later, and none of them can be in
    its answer.
    """
    Z, y = blobs(n=300, spread=1.0)
    in_bag = (RNG(0).random(300) < 0.8) & (y < 2)
    answer = np.where(y[:, None] < 2, np.eye(3)[y], 0.5)[:, :2]
    view = view_of(np.hstack([Z, answer]), 0, y, np.arange(300), in_bag, n_answers=2)
    opinion = in_task("t", view, 3, DEFAULT)
    assert (opinion.maps["t"].scores(view.features()).argmax(axis=1) == y).mean() > 0.95


def test_held_out_leaves_of_the_own_forest_leave_each_row_out():
    X, y = blobs(spread=3.0)
    encoder = ForestEncoder(n_trees=12)
    in_bag = encoder.split(y, rng=RNG(0))
    forest = encoder.fit(X, y, in_bag=in_bag, rng=RNG(1))
    view = view_of(forest.encode(X), forest.n_leaves, y, np.arange(len(y)), in_bag)
    Y, judges = centred(y), ~in_bag.all(axis=1)
    reading = votes_of_held_out("t", view, judges, 3)
    for scores, i in zip(reading.held_out, np.flatnonzero(judges), strict=True):
        said = []
        for tree in np.flatnonzero(~in_bag[i]):
            others = (
                (view.Z[:, tree] == view.Z[i, tree]) & ~in_bag[:, tree] & (np.arange(len(y)) != i)
            )
            said.append(Y[others].mean(axis=0) if others.any() else np.zeros(3))
        np.testing.assert_allclose(scores, np.mean(said, axis=0), atol=1e-6)


def test_where_labels_are_noisy_the_own_forest_is_read_about_as_well_as_in_the_paper():
    """A tree that was grown to pure leaves repeats the noise of the rows that it has seen."""
    right = []
    for seed in range(5):
        (X, y), (X_test, y_test) = (
            gaussian_xor(n, std=0.35, random_state=s) for n, s in ((600, seed), (4000, 100))
        )
        makers = (
            SillyForest.best,
            partial(SillyForest, n_estimators=100),
            partial(RandomForestClassifier, 100),
        )
        right.append([make(random_state=seed).fit(X, y).score(X_test, y_test) for make in makers])
    ours, paper, plain = np.mean(right, axis=0)
    assert paper > plain + 0.01
    assert ours > paper - 0.005


def test_a_forest_channel_judges_its_own_trees_by_rows_they_have_not_seen():
    """Labels are random: only an honest estimate sees that there is nothing to learn."""
    rng = RNG(0)
    X, y = rng.normal(size=(150, 4)).astype(np.float32), rng.integers(3, size=150)
    encoder = ForestEncoder(n_trees=30)
    in_bag = encoder.split(y, rng=rng)
    forest = encoder.fit(X, y, in_bag=in_bag, rng=rng)
    channel = RidgeChannel().start(np.bincount(y))
    view = channel.update("t", seen(forest.encode(X), y, in_bag, n_leaves=forest.n_leaves)).views[
        "t"
    ]
    opinion = in_task("t", view, 3, DEFAULT)
    assert (opinion.held_out.argmax(axis=1) == opinion.y).mean() < 0.45


def test_rows_in_batches_give_what_they_would_have_given_at_once():
    Z, y = blobs(n=300, spread=3.0)
    other, _ = blobs(n=300, spread=2.0, seed=6)
    test, _ = blobs(n=50, seed=9)
    in_bag, first, rest = np.arange(300) < 60, np.arange(100), np.arange(100, 300)
    empty = RidgeChannel().start(np.bincount(y))
    once = empty.update("u", seen(Z, y, in_bag=in_bag)).update("v", seen(other, y))
    twice = empty.update("u", seen(Z[first], y[first], in_bag=in_bag[first]))
    twice = twice.update("v", seen(other[first], y[first]))
    for name, more in (("u", Z), ("v", other)):
        twice = twice.update(name, seen(more[rest], y[rest], rows=rest))
    answers = [channel.predict_proba({"u": test, "v": test}) for channel in (once, twice)]
    assert np.array_equal(*answers)


@pytest.mark.parametrize(
    "learner", [SillyForest.best, partial(SillyNetwork.best, network=(30, 30), epochs=5)]
)
def test_a_task_in_pieces_gives_what_it_would_have_given_at_once(learner, monkeypatch):
    (X, y), (test, _) = blobs(n=300, spread=3.0), blobs(n=50, seed=9, spread=3.0)
    answers = []
    for size in (1000, 70):
        monkeypatch.setattr(algorithms, "ROWS_AT_ONCE", size)
        monkeypatch.setattr(FittedRidge, "rows_at_once", size)
        learnt = (
            learner(random_state=0)
            .partial_fit(X, y, task="a")
            .partial_fit(X[::-1], y[::-1], task="b")
        )
        answers.append([learnt.predict_proba(test, task="a"), learnt.predict_task_proba(test)])
    np.testing.assert_allclose(answers[0][0], answers[1][0], rtol=1e-5)
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-3)


def test_one_row_one_class_and_no_rows_are_legal():
    Z, y = blobs(n=30)
    empty = RidgeChannel().start(np.array([2, 1, 1]))
    np.testing.assert_allclose(empty.predict_proba({"u": Z[:2]}), [[0.5, 0.25, 0.25]] * 2)
    one_row = RidgeChannel().start(np.array([1, 0])).update("u", seen(Z[:1], y[:1]))
    assert np.isfinite(one_row.predict_proba({"u": Z})).all()
    one_class = RidgeChannel().start(np.array([30])).update("u", seen(Z, np.zeros(30, int)))
    np.testing.assert_allclose(one_class.predict_proba({"u": Z}), 1)


def test_forests_of_other_tasks_are_compared_with_fewer_trees_than_the_own_one_has_left():
    """Judged by a third of its trees the own forest looks worse than it is; so must the others, or
    noise would win.
    """
    harm = {}
    for channel in ("leaf", "ridge"):
        before, after = [], []
        for seed in range(0, 300, 10):
            learner = SillyForest(10, channel=channel, random_state=seed)
            X, y = gaussian_xor(1000, random_state=seed + 2)
            learner.partial_fit(*gaussian_xor(100, random_state=seed), task="xor")
            before.append(1 - learner.score(X, y, task="xor"))
            learner.partial_fit(
                *gaussian_xor(100, angle=45, random_state=seed + 1), task="adversary"
            )
            after.append(1 - learner.score(X, y, task="xor"))
        harm[channel] = np.log(np.mean(after) / np.mean(before))
    assert harm["leaf"] > 0.03
    assert harm["ridge"] < harm["leaf"] / 3
