"""All trees at once find the leaves that scikit-learn finds tree by tree, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lifelong import ForestEncoder
from lifelong.encoders import walking
from lifelong.encoders.answers import grow_answering
from lifelong.encoders.forest import FittedForest
from lifelong.encoders.walking import CompactNodes, compiled_walk, walk_one_row, walk_rows

# With numba the compiled loop as well; the loop itself runs without it, slowly.
WALKS = [walk for walk in (walk_rows, compiled_walk()) if walk is not None]


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
