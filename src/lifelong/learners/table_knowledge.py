"""What is learnt from tables of related tasks: one frozen value.

Every task has a forest of its own. All tasks share one encoder (a forest, boosted trees and a
linear model on the rows of all of them). A task's channel mixes these opinions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels
from lifelong._validation import Rows
from lifelong.encoders.answers import Aim, AnsweringForest, Answers, Targets
from lifelong.encoders.linear import FittedLinear
from lifelong.encoders.shared import SharedEncoder
from lifelong.learners.knowledge import TaskRecord, TasksKnown, merged, renamed, without
from lifelong.rows.columns import Columns
from lifelong.rows.targets import LARGEST
from lifelong.rows.views import TREE_VIEW, TreeView
from lifelong.schema import (
    FLAG,
    Array,
    Custom,
    Each,
    InFile,
    InManifest,
    Maybe,
    Number,
    Record,
    Several,
    TaskNames,
    Text,
    Whole,
    maybe,
    saved,
)
from lifelong.tasks.base import TaskName

IMPOSSIBLE = 1e-6
"""The share of tasks that know a label, where none does."""


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of one task, as they were learnt: the columns that were known then."""

    X: Rows = saved(Array("float32", ("n>=1", None), finite=False))
    targets: Targets = saved(Array("int64 float64", ("n",)))
    weights: NDArray[np.float64] | None = saved(maybe(Array("float64", ("n",))), default=None)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: numbers that no table has."""
        del lengths
        if np.isinf(self.X).any() or not (np.abs(self.targets) < LARGEST).all():
            return "holds infinite or too large numbers"
        if self.weights is not None and (self.weights <= 0).any():
            return "has rows that do not count"
        return None

    def wide(self, n_places: int) -> Rows:
        """Rows of ``n_places`` numbers: columns that came later are missing."""
        lacking = n_places - self.X.shape[1]
        if lacking == 0:
            return self.X
        return np.pad(self.X, ((0, 0), (0, lacking)), constant_values=np.nan)

    def with_rows(self, more: "TableRows") -> "TableRows":
        """These rows and more, which have at least as many columns."""
        weights = None
        if self.weights is not None or more.weights is not None:
            weights = np.concatenate([self.all_weights(), more.all_weights()])
        return TableRows(
            np.concatenate([self.wide(more.X.shape[1]), more.X]),
            np.concatenate([self.targets, more.targets]),
            weights,
        )

    def all_weights(self) -> NDArray[np.float64]:
        """One for every row."""
        if self.weights is None:
            return np.ones(len(self.targets))
        return self.weights

    @property
    def nbytes(self) -> int:
        """Bytes of rows and targets."""
        return self.X.nbytes + self.targets.nbytes


@dataclass(frozen=True, eq=False)
class OwnForest:
    """The forest of one task, and its linear model: where these help, or where others ask it."""

    view: TreeView = saved(TREE_VIEW)
    forest: AnsweringForest = saved(Record(AnsweringForest))
    n_rows: int = saved(Whole(1))
    linear: FittedLinear | None = saved(maybe(Record(FittedLinear)), default=None)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: a forest of other columns."""
        del lengths
        if self.forest.forest.n_features != self.view.width:
            return "has a forest of other columns"
        return None

    def answers(self, X: Rows) -> Answers:
        """What the forest answers (n, K)."""
        return self.forest.answers(self.view(X))

    @property
    def nbytes(self) -> int:
        """Bytes of the forest and the linear model."""
        return sum(model.nbytes for model in (self.forest, self.linear) if model is not None)

    @property
    def n_parameters(self) -> int:
        """Of the forest and the linear model."""
        models = (self.forest, self.linear)
        return sum(model.n_parameters for model in models if model is not None)


