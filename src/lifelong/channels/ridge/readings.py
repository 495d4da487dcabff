"""Ways to read encoders: by regression, by the vote of leaves, by a network's own answer.

Encoders of other tasks never saw a label of this one, so leave-one-out scores test them. The task's
own encoder has seen labels: only rows, or trees, that have not can test it.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lifelong._labels import Codes
from lifelong.channels.base import Weights
from lifelong.channels.ridge.mixing import Opinion, stacking_weight
from lifelong.channels.ridge.settings import RidgeSettings
from lifelong.channels.ridge.solver import (
    Kernel,
    LinearMap,
    Products,
    Scores,
    features,
    kernel,
    linear_map,
    r2_of,
    rms,
    solve,
)
from lifelong.channels.ridge.views import View
from lifelong.channels.ridge.votes import LeafVotes
from lifelong.encoders.base import Mask, take_rows
from lifelong.tasks.base import TaskName

Views = Mapping[TaskName, View]
Parts = Mapping[TaskName, float]


class Reading(NamedTuple):
    """Encoders → class scores, and its scores of rows whose labels it has not seen."""

    maps: dict[TaskName, LinearMap]
    held_out: Scores  # (n, K)
    fewer_trees: Scores  # (n, K): with fewer trees than the task's own forest is tested by
    r2: float

    @classmethod
    def of(
        cls,
        maps: dict[TaskName, LinearMap],
        held_out: Scores,
        Y: Scores,
        weights: Weights | None = None,
        fewer_trees: Scores | None = None,
    ) -> "Reading":
        """A reading whose held-out scores say how much it tells about the labels."""
        if fewer_trees is None:
            fewer_trees = held_out
        return cls(maps, held_out, fewer_trees, r2_of(held_out, Y, weights))


def both(
    first: Reading,
    second: Reading,
    y: Codes,
    class_shares: Scores,
    *,
    weights: Weights | None = None,
    weight: float | None = None,
    cost: float = 0.0,
) -> Reading:
    """Two readings as one, of equal RMS.

    Held-out scores decide how much of the second, if ``weight`` does not say. ``y`` are the labels
    of the rows with held-out scores, ``class_shares`` (K,) those of the classes among all rows. To
    use the second alone takes evidence of ``cost`` nats.
    """
    if not second.held_out.any():
        return first
    if not first.held_out.any():
        return second
    rescale = rms(first.held_out) / rms(second.held_out)
    if weight is None:
        weight = stacking_weight(
            first.held_out + class_shares,
            rescale * second.held_out + class_shares,
            y,
            cost,
            weights,
        )
    a = 1 - weight
    b = weight * rescale
    maps = {name: sum_of(a, first.maps[name], b, second.maps[name]) for name in first.maps}
    return Reading(
        maps,
        a * first.held_out + b * second.held_out,
        a * first.fewer_trees + b * second.fewer_trees,
        max(first.r2, second.r2),
    )


def sum_of(a: float, first: LinearMap, b: float, second: LinearMap) -> LinearMap:
    """a · first + b · second."""
    coefficients = np.float32(a) * first.coefficients + np.float32(b) * second.coefficients
    return LinearMap(coefficients, a * first.intercept + b * second.intercept)


# Encoders of other tasks


def cross_task(
    views: Views, n_classes: int, settings: RidgeSettings, own: View | None, *, equal: bool
) -> Opinion | None:
    """Encoders of other tasks that have seen the same rows, together, each weighed by its R².

    Networks are read by regression; forests, by regression and by the vote of their leaves. Where
    they are to be compared with the task's ``own`` forest, which is tested by a third of its trees,
    they have half of that.
    """
    kernels = _Kernels(views, settings.kernel_bytes)
    if equal:
        size = dict.fromkeys(views, 1.0)
    else:
        size = {name: kernels.r2_alone(name) for name in views}
    total = sum(size.values())
    if not total:
        return None
    parts = {name: r2 / total for name, r2 in size.items()}
    used = {name: view for name, view in views.items() if parts[name]}
    view = next(iter(views.values()))
    n_trees = _fewer_trees(view, own, settings)
    reading = read_by_regression(used, parts, n_classes, n_trees, kernels)
    if all(view.n_leaves for view in used.values()):
        votes = read_by_votes(used, parts, n_classes, n_trees)
        reading = both(reading, votes, view.y, view.class_shares(n_classes), weights=view.weights)
    return Opinion(
        reading.maps, parts, view.rows, view.y, reading.fewer_trees, reading.r2, view.weights
    )


class _Kernels:
    """The kernels of views: each is computed once, while there is room to keep it."""

    def __init__(self, views: Views, max_bytes: int) -> None:
        self._views = views
        self._left = max_bytes
        self._kept: dict[TaskName, Kernel] = {}

    def __getitem__(self, name: TaskName) -> Kernel:
        if name in self._kept:
            return self._kept[name]
        made = self._views[name].kernel()
        if made.K.nbytes <= self._left:
            self._left -= made.K.nbytes
            self._kept[name] = made
        return made

    def r2_alone(self, name: TaskName) -> float:
        """R² of one encoder; a view that knows it need not be looked at."""
        view = self._views[name]
        if "r2_alone" not in vars(view):
            vars(view)["r2_alone"] = view.r2_from(self[name])
        return view.r2_alone


def read_by_regression(
    views: Views,
    parts: Parts,
    n_classes: int,
    n_trees: int | None = None,
    kernels: Mapping[TaskName, Kernel] | _Kernels | None = None,
) -> Reading:
    """One regression on all encoders: K = Σ_e part_e K_e."""
    view = next(iter(views.values()))
    Y = view.targets(n_classes)
    if kernels is None:
        kernels = {name: view.kernel() for name, view in views.items()}
    K: Products = np.zeros(())
    scales: dict[TaskName, float] = {}
    for name in views:
        of_one, scales[name] = kernels[name]
        K = K + parts[name] * of_one
    solution = solve(K, Y, landmarks=view.landmarks, weights=view.weights)
    maps = {
        name: linear_map(view.features(), parts[name] * solution.alpha, scales[name], view.weights)
        for name, view in views.items()
    }
    fewer = solution.loo
    if n_trees is not None:
        K = np.zeros(())
        for name, of_some in _kernels_of_some_trees(views, n_trees):
            K = K + parts[name] * of_some
        fewer = solve(K, Y, landmarks=view.landmarks, weights=view.weights).loo
    return Reading(maps, solution.loo, fewer, solution.r2)


def _kernels_of_some_trees(views: Views, n_trees: int) -> Iterator[tuple[TaskName, Products]]:
    for name, view in views.items():
        Z = view.Z
        if view.n_leaves:
            Z = Z[:, :n_trees]
        yield name, kernel(features(Z, view.n_leaves), view.landmarks, view.weights).K


def read_by_votes(views: Views, parts: Parts, n_classes: int, n_trees: int | None) -> Reading:
    """The paper's: a leaf has the mean label of the task's rows in it; all trees count alike."""
    view = next(iter(views.values()))
    Y = view.targets(n_classes)
    maps: dict[TaskName, LinearMap] = {}
    held_out = np.zeros_like(Y)
    fewer = np.zeros_like(Y)
    for name, view in views.items():
        votes = LeafVotes.of(view.Z, view.n_leaves, Y, view.weights)
        maps[name] = votes.linear_map(view.Z.shape[1], times=parts[name])
        held_out += parts[name] * votes.without_the_row(view.Z, Y, view.weights)
        fewer += parts[name] * votes.without_the_row(view.Z[:, :n_trees], Y, view.weights)
    return Reading.of(maps, held_out, Y, view.weights, fewer)


def _fewer_trees(view: View, own: View | None, settings: RidgeSettings) -> int | None:
    """How many trees of another forest the task's own one is compared with (None: all)."""
    if own is None or own.in_bag is None or own.in_bag.ndim == 1:
        return None
    out_of_bag = float(np.mean(~own.in_bag))
    return max(1, round(settings.share_of_trees * out_of_bag * int(view.Z.shape[1])))


