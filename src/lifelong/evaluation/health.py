"""How each task of a model of tables is doing, on rows that it has not learnt from.

Without rows of a user's, these are the model's own: each is answered by trees that have not seen
it. The weights of the mix have, so that the mix looks a little better than it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from lifelong.channels.stacking import log_losses
from lifelong.encoders.answers import Aim, Answers, Targets
from lifelong.evaluation.calibration import ReliabilityCurve, reliability_curve
from lifelong.exceptions import InputError, UnsupportedError
from lifelong.learners.base import Learner
from lifelong.learners.front_base import LifelongModel, TaskPerRow
from lifelong.learners.held_out import IntervalWidths, held_out_answers, interval_widths
from lifelong.learners.table_answering import answer, mix_of
from lifelong.learners.table_knowledge import TablesKnown, in_all_columns
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Intervals whose coverage is measured."""

INTERVAL = 0.9
"""The one whose coverage is shown in tables."""

NOT_KNOWN = "tasks that are not known"
FEW_ROWS = 10
_CLEARLY = 2.0  # standard errors


@dataclass(frozen=True)
class TaskHealth:
    """How one task is doing.

    Attributes
    ----------
    task : str or int
    rows : int
        How many rows were measured.
    scores : by name
        For classes accuracy, log-loss, AUC (of tasks with two classes) and calibration error; for
        numbers RMSE, absolute error, R² and the share inside an interval of 90 %. NaN where rows
        cannot tell.
    alone : float
        Log-loss (RMSE) of the task's own forest alone.
    guess : float
        Log-loss (RMSE) of the shares of labels (the mean) that the task has learnt from.
    notes : what to look at
    curve : ReliabilityCurve
        For numbers, "confidence" is the share that an interval promises, "accuracy" the share of
        rows inside.
    """

    task: TaskName
    rows: int
    scores: Mapping[str, float]
    alone: float
    guess: float
    notes: tuple[str, ...]
    curve: ReliabilityCurve


@dataclass(frozen=True)
class Health:
    """How all tasks of a model are doing.

    Attributes
    ----------
    model : str
    aim : "classes" or "number"
    held_out : bool
        Whether the rows are the model's own; otherwise they were given.
    loss : str
        What ``alone`` and ``guess`` are.
    tasks : a :class:`TaskHealth` each
    """

    model: str
    aim: Aim
    held_out: bool
    loss: str
    tasks: tuple[TaskHealth, ...]

    @property
    def rows(self) -> int:
        """How many rows were measured."""
        return sum(task.rows for task in self.tasks)

    def mean(self, score: str) -> float:
        """The mean of a score over the tasks that have it."""
        found = np.array([task.scores[score] for task in self.tasks])
        if np.isnan(found).all():
            return np.nan
        return float(np.nanmean(found))


class _Answered(NamedTuple):
    """Rows of one task, and what was answered."""

    task: TaskName | None
    mix: Answers  # (n, K), or (n, 1)
    alone: Answers | None
    targets: Targets
    guess: Array  # (K,), or (1,)
    half: Array  # (shares,) half the width of intervals
    learnt: NDArray[np.bool_]  # (K,) labels that the task has learnt; all, if it is not known


def health(model: Learner, X: Any = None, y: Any = None, task: TaskPerRow = None) -> Health:
    """Measure every task of a model of tables.

    Parameters
    ----------
    model : LifelongClassifier or LifelongRegressor
        Which has learnt tables.
    X, y : frame or array, and its targets, optional
        Rows that were not learnt from. Without them, the model's own rows are answered by trees
        that have not learnt from them.
    task : name, or (n,) names, optional
        As for ``predict``.

    Returns
    -------
    Health

    Examples
    --------
    >>> import pandas as pd
    >>> from lifelong import LifelongClassifier
    >>> frame = pd.DataFrame({"site": ["a", "b"] * 30, "dose": range(60)})
    >>> ill = ["yes" if dose > 30 else "no" for dose in frame.dose]
    >>> model = LifelongClassifier("site", n_estimators=20, random_state=0).fit(frame, ill)
    >>> for each in health(model).tasks:
    ...     print(each.task, each.rows, each.scores["accuracy"] > 0.8, each.notes)
    a 30 True ()
    b 30 True ()

    See Also
    --------
    lifelong.evaluate : how a learner does on a whole stream, and what tasks bring each other.
    """
    known = getattr(model, "knowledge_", None)
    if not isinstance(model, LifelongModel) or not isinstance(known, TablesKnown):
        raise UnsupportedError(
            f"health looks at models of tables, and this is a {type(model).__name__} that has"
            " learnt none. evaluate measures every learner on a stream of tasks.",
            see="my-data",
        )
    if (X is None) != (y is None):
        raise InputError("Give X and y, or neither: then the model's own rows are measured.")
    if X is None:
        answered = _own_rows(known, model.aim)
    else:
        answered = _given_rows(model, known, X, y, task)
    measure = _of_numbers if model.aim == "number" else _of_classes
    tasks = tuple(measure(found) for found in answered if len(found.targets))
    if not tasks:
        raise InputError("There are too few rows to measure on. Give X and y.", see="my-data")
    loss = "RMSE" if model.aim == "number" else "log-loss"
    return Health(type(model).__name__, model.aim, X is None, loss, tasks)


