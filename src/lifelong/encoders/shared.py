"""An encoder that several tasks share: a forest, boosted trees and a linear model on all rows.

Beside the columns themselves it may read two things that say which task a row is from: columns for
the task, and *relative* columns, how far a number is from the task's own mean. Sites measure
differently and speakers have different voices; relative columns take that out. Whether they help is
decided by rows that the models have not seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.encoders.answers import (
    AnsweringForest,
    Answers,
    Targets,
)
from lifelong.encoders.boosted import BoostedForest
from lifelong.encoders.linear import FittedLinear
from lifelong.rows.views import TREE_VIEW, TreeView
from lifelong.schema import FLAG, Array, Record, Several, TaskNames, Whole, maybe, saved
from lifelong.tasks.base import TaskName

SHRINKAGE = 5.0
"""Rows' worth of the mean of all tasks in a task's own mean: a mean of few rows is noise."""


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


def shrunk_mean(X: Rows, mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean (m,) of rows (n, m), with :data:`SHRINKAGE` rows' worth of another mean.

    >>> shrunk_mean(np.ones((5, 1), np.float32), np.zeros(1, np.float32))
    array([0.5], dtype=float32)
    """
    there = ~np.isnan(X)
    total = np.where(there, X, 0).sum(axis=0, dtype=np.float64)
    found = (total + SHRINKAGE * mean) / (there.sum(axis=0) + SHRINKAGE)
    return np.asarray(found, dtype=np.float32)
