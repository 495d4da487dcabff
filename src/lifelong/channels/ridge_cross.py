"""Encoders of other tasks. None of them ever saw a label of this one, so leave-one-out scores are honest."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lifelong._validation import Codes
from lifelong.channels.ridge_mixing import learnt_share
from lifelong.channels.ridge_solver import (
    Features,
    LinearMap,
    Products,
    Scores,
    features,
    linear_map,
    loudness,
    products,
    skill_of,
    solve,
)
from lifelong.channels.ridge_views import Opinion, View
from lifelong.encoders.base import Representation
from lifelong.tasks.base import TaskName

Views = Mapping[TaskName, View]
Shares = Mapping[TaskName, float]


class _Reading(NamedTuple):
    maps: dict[TaskName, LinearMap]
    honest: Scores  # (n, K)
    handicapped: Scores  # (n, K): the same with no more trees than the task's own forest is judged by
    skill: float


def cross_task(views: Views, n_classes: int, *, own: View | None = None, equal: bool = False) -> Opinion | None:
    """Encoders of other tasks that have seen the same rows, together, each weighed by its skill.

    Networks are read by regression; forests, by regression and by the vote of their leaves. Where they are to be
    compared with the task's ``own`` forest, which judges a row by a third of its trees, they must not use more trees.
    """
    weights = {name: 1.0 if equal else view.skill for name, view in views.items()}
    total = sum(weights.values())
    if not total:
        return None
    shares = {name: weight / total for name, weight in weights.items()}
    heard = {name: view for name, view in views.items() if shares[name]}
    first = next(iter(views.values()))
    Y, trees = first.targets(n_classes), _trees_left(first, own)
    reading = _regression(heard, shares, Y, trees)
    if all(view.n_leaves for view in heard.values()):
        reading = _both(reading, _vote(heard, shares, Y, trees), first.y)
    return Opinion(reading.maps, shares, first.rows, first.y, reading.handicapped, reading.skill)


def _regression(views: Views, shares: Shares, Y: Scores, trees: int | None) -> _Reading:
    """One regression on all encoders."""
    K, scales = _joint_products(views, shares)
    solution = solve(K, Y)
    maps = {
        name: linear_map(view.features(), shares[name] * solution.alpha, scales[name]) for name, view in views.items()
    }
    handicapped = solution.honest if trees is None else solve(_joint_products(views, shares, trees)[0], Y).honest
    return _Reading(maps, solution.honest, handicapped, solution.skill)


def _joint_products(views: Views, shares: Shares, trees: int | None = None) -> tuple[Products, dict[TaskName, float]]:
    """Σ_e share_e K_e, and the scale of each K_e; of forests perhaps only the first so many trees."""
    scales: dict[TaskName, float] = {}
    K: Products = np.zeros(())
    for name, view in views.items():
        seen = view.Z[:, :trees] if view.n_leaves else view.Z
        of_one, scales[name] = products(features(seen, view.n_leaves))
        K = K + shares[name] * of_one
    return K, scales


def _vote(views: Views, shares: Shares, Y: Scores, trees: int | None) -> _Reading:
    """The paper's reading: a leaf has the mean label of the task's rows in it, and all trees count alike."""
    maps: dict[TaskName, LinearMap] = {}
    honest, handicapped = np.zeros_like(Y), np.zeros_like(Y)
    for name, view in views.items():
        inside = _inside(view.Z, view.n_leaves)
        totals, counts = np.asarray(inside.T @ Y), np.asarray(inside.sum(axis=0))  # (leaves, K), (leaves,)
        votes = shares[name] * totals / np.maximum(counts, 1)[:, None]
        maps[name] = LinearMap((votes / np.sqrt(view.Z.shape[1])).astype(np.float32), np.zeros(Y.shape[1]))
        for scores, Z in ((honest, view.Z), (handicapped, view.Z[:, :trees])):
            scores += shares[name] * _left_out(_inside(Z, view.n_leaves), totals, counts, Y) / Z.shape[1]
    return _Reading(maps, honest, handicapped, skill_of(honest, Y))


def _left_out(inside: Features, totals: Scores, counts: Scores, Y: Scores) -> Scores:
    """Σ over trees of the mean label of the *other* rows in a row's leaf; a leaf without others says nothing."""
    weights = np.where(counts > 1, 1 / np.maximum(counts - 1, 1), 0)
    return np.asarray(inside @ (weights[:, None] * totals) - Y * (inside @ weights)[:, None])


def _inside(Z: Representation, n_leaves: int) -> Features:
    """Which leaves a row is in (n, leaves): 1 or 0."""
    leaves = features(Z, n_leaves)
    leaves.data[:] = 1
    return leaves


def _both(one: _Reading, other: _Reading, y: Codes) -> _Reading:
    """Two readings as one, equally loud; honest scores decide how much of the other."""
    if not one.honest.any() or not other.honest.any():
        return one if one.honest.any() else other
    gain = loudness(one.honest) / loudness(other.honest)
    priors = np.bincount(y, minlength=one.honest.shape[1]) / len(y)
    b = learnt_share(one.honest + priors, gain * other.honest + priors, y)
    a, b = 1 - b, b * gain
    maps = {name: _sum_of(a, one.maps[name], b, other.maps[name]) for name in one.maps}
    honest, handicapped = (a * first + b * second for first, second in zip(one[1:3], other[1:3], strict=True))
    return _Reading(maps, honest, handicapped, max(one.skill, other.skill))


def _sum_of(a: float, one: LinearMap, b: float, other: LinearMap) -> LinearMap:
    coefficients = np.float32(a) * one.coefficients + np.float32(b) * other.coefficients
    return LinearMap(coefficients, a * one.intercept + b * other.intercept)


def _trees_left(view: View, own: View | None) -> int | None:
    """How many trees of the task's own forest a row is judged through."""
    if own is None or own.in_bag is None or own.in_bag.ndim == 1:
        return None
    return max(1, round(float(np.mean(~own.in_bag)) * int(view.Z.shape[1])))
