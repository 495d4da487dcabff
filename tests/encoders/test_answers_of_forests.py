"""Forests that answer, against loops written by hand and scikit-learn's own forest."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lifelong.encoders.answers import grow_answering, joined_forests
from lifelong.encoders.base import honest_split


def rows(n=80, p=4, n_classes=3, holes=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    y = (np.abs(X[:, 0] + 0.3 * rng.normal(size=n)) * 2).astype(np.int64) % n_classes
    X[rng.random(X.shape) < holes] = np.nan
    return X, y


def grown(X, y, n_trees=6, aim="classes", n_answers=3, weights=None, seed=1, **tree):
    rng = np.random.default_rng(seed)
    groups = y
    if aim == "number":
        groups = np.zeros(len(y), dtype=np.intp)
    in_bag = honest_split(groups, 0.67, rng=rng, n_splits=n_trees)
    forest, _ = grow_answering(
        X, y, in_bag=in_bag, n_answers=n_answers, aim=aim, rng=rng, weights=weights, **tree
    )
    return forest, in_bag


def by_hand(forest, in_bag, X, y, asked, weights, n_answers, held_out=None):
    """Tree after tree: what the tree's own rows in the same leaf had as targets."""
    answers = np.full((len(asked), n_answers), np.nan)
    for row in range(len(asked)):
        total = np.zeros(n_answers)
        n_votes = 0
        for b, tree in enumerate(forest.forest.trees):
            if held_out is not None and held_out[row, b]:
                continue
            leaf = tree.apply(asked[[row]])[0]
            inside = (tree.apply(X) == leaf) & in_bag[:, b]
            if not inside.any():
                continue
            n_votes += 1
            if y.dtype.kind == "f":
                total += np.average(y[inside], weights=weights[inside])
            else:
                shares = np.bincount(y[inside], weights[inside], minlength=n_answers)
                total += shares / weights[inside].sum()
        if n_votes:
            answers[row] = total / n_votes
    return answers


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_answer_is_the_mean_over_trees_of_class_shares_in_the_leaf(holes, weighted):
    X, y = rows(holes=holes)
    weights = None
    times = np.ones(len(y))
    if weighted:
        weights = times = np.random.default_rng(5).uniform(0.5, 3, len(y))
    forest, in_bag = grown(X, y, weights=weights, max_depth=3)
    asked = rows(30, holes=holes, seed=9)[0]
    wanted = by_hand(forest, in_bag, X, y, asked, times, 3)
    np.testing.assert_allclose(forest.answers(asked), wanted, atol=1e-6)
    np.testing.assert_allclose(forest.answers(asked).sum(axis=1), 1, atol=1e-6)
    wanted = by_hand(forest, in_bag, X, y, X, times, 3, held_out=in_bag)
    np.testing.assert_allclose(forest.held_out_answers(X, in_bag), wanted, atol=1e-6)


def test_numbers_are_means_of_leaf_means():
    X, _ = rows(holes=0.1)
    y = np.random.default_rng(3).normal(size=len(X)) * 10
    forest, in_bag = grown(X, y, aim="number", n_answers=1, min_samples_leaf=4)
    asked = rows(30, holes=0.1, seed=9)[0]
    wanted = by_hand(forest, in_bag, X, y, asked, np.ones(len(y)), 1)
    np.testing.assert_allclose(forest.answers(asked), wanted, atol=1e-5)


@pytest.mark.filterwarnings("default:The number of unique classes")
def test_out_of_bag_answers_never_come_from_a_tree_that_saw_the_row():
    n = 40
    X = np.arange(n, dtype=np.float32)[:, None]
    y = np.arange(n, dtype=np.int64)  # every row has a class of its own
    forest, in_bag = grown(X, y, n_trees=25, n_answers=n)
    answers = forest.held_out_answers(X, in_bag)
    there = ~in_bag.all(axis=1)
    assert there.sum() > 30
    assert (answers[there, y[there]] == 0).all()
    assert np.isnan(answers[~there]).all()
    assert (forest.answers(X)[np.arange(n), y] > 0.5).mean() > 0.8  # those who saw it know it


