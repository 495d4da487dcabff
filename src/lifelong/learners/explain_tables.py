"""Which columns of a table matter for a task, and which opinion on it is how good.

A column matters as much as the loss grows when its values are dealt out anew among rows that the
model has not learnt from (permutation importance). Where columns say the same, each alone seems to
matter little: the others stand in for it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.channels import stacking
from lifelong.encoders.answers import Aim, Targets
from lifelong.learners.knowledge import TaskRecord
from lifelong.learners.table_answering import answer
from lifelong.learners.table_knowledge import TableRows, TablesKnown
from lifelong.learners.table_learning import Settings, TableLesson, learn
from lifelong.learners.table_weights import compared, evidence_of
from lifelong.rows.columns import Columns
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]
OWN = "own forest"
OTHERS = "other tasks"
LINEAR_OTHERS = "other tasks' linear models"
CORRECTED = "other tasks, corrected"
SHARED = "shared forest"
BOOSTED = "boosted"
LINEAR = "linear model"
OWN_LINEAR = "own linear model"

_ROWS_AT_ONCE = 20_000
_SHOWN = 10  # columns of a task that are printed


@dataclass(frozen=True, eq=False)
class TableExplanation:
    """What matters for some tasks of a table.

    Attributes
    ----------
    tasks, columns : names
    loss : str
        "log loss", or "squared error" of numbers.
    importance : (T, p)
        How much the loss of a task grows when a column's values are shuffled: the mean over
        repetitions. 0 or less: the column does not matter.
    spread : (T, p)
        Its standard deviation over repetitions.
    rows : (T,)
        How many rows measured it.
    opinions : names
        The opinions that a task's answer mixes.
    opinion_losses : (T, J)
        The loss of each opinion alone, on rows of the task that it has not learnt from.
    mix_loss : (T,)
        The loss of the mix on these rows.
    weights : (T, J)
        How much each opinion counts in the mix. A task whose held-out rows say clearly that one
        opinion is better than the mix is answered by it alone: then one weight is 1, others are 0.
    best : (T,) names
        The opinion with the smallest loss on these rows.
    margin, margin_error : (T,)
        The loss of the best opinion minus that of the mix, and its standard error; above 0, the
        mix is better than every opinion alone. NaN where no row can tell.
    """

    tasks: tuple[TaskName, ...]
    columns: tuple[str, ...]
    loss: str
    importance: Array
    spread: Array
    rows: NDArray[np.int64]
    opinions: tuple[str, ...]
    opinion_losses: Array
    mix_loss: Array
    weights: Array
    best: tuple[str, ...]
    margin: Array
    margin_error: Array

    def of_task(self, task: TaskName) -> dict[str, float]:
        """Column → importance for one task, the one that matters most first."""
        values = self.importance[self.tasks.index(task)]
        order = np.argsort(-values, kind="stable")
        return {self.columns[place]: float(values[place]) for place in order}

    def __str__(self) -> str:
        """Two tables: how good each opinion is, and which columns matter."""
        return "\n".join([*self._opinions(), "", *self._columns()])

    def _opinions(self) -> Iterator[str]:
        width = _width(self.tasks)
        titles = [f"{title:>8}" for title in (*self.opinions, "mix")]
        yield f"{self.loss} on held-out rows"
        head = "".join(f"{title:>{len(title) + 2}}" for title in titles)
        longest = max(len(name) for name in (*self.opinions, "best alone"))
        yield f"{'task':<{width}}{head}{'best minus mix':>22}  {'best alone':<{longest}}"
        for t, task in enumerate(self.tasks):
            losses = [*self.opinion_losses[t], self.mix_loss[t]]
            cells = [
                f"{value:>{len(title) + 2}.3g}" for title, value in zip(titles, losses, strict=True)
            ]
            margin = f"{self._number(self.margin[t], '+')} ± {self._number(self.margin_error[t])}"
            yield f"{task!s:<{width}}{''.join(cells)}{margin:>22}  {self.best[t]:<{longest}}"

    def _number(self, value: float, sign: str = "") -> str:
        """Squared errors may be of any size; log losses are around 1."""
        if self.loss == "log loss":
            return f"{value:{sign}.3f}"
        return f"{value:{sign}.3g}"

    def _columns(self) -> Iterator[str]:
        yield f"{self.loss} added when a column is shuffled, ± standard deviation"
        width = _width(self.columns) + 2
        for t, task in enumerate(self.tasks):
            yield f"{task} ({self.rows[t]} rows)"
            order = np.argsort(-self.importance[t], kind="stable")
            for place in order[:_SHOWN]:
                mean = self.importance[t, place]
                name = f"  {self.columns[place]}"
                spread = self._number(self.spread[t, place])
                yield f"{name:<{width}}{self._number(mean, '+'):>9} ± {spread}"
            if len(order) > _SHOWN:
                yield f"  … and {len(order) - _SHOWN} more columns"


def _width(names: Sequence[Any]) -> int:
    return max(4, *(len(str(name)) for name in names)) + 2


class Trial(NamedTuple):
    """A model, and rows of a task that it has not learnt from."""

    known: TablesKnown
    X: Rows
    targets: Targets


def explain_tables(
    known: TablesKnown,
    trials: Mapping[TaskName, Sequence[Trial]],
    aim: Aim,
    repetitions: int,
) -> TableExplanation:
    """Importance of every column for every task with trials, over all its trials."""
    measured = [_importance(task, found, aim, repetitions) for task, found in trials.items()]
    opinions = _opinion_names(known)
    mixes = [known.channels[task] for task in trials]
    margins = [_margin(known, task, opinions, aim) for task in trials]
    loss = "squared error" if aim == "number" else "log loss"
    return TableExplanation(
        tasks=tuple(trials),
        columns=tuple(known.columns.by_name),
        loss=loss,
        importance=np.stack([each.mean(axis=0) for each in measured]),
        spread=np.stack([each.std(axis=0) for each in measured]),
        rows=np.array([sum(len(trial.X) for trial in found) for found in trials.values()]),
        opinions=opinions,
        opinion_losses=np.stack([mix.losses[:-1] for mix in mixes]),
        mix_loss=np.array([mix.losses[-1] for mix in mixes]),
        weights=np.stack([mix.weights for mix in mixes]),
        best=tuple(name for name, _, _ in margins),
        margin=np.array([margin for _, margin, _ in margins]),
        margin_error=np.array([error for _, _, error in margins]),
    )


def _margin(
    known: TablesKnown, task: TaskName, opinions: Sequence[str], aim: Aim
) -> tuple[str, float, float]:
    """The best opinion of a task, how much better the mix is, and the standard error of that."""
    found = compared(evidence_of(known, task, aim), known.channels[task].weights, aim)
    if found is None:
        return opinions[0], np.nan, np.nan
    return opinions[found.best], found.margin, found.error


def _opinion_names(known: TablesKnown) -> tuple[str, ...]:
    names = [OWN]
    if known.reads_linear:
        names.append(OWN_LINEAR)
    if known.asks_others:
        names.append(OTHERS)
    if known.asks_linear:
        names += [LINEAR_OTHERS, CORRECTED]
    shared = known.shared
    if shared is not None:
        if shared.forest is not None:
            names.append(SHARED)
        if shared.boosted is not None:
            names.append(BOOSTED)
        names.append(LINEAR)
    return tuple(names)


def held_out_trials(
    known: TablesKnown,
    tasks: Sequence[TaskName],
    settings: Settings,
    record: Callable[[TablesKnown, TaskName, Targets], TaskRecord],
    folds: int,
) -> dict[TaskName, list[Trial]]:
    """Models that learn all tasks anew from some of the stored rows, with the rows left out."""
    fold_of = {
        task: generator(known.seed, task, "explain").permutation(len(rows.targets)) % folds
        for task, rows in known.memory.items()
    }
    trials: dict[TaskName, list[Trial]] = {task: [] for task in tasks}
    most_rows = max(len(rows.targets) for rows in known.memory.values())
    for fold in range(min(folds, most_rows)):  # of further folds no row is left out
        fresh = TablesKnown(known.seed, known.in_shape, columns=known.columns, labels=known.labels)
        lessons = []
        for task, rows in known.memory.items():
            kept = _some(rows, fold_of[task] != fold, known.columns)
            if len(kept.targets):
                lessons.append(TableLesson(task, kept, record(fresh, task, kept.targets)))
        if not lessons:
            continue
        learnt = learn(fresh, lessons, settings)
        for task in tasks:
            left = _some(known.memory[task], fold_of[task] == fold, known.columns)
            if len(left.targets):
                trials[task].append(Trial(learnt, left.X, left.targets))
    return {task: found for task, found in trials.items() if found}


def _some(rows: TableRows, chosen: NDArray[np.bool_], columns: Columns) -> TableRows:
    weights = None
    if rows.weights is not None:
        weights = rows.weights[chosen]
    return TableRows(rows.wide(columns.n_places)[chosen], rows.targets[chosen], weights)


def _importance(task: TaskName, trials: Sequence[Trial], aim: Aim, repetitions: int) -> Array:
    """How much the mean loss grows (R, p), over the rows of all trials."""
    n_rows = sum(len(trial.X) for trial in trials)
    total: Any = 0
    for trial in trials:
        total = total + _added_losses(task, trial, aim, repetitions)
    return np.asarray(total / n_rows)


def _added_losses(task: TaskName, trial: Trial, aim: Aim, repetitions: int) -> Array:
    """The sum of losses that shuffling each column adds (R, p)."""
    known, X, targets = trial
    n = len(X)
    places = _places_of_columns(known.columns)
    before = _losses(known, X, targets, task, aim).sum()
    jobs = [(r, column) for r in range(repetitions) for column in range(len(places))]
    added = np.zeros((repetitions, len(places)))
    size = max(1, _ROWS_AT_ONCE // n)
    for start in range(0, len(jobs), size):
        some = jobs[start : start + size]
        copies = np.tile(X, (len(some), 1)).reshape(len(some), n, -1)
        for copy, (r, column) in zip(copies, some, strict=True):
            order = generator(known.seed, task, "shuffled column", column, r).permutation(n)
            copy[:, places[column]] = X[order][:, places[column]]
        rows = copies.reshape(len(some) * n, -1)
        losses = _losses(known, rows, np.tile(targets, len(some)), task, aim)
        for (r, column), found in zip(some, losses.reshape(len(some), n), strict=True):
            added[r, column] = found.sum() - before
    return added


def _places_of_columns(columns: Columns) -> list[NDArray[np.intp]]:
    """The places of each column: a date has several, which are shuffled together."""
    of_place = [place.column for place in columns.places]
    return [np.flatnonzero([column == name for column in of_place]) for name in columns.by_name]


def _losses(known: TablesKnown, X: Rows, targets: Targets, task: TaskName, aim: Aim) -> Array:
    answers = answer(known, X, task, aim)
    if aim == "number":
        return np.asarray((answers[:, 0] - targets) ** 2)
    return stacking.log_losses(answers, targets)