@dataclass(frozen=True, eq=False)
class TaskMix:
    """A task's channel: the weight of each opinion, and what the weights were learnt from.

    Attributes
    ----------
    weights : (J,)
        Of its own forest, its own linear model where that is an opinion, then of the shared
        encoder's models, or of other tasks' forests, their linear models, and both corrected.
    centre : (m,)
        Mean of the task's rows, for relative columns.
    held_out : (J, n, K)
        What each opinion answers to the task's rows without having learnt from them; NaN where it
        has no answer.
    losses : (J + 1,)
        Mean log-loss (squared error) of each opinion on these rows, and of the mix.
    others : names
        Other tasks whose models are asked, if other tasks' answers are an opinion.
    shares : (O,), optional
        How much each of them counts in the mean of their answers; None if they count alike.
    linear_shares : (O,), optional
        The same for their linear models; 0 for one that has none.
    correction : FittedLinear, optional
        What the task's rows add to the others' answers.
    """

    weights: NDArray[np.float64] = saved(Array("float64", ("J",), least=0))
    centre: NDArray[np.float32] = saved(Array("float32", (None,)))
    held_out: NDArray[np.float32] = saved(Array("float32", ("J>=1", "n", "k>=1"), finite=False))
    losses: NDArray[np.float64] = saved(Array("float64", (None,)))
    others: tuple[TaskName, ...] = saved(Several(TaskNames()), default=())
    shares: NDArray[np.float64] | None = saved(
        maybe(Array("float64", (None,), least=0)), default=None
    )
    linear_shares: NDArray[np.float64] | None = saved(
        maybe(Array("float64", (None,), least=0)), default=None
    )
    correction: FittedLinear | None = saved(maybe(Record(FittedLinear)), default=None)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: NaN is no answer, and nothing else is none."""
        del lengths
        if np.isinf(self.held_out).any():
            return "has infinite answers"
        for shares in (self.shares, self.linear_shares):
            if shares is not None and len(shares) != len(self.others):
                return "has shares of other tasks than it asks"
        return None

    def without_other(self, task: TaskName) -> "TaskMix":
        """Without a task among those that are asked; the rest count as before."""
        if task not in self.others:
            return self
        stays = np.array([other != task for other in self.others])
        others = tuple(other for other in self.others if other != task)
        return replace(
            self,
            others=others,
            shares=_in_proportion(self.shares, stays),
            linear_shares=_in_proportion(self.linear_shares, stays),
        )

    @property
    def nbytes(self) -> int:
        """Bytes of weights and held-out answers."""
        arrays: list[NDArray[Any]] = [self.held_out, self.weights, self.centre, self.losses]
        arrays += [found for found in (self.shares, self.linear_shares) if found is not None]
        total = sum(array.nbytes for array in arrays)
        if self.correction is not None:
            total += self.correction.nbytes
        return total


def _in_proportion(
    shares: NDArray[np.float64] | None, stays: NDArray[np.bool_]
) -> NDArray[np.float64] | None:
    """The shares of those that stay, as they were among each other; None: all alike."""
    if shares is None:
        return None
    rest = shares[stays]
    total = rest.sum()
    return rest / total if total > 0 else None


@dataclass(frozen=True, eq=False)
class TablesKnown(TasksKnown):
    """Everything that was learnt from tables of related tasks.

    Attributes
    ----------
    columns : Columns
        Names and kinds of the table's columns.
    labels : (K,)
        All labels of all tasks, in the order in which they came; one for numbers.
    forests, channels, memory : by task
        A task's own forest, its mix of opinions, and its rows.
    shared : SharedEncoder, optional
    common : (J,)
        Weights of all tasks together.
    unseen : weights of the shared opinions alone (of others' forests and linear models), for a task
        that is not known
    reads_linear : bool
        Whether each task's own linear model is an opinion.
    asks_others : bool
        Whether other tasks' answers are an opinion, in the place of a shared encoder.
    asks_linear : bool
        Whether others' linear models are asked as well, and corrected by the task's own rows.
    asked_at : (tasks, rows)
        How many there were when all tasks chose whom they ask.
    batches : checksums of files that were learnt, so that none is learnt twice
    """

    columns: Columns = saved(InManifest(Record(Columns)), default_factory=Columns)
    labels: Labels = saved(
        InManifest(Custom("labels")), default_factory=lambda: np.zeros(0, dtype=object)
    )
    forests: Mapping[TaskName, OwnForest] = saved(
        Each(InFile("encoder", Record(OwnForest))), default_factory=dict
    )
    shared: SharedEncoder | None = saved(
        Maybe(InFile("encoder", Record(SharedEncoder))), default=None
    )
    channels: Mapping[TaskName, TaskMix] = saved(
        Each(InFile("channel", Record(TaskMix))), default_factory=dict
    )
    memory: Mapping[TaskName, TableRows] = saved(
        Each(InFile("rows", Record(TableRows))), default_factory=dict
    )
    common: tuple[float, ...] = saved(InManifest(Several(Number(0))), default=())
    unseen: tuple[float, ...] = saved(InManifest(Several(Number(0))), default=())
    reads_linear: bool = saved(InManifest(FLAG), default=False)
    asks_others: bool = saved(InManifest(FLAG), default=False)
    asks_linear: bool = saved(InManifest(FLAG), later=True, default=False)
    asked_at: tuple[int, ...] = saved(InManifest(Several(Whole(0))), default=())
    batches: tuple[str, ...] = saved(InManifest(Several(Text())), default=())
    seen_labels: NDArray[np.bool_] | None = None  # (T, K): what ``presence`` would find, if known

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What files have wrong that do not fit together."""
        n_opinions = self.n_own + self.n_of_others
        n_centre = 0
        if self.reads_linear and self.shared is None:
            return "has linear models of tasks, and no shared encoder"
        if self.asks_others and (self.shared is not None or len(self.common) != n_opinions):
            return "asks other tasks, and has other opinions as well"
        if self.asks_linear and not (self.asks_others and len(self.unseen) == 2):
            return "asks linear models of tasks, and has no weights for their answers"
        if self.in_shape != (self.columns.n_places,):
            return "has columns of other rows"
        if self.shared is not None:
            n_opinions += self.shared.n_opinions
            n_centre = len(self.shared.measured)
            models = (self.shared.forest, self.shared.boosted, self.shared.linear)
            if any(model is not None and model.n_answers > self.n_answers for model in models):
                return "answers with labels that are not there"
            if len(self.unseen) != n_opinions - self.n_own or len(self.common) != n_opinions:
                return "has weights of other opinions"
        for task, mix in self.channels.items():
            rows = self.memory[task]
            n_held_out, n_columns = mix.held_out.shape[1:]
            fits = (
                len(mix.weights) == n_opinions
                and len(mix.centre) == n_centre
                and n_held_out == len(rows.targets)
                and n_columns <= self.n_answers
                and rows.X.shape[1] <= self.columns.n_places
                and self.forests[task].forest.n_answers <= self.n_answers
                and self._fits_linear(self.forests[task].linear)
                and self._fits_correction(mix)
                and (self.asks_others or not mix.others)
                and all(other in self.forests and other != task for other in mix.others)
            )
            if not fits:
                return f"has a channel of task {task!r} that does not fit"
            if not self._fits(self.tasks[task], rows.targets, lengths["learner"].aim):
                return f"has labels of task {task!r} that are not there"
        return None

    def _fits_linear(self, linear: FittedLinear | None) -> bool:
        """Whether a task has a linear model if all tasks have one, of columns that there are."""
        if linear is None:
            return not self.reads_linear
        return (self.reads_linear or self.asks_linear) and self._reads_rows(linear)

    def _fits_correction(self, mix: TaskMix) -> bool:
        """Whether a channel corrects others' answers only where their linear models are asked."""
        if not self.asks_linear:
            return mix.correction is None and mix.linear_shares is None
        return mix.correction is None or self._reads_rows(mix.correction)

    def _reads_rows(self, linear: FittedLinear) -> bool:
        """Whether a linear model has columns and labels that there are."""
        return linear.n_answers <= self.n_answers and linear.view.n_places <= self.columns.n_places

    def _fits(self, record: TaskRecord, targets: Targets, aim: Aim) -> bool:
        """Whether a task's record is that of its rows, and its labels are among all labels."""
        n_known = len(record.classes)
        if record.classes.tolist() != self.labels.tolist()[:n_known]:
            return False
        if aim == "number":
            return targets.dtype.kind == "f" and record.n_rows == len(targets)
        if targets.dtype.kind != "i" or targets.min() < 0 or targets.max() >= n_known:
            return False
        return np.array_equal(np.bincount(targets, minlength=n_known), record.class_counts)

    @property
    def n_own(self) -> int:
        """How many opinions are of the task's own rows alone."""
        return 1 + self.reads_linear

    @property
    def n_of_others(self) -> int:
        """How many opinions are other tasks': forests, linear models, and both corrected."""
        if self.asks_linear:
            return 3
        return int(self.asks_others)

    @property
    def n_answers(self) -> int:
        """How many columns an answer has."""
        return len(self.labels)

    @cached_property
    def presence(self) -> NDArray[np.bool_]:
        """Which task has seen which label (T, K)."""
        if self.seen_labels is not None and self.seen_labels.shape[1] == len(self.labels):
            return self.seen_labels
        code = {label: place for place, label in enumerate(self.labels.tolist())}
        seen = np.zeros((len(self.tasks), len(self.labels)), dtype=bool)
        for row, record in zip(seen, self.tasks.values(), strict=True):
            there = record.classes[record.class_counts > 0].tolist()
            row[[code[label] for label in there]] = True
        return seen

    @cached_property
    def _place(self) -> dict[TaskName, int]:
        """Which of all tasks a task is."""
        return {task: place for place, task in enumerate(self.tasks)}

    def remembering(self, task: TaskName, record: TaskRecord, rows: TableRows) -> "TablesKnown":
        """With a task, or more rows of it.

        What is known of all tasks' labels grows by a row: to look at all tasks again would take
        longer with every task.
        """
        known = replace(
            self,
            tasks=merged(self.tasks, {task: record}),
            memory=merged(self.memory, {task: rows}),
        )
        before = self.presence
        own = np.zeros((1, before.shape[1]), dtype=bool)
        own[0, : len(record.class_counts)] = record.class_counts > 0
        if record.classes.tolist() != self.labels.tolist()[: len(record.classes)]:
            return replace(known, seen_labels=None)
        if task not in self.tasks:
            return replace(known, seen_labels=np.concatenate([before, own]))
        now = before.copy()
        now[self._place[task]] = own
        return replace(known, seen_labels=now)

    def label_shares(self, task: TaskName | None) -> NDArray[np.float64]:
        """How probable it is that a task has a label at all (K,).

        1 for a label that it has seen. Of others: the share of tasks that know the label, among
        those that have a label in common with the task.
        """
        if task is None or task not in self.tasks:
            shares = self.presence.mean(axis=0)
            return np.asarray(np.maximum(shares, IMPOSSIBLE))
        own = self.presence[self._place[task]]
        alike = self.presence[self.presence @ own]
        shares = np.asarray(np.maximum(alike.mean(axis=0), IMPOSSIBLE))
        shares[own] = 1
        return shares

    def knows_one_of_many(self, task: TaskName) -> bool:
        """Whether a task has seen one label only, where tasks like it know more.

        Its own rows then say nothing about the others: not that they do not exist.
        """
        if task not in self.tasks:
            return False
        shares = self.shared is not None and self.shared.forest is not None
        if not shares and not self.channels[task].others:
            return False
        own = self.presence[self._place[task]]
        if own.sum() > 1:
            return False
        return bool((self.label_shares(task) > IMPOSSIBLE).sum() > 1)

    def without_task(self, task: TaskName) -> "TablesKnown":
        """Without a task; what others have from it stays until it is made anew.

        See :func:`lifelong.learners.forgetting.forget`, which makes it anew.
        """
        channels = {
            name: mix.without_other(task) for name, mix in without(self.channels, task).items()
        }
        return replace(
            self,
            tasks=without(self.tasks, task),
            forests=without(self.forests, task),
            channels=channels,
            memory=without(self.memory, task),
            seen_labels=None,
        )

    def renamed(self, old: TaskName, new: TaskName) -> "TablesKnown":
        """With another name for a task."""
        shared = self.shared
        if shared is not None:
            names = tuple(new if name == old else name for name in shared.tasks)
            shared = replace(shared, tasks=names)
        channels = {
            name: replace(mix, others=tuple(new if one == old else one for one in mix.others))
            for name, mix in renamed(self.channels, old, new).items()
        }
        return replace(
            self,
            tasks=renamed(self.tasks, old, new),
            forests=renamed(self.forests, old, new),
            channels=channels,
            memory=renamed(self.memory, old, new),
            shared=shared,
        )


def in_all_columns(answers: NDArray[Any], known: TablesKnown) -> NDArray[Any]:
    """Answers (n, K) with a column for every label that is known now."""
    lacking = known.n_answers - answers.shape[1]
    if lacking == 0:
        return answers
    return np.pad(answers, ((0, 0), (0, lacking)))