def test_a_row_that_every_tree_has_seen_has_no_held_out_answer():
    X, y = rows()
    in_bag = np.ones((len(y), 4), dtype=bool)
    rng = np.random.default_rng(0)
    forest, _ = grow_answering(X, y, in_bag=in_bag, n_answers=3, aim="classes", rng=rng)
    assert np.isnan(forest.held_out_answers(X, in_bag)).all()


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_trees_are_those_that_scikit_learn_would_grow(holes):
    X, y = rows(120, holes=holes)
    forest, in_bag = grown(X, y, max_features="sqrt", min_samples_leaf=2)
    asked = rows(60, holes=max(holes, 0.1), seed=4)[0]
    rng = np.random.default_rng(1)
    honest_split(y, 0.67, rng=rng, n_splits=6)
    seeds = np.asarray(rng.integers(2**31 - 1, size=6)).tolist()
    for b, seed in enumerate(seeds):
        model = DecisionTreeClassifier(max_features="sqrt", min_samples_leaf=2, random_state=seed)
        model.fit(X, y, sample_weight=in_bag[:, b].astype(float))
        np.testing.assert_array_equal(model.apply(asked), forest.forest.trees[b].apply(asked))


def test_a_forest_with_missing_values_answers_as_scikit_learns_forest_of_the_same_trees():
    X, y = rows(120, holes=0.3)
    forest, in_bag = grown(X, y)
    rng = np.random.default_rng(1)
    honest_split(y, 0.67, rng=rng, n_splits=6)
    seeds = np.asarray(rng.integers(2**31 - 1, size=6)).tolist()
    whole = RandomForestClassifier(6).fit(X, y)
    whole.estimators_ = [
        DecisionTreeClassifier(random_state=seed).fit(X, y, in_bag[:, b].astype(float))
        for b, seed in enumerate(seeds)
    ]
    asked = rows(60, holes=0.3, seed=4)[0]
    np.testing.assert_allclose(forest.answers(asked), whole.predict_proba(asked), atol=1e-6)


def test_trees_for_numbers_are_those_that_scikit_learn_would_grow():
    X, _ = rows(120, holes=0.2)
    y = np.random.default_rng(3).normal(size=len(X))
    forest, in_bag = grown(X, y, aim="number", n_answers=1, min_samples_leaf=3)
    rng = np.random.default_rng(1)
    honest_split(np.zeros(len(y), dtype=np.intp), 0.67, rng=rng, n_splits=6)
    seeds = np.asarray(rng.integers(2**31 - 1, size=6)).tolist()
    predictions = []
    for b, seed in enumerate(seeds):
        model = DecisionTreeRegressor(min_samples_leaf=3, random_state=seed)
        predictions.append(model.fit(X, y, in_bag[:, b].astype(float)).predict(X))
    np.testing.assert_allclose(forest.answers(X)[:, 0], np.mean(predictions, axis=0), atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_more_rows_in_the_leaves_are_as_counting_all_of_them_anew(weighted):
    X, y = rows()
    forest, in_bag = grown(X, y, max_depth=3)
    more_X, more_y = rows(50, n_classes=5, seed=7)  # with new classes
    weights = np.ones(50)
    if weighted:
        weights = np.random.default_rng(2).uniform(0.1, 2, 50)
    grown_more = forest.with_rows(more_X, more_y, 5, weights if weighted else None)
    every_X = np.concatenate([X, more_X])
    every_y = np.concatenate([y, more_y])
    counts = np.concatenate([in_bag, np.ones((50, 6), dtype=bool)])
    times = np.concatenate([np.ones(80), weights])
    asked = rows(20, seed=11)[0]
    wanted = by_hand(forest, counts, every_X, every_y, asked, times, 5)
    np.testing.assert_allclose(grown_more.answers(asked), wanted, atol=1e-6)
    assert grown_more.forest is forest.forest
    assert grown_more.problem({}) is None
    assert forest.n_answers == 3  # the one of before stays as it was


def test_two_forests_in_one_answer_as_their_mean():
    X, y = rows()
    first, first_bag = grown(X, y, n_trees=4)
    second, second_bag = grown(X, y, n_trees=4, n_answers=5, seed=2)
    both = joined_forests(first, second)
    wanted = (np.pad(first.answers(X), ((0, 0), (0, 2))) + second.answers(X)) / 2
    np.testing.assert_allclose(both.answers(X), wanted, atol=1e-6)
    assert both.problem({}) is None
    in_bag = np.hstack([first_bag, second_bag])
    found = both.held_out_answers(X, in_bag)
    wanted = by_hand(both, in_bag, X, y, X, np.ones(len(y)), 5, held_out=in_bag)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_the_number_of_threads_changes_nothing():
    X, y = rows(holes=0.1)
    one, _ = grown(X, y, n_jobs=1)
    two, _ = grown(X, y, n_jobs=2)
    np.testing.assert_array_equal(one.answers(X), two.answers(X))
