"""Trees of the builder called directly are those of scikit-learn's estimators."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree

from lifelong.encoders import growing
from lifelong.encoders.growing import ToGrowOn, builder_is_as_expected, grow_trees


def nodes_of(tree: Tree) -> list[NDArray[Any]]:
    sent = tree.__getstate__()["nodes"]["missing_go_to_left"]
    inner = tree.children_left >= 0
    return [
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        np.where(inner, sent, 0),
    ]


def test_the_builder_of_this_scikit_learn_is_called_directly() -> None:
    assert builder_is_as_expected()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    p=st.integers(1, 6),
    n_classes=st.integers(0, 4),
    missing=st.booleans(),
    max_depth=st.sampled_from([None, 1, 4]),
    max_features=st.sampled_from(["sqrt", "log2", None, 1, 0.5]),
    min_samples_leaf=st.sampled_from([1, 3, 0.1]),
)
def test_trees_are_those_of_fit_bit_for_bit(
    seed: int, n: int, p: int, n_classes: int, missing: bool, **parameters: Any
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(n, p)).astype(np.float32)
    if missing:
        X[rng.random((n, p)) < 0.2] = np.nan
    make: Any = DecisionTreeRegressor
    targets: NDArray[Any] = rng.normal(size=n)
    if n_classes:
        make = DecisionTreeClassifier
        targets = 2 * rng.integers(0, n_classes, size=n)  # codes may have gaps
    weights = rng.integers(0, 3, size=(n, 3)) * rng.random(n)[:, None]
    weights[0] = 1
    is_missing = np.isnan(X).any(axis=0)
    rows = ToGrowOn.of(X, targets, are_numbers=not n_classes, is_missing=is_missing)
    trees = grow_trees(rows, weights, parameters, rng=np.random.default_rng(seed))
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=3)
    for tree, times, tree_seed in zip(trees, weights.T, seeds.tolist(), strict=True):
        model = make(random_state=tree_seed, **parameters)
        expected = model.fit(X, targets, sample_weight=times).tree_
        for ours, theirs in zip(nodes_of(tree), nodes_of(expected), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_builder_that_has_changed_is_not_called(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((50, 4), dtype=np.float32)
    targets = rng.random(50)
    if n_classes:
        targets = rng.integers(0, n_classes, size=50)
    rows = ToGrowOn.of(X, targets, are_numbers=not n_classes)
    weights = rng.integers(0, 2, size=(50, 20))
    before = grow_trees(rows, weights, {"max_depth": 5}, rng=np.random.default_rng(1))

    def wants_more(*arguments: Any, **named: Any) -> None:
        raise TypeError("one more argument, please")

    monkeypatch.setattr(growing, "DepthFirstTreeBuilder", wants_more)
    builder_is_as_expected.cache_clear()
    try:
        assert not builder_is_as_expected()
        after = grow_trees(rows, weights, {"max_depth": 5}, rng=np.random.default_rng(1))
    finally:
        builder_is_as_expected.cache_clear()
    for one, other in zip(before, after, strict=True):
        for ours, theirs in zip(nodes_of(one), nodes_of(other), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_trees_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(0)
    rows = ToGrowOn.of(rng.random((40, 3), dtype=np.float32), rng.integers(0, 2, size=40))
    weights = np.ones((40, 40))
    alone = grow_trees(rows, weights, {}, rng=np.random.default_rng(1))
    together = grow_trees(rows, weights, {}, rng=np.random.default_rng(1), n_jobs=2)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.threshold, other.threshold)
