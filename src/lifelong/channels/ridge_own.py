"""The task's own encoder. It has seen labels: only rows, or trees, that have not may judge it."""

import numpy as np

from lifelong.channels.ridge_solver import LinearMap, linear_map, loudness, products, skill_of, solve
from lifelong.channels.ridge_views import Opinion, View
from lifelong.encoders.base import Mask
from lifelong.tasks.base import TaskName


def in_task(name: TaskName, view: View, n_classes: int) -> Opinion:
    """A network is read by regression; a forest, by regression and by the vote of its trees, equally loud."""
    assert view.in_bag is not None
    if view.in_bag.ndim == 1:
        return _network(name, view, view.in_bag, n_classes)
    vote, regression = (read(name, view, view.in_bag, n_classes) for read in (_vote, _trees))
    if not regression.honest.any():
        return vote
    gain = loudness(vote.honest) / loudness(regression.honest)
    maps = {name: _mean_of(vote.maps[name], regression.maps[name], gain)}
    honest = (vote.honest + gain * regression.honest) / 2
    return vote._replace(maps=maps, honest=honest, skill=max(vote.skill, regression.skill))


def _network(name: TaskName, view: View, in_bag: Mask, n_classes: int) -> Opinion:
    """All rows teach the regression, held-out rows judge it."""
    A, judges, landmarks = view.features(), ~in_bag, view.landmarks()
    K, scale = products(A, landmarks)
    solution = solve(K, view.targets(n_classes), landmarks=landmarks, judges=judges)
    maps = {name: linear_map(A, solution.alpha, scale)}
    return Opinion(maps, {name: 1.0}, view.rows[judges], view.y[judges], solution.honest[judges], solution.skill)


def _vote(name: TaskName, view: View, in_bag: Mask, n_classes: int) -> Opinion:
    """What a random forest says: a leaf has the classes of the rows that it grew on; judged out of bag."""
    Y, unseen = view.targets(n_classes), ~in_bag
    grown = view.features(hidden=unseen)
    grown.data[:] = 1
    votes = np.asarray(grown.T @ Y) / np.maximum(grown.sum(axis=0), 1)[:, None]  # (leaves, K)
    honest = np.asarray(view.features(hidden=in_bag) @ votes) / np.sqrt(np.maximum(unseen.sum(axis=1), 1))[:, None]
    judges = unseen.any(axis=1)
    maps = {name: LinearMap((votes / np.sqrt(in_bag.shape[1])).astype(np.float32), np.zeros(n_classes))}
    skill = skill_of(honest[judges], Y[judges])
    return Opinion(maps, {name: 1.0}, view.rows[judges], view.y[judges], honest[judges], skill)


def _trees(name: TaskName, view: View, in_bag: Mask, n_classes: int) -> Opinion:
    """Regression on leaves: in the honest half of it, each row is in the leaves of trees that have not seen it."""
    Y, A, unseen = view.targets(n_classes), view.features(), view.features(hidden=in_bag)
    judges, landmarks = np.asarray(~in_bag.all(axis=1)), view.landmarks()
    (K, scale), (K_unseen, scale_unseen) = products(A, landmarks), products(unseen, landmarks)
    solution = solve(K_unseen, Y, landmarks=landmarks, judges=judges)
    seen = linear_map(A, solve(K, Y, landmarks=landmarks, penalty=solution.penalty).alpha, scale)
    maps = {name: _mean_of(seen, linear_map(unseen, solution.alpha, scale_unseen)) if judges.any() else seen}
    return Opinion(maps, {name: 1.0}, view.rows[judges], view.y[judges], solution.honest[judges], solution.skill)


def _mean_of(one: LinearMap, other: LinearMap, gain: float = 1.0) -> LinearMap:
    coefficients = np.float32(0.5) * (one.coefficients + np.float32(gain) * other.coefficients)
    return LinearMap(coefficients, (one.intercept + gain * other.intercept) / 2)
