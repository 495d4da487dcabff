"""The split that the whole method rests on: no row on both sides, ever."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong.channels import Seen
from lifelong.encoders.base import honest_split

labels = st.lists(st.integers(0, 4), min_size=1, max_size=60).map(np.array)


@given(
    y=labels,
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 2**32 - 1),
    n_splits=st.integers(1, 5),
)
def test_every_split_has_in_bag_rows_and_leaves_some_out(y, share, seed, n_splits):
    in_bag = honest_split(y, share, rng=np.random.default_rng(seed), n_splits=n_splits)
    assert in_bag.shape == (len(y), n_splits)
    assert in_bag.any(axis=0).all()
    assert len(y) == 1 or (~in_bag).any(axis=0).all()


@given(y=labels, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**32 - 1))
def test_classes_with_two_rows_each_are_on_both_sides_in_proportion(y, share, seed):
    y = np.concatenate([y, y])  # now every class has at least two rows
    in_bag = honest_split(y, share, rng=np.random.default_rng(seed))[:, 0]
    for label in np.unique(y):
        n, drawn = (y == label).sum(), in_bag[y == label].sum()
        assert 1 <= drawn <= n - 1
        assert abs(drawn - share * n) <= 1


def test_the_share_is_the_papers_two_thirds_per_tree():
    in_bag = honest_split(np.arange(1000) % 10, 0.67, rng=np.random.default_rng(0), n_splits=7)
    np.testing.assert_array_equal(in_bag.sum(axis=0), 670)


def test_splits_of_different_trees_are_independent():
    in_bag = honest_split(np.zeros(2000, dtype=int), 0.5, rng=np.random.default_rng(0), n_splits=2)
    assert (in_bag[:, 0] == in_bag[:, 1]).mean() == pytest.approx(0.5, abs=0.05)


def test_every_row_is_as_likely_as_any_other_to_be_in_bag():
    in_bag = honest_split(
        np.repeat([0, 1], [10, 40]), 0.6, rng=np.random.default_rng(0), n_splits=4000
    )
    assert np.ptp(in_bag.mean(axis=1)) < 0.06


def test_a_share_of_one_holds_nothing_out():
    assert honest_split(np.arange(5), 1.0, rng=np.random.default_rng(0)).all()


def test_a_tree_abstains_on_the_rows_it_trained_on():
    Z = np.arange(6, dtype=np.int32).reshape(3, 2)
    in_bag = np.array([[True, False], [False, False], [True, True]])
    seen = Seen(Z, np.arange(3), np.arange(3), in_bag=in_bag).held_out()
    np.testing.assert_array_equal(seen.Z, [[-1, 1], [2, 3], [-1, -1]])
    np.testing.assert_array_equal(seen.y, [0, 1, 2])


def test_a_network_keeps_only_rows_it_did_not_train_on():
    Z = np.arange(6, dtype=np.float32).reshape(3, 2)
    in_bag = np.array([True, False, True])
    seen = Seen(Z, np.arange(3), np.arange(3), in_bag=in_bag).held_out()
    np.testing.assert_array_equal(seen.Z, [[2, 3]])
    np.testing.assert_array_equal(seen.y, [1])


def test_an_encoder_of_another_task_has_seen_no_row():
    Z = np.arange(6, dtype=np.float32).reshape(3, 2)
    seen = Seen(Z, np.arange(3), np.arange(3)).held_out()
    np.testing.assert_array_equal(seen.Z, Z)
    assert len(seen) == 3
