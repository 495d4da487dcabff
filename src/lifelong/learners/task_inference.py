"""Which task is a row from? Densities of the rows themselves and of their representations tell, one half each.

Chosen by measurement against the channels' own confidence (docs/unknown-task.md): rows of a task that a channel was not
made for get confident answers, too, so confidence says little; where rows lie says much more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from lifelong._validation import Codes
from lifelong.encoders.base import Mask, Representation, held_out
from lifelong.learners.density import Array, Density, Gaussians, covariance, distances, projection
from lifelong.learners.memory import StoredRows
from lifelong.tasks.base import TaskName

TEMPER = 0.5  # neither pixels nor neurons are as independent as a density takes them to be
TREES = 10  # a forest's log-likelihood is that of ten trees, however many there are: trees agree with each other
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

    ``tables``: per task, its leaf counts by encoder; ``rows`` are projected rows (n, d). An encoder has a say once it
    has seen rows of every task: without replay, that is the first one alone.
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
    return _by_task(TEMPER * _ratios(_gaussian([density.rows for density in known], rows), known), known)


def _of_view(
    densities: Mapping[TaskName, Density],
    tables: Mapping[TaskName, Mapping[TaskName, NDArray[Any]]],
    name: TaskName,
    Z: Representation,
    seed: int,
) -> Likelihoods | None:
    """Log-likelihoods of every class in one encoder's representation, if it has seen rows of every task."""
    counts = [tables[task][name] for task in densities if name in tables[task]]
    if len(counts) == len(densities):
        return _leaf_likelihoods(Z, counts)
    views = [density.views[name] for density in densities.values() if name in density.views]
    if len(views) < len(densities):
        return None
    flat = Z.reshape(len(Z), -1)
    return _gaussian(views, flat @ projection(seed, flat.shape[1]))


def _gaussian(views: Sequence[Gaussians], z: Array) -> Likelihoods:
    """Class-conditional Gaussians with one covariance for the classes of all tasks."""
    sigma = covariance(views)
    return [
        np.where(view.counts > 0, -distances(z, view.means.astype(np.float64), sigma) / 2, np.nan) for view in views
    ]


def _leaf_likelihoods(Z: Representation, tables: Sequence[NDArray[Any]]) -> Likelihoods:
    """How often each class visits the leaves of a row; leaves it never came to count a tenth of a row's visit."""
    n_trees = Z.shape[1]
    visits = [table.sum(axis=0, dtype=np.float64) / n_trees for table in tables]  # (K,): rows per tree
    least = 0.1 / np.concatenate(visits).mean()
    found = []
    for table, rows in zip(tables, visits, strict=True):
        logs = np.log(table / np.where(rows > 0, rows, np.nan) + least)  # (leaves, K)
        found.append(TREES * sum(logs[Z[:, tree]] for tree in range(n_trees)) / n_trees)
    return found


def _ratios(likelihoods: Likelihoods, known: Sequence[Density]) -> Array:
    """log p(x | t, k) less its mean over classes, (n, ΣK): 0, neither here nor there, for a class without rows."""
    every = np.concatenate(
        [_widened(one, len(density.rows.counts)) for one, density in zip(likelihoods, known, strict=True)], axis=1
    )
    there = ~np.isnan(every)
    mean = np.where(there, every, 0.0).sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    return np.where(there, every - mean, 0.0)


def _widened(likelihood: Array, n_classes: int) -> Array:
    """With columns for classes that came after the view was last updated."""
    return np.pad(likelihood, ((0, 0), (0, n_classes - likelihood.shape[1])), constant_values=np.nan)


def _by_task(score: Array, known: Sequence[Density]) -> Array:
    """Classes of a task are equally likely, and so are tasks."""
    columns, start = [], 0
    for density in known:
        present = density.rows.counts > 0
        part = score[:, start : start + len(present)][:, present]
        columns.append(logsumexp(part, axis=1) - np.log(present.sum()))
        start += len(present)
    return np.asarray(log_softmax(np.stack(columns, axis=1), axis=1))


def novelty(densities: Mapping[TaskName, Density], rows: Array) -> Array:
    """1 − Σ_t P(t | x) p_t(x), p_t the share of task t's own rows that lie at least as far out.

    With the right posteriors, a task drawn from them has a p_t that is uniform on rows of known tasks; the mean over
    tasks stays close to that.
    """
    outer = np.stack([_share_further_out(density, rows) for density in densities.values()], axis=1)  # (n, T)
    return np.asarray(1 - (np.exp(log_row_posteriors(densities, rows)) * outer).sum(axis=1))


def _share_further_out(density: Density, rows: Array) -> Array:
    """A conformal p-value: (1 + rows of the task at least as far out) / (1 + rows of the task)."""
    out = nearest(density.rows)(rows)
    further = len(density.calibration) - np.searchsorted(density.calibration, out.astype(np.float32), side="left")
    return np.asarray((1 + further) / (1 + len(density.calibration)))


def nearest(task: Gaussians) -> Callable[[Array], Array]:
    """Rows → squared distance (n,) to the nearest class mean, in units of this task's own covariance.

    Other tasks play no part, so that a task's calibration holds however many tasks come later.
    """
    sigma, means = covariance([task]), task.means[task.counts > 0].astype(np.float64)
    return lambda z: np.asarray(distances(z, means, sigma).min(axis=1))


def calibrate(old: Density | None, z: Array, y: Codes, n_classes: int) -> NDArray[np.float32]:
    """Distances of a task's rows from what the *other* rows of the task say, sorted; a sample of at most 200."""
    fold = _rank_in_class(y) % FOLDS
    honest = []
    for one in range(min(FOLDS, int(fold.max()) + 1)):
        rest = Gaussians.of(z[fold != one], y[fold != one], n_classes)
        rest = rest if old is None else old.rows.plus(rest)
        if rest.freedom > 0:
            honest.append(nearest(rest)(z[fold == one]))
    new = np.concatenate(honest) if honest else np.zeros(0)
    if old is None:
        return _thinned(new, CALIBRATION)
    n_old = float(old.rows.counts.sum())
    share = len(new) / (n_old + len(new))
    size = min(CALIBRATION, len(old.calibration) + len(new))
    parts = [_thinned(old.calibration, round(size * (1 - share))), _thinned(new, round(size * share))]
    return np.sort(np.concatenate(parts))


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
    known: Density | None, z: Array, y: Codes, n_classes: int, weights: NDArray[np.float64] | None = None
) -> Density:
    """A task's density with more rows z (n, d), as they are."""
    rows, calibration = Gaussians.of(z, y, n_classes, weights), calibrate(known, z, y, n_classes)
    if known is None:
        return Density(rows, calibration)
    return replace(known, rows=known.rows.plus(rows), calibration=calibration)


def viewed(
    density: Density,
    name: TaskName,
    encoder: Any,
    Z: Representation,
    rows: StoredRows,
    in_bag: Mask | None,
    seed: int,
) -> Density:
    """A task's density with more rows as an encoder represents them; only rows that it has not trained on count."""
    n_classes = len(density.rows.counts)
    weights = rows.weights if rows.weights is None or in_bag is None or in_bag.ndim == 2 else rows.weights[~in_bag]
    Z, y = held_out(Z, rows.y, in_bag)
    if getattr(encoder, "n_leaves", 0):
        return density.counted(name, encoder, Z, y, n_classes, weights)
    if len(y) == 0:
        return density
    flat = Z.reshape(len(Z), -1)
    return density.seen(name, Gaussians.of(flat @ projection(seed, flat.shape[1]), y, n_classes, weights))
