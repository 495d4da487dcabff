"""Answers of some trees of a forest, added in one loop, are those of numpy bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifelong.encoders import asking, walking_many
from lifelong.encoders.answers import FEW_ANSWERS, AnsweringForest, grow_answering
from lifelong.encoders.asking import FirstTrees, add_abreast, add_answers, compiled_adding
from lifelong.encoders.walking_many import compiled_loops, pair_nodes

ADDING = [add_abreast]
if compiled_loops() is not None:
    ADDING.append(compiled_adding())
needs_numba = pytest.mark.skipif(compiled_loops() is None, reason="needs numba")


def forest_of(seed: int, n: int, n_answers: int, n_trees: int, aim: str) -> AnsweringForest:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(n, 4)).astype(np.float32) / 7
    X[rng.random((n, 4)) < 0.1] = np.nan
    y = rng.integers(0, n_answers, size=n)
    if aim == "number":
        y = rng.normal(size=n)
    in_bag = rng.random((n, n_trees)) < 0.7
    in_bag[0] = True
    weights = 0.5 + rng.random(n)
    grown, _ = grow_answering(
        X, y, in_bag=in_bag, n_answers=n_answers, aim=aim, rng=rng, weights=weights
    )
    return grown


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    n_rows=st.sampled_from([1, 7, 8, 9, 40]),
    n_answers=st.integers(1, FEW_ANSWERS),
    n_trees=st.integers(1, 12),
    aim=st.sampled_from(["classes", "number"]),
)
def test_the_loop_adds_what_numpy_adds(
    seed: int, n: int, n_rows: int, n_answers: int, n_trees: int, aim: str
) -> None:
    if aim == "number":
        n_answers = 1
    grown = forest_of(seed, n, n_answers, n_trees, aim)
    rng = np.random.default_rng(seed)
    asked = rng.integers(0, 9, size=(n_rows, 4)).astype(np.float32) / 7
    asked[rng.random((n_rows, 4)) < 0.2] = np.nan
    before = rng.random((n_rows, n_answers + 1))
    share = float(rng.random())
    some = 1 + n_trees // 2
    for n_first in (min(some, n_trees), n_trees):
        expected = before.copy()
        expected[:, :n_answers] += share * grown.answers(asked, n_first)
        first = FirstTrees.of(grown, n_first, pair_nodes)
        paired = first.paired
        for add in ADDING:
            total = before.copy()
            add(
                asked,
                paired.roots,
                paired.depths,
                paired.nodes,
                paired.leaves,
                first.answers,
                share,
                total,
            )
            np.testing.assert_array_equal(total, expected)


def test_some_trees_answer_as_a_forest_of_them_would() -> None:
    grown = forest_of(0, 50, 3, 9, "classes")
    X = np.random.default_rng(1).random((20, 4), dtype=np.float32)
    tree_by_tree = np.array([grown.answers(X, n) * n for n in range(1, 10)])
    np.testing.assert_allclose(tree_by_tree[-1], grown.answers(X) * 9, rtol=1e-5)
    of_each = np.diff(tree_by_tree, axis=0, prepend=0)
    np.testing.assert_allclose(of_each.sum(axis=2), 1, rtol=1e-4)


@needs_numba
@pytest.mark.parametrize("n_answers", [2, FEW_ANSWERS + 1])
def test_a_warm_process_answers_as_a_cold_one(
    n_answers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = forest_of(0, 60, n_answers, 6, "classes")
    X = np.asfortranarray(np.random.default_rng(1).random((20, 4), dtype=np.float32))
    totals = []
    for warm_up in (10**12, 0):
        monkeypatch.setattr(walking_many, "WARM_UP", warm_up)
        for n_trees in (2, 6, 2):
            total = np.zeros((20, n_answers + 2))
            add_answers(grown, X, n_trees, 0.3, total)
            totals.append(total)
    for cold, warm in zip(totals[:3], totals[3:], strict=True):
        np.testing.assert_array_equal(cold, warm)
    assert (asking._READY.get(grown) is not None) == (n_answers <= FEW_ANSWERS)
