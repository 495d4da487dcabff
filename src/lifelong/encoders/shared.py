"""An encoder that several tasks share: a forest, boosted trees and a linear model on all rows.

Beside the columns themselves it may read two things that say which task a row is from: columns for
the task, and *relative* columns, how far a number is from the task's own mean. Sites measure
differently and speakers have different voices; relative columns take that out. Whether they help is
decided by rows that the models have not seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
)
from lifelong.encoders.base import Mask, honest_split
from lifelong.encoders.boosted import BoostedForest, fit_boosted
from lifelong.encoders.linear import FittedLinear, LinearEncoder, LinearFit
from lifelong.rows.columns import Columns
from lifelong.rows.views import TREE_VIEW, TreeView, coded_places, measured_places
from lifelong.schema import FLAG, Array, Record, Several, TaskNames, Whole, maybe, saved
from lifelong.tasks.base import TaskName

MAX_TASK_COLUMNS = 32
"""Tasks up to which each has a column of its own. More are told apart by a few ranks."""

SHRINKAGE = 5.0
"""Rows' worth of the mean of all tasks in a task's own mean: a mean of few rows is noise."""

MAX_ROWS = 50_000
"""Rows that the forest is grown on at most, as many as trees are boosted on. The others are
answered like any row that it has not seen."""

_TREES_OF_MANY_ROWS = 0.5  # share of the trees that are grown where rows are left out

_RANDOM_RANKS = 4
_MANY_VALUES = 8  # a column with more different numbers than this is a measurement
_SHARE = 0.67  # of the rows, for each tree
_MOST_ROWS_PER_TREE = 50_000
_SMALLEST = 0.005  # a held-out probability of 0 costs as much as this one


class TaskRows(NamedTuple):
    """Rows of one task, for an encoder that is shared."""

    task: TaskName
    X: Rows
    targets: Targets
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class SharedEncoder:
    """What was learnt from the rows of several tasks.

    Attributes
    ----------
    tasks : tuple
        Those whose rows it was trained on.
    n_rows : int
        How many rows that were.
    tree_view : TreeView
        What trees read of a row, without columns for the task.
    measured : (m,)
        Places that relative columns are made of.
    mean : (m,)
        Their means over all tasks.
    codes : (T, c)
        Columns for the task, as trees read them.
    levels : (T, l)
        Columns for the task, as the linear model reads them.
    forest : AnsweringForest, optional
        None while there is one task, whose own forest would be the same.
    boosted : BoostedForest, optional
        Reads what the forest reads. None if there are too few rows or too many classes.
    relative_forest, relative_linear : bool
        Whether they read relative columns.
    linear : FittedLinear
    """

    tasks: tuple[TaskName, ...] = saved(Several(TaskNames()))
    n_rows: int = saved(Whole(0))
    tree_view: TreeView = saved(TREE_VIEW)
    measured: NDArray[np.int64] = saved(Array("int64", ("m",), least=0))
    mean: NDArray[np.float32] = saved(Array("float32", ("m",)))
    codes: NDArray[np.float32] = saved(Array("float32", (None, None)))
    levels: NDArray[np.float32] = saved(Array("float32", (None, None)))
    forest: AnsweringForest | None = saved(maybe(Record(AnsweringForest)))
    linear: FittedLinear = saved(Record(FittedLinear))
    boosted: BoostedForest | None = saved(maybe(Record(BoostedForest)))
    relative_forest: bool = saved(FLAG)
    relative_linear: bool = saved(FLAG)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: columns for other tasks, models of other columns."""
        n_tasks = len(self.tasks)
        if len(self.codes) != n_tasks or len(self.levels) != n_tasks or not n_tasks:
            return "has columns for other tasks"
        if (self.measured >= lengths["p"]).any():
            return "measures places that no row has"
        n_relative = len(self.measured)
        width = self.tree_view.width + self.codes.shape[1] + n_relative * self.relative_forest
        for model in (self.forest, self.boosted):
            if model is not None and model.forest.n_features != width:
                return "has a forest of other columns"
        n_places = self.tree_view.n_places + self.levels.shape[1]
        if self.linear.view.n_places != n_places + n_relative * self.relative_linear:
            return "has a linear model of other columns"
        return None

    @property
    def n_opinions(self) -> int:
        """The linear model, and the forest and boosted trees if there are any."""
        return 1 + (self.forest is not None) + (self.boosted is not None)

    def place_of(self, task: TaskName) -> int | None:
        """Which of its tasks this is; None if it has not seen it."""
        return self._places.get(task)

    @cached_property
    def _places(self) -> dict[TaskName, int]:
        return {task: place for place, task in enumerate(self.tasks)}

    def centre(self, X: Rows) -> NDArray[np.float32]:
        """The mean (m,) of a task's rows, a little towards that of all tasks; NaN: unmeasured."""
        return shrunk_mean(X[:, self.measured], self.mean)

    def answers(
        self, X: Rows, task: TaskName | None, centre: NDArray[np.float32] | None
    ) -> list[Answers]:
        """What the forest, boosted trees (if any) and the linear model answer to rows of a task.

        Parameters
        ----------
        X : (n, p)
        task : name
            None, or one that it has not seen, is a task like any other.
        centre : (m,)
            Of the task; None if nothing is known of it.
        """
        place = None
        if task is not None:
            place = self.place_of(task)
        if centre is None:
            centre = self.mean
        found = []
        rows = self._tree_rows(X, place, centre)
        if self.forest is not None:
            found.append(self.forest.answers(rows))
        if self.boosted is not None:
            found.append(self.boosted.answers(rows))
        found.append(self.linear.answers(self._linear_rows(X, place, centre)))
        return found

    def learning(
        self, rows: TaskRows, centre: NDArray[np.float32], n_answers: int
    ) -> "tuple[list[Answers], SharedEncoder]":
        """What it answers to rows that it has not seen, and the encoder with them in its forest.

        What trees ask stays, what leaves answer moves.
        """
        place = self.place_of(rows.task)
        X = self._tree_rows(rows.X, place, centre)
        found = []
        encoder = self
        if self.forest is not None:
            answers, forest = self.forest.learning(X, rows.targets, n_answers, rows.weights)
            found.append(answers)
            encoder = replace(self, forest=forest)
            vars(encoder)["_places"] = self._places
        if self.boosted is not None:
            found.append(self.boosted.answers(X))
        found.append(self.linear.answers(self._linear_rows(rows.X, place, centre)))
        return found, encoder

    def _tree_rows(self, X: Rows, place: int | None, centre: NDArray[np.float32]) -> Rows:
        if place is not None:
            codes = self.codes[place]
        elif self.codes.shape[1] == len(self.tasks):
            codes = np.zeros(self.codes.shape[1], dtype=np.float32)
        else:
            codes = np.full(self.codes.shape[1], np.nan, dtype=np.float32)
        wide = [self.tree_view(X), np.broadcast_to(codes, (len(X), len(codes)))]
        if self.relative_forest:
            wide.append(X[:, self.measured] - centre)
        return np.hstack(wide)

    def _linear_rows(self, X: Rows, place: int | None, centre: NDArray[np.float32]) -> Rows:
        if place is not None:
            levels = self.levels[place]
        elif self.codes.shape[1] == len(self.tasks):  # a column for each task
            levels = np.zeros(self.levels.shape[1], dtype=np.float32)
        else:
            levels = self.levels.mean(axis=0)
        wide = [X[:, : self.tree_view.n_places], np.broadcast_to(levels, (len(X), len(levels)))]
        if self.relative_linear:
            wide.append(X[:, self.measured] - centre)
        return np.hstack(wide)

    @property
    def nbytes(self) -> int:
        """Bytes of everything."""
        arrays = (self.measured, self.mean, self.codes, self.levels)
        models = (self.forest, self.boosted, self.linear)
        total = sum(array.nbytes for array in arrays)
        return total + sum(model.nbytes for model in models if model is not None)

    @property
    def n_parameters(self) -> int:
        """Of the forest and the linear model."""
        models = (self.forest, self.boosted, self.linear)
        return sum(model.n_parameters for model in models if model is not None)


