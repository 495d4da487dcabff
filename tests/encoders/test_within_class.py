"""Directions in which rows of one class differ, whatever the class."""

import numpy as np
from scipy.linalg import inv, sqrtm

from lifelong.encoders import within_class as module
from lifelong.encoders.within_class import RIDGE, within_class


def rows(n=300, D=12, n_classes=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    centres = rng.normal(size=(n_classes, D))
    spread = rng.normal(size=(D, D)) * np.linspace(3, 0.1, D)[:, None]
    return (centres[y] + rng.normal(size=(n, D)) @ spread).astype(np.float32), y


def covariance_within(Z, y):
    centred = Z.astype(np.float64)
    for label in np.unique(y):
        centred[y == label] -= centred[y == label].mean(axis=0)
    return centred.T @ centred / len(Z)


def test_with_all_directions_it_is_the_root_of_the_inverse_covariance():
    Z, y = rows()
    W = covariance_within(Z, y)
    m = RIDGE * np.trace(W)
    by_hand = Z @ sqrtm(m * inv(W + m * np.eye(len(W)))).real
    np.testing.assert_allclose(within_class(Z, y)(Z), by_hand, atol=2e-3)


def test_the_largest_directions_shrink_and_the_others_stay(monkeypatch):
    monkeypatch.setattr(module, "MOST_DIRECTIONS", 3)
    Z, y = rows()
    within = within_class(Z, y)
    assert within.directions.shape == (12, 3)
    np.testing.assert_allclose(within.directions.T @ within.directions, np.eye(3), atol=1e-4)
    others = np.linalg.svd(within.directions)[0][:, 3:]
    np.testing.assert_allclose(within(Z) @ others, Z @ others, atol=1e-4)
    before = np.diag(within.directions.T @ covariance_within(Z, y) @ within.directions)
    after = np.diag(within.directions.T @ covariance_within(within(Z), y) @ within.directions)
    m = RIDGE * np.trace(covariance_within(Z, y))
    np.testing.assert_allclose(after, before * m / (before + m), rtol=1e-2)


def test_rows_that_are_all_alike_within_their_class_tell_nothing():
    Z = np.eye(4, dtype=np.float32)
    assert within_class(Z, np.arange(4)) is None
    assert within_class(np.repeat(Z, 5, axis=0), np.repeat(np.arange(4), 5)) is None