# The task's own encoder


def in_task(name: TaskName, view: View, n_classes: int, settings: RidgeSettings) -> Opinion:
    """What the own encoder says, and scores of the rows that can test it."""
    assert view.in_bag is not None
    if view.in_bag.ndim == 1:
        unseen = ~view.in_bag
        reading = _network(name, view, unseen, n_classes, settings)
    else:
        unseen = np.asarray(~view.in_bag.all(axis=1))
        reading = _forest(name, view, unseen, n_classes)
    weights = _weights_of(view, unseen)
    rows = view.rows[unseen]
    y = view.y[unseen]
    return Opinion(reading.maps, {name: 1.0}, rows, y, reading.held_out, reading.r2, weights)


def _network(
    name: TaskName, view: View, unseen: Mask, n_classes: int, settings: RidgeSettings
) -> Reading:
    """By regression; and by its own answer, if it gives one, as much as held-out scores say."""
    regression = _layers(name, view, unseen, n_classes, settings)
    if not view.n_answers:
        return regression
    return both(
        regression,
        answered(name, view, unseen, n_classes),
        view.y[unseen],
        view.class_shares(n_classes),
        weights=_weights_of(view, unseen),
        cost=settings.cost_of_answer,
    )


def _layers(
    name: TaskName, view: View, unseen: Mask, n_classes: int, settings: RidgeSettings
) -> Reading:
    """Regression on all columns but the answer: all rows take part, held-out rows test it."""
    A = view.features()
    A = A[:, : A.shape[1] - view.n_answers]
    K, scale = kernel(A, view.landmarks, view.weights)
    Y = view.targets(n_classes)
    solution = solve(
        K,
        Y,
        landmarks=view.landmarks,
        unseen=unseen,
        default_penalty=settings.default_penalty,
        weights=view.weights,
    )
    coefficients, intercept = linear_map(A, solution.alpha, scale, view.weights)
    whole = LinearMap(np.pad(coefficients, ((0, view.n_answers), (0, 0))), intercept)
    return Reading.of({name: whole}, solution.loo[unseen], Y[unseen], _weights_of(view, unseen))


