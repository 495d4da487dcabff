"""Several encoders that have trained on rows of the task: its own one and shared networks."""

from functools import reduce

import numpy as np

from lifelong.channels.ridge.mixing import Opinion
from lifelong.channels.ridge.readings import Reading, Views, answered, both
from lifelong.channels.ridge.settings import RidgeSettings
from lifelong.channels.ridge.solver import LinearMap, Products, kernel, linear_map, solve
from lifelong.encoders.base import Mask, take_rows
from lifelong.tasks.base import TaskName


def trained_on_task(views: Views, n_classes: int, settings: RidgeSettings) -> Opinion:
    """What they say together, and scores of the rows that none of them has trained on.

    One regression on the layers of all, each weighed by what it alone tells about these rows; then
    the answer of each, as much as these rows say.
    """
    views = with_common_rows(views)
    view = next(iter(views.values()))
    unseen = unseen_by_all(views)
    weights = take_rows(view.weights, unseen)
    y = view.y[unseen]
    parts, reading = _layers(views, unseen, n_classes, settings)
    for name, of_one in views.items():
        if of_one.n_answers:
            answer = _on_all(answered(name, of_one, unseen, n_classes), views, n_classes)
            reading = both(
                reading,
                answer,
                y,
                view.class_shares(n_classes),
                weights=weights,
                cost=settings.cost_of_answer,
            )
    return Opinion(reading.maps, parts, view.rows[unseen], y, reading.held_out, reading.r2, weights)


def with_common_rows(views: Views) -> Views:
    """The same rows for all: with ``replay`` below 1, later encoders have seen fewer."""
    rows = reduce(np.intersect1d, [view.rows for view in views.values()])
    found = {}
    for name, view in views.items():
        taken = view.take(np.isin(view.rows, rows))
        order = np.argsort(taken.rows, kind="stable")
        found[name] = taken.take(order)
    return found


def unseen_by_all(views: Views) -> Mask:
    """Rows that no encoder has trained on (n,)."""
    seen = [_by_any_part(view.in_bag) for view in views.values() if view.in_bag is not None]
    return np.asarray(~np.any(seen, axis=0))


def _by_any_part(in_bag: Mask) -> Mask:
    if in_bag.ndim == 1:
        return in_bag
    return np.asarray(in_bag.any(axis=1))


def _layers(
    views: Views, unseen: Mask, n_classes: int, settings: RidgeSettings
) -> tuple[dict[TaskName, float], Reading]:
    """Regression on all columns but the answers: all rows take part, held-out rows test it.

    The penalty has the smallest leave-one-out error on all rows. Held-out rows are a few tens:
    on training rows of CIFAR-100 the penalty of their choice was less accurate for each of seven
    trainings, by .003 in the mean.
    """
    view = next(iter(views.values()))
    Y = view.targets(n_classes)
    weights = take_rows(view.weights, unseen)
    choose = unseen  # rows that choose the penalty; without held-out rows it is the default
    if unseen.any():
        choose = np.ones_like(unseen)
    features = {}
    kernels = {}
    size = {}
    for name, of_one in views.items():
        A = of_one.features()
        features[name] = A[:, : A.shape[1] - of_one.n_answers]
        kernels[name] = kernel(features[name], view.landmarks, view.weights)
        alone = solve(
            kernels[name].K,
            Y,
            landmarks=view.landmarks,
            unseen=choose,
            default_penalty=settings.default_penalty,
            weights=view.weights,
        )
        size[name] = Reading.of({}, alone.loo[unseen], Y[unseen], weights).r2
    total = sum(size.values())
    parts = {name: 1 / len(size) for name in size}
    if total:
        parts = {name: r2 / total for name, r2 in size.items()}
    K: Products = np.zeros(())
    for name, of_one_kernel in kernels.items():
        K = K + parts[name] * of_one_kernel.K
    solution = solve(
        K,
        Y,
        landmarks=view.landmarks,
        unseen=choose,
        default_penalty=settings.default_penalty,
        weights=view.weights,
    )
    maps = {}
    for name, of_one in views.items():
        alpha = parts[name] * solution.alpha
        found = linear_map(features[name], alpha, kernels[name].scale, view.weights)
        padded = np.pad(found.coefficients, ((0, of_one.n_answers), (0, 0)))
        maps[name] = LinearMap(padded, found.intercept)
    return parts, Reading.of(maps, solution.loo[unseen], Y[unseen], weights)


def _on_all(answer: Reading, views: Views, n_classes: int) -> Reading:
    """The answer of one encoder, with maps that are 0 for the others."""
    maps = {}
    for name, view in views.items():
        width = view.Z.shape[1]
        nothing = LinearMap(np.zeros((width, n_classes), np.float32), np.zeros(n_classes))
        maps[name] = answer.maps.get(name, nothing)
    return answer._replace(maps=maps)