class SharedFit(NamedTuple):
    """A shared encoder, and what it answers to rows that its models have not seen."""

    encoder: SharedEncoder
    held_out: list[list[Answers]]  # for each task: of the forest, boosted trees, linear model


def shrunk_mean(X: Rows, mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean (m,) of rows (n, m), with :data:`SHRINKAGE` rows' worth of another mean.

    >>> shrunk_mean(np.ones((5, 1), np.float32), np.zeros(1, np.float32))
    array([0.5], dtype=float32)
    """
    there = ~np.isnan(X)
    total = np.where(there, X, 0).sum(axis=0, dtype=np.float64)
    found = (total + SHRINKAGE * mean) / (there.sum(axis=0) + SHRINKAGE)
    return np.asarray(found, dtype=np.float32)


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
    stays. Half of the trees decide for the forest, and the other half is grown for the winner.
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

    base = np.hstack([X, levels[place]])
    linear, relative_linear = _better_linear(
        base, relative, targets, weights, coded_places(columns), n_answers, aim, rng
    )
    forest = None
    relative_forest = False
    held_out = []
    base = np.hstack([tree_view(X), codes[place]])
    if len(of_tasks) > 1:
        some = np.arange(len(X))
        if len(X) > MAX_ROWS:
            some = np.sort(rng.choice(len(X), MAX_ROWS, replace=False))
            n_trees = max(1, int(n_trees * _TREES_OF_MANY_ROWS))
        some_weights = None
        if weights is not None:
            some_weights = weights[some]
        forest, relative_forest, answers = _better_forest(
            base[some],
            relative[some],
            targets[some],
            some_weights,
            n_answers,
            aim,
            n_trees,
            rng,
            n_jobs,
            tree,
        )
        if relative_forest:
            base = np.hstack([base, relative])
        held_out.append(_with_rest(forest, base, some, answers))
    boosted = fit_boosted(base, targets, n_answers=n_answers, aim=aim, rng=rng, weights=weights)
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
    base: Rows,
    relative: Rows,
    targets: Targets,
    weights: NDArray[np.float64] | None,
    categories: tuple[tuple[int, int], ...],
    n_answers: int,
    aim: Aim,
    rng: np.random.Generator,
) -> tuple[LinearFit, bool]:
    """The linear model that answers held-out rows better, and whether it reads relative columns."""

    def fit(X: Rows) -> LinearFit:
        return LinearEncoder().fit(
            X,
            targets,
            n_answers=n_answers,
            aim=aim,
            rng=rng,
            categories=categories,
            weights=weights,
        )

    plain = fit(base)
    if relative.shape[1] == 0:
        return plain, False
    other = fit(np.hstack([base, relative]))
    if loss(other.held_out, targets, aim) < loss(plain.held_out, targets, aim):
        return other, True
    return plain, False


def _better_forest(
    base: Rows,
    relative: Rows,
    targets: Targets,
    weights: NDArray[np.float64] | None,
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

    def grow(X: Rows, in_bag: Mask) -> tuple[AnsweringForest, Answers]:
        return grow_answering(
            X,
            targets,
            in_bag=in_bag,
            n_answers=n_answers,
            aim=aim,
            rng=rng,
            weights=weights,
            n_jobs=n_jobs,
            **tree,
        )

    n_first = n_trees
    if relative.shape[1]:
        n_first = max(n_trees // 2, 1)
    in_bag = draw_in_bag(targets, n_first, aim, rng)
    X = base
    forest, answers = grow(base, in_bag)
    if relative.shape[1] == 0:
        return forest, False, answers
    wide = np.hstack([base, relative])
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


def loss(answers: Answers, targets: Targets, aim: Aim) -> float:
    """Mean log-loss, or mean squared error, of rows that were answered at all."""
    there = ~np.isnan(answers[:, 0])
    if not there.any():
        return np.inf
    found = answers[there]
    wanted = targets[there]
    if aim == "number":
        return float(np.mean((found[:, 0] - wanted) ** 2))
    chosen = found[np.arange(len(wanted)), wanted]
    return float(-np.log(np.maximum(chosen, _SMALLEST)).mean())
