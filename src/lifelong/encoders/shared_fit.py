"""How a shared encoder learns: a forest, boosted trees and a linear model on rows of all tasks.

Each reads relative columns (:mod:`lifelong.encoders.shared`) only if they help on held-out rows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.encoders.answers import (
    Aim,
    AnsweringForest,
    Answers,
    Targets,
    grow_answering,
    joined_forests,
    loss,
)
from lifelong.encoders.base import Mask, honest_split, take_rows
from lifelong.encoders.boosted import fit_boosted
from lifelong.encoders.linear import LinearEncoder, LinearFit
from lifelong.encoders.shared import SHRINKAGE, SharedEncoder, TaskRows, shrunk_mean
from lifelong.rows.columns import Columns
from lifelong.rows.views import TreeView, coded_places, measured_places

MAX_TASK_COLUMNS = 32
"""Tasks up to which each has a column of its own. More are told apart by a few ranks."""

MAX_ROWS = 50_000
"""Rows that the forest is grown on at most, as many as trees are boosted on. The others are
answered like any row that it has not seen."""

_MANY_ROWS = 10_000  # of so many, a few trees show whether relative columns help
_TREES_OF_MANY_ROWS = 0.5  # share of the trees that are grown then: boosted trees matter more

_RANDOM_RANKS = 4
_MANY_VALUES = 8  # a column with more different numbers than this is a measurement
_SHARE = 0.67  # of the rows, for each tree
_MOST_ROWS_PER_TREE = 50_000


class SharedFit(NamedTuple):
    """A shared encoder, and what it answers to rows that its models have not seen."""

    encoder: SharedEncoder
    held_out: list[list[Answers]]  # for each task: of the forest, boosted trees, linear model


class _Rows(NamedTuple):
    """Rows to learn from; ``relative`` columns are tried beside the others."""

    base: Rows  # (n, p)
    relative: Rows  # (n, m)
    targets: Targets
    weights: NDArray[np.float64] | None

    def take(self, some: NDArray[np.intp]) -> "_Rows":
        """Some of them."""
        weights = take_rows(self.weights, some)
        return _Rows(self.base[some], self.relative[some], self.targets[some], weights)

    def wide(self) -> Rows:
        """With relative columns (n, p + m)."""
        return np.hstack([self.base, self.relative])


def fit_shared(
    of_tasks: Sequence[TaskRows],
    columns: Columns,
    *,
    n_answers: int,
    aim: Aim,
    n_trees: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    **tree: Any,
) -> SharedFit:
    """One forest, boosted trees and one linear model on the rows of all tasks.

    Each is tried with and without relative columns; the one that answers held-out rows better
    stays. Half of the trees (of many rows: a tenth) decide for the forest, and the others are grown
    for the winner.
    """
    X = np.concatenate([rows.X for rows in of_tasks])
    targets = np.concatenate([rows.targets for rows in of_tasks])
    place = np.repeat(np.arange(len(of_tasks)), [len(rows.X) for rows in of_tasks])
    weights = _joined_weights(of_tasks)
    measured = _measurements(X, columns)
    mean = _mean(X[:, measured])
    centres = np.stack([shrunk_mean(rows.X[:, measured], mean) for rows in of_tasks])
    relative = X[:, measured] - centres[place]
    levels = _levels(of_tasks, n_answers, aim)
    codes = _codes(levels, rng)
    if len(of_tasks) <= MAX_TASK_COLUMNS:
        levels = codes
    tree_view = TreeView.of(columns)

    learnt = _Rows(np.hstack([X, levels[place]]), relative, targets, weights)
    linear, relative_linear = _better_linear(learnt, coded_places(columns), n_answers, aim, rng)
    forest = None
    relative_forest = False
    held_out = []
    learnt = learnt._replace(base=np.hstack([tree_view(X), codes[place]]))
    if len(of_tasks) > 1:
        some = np.arange(len(X))
        if len(X) > MAX_ROWS:
            some = np.sort(rng.choice(len(X), MAX_ROWS, replace=False))
        if len(X) > _MANY_ROWS:
            n_trees = max(1, int(n_trees * _TREES_OF_MANY_ROWS))
        forest, relative_forest, answers = _better_forest(
            learnt.take(some), n_answers, aim, n_trees, rng, n_jobs, tree
        )
        if relative_forest:
            learnt = learnt._replace(base=learnt.wide())
        held_out.append(_with_rest(forest, learnt.base, some, answers))
    boosted = fit_boosted(
        learnt.base, targets, n_answers=n_answers, aim=aim, rng=rng, weights=weights
    )
    if boosted is not None:
        held_out.append(boosted.held_out)
    held_out.append(linear.held_out)
    encoder = SharedEncoder(
        tuple(rows.task for rows in of_tasks),
        len(X),
        tree_view,
        measured,
        mean,
        codes,
        levels,
        forest,
        linear.model,
        boosted.model if boosted is not None else None,
        relative_forest,
        relative_linear,
    )
    ends = np.cumsum([len(rows.X) for rows in of_tasks])[:-1]
    by_opinion = [np.split(found, ends) for found in held_out]
    return SharedFit(encoder, [list(of_task) for of_task in zip(*by_opinion, strict=True)])


def _joined_weights(of_tasks: Sequence[TaskRows]) -> NDArray[np.float64] | None:
    if all(rows.weights is None for rows in of_tasks):
        return None
    found = []
    for rows in of_tasks:
        if rows.weights is None:
            found.append(np.ones(len(rows.X)))
        else:
            found.append(rows.weights)
    return np.concatenate(found)


def _measurements(X: Rows, columns: Columns) -> NDArray[np.int64]:
    """Places with numbers of many values: a task's mean of a code or a small count says little."""
    found = []
    for place in measured_places(columns).tolist():
        some = X[:1000, place]
        if len(np.unique(some[~np.isnan(some)])) > _MANY_VALUES:
            found.append(place)
    return np.array(found, dtype=np.int64)


