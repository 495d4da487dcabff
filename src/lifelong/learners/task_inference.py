"""Which task is a row from?

Densities of the rows themselves and of their representations tell, one half each.

Chosen by measurement against the channels' own confidence (docs/unknown-task.md): rows of a task
that a channel was not made for get confident answers, too, so confidence says little; where rows
lie says much more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from lifelong._labels import Codes
from lifelong.channels.base import Seen
from lifelong.encoders.base import Representation
from lifelong.learners.density import Array, Density, Gaussians, covariance, distances, projection
from lifelong.tasks.base import TaskName

TEMPER = 0.5  # neither pixels nor neurons are as independent as a density takes them to be
# A forest's log-likelihood is that of ten trees, however many there are: trees agree with each
# other.
TREES = 10
CALIBRATION = 200  # honest distances kept per task
FOLDS = 10

Likelihoods = list[NDArray[np.float64]]  # per task (n, K); NaN for a class without rows


def log_task_posteriors(
    densities: Mapping[TaskName, Density],
    tables: Mapping[TaskName, Mapping[TaskName, NDArray[Any]]],
    rows: Array,
    representations: Mapping[TaskName, Representation],
    seed: int,
) -> Array:
    """log P(t | x) of all tasks (n, T).

    ``tables``: per task, its leaf counts by encoder; ``rows`` are projected rows (n, d). An encoder
    has a say once it has seen rows of every task: without replay, that is the first one alone.
    """
    known = list(densities.values())
    score = _ratios(_gaussian([density.rows for density in known], rows), known)
    views = [_of_view(densities, tables, name, Z, seed) for name, Z in representations.items()]
    seen = [_ratios(view, known) for view in views if view is not None]
    if seen:
        score = (score + np.mean(seen, axis=0)) / 2
    return _by_task(TEMPER * score, known)


def log_row_posteriors(densities: Mapping[TaskName, Density], rows: Array) -> Array:
    """log P(t | x) (n, T) from the rows alone."""
    known = list(densities.values())
    return _by_task(
        TEMPER * _ratios(_gaussian([density.rows for density in known], rows), known), known
    )


def _of_view(
    densities: Mapping[TaskName, Density],
    tables: Mapping[TaskName, Mapping[TaskName, NDArray[Any]]],
    name: TaskName,
    Z: Representation,
    seed: int,
) -> Likelihoods | None:
    """Log-likelihoods of all classes in an encoder's representation, if it saw all tasks' rows."""
    counts = [tables[task][name] for task in densities if name in tables[task]]
    if len(counts) == len(densities):
        return _leaf_likelihoods(Z, counts)
    seen = [density.gaussians() for density in densities.values()]
    views = [gaussians[name] for gaussians in seen if name in gaussians]
    if len(views) < len(densities):
        return None
    flat = Z.reshape(len(Z), -1)
    return _gaussian(views, flat @ projection(seed, flat.shape[1]))


def _gaussian(views: Sequence[Gaussians], z: Array) -> Likelihoods:
    """Class-conditional Gaussians with one covariance for the classes of all tasks."""
    sigma = covariance(views)
    return [
        np.where(view.counts > 0, -distances(z, view.means.astype(np.float64), sigma) / 2, np.nan)
        for view in views
    ]


def _leaf_likelihoods(Z: Representation, tables: Sequence[NDArray[Any]]) -> Likelihoods:
    """How often a class visits the leaves of a row; a leaf it never visited counts a tenth."""
    n_trees = Z.shape[1]
    visits = [
        table.sum(axis=0, dtype=np.float64) / n_trees for table in tables
    ]  # (K,): rows per tree
    least = 0.1 / np.concatenate(visits).mean()
    found = []
    for table, rows in zip(tables, visits, strict=True):
        logs = np.log(table / np.where(rows > 0, rows, np.nan) + least)  # (leaves, K)
        found.append(TREES * sum(logs[Z[:, tree]] for tree in range(n_trees)) / n_trees)
    return found


def _ratios(likelihoods: Likelihoods, known: Sequence[Density]) -> Array:
    """log p(x | t, k) less its mean over classes, (n, ΣK): 0 (neutral) for a class without rows."""
    by_task = [
        _widened(likelihood, len(density.rows.counts))
        for likelihood, density in zip(likelihoods, known, strict=True)
    ]
    every = np.concatenate(by_task, axis=1)  # (n, ΣK)
    there = ~np.isnan(every)
    n_there = np.maximum(there.sum(axis=1, keepdims=True), 1)
    mean = np.where(there, every, 0.0).sum(axis=1, keepdims=True) / n_there
    return np.where(there, every - mean, 0.0)


def _widened(likelihood: Array, n_classes: int) -> Array:
    """With columns for classes that came after the view was last updated."""
    return np.pad(
        likelihood, ((0, 0), (0, n_classes - likelihood.shape[1])), constant_values=np.nan
    )


def _by_task(score: Array, known: Sequence[Density]) -> Array:
    """Classes of a task are equally likely, and so are tasks."""
    columns = []
    start = 0
    for density in known:
        present = density.rows.counts > 0
        of_task = score[:, start : start + len(present)][:, present]
        columns.append(logsumexp(of_task, axis=1) - np.log(present.sum()))
        start += len(present)
    return np.asarray(log_softmax(np.stack(columns, axis=1), axis=1))


def novelty(densities: Mapping[TaskName, Density], rows: Array) -> Array:
    """1 − Σ_t P(t | x) p_t(x), p_t the share of task t's own rows that lie at least as far out.

    With the right posteriors, a task drawn from them has a p_t that is uniform on rows of known
    tasks; the mean over tasks stays close to that.
    """
    p = np.stack([_p_value(density, rows) for density in densities.values()], axis=1)  # (n, T)
    return np.asarray(1 - (np.exp(log_row_posteriors(densities, rows)) * p).sum(axis=1))


def _p_value(density: Density, rows: Array) -> Array:
    """A conformal p-value: (1 + rows of the task at least as far out) / (1 + rows of the task)."""
    out = nearest(density.rows)(rows)
    further = len(density.calibration) - np.searchsorted(
        density.calibration, out.astype(np.float32), side="left"
    )
    return np.asarray((1 + further) / (1 + len(density.calibration)))


def nearest(task: Gaussians) -> Callable[[Array], Array]:
    """Rows → squared distance (n,) to the nearest class mean, in units of the task's covariance.

    Other tasks play no part, so that a task's calibration holds however many tasks come later.
    """
    sigma = covariance([task])
    means = task.means[task.counts > 0].astype(np.float64)
    return lambda z: np.asarray(distances(z, means, sigma).min(axis=1))


def calibrate(old: Density | None, z: Array, y: Codes, n_classes: int) -> NDArray[np.float32]:
    """Sorted distances of a task's rows from what its *other* rows say; a sample of at most 200."""
    fold = _rank_in_class(y) % FOLDS
    honest = []
    for number in range(min(FOLDS, int(fold.max()) + 1)):
        rest = Gaussians.of(z[fold != number], y[fold != number], n_classes)
        if old is not None:
            rest = old.rows.plus(rest)
        if rest.freedom > 0:
            honest.append(nearest(rest)(z[fold == number]))
    new = np.zeros(0)
    if honest:
        new = np.concatenate(honest)
    if old is None:
        return _thinned(new, CALIBRATION)
    n_old = float(old.rows.counts.sum())
    new_share = len(new) / (n_old + len(new))
    size = min(CALIBRATION, len(old.calibration) + len(new))
    from_old = _thinned(old.calibration, round(size * (1 - new_share)))
    from_new = _thinned(new, round(size * new_share))
    return np.sort(np.concatenate([from_old, from_new]))


