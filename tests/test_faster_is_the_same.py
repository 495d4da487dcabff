"""What was made faster answers as before: bit for bit, or within a stated difference
(docs/performance.md).
"""

from typing import Literal

import numpy as np
import pytest
import torch
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from lifelong import NetworkEncoder, Recipe
from lifelong._validation import check_rows
from lifelong.channels.leaf import leaf_votes
from lifelong.channels.summing import compiled_sum
from lifelong.encoders import ForestEncoder, walking_many
from lifelong.exceptions import InputError
from lifelong.learners.density import Gaussians
from lifelong.nets.architectures import cnn
from lifelong.nets.training import forward


@pytest.mark.parametrize("abstentions", [False, True])
def test_a_row_gets_the_same_votes_alone_as_among_many_bit_for_bit(abstentions: bool) -> None:
    rng = np.random.default_rng(0)
    Z = rng.integers(-1 if abstentions else 0, 40, size=(300, 7)).astype(np.int32)
    table = rng.integers(0, 9, size=(40, 5)).astype(np.uint8)
    together = leaf_votes(Z, table)
    for row in range(0, 300, 50):
        np.testing.assert_array_equal(leaf_votes(Z[row : row + 1], table)[0], together[row])


def test_votes_are_the_same_before_and_after_posteriors_are_kept() -> None:
    rng = np.random.default_rng(0)
    Z = rng.integers(-1, 40, size=(300, 7)).astype(np.int32)
    table = rng.integers(0, 9, size=(40, 5)).astype(np.uint8)
    few = leaf_votes(Z[:3], table)  # fewer than leaves: not kept
    leaf_votes(Z, table)  # kept from here on
    np.testing.assert_array_equal(leaf_votes(Z[:3], table), few)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 300])
@pytest.mark.parametrize("order", ["C", "F"])
def test_compiled_sums_of_posteriors_are_those_of_numpy_bit_for_bit(
    n_rows: int, order: Literal["C", "F"], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    Z = np.array(rng.integers(-1, 40, size=(n_rows, 7)), dtype=np.int32, order=order)
    Z.setflags(write=False)
    table = rng.integers(0, 9, size=(40, 5)).astype(np.uint8)
    monkeypatch.setattr(walking_many, "WARM_UP", np.inf)
    by_numpy = leaf_votes(Z, table)
    monkeypatch.setattr(walking_many, "WARM_UP", 0)
    assert compiled_sum() is not None
    np.testing.assert_array_equal(leaf_votes(Z, table), by_numpy, strict=True)


@pytest.mark.parametrize("warm_up", [0, np.inf])
def test_a_leaf_that_is_not_there_is_an_error_compiled_or_not(
    warm_up: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking_many, "WARM_UP", warm_up)
    with pytest.raises(IndexError):
        leaf_votes(np.full((300, 7), 41, dtype=np.int32), np.ones((40, 5), dtype=np.uint8))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_array_that_is_right_already_is_looked_at_no_less(value: float) -> None:
    X = np.ones((5, 3), dtype=np.float32)
    assert check_rows(X) is X
    X[3, 1] = value
    with pytest.raises(InputError, match="contains"):
        check_rows(X)


def test_numbers_whose_squares_are_too_large_are_welcome() -> None:
    X = np.full((500, 3), 9e17, dtype=np.float32)
    with np.errstate(over="ignore"):
        assert np.isinf(np.dot(X.ravel(), X.ravel()))
    np.testing.assert_array_equal(check_rows(X), X)


def test_sums_of_classes_are_those_of_adding_row_by_row_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    z, y, w = rng.normal(size=(500, 20)), rng.integers(0, 6, size=500), rng.random(500)
    for weights in (None, w):
        each = np.ones(500) if weights is None else weights
        sums = np.zeros((7, 20))
        np.add.at(sums, y, each[:, None] * z)
        counts = np.bincount(y, each, minlength=7)
        means = (sums / np.where(counts > 0, counts, 1)[:, None]).astype(np.float32)
        np.testing.assert_array_equal(Gaussians.of(z, y, 7, weights).means, means)


def test_trees_are_those_that_scikit_learn_grows_on_the_same_rows_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((120, 8), dtype=np.float32), rng.integers(0, 3, size=120)
    encoder = ForestEncoder(4)
    in_bag = encoder.split(y, rng=rng)
    forest = encoder.fit(X, y, in_bag=in_bag, rng=np.random.default_rng(1))
    seeds = np.random.default_rng(1).integers(2**31 - 1, size=4)
    for tree, bag, seed in zip(forest.trees, in_bag.T, seeds, strict=True):
        model = DecisionTreeClassifier(max_depth=30, max_features="sqrt", random_state=int(seed))
        expected = model.fit(X, y, sample_weight=bag.astype(np.float64)).tree_
        np.testing.assert_array_equal(tree.threshold, expected.threshold)
        np.testing.assert_array_equal(tree.feature, expected.feature)


def test_parameters_of_trees_are_still_checked() -> None:
    with pytest.raises(InvalidParameterError, match="max_features"):
        ForestEncoder(max_features="all").fit(
            np.zeros((4, 2), np.float32), np.arange(4), rng=np.random.default_rng(0)
        )


def test_images_in_chunks_are_what_they_are_at_once_to_six_digits() -> None:
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(0)
        body = cnn((1, 8, 8), width=0.25).eval()
        X = torch.randn(300, 1, 8, 8)
        at_once = body(X).numpy()
    np.testing.assert_allclose(
        forward(body, X.numpy(), device=torch.device("cpu")), at_once, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("network", ["auto", "cnn", "mlp", (12,)])
def test_rows_standardised_once_train_the_same_network_bit_for_bit(
    network, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3, 8, 8), dtype=np.float32), np.arange(60) % 3
    encoder = NetworkEncoder(network, width=0.1, recipe=Recipe(iterations=6))
    once = encoder.fit(X, y, rng=np.random.default_rng(1)).encode(X)
    monkeypatch.setattr("lifelong.nets.training._COPIED", 0)
    np.testing.assert_array_equal(encoder.fit(X, y, rng=np.random.default_rng(1)).encode(X), once)
