"""Channels: equal to loops written by hand, values that never change, abstentions and priors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from lifelong.channels import ForestChannel, LeafChannel, NeighboursChannel, RidgeChannel, Seen
from lifelong.channels.leaf import count_leaves, leaf_votes
from lifelong.encoders import ForestEncoder
from lifelong.testing import shown

RNG = np.random.default_rng


def two_blobs(n=80, d=5, seed=0):
    rng = RNG(seed)
    y = np.arange(n) % 2
    return (rng.normal(size=(n, d)) + 2 * y[:, None]).astype(np.float32), y


def started(channel, y):
    return channel.start(np.bincount(y))


def update(channel, name, encoder, Z, y):
    """The channel with more rows, as an encoder of another task represents them."""
    n_leaves = encoder.n_leaves if encoder is not None and Z.dtype == np.int32 else 0
    return shown(channel, name, Seen(Z, y, np.arange(len(y)), n_leaves=n_leaves))


@given(
    leaves=st.lists(st.lists(st.integers(-1, 9), min_size=3, max_size=3), min_size=1, max_size=40),
    seed=st.integers(0, 1000),
)
def test_counting_equals_a_loop_over_rows_and_trees(leaves, seed):
    Z = np.array(leaves, dtype=np.int32)
    y = RNG(seed).integers(4, size=len(Z))
    by_hand = np.zeros((10, 4), dtype=int)
    for row, label in zip(Z, y, strict=True):
        for leaf in row:
            if leaf >= 0:
                by_hand[leaf, label] += 1
    np.testing.assert_array_equal(count_leaves(Z, y, 10, 4), by_hand)


def test_votes_equal_a_loop_over_rows_and_trees():
    rng = RNG(0)
    table = rng.integers(0, 3, size=(12, 4)) * (rng.random((12, 1)) < 0.7)  # some leaves are empty
    Z = rng.integers(12, size=(30, 5)).astype(np.int32)
    by_hand = np.zeros((30, 4))
    for i, row in enumerate(Z):
        for leaf in row:
            if table[leaf].sum():
                by_hand[i] += table[leaf] / table[leaf].sum()
    np.testing.assert_allclose(leaf_votes(Z, table), by_hand)


def test_a_row_in_empty_leaves_only_gets_the_class_priors():
    X, y = two_blobs()
    forest = ForestEncoder(n_trees=2).fit(X, y, rng=RNG(0))
    channel = update(
        LeafChannel().start(np.array([3, 1])), "a", forest, forest.encode(X)[:0], y[:0]
    )
    np.testing.assert_allclose(
        channel.predict_proba({"a": forest.encode(X[:4])}), [[0.75, 0.25]] * 4
    )


def test_a_forest_channel_is_an_ordinary_random_forest():
    X, y = two_blobs(n=400)
    test, truth = two_blobs(n=2000, seed=1)
    channel = update(started(ForestChannel(n_trees=200), y), "a", None, X, y)
    ours = channel.predict_proba({"a": test})[:, 1]
    theirs = RandomForestClassifier(200, random_state=0).fit(X, y).predict_proba(test)[:, 1]
    assert np.abs(ours - theirs).mean() < 0.03
    assert ((ours > 0.5) == truth).mean() == pytest.approx(
        ((theirs > 0.5) == truth).mean(), abs=0.01
    )


@pytest.mark.parametrize(
    "channel", [ForestChannel(n_trees=5), NeighboursChannel(), NeighboursChannel(3)]
)
def test_posteriors_average_over_encoders(channel):
    (Z_a, y), (Z_b, _) = two_blobs(), two_blobs(seed=1)
    both = started(channel, y)
    for name, Z in (("a", Z_a), ("b", Z_b)):
        both = update(both, name, None, Z, y)
    alone = [both.predict_proba({name: Z}) for name, Z in (("a", Z_a), ("b", Z_b))]
    np.testing.assert_allclose(both.predict_proba({"a": Z_a, "b": Z_b}), np.mean(alone, axis=0))


@pytest.mark.parametrize("channel", [ForestChannel(n_trees=5), NeighboursChannel()])
def test_an_encoder_without_rows_of_the_task_says_nothing(channel):
    Z, y = two_blobs()
    knows = update(started(channel, y), "a", None, Z, y)
    knows = update(knows, "b", None, Z[:0], y[:0])
    np.testing.assert_array_equal(
        knows.predict_proba({"a": Z, "b": Z}), knows.predict_proba({"a": Z})
    )
    empty = update(started(channel, y), "b", None, Z[:0], y[:0])
    np.testing.assert_allclose(empty.predict_proba({"b": Z}), 0.5)


@pytest.mark.parametrize(
    "channel", [LeafChannel(), ForestChannel(n_trees=3), NeighboursChannel(), RidgeChannel()]
)
def test_updating_returns_a_new_channel_and_leaves_the_old_one_alone(channel):
    X, y = two_blobs()
    encoder = ForestEncoder(n_trees=3).fit(X, y, rng=RNG(0))
    Z = encoder.encode(X) if isinstance(channel, LeafChannel) else X
    before = update(started(channel, y), "a", encoder, Z, y)
    answers, size = before.predict_proba({"a": Z}), before.nbytes
    more = update(before, "a", encoder, Z, 1 - y)
    more.with_class_counts(np.array([5, 5, 5]))
    np.testing.assert_array_equal(before.predict_proba({"a": Z}), answers)
    assert before.nbytes == size
    assert not np.array_equal(more.predict_proba({"a": Z}), answers)


@pytest.mark.parametrize("channel", [LeafChannel(), NeighboursChannel(5)])
def test_rows_in_two_parts_equal_rows_at_once(channel):
    X, y = two_blobs()
    encoder = ForestEncoder(n_trees=3).fit(X, y, rng=RNG(0))
    Z = encoder.encode(X) if isinstance(channel, LeafChannel) else X
    at_once = update(started(channel, y), "a", encoder, Z, y)
    in_parts = started(channel, y)
    for part in (slice(0, 30), slice(30, None)):
        in_parts = update(in_parts, "a", encoder, Z[part], y[part])
    np.testing.assert_array_equal(at_once.predict_proba({"a": Z}), in_parts.predict_proba({"a": Z}))


@pytest.mark.parametrize("channel", [LeafChannel(), ForestChannel(n_trees=3), NeighboursChannel()])
def test_a_new_class_gets_a_column(channel):
    X, y = two_blobs()
    encoder = ForestEncoder(n_trees=3).fit(X, y, rng=RNG(0))
    Z = encoder.encode(X) if isinstance(channel, LeafChannel) else X
    old = update(started(channel, y), "a", encoder, Z, y)
    new = old.with_class_counts(np.array([40, 40, 80]))
    np.testing.assert_allclose(new.predict_proba({"a": Z})[:, :2], old.predict_proba({"a": Z}))
    grown = update(new, "a", encoder, Z, np.full(len(y), 2))
    assert grown.predict_proba({"a": Z})[:, 2].mean() > 0.3


def test_counts_outgrow_small_integers_without_wrapping():
    X, y = np.zeros((300, 1), np.float32), np.zeros(300, dtype=int)
    encoder = ForestEncoder(n_trees=1).fit(X, y, rng=RNG(0))
    channel = started(LeafChannel(), y)
    for _ in range(300):
        channel = update(channel, "a", encoder, encoder.encode(X), y)
    assert channel.tables["a"].sum() == 300 * 300


def test_a_forest_channel_reads_the_leaves_of_a_forest_encoder():
    from lifelong.encoders import ForestEncoder
    from lifelong.learners import Silly

    X = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    learner = Silly(ForestEncoder(5), ForestChannel(), random_state=0)
    learner.partial_fit(X, y, task="a").partial_fit(X, 1 - y, task="b")
    assert learner.score(X, y, task="a") > 0.8
