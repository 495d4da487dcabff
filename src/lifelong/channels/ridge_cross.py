"""Encoders of other tasks. None of them ever saw a label of this one, so leave-one-out scores are honest."""

from collections.abc import Mapping

import numpy as np

from lifelong.channels.ridge_reading import LeafVotes, Reading, both
from lifelong.channels.ridge_solver import LinearMap, Places, Products, Scores, features, linear_map, products, solve
from lifelong.channels.ridge_views import Opinion, View
from lifelong.tasks.base import TaskName

Views = Mapping[TaskName, View]
Shares = Mapping[TaskName, float]


def cross_task(views: Views, n_classes: int, *, own: View | None = None, equal: bool = False) -> Opinion | None:
    """Encoders of other tasks that have seen the same rows, together, each weighed by its skill.

    Networks are read by regression; forests, by regression and by the vote of their leaves. Where they are to be
    compared with the task's ``own`` forest, which judges a row by a third of its trees, they have half of that.
    """
    weights = {name: 1.0 if equal else view.skill for name, view in views.items()}
    total = sum(weights.values())
    if not total:
        return None
    shares = {name: weight / total for name, weight in weights.items()}
    heard = {name: view for name, view in views.items() if shares[name]}
    first = next(iter(views.values()))
    Y, trees = first.targets(n_classes), _fewer_trees(first, own)
    reading = _regression(heard, shares, Y, trees)
    if all(view.n_leaves for view in heard.values()):
        reading = both(reading, _vote(heard, shares, Y, trees), first.y, first.class_shares(n_classes))
    return Opinion(reading.maps, shares, first.rows, first.y, reading.handicapped, reading.skill)


def _regression(views: Views, shares: Shares, Y: Scores, trees: int | None) -> Reading:
    """One regression on all encoders."""
    landmarks = next(iter(views.values())).landmarks()
    K, scales = _joint_products(views, shares, landmarks)
    solution = solve(K, Y, landmarks=landmarks)
    maps = {
        name: linear_map(view.features(), shares[name] * solution.alpha, scales[name]) for name, view in views.items()
    }
    handicapped = solution.honest
    if trees is not None:
        handicapped = solve(_joint_products(views, shares, landmarks, trees)[0], Y, landmarks=landmarks).honest
    return Reading(maps, solution.honest, handicapped, solution.skill)


def _joint_products(
    views: Views, shares: Shares, landmarks: Places | None, trees: int | None = None
) -> tuple[Products, dict[TaskName, float]]:
    """Σ_e share_e K_e, and the scale of each K_e; of forests perhaps only the first so many trees."""
    scales: dict[TaskName, float] = {}
    K: Products = np.zeros(())
    for name, view in views.items():
        seen = view.Z[:, :trees] if view.n_leaves else view.Z
        of_one, scales[name] = products(features(seen, view.n_leaves), landmarks)
        K = K + shares[name] * of_one
    return K, scales


def _vote(views: Views, shares: Shares, Y: Scores, trees: int | None) -> Reading:
    """The paper's reading: a leaf has the mean label of the task's rows in it, and all trees count alike."""
    maps: dict[TaskName, LinearMap] = {}
    honest, handicapped = np.zeros_like(Y), np.zeros_like(Y)
    for name, view in views.items():
        votes = LeafVotes.of(view.Z, view.n_leaves, Y)
        maps[name] = votes.linear_map(view.Z.shape[1], times=shares[name])
        honest += shares[name] * votes.without_the_row(view.Z, Y)
        handicapped += shares[name] * votes.without_the_row(view.Z[:, :trees], Y)
    return Reading.of(maps, honest, Y, handicapped)


def _fewer_trees(view: View, own: View | None) -> int | None:
    """Half as many trees as a row's own forest is judged through.

    As many would be fair to either side, but not to their mean: of two forests with few trees each, it is better than
    one of them because of the number of trees alone.
    """
    if own is None or own.in_bag is None or own.in_bag.ndim == 1:
        return None
    return max(1, round(0.5 * float(np.mean(~own.in_bag)) * int(view.Z.shape[1])))