def _rank_in_class(y: Codes) -> Codes:
    """Each row's place among the rows of its class, in order of arrival."""
    order = np.argsort(y, kind="stable")
    first = np.searchsorted(y[order], y[order])
    rank = np.empty_like(y)
    rank[order] = np.arange(len(y)) - first
    return rank


def _thinned(values: NDArray[Any], size: int) -> NDArray[np.float32]:
    """At most ``size`` of the values, evenly spread over their order."""
    ordered = np.sort(values).astype(np.float32)
    if len(ordered) <= size:
        return ordered
    return ordered[((np.arange(size) + 0.5) * len(values) / size).astype(np.intp)]


def located(
    known: Density | None,
    z: Array,
    y: Codes,
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> Density:
    """A task's density with more rows z (n, d), as they are."""
    rows = Gaussians.of(z, y, n_classes, weights)
    calibration = calibrate(known, z, y, n_classes)
    if known is None:
        return Density(rows, calibration)
    return replace(known, rows=known.rows.plus(rows), calibration=calibration)


def viewed(density: Density, name: TaskName, seen: Seen, seed: int) -> Density:
    """A task's density with more rows as an encoder represents them.

    Only rows that it has not trained on count.
    """
    seen = seen.held_out()
    if seen.n_leaves:
        return density.with_visits(name, seen)
    if len(seen) == 0:
        return density
    flat = seen.Z.reshape(len(seen), -1)
    directions = flat @ projection(seed, flat.shape[1])
    n_classes = len(density.rows.counts)
    return density.with_view(name, Gaussians.of(directions, seen.y, n_classes, seen.weights))


_TINY = 1e-300


class Inferred(NamedTuple):
    """What a learner makes of rows whose task it was not told."""

    tasks: Array  # (n, T): P(t | x)
    labels: NDArray[np.intp]  # (n, T): the most probable class within each task
    within: Array  # (n, T): how probable that class is within the task


def infer(joint: Mapping[TaskName, Array], *, same_task: bool) -> Inferred:
    """From P(t, k | x) of every task's classes (n, K), up to a factor per row.

    With ``same_task`` all rows are from one task: then their evidence adds up.
    """
    best = np.stack([of_task.max(axis=1) for of_task in joint.values()], axis=1)  # (n, T)
    total = np.stack([of_task.sum(axis=1) for of_task in joint.values()], axis=1)
    logs = np.log(np.maximum(best, _TINY))
    if same_task:
        logs = np.broadcast_to(logs.sum(axis=0), logs.shape)
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return Inferred(
        tasks=powers / powers.sum(axis=1, keepdims=True),
        labels=np.stack([of_task.argmax(axis=1) for of_task in joint.values()], axis=1),
        within=best / np.maximum(total, _TINY),
    )