def answered(name: TaskName, view: View, unseen: Mask, n_classes: int) -> Reading:
    """The last columns are posteriors of the first classes (there may be later ones)."""
    A = view.features()
    Y = view.targets(n_classes)
    first = A.shape[1] - view.n_answers
    n_known = min(view.n_answers, n_classes)
    if view.about_task is not None:  # of an encoder that has trained on several tasks
        first += view.about_task[0]
        n_known = min(view.about_task[1], n_classes)
    coefficients = np.zeros((A.shape[1], n_classes), dtype=np.float32)
    coefficients[first : first + n_known, :n_known] = np.eye(n_known, dtype=np.float32)
    answer = LinearMap(coefficients, -view.class_shares(n_classes))
    scores = answer.scores(A)[unseen]
    return Reading.of({name: answer}, scores, Y[unseen], _weights_of(view, unseen))


def _forest(name: TaskName, view: View, unseen: Mask, n_classes: int) -> Reading:
    """The vote of its trees and regression, half and half; and the paper's, by held-out scores."""
    votes = _votes_of_grown(name, view, unseen, n_classes)
    regression = _trees(name, view, unseen, n_classes)
    paper = votes_of_held_out(name, view, unseen, n_classes)
    y = view.y[unseen]
    class_shares = view.class_shares(n_classes)
    weights = _weights_of(view, unseen)
    half = both(votes, regression, y, class_shares, weights=weights, weight=0.5)
    return both(half, paper, y, class_shares, weights=weights)


def _votes_of_grown(name: TaskName, view: View, unseen: Mask, n_classes: int) -> Reading:
    """What a random forest says: a leaf has the classes of the rows that it grew on.

    Tested out of bag.
    """
    assert view.in_bag is not None
    out_of_bag = ~view.in_bag
    n_trees = view.in_bag.shape[1]
    Y = view.targets(n_classes)
    grown = np.where(out_of_bag, np.int32(-1), view.Z)
    votes = LeafVotes.of(grown, view.n_leaves, Y, view.weights).linear_map(n_trees)
    n_asked = np.maximum(out_of_bag.sum(axis=1), 1)[:, None]
    held_out = votes.scores(view.features(hidden=view.in_bag)) * np.sqrt(n_trees / n_asked)
    return Reading.of({name: votes}, held_out[unseen], Y[unseen], _weights_of(view, unseen))


def votes_of_held_out(name: TaskName, view: View, unseen: Mask, n_classes: int) -> Reading:
    """The paper's channel: a leaf has the classes of rows that its tree has not seen."""
    assert view.in_bag is not None
    Y = view.targets(n_classes)
    Z = np.where(view.in_bag, np.int32(-1), view.Z)
    votes = LeafVotes.of(Z, view.n_leaves, Y, view.weights)
    held_out = votes.without_the_row(Z, Y, view.weights)
    maps = {name: votes.linear_map(view.in_bag.shape[1])}
    return Reading.of(maps, held_out[unseen], Y[unseen], _weights_of(view, unseen))


def _trees(name: TaskName, view: View, unseen: Mask, n_classes: int) -> Reading:
    """Regression on leaves: half of it on each row's leaves in trees that have not seen it."""
    Y = view.targets(n_classes)
    K, scale = view.kernel()
    K_unseen, scale_unseen = view.kernel(hidden=view.in_bag)
    landmarks = view.landmarks
    weights = view.weights
    solution = solve(K_unseen, Y, landmarks=landmarks, unseen=unseen, weights=weights)
    whole = solve(K, Y, landmarks=landmarks, penalty=solution.penalty, weights=weights)
    reading = linear_map(view.features(), whole.alpha, scale, weights)
    if unseen.any():
        hidden = view.features(hidden=view.in_bag)
        half = linear_map(hidden, solution.alpha, scale_unseen, weights)
        reading = sum_of(0.5, reading, 0.5, half)
    return Reading.of({name: reading}, solution.loo[unseen], Y[unseen], _weights_of(view, unseen))


def _weights_of(view: View, unseen: Mask) -> Weights | None:
    return take_rows(view.weights, unseen)
