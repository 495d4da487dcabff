"""Answers from a plain table of few classes are those of a sparse product, bit for bit."""

import numpy as np
import pytest
from scipy import sparse

from lifelong.encoders.answers import FEW_ANSWERS, AnsweringForest, grow_answering

N_TREES = 70


def rows_and_targets(n: int, n_answers: int, *, numbers: bool = False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)).astype(np.float32)
    targets = rng.integers(n_answers, size=n)
    if numbers:
        targets = X[:, 0] + rng.normal(size=n)
    return X, targets


def grown(X, targets, n_answers: int) -> AnsweringForest:
    rng = np.random.default_rng(1)
    aim = "classes"
    if targets.dtype.kind == "f":
        aim = "number"
    in_bag = rng.random((len(X), N_TREES)) < 0.6
    return grow_answering(X, targets, in_bag=in_bag, n_answers=n_answers, aim=aim, rng=rng)[0]


def by_sparse_product(forest: AnsweringForest, X):
    leaves = forest.forest.encode(X)
    votes = (forest.mass[leaves] > 0).astype(np.float32)
    ends = np.arange(0, leaves.size + 1, N_TREES)
    shape = (len(X), forest.forest.n_leaves)
    reached = sparse.csr_array((votes.ravel(), leaves.ravel(), ends), shape=shape)
    mass = np.repeat(forest.mass, np.diff(forest.row_ends))
    shares = forest.sums / np.maximum(mass, np.float32(1e-30))
    shape = (forest.forest.n_leaves, forest.n_answers)
    table = sparse.csr_array((shares, forest.columns, forest.row_ends), shape=shape)
    total = (reached @ table).toarray().astype(np.float64)
    return total / votes.sum(axis=1, dtype=np.float64)[:, None]


@pytest.mark.parametrize("n_answers", [1, 2, 3, FEW_ANSWERS, FEW_ANSWERS + 1])
@pytest.mark.parametrize("n", [1, 2, 33, 5000])
def test_answers_are_those_of_a_sparse_product_bit_for_bit(n, n_answers):
    X, targets = rows_and_targets(200, n_answers, numbers=n_answers == 1)
    forest = grown(X, targets, n_answers)
    asked, _ = rows_and_targets(n, 2)
    np.testing.assert_array_equal(forest.answers(asked), by_sparse_product(forest, asked))


def test_a_row_is_answered_the_same_alone_and_among_many():
    X, targets = rows_and_targets(200, 1, numbers=True)
    forest = grown(X, targets, 1)
    asked, _ = rows_and_targets(6000, 2)
    together = forest.answers(asked)
    for place in (0, 4095, 4096, 5999):
        np.testing.assert_array_equal(forest.answers(asked[[place]]), together[[place]])


@pytest.mark.parametrize("n_answers", [1, 2, FEW_ANSWERS, FEW_ANSWERS + 1])
def test_more_rows_in_leaves_are_the_sums_of_both_bit_for_bit(n_answers):
    X, targets = rows_and_targets(300, n_answers, numbers=n_answers == 1)
    forest = grown(X[:200], targets[:200], n_answers)
    twice = forest.with_rows(X[200:250], targets[200:250], n_answers)
    twice = twice.with_rows(X[250:], targets[250:], n_answers)
    shape = (forest.forest.n_leaves, n_answers)
    wanted = sparse.csr_array((forest.sums, forest.columns, forest.row_ends), shape=shape).toarray()
    leaves = forest.forest.encode(X)
    column = np.zeros(300, dtype=int)
    value = np.ones(300, dtype=np.float32)
    if n_answers == 1:
        value = targets.astype(np.float32)
    else:
        column = targets
    for piece in (slice(200, 250), slice(250, 300)):
        more = np.zeros(shape, dtype=np.float32)
        for row in range(300)[piece]:
            more[leaves[row], column[row]] += value[row]
        wanted += more
    found = sparse.csr_array((twice.sums, twice.columns, twice.row_ends), shape=shape).toarray()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(twice.answers(X), by_sparse_product(twice, X))


def test_labels_that_come_later_widen_the_table():
    X, targets = rows_and_targets(200, 2)
    forest = grown(X, targets, 2)
    more = forest.with_rows(X[:20], np.full(20, 3), 4).with_rows(X[:20], np.full(20, 2), 4)
    assert more.answers(X).shape == (200, 4)
    assert (more.answers(X[:20])[:, 2:] > 0).all()