def _mean(X: Rows) -> NDArray[np.float32]:
    there = ~np.isnan(X)
    total = np.where(there, X, 0).sum(axis=0, dtype=np.float64)
    return np.asarray(total / np.maximum(there.sum(axis=0), 1), dtype=np.float32)


def _levels(of_tasks: Sequence[TaskRows], n_answers: int, aim: Aim) -> NDArray[np.float32]:
    """What the targets of each task are like: log class shares (T, K), or their mean (T, 1)."""
    if aim == "number":
        every = np.concatenate([rows.targets for rows in of_tasks])
        means = [
            (rows.targets.sum() + SHRINKAGE * every.mean()) / (len(rows.targets) + SHRINKAGE)
            for rows in of_tasks
        ]
        return np.array(means, dtype=np.float32)[:, None]
    counts = np.stack([np.bincount(rows.targets, minlength=n_answers) for rows in of_tasks])
    prior = counts.sum(axis=0) / counts.sum()
    shares = (counts + SHRINKAGE * prior) / (counts.sum(axis=1, keepdims=True) + SHRINKAGE)
    logs = np.log(np.maximum(shares, 1e-6))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True), dtype=np.float32)


def _codes(levels: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Columns for the task: one for each, or the ranks of tasks in a few orders."""
    n_tasks = len(levels)
    if n_tasks <= MAX_TASK_COLUMNS:
        return np.eye(n_tasks, dtype=np.float32)
    centred = levels - levels.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    orders = list((left * singular).T[:2])
    orders += [rng.random(n_tasks) for _ in range(_RANDOM_RANKS)]
    return np.stack([np.argsort(np.argsort(order)) for order in orders], axis=1).astype(np.float32)


def _with_rest(
    forest: AnsweringForest, X: Rows, some: NDArray[np.intp], answers: Answers
) -> Answers:
    """Held-out answers to some rows, and answers to the others, which no tree has seen."""
    if len(some) == len(X):
        return answers
    every = np.empty((len(X), answers.shape[1]))
    every[some] = answers
    rest = np.setdiff1d(np.arange(len(X)), some)
    every[rest] = forest.answers(X[rest])
    return every


def _better_linear(
    rows: _Rows,
    categories: tuple[tuple[int, int], ...],
    n_answers: int,
    aim: Aim,
    rng: np.random.Generator,
) -> tuple[LinearFit, bool]:
    """The linear model that answers held-out rows better, and whether it reads relative columns."""
    targets = rows.targets

    def fit(X: Rows) -> LinearFit:
        return LinearEncoder().fit(
            X,
            targets,
            n_answers=n_answers,
            aim=aim,
            rng=rng,
            categories=categories,
            weights=rows.weights,
        )

    plain = fit(rows.base)
    if rows.relative.shape[1] == 0:
        return plain, False
    other = fit(rows.wide())
    if loss(other.held_out, targets, aim) < loss(plain.held_out, targets, aim):
        return other, True
    return plain, False


def _better_forest(
    rows: _Rows,
    n_answers: int,
    aim: Aim,
    n_trees: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    tree: dict[str, Any],
) -> tuple[AnsweringForest, bool, Answers]:
    """The forest that answers held-out rows better, whether it reads relative columns, and its
    answers to the training rows.
    """
    targets = rows.targets

    def grow(X: Rows, in_bag: Mask) -> tuple[AnsweringForest, Answers]:
        return grow_answering(
            X,
            targets,
            in_bag=in_bag,
            n_answers=n_answers,
            aim=aim,
            rng=rng,
            weights=rows.weights,
            n_jobs=n_jobs,
            **tree,
        )

    n_first = n_trees
    if rows.relative.shape[1]:
        n_first = max(int(n_trees * _share_on_trial(len(targets))), 1)
    in_bag = draw_in_bag(targets, n_first, aim, rng)
    X = rows.base
    forest, answers = grow(X, in_bag)
    if rows.relative.shape[1] == 0:
        return forest, False, answers
    wide = rows.wide()
    other, other_answers = grow(wide, in_bag)
    is_relative = loss(other_answers, targets, aim) < loss(answers, targets, aim)
    if is_relative:
        X = wide
        forest = other
    if n_trees > n_first:
        more = draw_in_bag(targets, n_trees - n_first, aim, rng)
        forest = joined_forests(forest, grow(X, more)[0])
        in_bag = np.hstack([in_bag, more])
    return forest, is_relative, forest.held_out_answers(X, in_bag)


def _share_on_trial(n_rows: int) -> float:
    """The share of the trees that are grown with and without relative columns to compare them."""
    if n_rows > _MANY_ROWS:
        return 0.1
    return 0.5


def draw_in_bag(
    targets: Targets, n_trees: int, aim: Aim, rng: np.random.Generator, *, stratified: bool = True
) -> Mask:
    """Rows that each tree is grown on (n, B), drawn without replacement.

    Stratified by class, a tree that leaves a row out has more of the other rows of its class, which
    makes its answer to that row too good where rows are few.
    """
    n = len(targets)
    share = min(_SHARE, _MOST_ROWS_PER_TREE / n)
    groups = targets
    if aim == "number" or not stratified:
        groups = np.zeros(n, dtype=np.intp)
    return honest_split(groups, share, rng=rng, n_splits=n_trees)