def _own_rows(known: TablesKnown, aim: Aim) -> Iterator[_Answered]:
    widths = _widths(known, aim)
    for name in known.tasks:
        found = held_out_answers(known, name, aim)
        yield _Answered(
            name,
            found.mix,
            found.alone,
            found.targets,
            _guess(known, name, aim),
            _halves(widths, name),
            _learnt_labels(known, name),
        )


def _given_rows(
    model: LifelongModel, known: TablesKnown, X: Any, y: Any, task: TaskPerRow
) -> Iterator[_Answered]:
    widths = _widths(known, model.aim)
    for name, trial in model.trials(known, X, y, task).items():
        alone = None
        if name is not None:
            own = in_all_columns(known.forests[name].answers(trial.X), known)
            alone = mix_of(known, own[None], np.ones(1), name, model.aim)
        yield _Answered(
            name,
            answer(known, trial.X, name, model.aim),
            alone,
            trial.targets,
            _guess(known, name, model.aim),
            _halves(widths, name),
            _learnt_labels(known, name),
        )


def _widths(known: TablesKnown, aim: Aim) -> IntervalWidths | None:
    if aim == "number":
        return interval_widths(known)
    return None


def _halves(widths: IntervalWidths | None, task: TaskName | None) -> Array:
    if widths is None:
        return np.zeros(0)
    return np.array([widths.quantile(share) for share in SHARES]) * widths.scale(task)


def _learnt_labels(known: TablesKnown, task: TaskName | None) -> NDArray[np.bool_]:
    learnt = np.ones(known.n_answers, dtype=bool)
    if task is not None:
        counts = known.tasks[task].class_counts > 0
        learnt[:] = False
        learnt[: len(counts)] = counts
    return learnt


def _guess(known: TablesKnown, task: TaskName | None, aim: Aim) -> Array:
    """What one would answer without a look at the row: shares of labels (K,), or the mean (1,)."""
    names = list(known.tasks)
    if task is not None:
        names = [task]
    targets = np.concatenate([known.memory[name].targets for name in names])
    if aim == "number":
        return np.array([targets.mean()])
    # One row more of every label: none is impossible because it has not come yet.
    counts = np.bincount(targets, minlength=known.n_answers) + 1.0
    return np.asarray(counts / counts.sum())


def _of_classes(found: _Answered) -> TaskHealth:
    n_labels = found.mix.shape[1]
    y = found.targets
    losses = log_losses(found.mix, y)
    guesses = log_losses(np.tile(found.guess, (len(y), 1)), y)
    alone = None
    if found.alone is not None:
        alone = log_losses(found.alone, y)
    curve = reliability_curve(found.mix, y, np.arange(n_labels))
    scores = {
        "accuracy": float(np.mean(found.mix.argmax(axis=1) == y)),
        "log-loss": float(losses.mean()),
        "AUC": _auc(found),
        "calibration error": curve.calibration_error,
    }
    return _task_health(found, scores, losses, alone, guesses, curve, _mean)


def _auc(found: _Answered) -> float:
    """How well the probabilities of a task's two labels put its rows in order.

    NaN where the task has learnt another number of labels, or the rows do not show both.
    """
    labels = np.unique(found.targets)
    if len(labels) != 2 or found.learnt.sum() != 2 or not found.learnt[labels].all():
        return np.nan
    first, second = found.mix[:, labels].T
    return float(roc_auc_score(found.targets, second / (first + second)))


def _of_numbers(found: _Answered) -> TaskHealth:
    y = found.targets
    off = found.mix[:, 0] - y
    alone = None
    if found.alone is not None:
        alone = (found.alone[:, 0] - y) ** 2
    guesses = (found.guess[0] - y) ** 2
    spread = float(np.mean((y - y.mean()) ** 2))
    explained = np.nan
    if spread > 0:
        explained = 1 - float(np.mean(off**2)) / spread
    inside = np.mean(np.abs(off)[:, None] <= found.half, axis=0)
    curve = ReliabilityCurve(np.array(SHARES), inside, np.full(len(SHARES), len(y)))
    scores = {
        "RMSE": float(np.sqrt(np.mean(off**2))),
        "absolute error": float(np.mean(np.abs(off))),
        "R²": explained,
        "inside 90 %": float(inside[SHARES.index(INTERVAL)]),
    }
    return _task_health(found, scores, off**2, alone, guesses, curve, _root_mean)


def _mean(losses: Array) -> float:
    return float(losses.mean())


def _root_mean(losses: Array) -> float:
    return float(np.sqrt(losses.mean()))


def _task_health(
    found: _Answered,
    scores: dict[str, float],
    losses: Array,
    alone: Array | None,
    guesses: Array,
    curve: ReliabilityCurve,
    summary: Any,
) -> TaskHealth:
    notes = []
    if len(losses) < FEW_ROWS:
        notes.append("few rows")
    elif not _is_less(losses, guesses):
        notes.append("close to guessing")
    if alone is not None and len(losses) >= FEW_ROWS and _is_less(alone, losses):
        notes.append("better alone")
    name = NOT_KNOWN if found.task is None else found.task
    own = np.nan
    if alone is not None:
        own = summary(alone)
    return TaskHealth(name, len(losses), scores, own, summary(guesses), tuple(notes), curve)


def _is_less(first: Array, second: Array) -> bool:
    """Whether losses of the same rows are less, by two standard errors of their difference."""
    difference = second - first
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return bool(difference.mean() > _CLEARLY * error)
