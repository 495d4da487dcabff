"""All trees at once find the leaves that scikit-learn finds tree by tree, bit for bit."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lifelong import ForestEncoder, SillyForest, load, save
from lifelong.encoders import walking, walking_many
from lifelong.encoders.answers import grow_answering
from lifelong.encoders.forest import FittedForest, tree_from_nodes
from lifelong.encoders.walking import CompactNodes, compiled_walk, walk_one_row, walk_rows
from lifelong.encoders.walking_many import (
    ABREAST,
    Compiled,
    PairedNodes,
    compiled_loops,
    pair_nodes,
    walk_abreast,
)

# With numba the compiled loop as well; the loop itself runs without it, slowly.
WALKS = [walk for walk in (walk_rows, compiled_walk()) if walk is not None]
LOOPS = [
    loops for loops in (Compiled(pair_nodes, walk_abreast), compiled_loops()) if loops is not None
]

RNG = np.random.default_rng(0)


def by_scikit_learn(forest: FittedForest, X: NDArray[np.float32]) -> NDArray[np.int32]:
    pairs = zip(forest.trees, forest.leaf_of_node, strict=True)
    return np.stack([number[tree.apply(X)] for tree, number in pairs])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    p=st.integers(1, 6),
    n_trees=st.integers(1, 8),
    holes=st.sampled_from([0.0, 0.3]),
    aim=st.sampled_from(["classes", "number"]),
)
def test_every_walk_finds_the_same_leaves(
    seed: int, n: int, p: int, n_trees: int, holes: float, aim: str
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(n, p)).astype(np.float32) / 7
    X[rng.random((n, p)) < holes] = np.nan
    y = rng.integers(0, 3, size=n)
    n_answers = 3
    if aim == "number":
        y = rng.normal(size=n)
        n_answers = 1
    in_bag = rng.random((n, n_trees)) < 0.7
    in_bag[0] = True
    grown, _ = grow_answering(X, y, in_bag=in_bag, n_answers=n_answers, aim=aim, rng=rng)
    forest = grown.forest
    asked = rng.integers(0, 9, size=(7, p)).astype(np.float32) / 7  # ties with thresholds
    asked[rng.random((7, p)) < 0.2] = np.nan
    compact = CompactNodes.of(forest.trees, forest.leaf_of_node)
    expected = by_scikit_learn(forest, asked)
    for walk in WALKS:
        leaves = np.empty((n_trees, 7), dtype=np.int32)
        walk(asked, compact.roots, compact.nodes, leaves)
        np.testing.assert_array_equal(leaves, expected)
    for row, found in zip(asked, expected.T, strict=True):
        np.testing.assert_array_equal(walk_one_row(row, compact), found)
    for loops in LOOPS:
        np.testing.assert_array_equal(by_eights(forest, asked, loops), expected)


def by_eights(forest: FittedForest, X: NDArray[np.float32], loops: Compiled) -> NDArray[np.int32]:
    paired = PairedNodes.of(forest, loops.pair)
    leaves = np.empty((len(forest.trees), len(X)), dtype=np.int32)
    loops.walk(X, paired.roots, paired.depths, paired.nodes, paired.leaves, leaves)
    return leaves


@pytest.mark.parametrize("n_rows", [1, ABREAST - 1, ABREAST, ABREAST + 1, 3 * ABREAST + 5])
@pytest.mark.parametrize("loops", LOOPS)
def test_any_number_of_rows_goes_down_abreast(n_rows: int, loops: Compiled) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((50, 3), dtype=np.float32)
    forest = ForestEncoder(3).fit(X, rng.integers(0, 2, size=50), rng=rng)
    asked = rng.random((n_rows, 3), dtype=np.float32)
    asked[0] = [np.inf, -np.inf, 0]
    np.testing.assert_array_equal(by_eights(forest, asked, loops), by_scikit_learn(forest, asked))


@pytest.mark.parametrize("loops", LOOPS)
def test_thresholds_between_two_numbers_of_32_bits_part_them(loops: Compiled) -> None:
    X = np.array([[1], [np.nextafter(np.float32(1), np.float32(2))]], dtype=np.float32)
    for threshold in (X.astype(np.float64).mean(), 1 + 1e-9, float(X[1, 0]) - 1e-9):
        tree = tree_from_nodes(
            left=np.array([1, -1, -1]),
            right=np.array([2, -1, -1]),
            feature=np.array([0, -2, -2]),
            threshold=np.array([threshold, -2, -2]),
            missing_left=np.zeros(3),
            n_features=1,
        )
        forest = FittedForest.of([tree])
        expected = by_scikit_learn(forest, X)
        assert expected[0, 0] != expected[0, 1]
        np.testing.assert_array_equal(by_eights(forest, X, loops), expected)


@pytest.mark.skipif(compiled_loops() is None, reason="needs numba")
def test_a_forest_is_paired_once_enough_rows_have_asked_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walking_many, "WARM_UP", 0)
    monkeypatch.setattr(walking_many, "ENOUGH_ROWS", 150)
    X = RNG.random((100, 3), dtype=np.float32)
    X.flags.writeable = False
    forest = ForestEncoder(4).fit(X, RNG.integers(0, 2, size=100), rng=RNG)
    expected = by_scikit_learn(forest, X).T
    assert walking_many.leaves_of_many(forest, X) is None
    in_another_order = np.asfortranarray(X)
    for rows in (X, in_another_order, X[:40]):
        assert walking_many.leaves_of_many(forest, rows) is not None
        np.testing.assert_array_equal(forest.encode(rows), expected[: len(rows)])


@pytest.mark.skipif(compiled_loops() is None, reason="needs numba")
def test_forests_read_from_files_go_down_abreast_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X = RNG.random((600, 3), dtype=np.float32)
    learner = SillyForest(random_state=0).partial_fit(X, X[:, 0] > X[:, 1], task="a")
    before = learner.predict_proba(X)
    save(learner, tmp_path)
    monkeypatch.setattr(walking_many, "WARM_UP", 0)
    loaded = load(tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), before)
    assert walking_many._READY.get(loaded.encoders_["a"]) is not None


@pytest.mark.parametrize("warm_up", [0, 10**9])
@pytest.mark.parametrize("n_trees", [3, 100])
def test_a_row_falls_into_the_same_leaves_alone_as_among_many(
    n_trees: int, warm_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "WARM_UP", warm_up)
    rng = np.random.default_rng(0)
    X = rng.random((200, 5), dtype=np.float32)
    forest = ForestEncoder(n_trees).fit(X, rng.integers(0, 3, size=200), rng=rng)
    expected = by_scikit_learn(forest, X).T
    for n_rows in (1, 2, walking.FEW_ROWS, walking.FEW_ROWS + 1, 200):
        found = forest.encode(X[:n_rows])
        np.testing.assert_array_equal(found, expected[:n_rows])
        assert found.dtype == np.int32
