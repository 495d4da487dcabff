"""Trees grown in compiled loops are those of scikit-learn's estimators."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from lifelong import LifelongClassifier, SillyForest
from lifelong.encoders import growing, growing_compiled
from lifelong.encoders.growing import ToGrowOn, grow_trees, loops_are_as_expected
from lifelong.encoders.growing_compiled import MISSING, RankedRows, compiled_loops

needs_numba = pytest.mark.skipif(compiled_loops() is None, reason="needs numba")


def nodes_of(tree: Tree) -> list[NDArray[Any]]:
    """All that a tree says of its nodes; a leaf sends what is missing nowhere."""
    nodes = tree.__getstate__()["nodes"]
    sent = np.where(nodes["left_child"] >= 0, nodes["missing_go_to_left"], 0)
    names = [name for name in nodes.dtype.names if name != "missing_go_to_left"]
    return [*(nodes[name] for name in names), sent, np.array(tree.max_depth)]


def same(one: list[Tree], other: list[Tree]) -> bool:
    return all(
        np.array_equal(ours, theirs)
        for tree, reference in zip(one, other, strict=True)
        for ours, theirs in zip(nodes_of(tree), nodes_of(reference), strict=True)
    )


LARGEST = float(np.finfo(np.float32).max)
CHOSEN = {
    "the largest": [LARGEST, -LARGEST, 1e38, -1e38, 0],
    "denormal": [1e-45, -1e-45, 1e-40, 1e-38, 0],
    "zeros with a sign": [0.0, -0.0],
    "hardly apart": [1, 1 + 5e-8, 1 + 1e-7, 1 + 1.5e-7, 1 + 2e-7, 1 + 3e-7],
    "whole and close": [2**24, 2**24 + 2, 2**24 + 4],
    "constant": [1],
    "missing": [np.nan],
    "missing or the largest": [np.nan, LARGEST, -LARGEST],
}


@pytest.fixture
def grows_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first tree on, however few."""
    monkeypatch.setattr(growing_compiled, "WARM_UP", 0)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many trees each call of the compiled loops was asked for."""
    asked: list[int] = []
    by_loops = growing.by_loops

    def counted(*arguments: Any) -> list[Tree]:
        asked.append(len(arguments[-1]))
        return by_loops(*arguments)

    assert loops_are_as_expected()
    monkeypatch.setattr(growing, "by_loops", counted)
    return asked


@needs_numba
@pytest.mark.usefixtures("grows_compiled")
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 300),
    p=st.integers(1, 6),
    n_classes=st.integers(1, 5),
    numbers=st.sampled_from(["few", "many", "close", "one column constant", *CHOSEN]),
    holes=st.sampled_from([0.0, 0.2, 0.9]),
    max_depth=st.sampled_from([None, 1, 4]),
    max_features=st.sampled_from(["sqrt", "log2", None, 1, 0.5]),
    min_samples_leaf=st.sampled_from([1, 3, 0.1]),
)
def test_trees_are_those_of_fit_bit_for_bit(
    seed: int, n: int, p: int, n_classes: int, numbers: str, holes: float, **parameters: Any
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    if numbers == "few":
        X = np.round(X)
    if numbers == "close":
        X *= np.float32(1e-7)
    if numbers == "one column constant":
        X[:, 0] = 1
    if numbers in CHOSEN:
        X = rng.choice(np.array(CHOSEN[numbers], dtype=np.float32), size=(n, p))
    X[rng.random((n, p)) < holes] = np.nan
    targets = 2 * rng.integers(0, n_classes, size=n)  # codes may have gaps
    weights = rng.random((n, p)) < 0.7
    weights[0] = True
    is_missing = np.isnan(X).any(axis=0)
    rows = ToGrowOn.of(X, targets, is_missing=is_missing)
    grow = growing._by_loops_if_faster(rows, weights, parameters)
    assert grow is not None
    trees = grow_trees(rows, weights, parameters, rng=np.random.default_rng(seed))
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=p)
    with np.errstate(over="ignore", invalid="ignore"):  # fit sums what may be the largest numbers
        expected = [
            DecisionTreeClassifier(random_state=tree_seed, **parameters)
            .fit(X, targets, sample_weight=times)
            .tree_
            for times, tree_seed in zip(weights.T, seeds.tolist(), strict=True)
        ]
    assert same(trees, expected)


@needs_numba
@pytest.mark.usefixtures("grows_compiled")
def test_a_large_node_is_split_as_by_scikit_learn(calls: list[int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=6000) > 0).astype(int)
    in_bag = rng.random((6000, 5)) < 0.67
    rows = ToGrowOn.of(X, y)
    ours = grow_trees(rows, in_bag, {}, rng=np.random.default_rng(1))
    jobs = list(enumerate(np.random.default_rng(1).integers(2**31 - 1, size=5).tolist()))
    theirs = growing._by_estimator(DecisionTreeClassifier, rows, in_bag, {}, jobs)
    assert same(ours, theirs)
    assert calls == [5]


@needs_numba
@pytest.mark.usefixtures("grows_compiled")
@pytest.mark.parametrize(
    "reason", ["numbers", "weights", "a tree without rows", "few trees of many columns"]
)
def test_what_the_loops_cannot_grow_or_would_not_grow_faster_the_builder_grows(
    reason: str, calls: list[int]
) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 50 if reason == "few trees of many columns" else 3), dtype=np.float32)
    targets: NDArray[Any] = rng.integers(0, 2, size=30)
    if reason == "numbers":
        targets = rng.random(30)
    weights = np.ones((30, 4))
    if reason == "weights":
        weights *= 0.5
    if reason == "a tree without rows":
        weights[:, 1] = 0
    rows = ToGrowOn.of(X, targets, are_numbers=reason == "numbers")
    trees = grow_trees(rows, weights, {"max_features": 1}, rng=np.random.default_rng(1))
    assert len(trees) == 4
    assert calls == []


def test_a_column_of_too_many_different_numbers_has_no_ranks() -> None:
    X = np.arange(MISSING, dtype=np.float32)[:, None]
    assert RankedRows.of(X, np.zeros(MISSING), 1) is None
    ranked = RankedRows.of(X[1:], np.zeros(MISSING - 1), 1)
    assert ranked is not None
    assert ranked.columns.max() >> 16 == MISSING - 2


@needs_numba
def test_loops_that_grow_another_tree_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_tree(*arguments: Any) -> list[Tree]:
        rows = ToGrowOn.of(np.eye(3, dtype=np.float32), np.arange(3))
        return growing._by_builder(rows, np.ones((3, 1)), {}, [(0, 0)])

    monkeypatch.setattr(growing, "by_loops", other_tree)
    loops_are_as_expected.cache_clear()
    try:
        assert not loops_are_as_expected()
    finally:
        loops_are_as_expected.cache_clear()


@needs_numba
def test_a_learner_is_the_same_whether_or_not_its_trees_are_grown_in_loops(
    monkeypatch: pytest.MonkeyPatch, calls: list[int]
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = rng.integers(0, 3, size=200)
    tasks = np.repeat(["Lyon", "Nice"], 100)

    def answers() -> tuple[NDArray[Any], NDArray[Any]]:
        table = LifelongClassifier(n_estimators=5, random_state=0).fit(X, y, task=tasks)
        paper = SillyForest(random_state=0)
        paper.partial_fit(X[:100], y[:100], task="Lyon")
        return table.predict_proba(X, task=tasks), paper.predict_proba(X, task="Lyon")

    monkeypatch.setattr(growing_compiled, "WARM_UP", np.inf)
    before = answers()
    assert calls == []
    monkeypatch.setattr(growing_compiled, "WARM_UP", 0)
    after = answers()
    assert calls
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
