"""Learning from tables of related tasks: functions from what is known to what is known next.

Every task has a forest of its own. All tasks share one encoder (a forest, boosted trees and a
linear model on the rows of all of them), made anew whenever tasks or rows have doubled, while they
are few: are a quarter more. A task's channel mixes these opinions by weights that held-out rows
have chosen (:mod:`lifelong.learners.table_weights`).
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong.encoders.answers import Aim, grow_answering
from lifelong.encoders.shared import TaskRows
from lifelong.encoders.shared_fit import MAX_ROWS, draw_in_bag, fit_shared
from lifelong.learners.knowledge import TaskRecord, merged
from lifelong.learners.table_corrections import LEAST_ROWS, with_corrections
from lifelong.learners.table_knowledge import (
    OwnForest,
    TableRows,
    TablesKnown,
    TaskMix,
    in_all_columns,
)
from lifelong.learners.table_linears import (
    fit_own_linear,
    linear_answers,
    with_linears_to_ask,
    with_own_linears,
)
from lifelong.learners.table_others import MOST_OTHERS, ask_others
from lifelong.learners.table_weights import mixes, with_common_weights, with_weights_of_others
from lifelong.rows.views import TreeView
from lifelong.tasks.base import TaskName

OWN_GROWTH = 1.25
"""A task's forest is grown anew when its rows have become so many times more."""

SHARED_GROWTH = 2.0
"""The shared encoder is made anew when tasks or rows have become so many times more. All makings
together then take at most twice the rows that there are; new labels of known tasks come on top."""

FEW_ROWS = 2000
"""Rows of all tasks up to which :data:`EARLY_GROWTH` counts."""

EARLY_GROWTH = 1.25
"""The same while all tasks have few rows, so that a making takes a second or less: a task that the
shared encoder has learnt from is answered better than one that it only reads. All these makings
take at most five times :data:`FEW_ROWS` rows."""

LATE_GROWTH = 4.0
"""The same once the shared encoder was made from more rows than its models train on: what is new
to it then are the tasks, not how much it can learn."""

SHARED_TREES = 3
"""How many times as many trees the shared forest has as a task's own: it has more rows to tell
apart, each row is held out by a third of the trees, and it is grown once for all tasks."""


class TableLesson(NamedTuple):
    """New rows of one task."""

    task: TaskName
    rows: TableRows
    record: TaskRecord  # of the task, these rows included


@dataclass(frozen=True)
class Settings:
    """What the algorithms need to know.

    Parameters
    ----------
    aim : "classes" or "number"
    n_trees : int
        Of each task's own forest; the shared one has :data:`SHARED_TREES` times as many.
    tree : dict
        Parameters of scikit-learn's trees.
    shares_rows : bool, default True
        Whether an encoder may be trained on the rows of several tasks.
    asks_others : bool, default False
        Whether a task asks other tasks' forests and linear models, where no rows are shared.
    n_jobs : int, optional
    """

    aim: Aim
    n_trees: int
    tree: Mapping[str, Any] = field(default_factory=dict)
    shares_rows: bool = True
    asks_others: bool = False
    n_jobs: int | None = None

    @property
    def least_rows_to_ask(self) -> int:
        """Rows below which a task has no linear model that others could ask.

        Column means of a few rows are nearly the rows. What leaves may not say of fewer rows
        (``min_samples_leaf``), a linear model does not say either.
        """
        floor = self.tree.get("min_samples_leaf", 1)
        if isinstance(floor, int):
            return max(LEAST_ROWS, floor)
        return LEAST_ROWS


def learn(known: TablesKnown, lessons: Sequence[TableLesson], settings: Settings) -> TablesKnown:
    """What is known after rows of some tasks: new tasks, or more rows of known ones."""
    with warnings.catch_warnings():
        # A task of few rows and many classes is what tasks are like here, not a mistake.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        return _learn(known, lessons, settings)


def _learn(known: TablesKnown, lessons: Sequence[TableLesson], settings: Settings) -> TablesKnown:
    if not settings.shares_rows:
        known = unshared(known, settings)
    for lesson in lessons:
        known = grow_own(remember(known, lesson), lesson, settings)
    tasks = [lesson.task for lesson in lessons]
    if settings.asks_others:
        if asking_is_due(known):
            return ask_all(known, settings)
        known = with_linears_to_ask(known, settings.least_rows_to_ask, settings.aim)
        known = ask_others(known, tasks)
        known = with_corrections(known, tasks, settings.aim)
    if not settings.shares_rows:
        return replace(known, channels=merged(known.channels, mixes(known, settings.aim, tasks)))
    if sharing_is_due(known, tasks):
        return share(known, settings)
    for lesson in lessons:
        known = read_shared(known, lesson, settings)
    return known


def unshared(known: TablesKnown, settings: Settings) -> TablesKnown:
    """Without a shared encoder, if there was one; without others' answers where none is asked."""
    if known.shared is None and (settings.asks_others or not known.asks_others):
        return known
    channels = {
        task: TaskMix(np.ones(1), np.zeros(0, np.float32), mix.held_out[:1], mix.losses[:1])
        for task, mix in known.channels.items()
    }
    return replace(
        known,
        shared=None,
        common=(),
        unseen=(),
        channels=channels,
        forests={task: replace(own, linear=None) for task, own in known.forests.items()},
        reads_linear=False,
        asks_others=False,
        asks_linear=False,
        asked_at=(),
    )


def asking_is_due(known: TablesKnown) -> bool:
    """Whether tasks or rows have doubled since all tasks chose whom they ask.

    A choice takes about as long per task as a lesson. So all choices together take at most twice
    what one choice of each task takes, and 4/3 of it once there are many tasks.
    """
    if not known.asks_linear:  # nor do models that were saved before linear models were asked
        return True
    n_tasks, n_rows = known.asked_at
    n_rows_now = sum(record.n_rows for record in known.tasks.values())
    growth = SHARED_GROWTH
    if n_tasks > MOST_OTHERS:  # each task asks as many as it ever will
        growth = LATE_GROWTH
    return len(known.tasks) >= growth * n_tasks or n_rows_now >= growth * n_rows


def ask_all(known: TablesKnown, settings: Settings) -> TablesKnown:
    """Every task chooses anew which others it asks, and learns the weights of its opinions."""
    n_rows = sum(record.n_rows for record in known.tasks.values())
    asked_at = (len(known.tasks), n_rows)
    known = replace(known, asks_others=True, asks_linear=True, asked_at=asked_at)
    known = with_linears_to_ask(known, settings.least_rows_to_ask, settings.aim)
    known = ask_others(known, list(known.tasks))
    known = with_weights_of_others(known, settings.aim)
    known = with_corrections(known, list(known.tasks), settings.aim)
    known = with_common_weights(known, settings.aim)
    return replace(known, channels=mixes(known, settings.aim))


def remember(known: TablesKnown, lesson: TableLesson) -> TablesKnown:
    """Keep the rows: the shared encoder will be made anew from them."""
    rows = lesson.rows
    if lesson.task in known.memory:
        rows = known.memory[lesson.task].with_rows(rows)
    return known.remembering(lesson.task, lesson.record, rows)


def grow_own(known: TablesKnown, lesson: TableLesson, settings: Settings) -> TablesKnown:
    """The task's own forest: a new one where rows have grown by a quarter, else more in its leaves.

    Its answers to the task's rows are those of trees that have not seen them.
    """
    task = lesson.task
    rows = known.memory[task]
    before = known.forests.get(task)
    n = len(rows.targets)
    if before is not None and n < OWN_GROWTH * before.n_rows:
        X = lesson.rows.X
        answers, forest = before.forest.learning(
            before.view(X), lesson.rows.targets, known.n_answers, lesson.rows.weights
        )
        old = known.channels[task].held_out[0].astype(np.float64)
        held_out = np.concatenate([in_all_columns(old, known), in_all_columns(answers, known)])
        opinions = [held_out.astype(np.float32)]
        if known.reads_linear and before.linear is not None:
            old = known.channels[task].held_out[1]
            answers = linear_answers(before.linear, X).astype(np.float32)
            opinions.append(
                np.concatenate([in_all_columns(old, known), in_all_columns(answers, known)])
            )
        own = replace(before, forest=forest)
    else:
        view = TreeView.of(known.columns)
        X = view(rows.wide(known.columns.n_places))
        rng = generator(known.seed, task, "forest", n)
        in_bag = draw_in_bag(rows.targets, settings.n_trees, settings.aim, rng, stratified=False)
        forest, held_out = grow_answering(
            X,
            rows.targets,
            in_bag=in_bag,
            n_answers=known.n_answers,
            aim=settings.aim,
            rng=rng,
            weights=rows.weights,
            n_jobs=settings.n_jobs,
            **settings.tree,
        )
        own = OwnForest(view, forest, n)
        opinions = [held_out.astype(np.float32)]
        if known.reads_linear:
            linear, answers_of_linear = fit_own_linear(known, task, opinions[0], settings.aim)
            own = replace(own, linear=linear)
            opinions.append(answers_of_linear)
    of_own = np.stack(opinions)
    mix = TaskMix(np.ones(len(of_own)), np.zeros(0, np.float32), of_own, np.zeros(len(of_own) + 1))
    if task in known.channels:
        others = known.channels[task].held_out[known.n_own :]
        mix = replace(known.channels[task], held_out=_stacked(of_own, others, known))
    return replace(
        known,
        forests=merged(known.forests, {task: own}),
        channels=merged(known.channels, {task: mix}),
    )


def sharing_is_due(known: TablesKnown, tasks: Sequence[TaskName]) -> bool:
    """Whether tasks or rows have become enough more since the shared encoder was made, or labels
    have come that it would have to tell from those that it knows.

    A task of one label, where others know more, is no reason to hurry: its rows would teach that
    there is no other label.
    """
    if known.shared is None or _lacks_labels(known, known.shared.linear.n_answers):
        return True
    n_rows = sum(record.n_rows for record in known.tasks.values())
    growth = SHARED_GROWTH
    teaches = any(not known.knows_one_of_many(task) for task in tasks)
    if n_rows <= FEW_ROWS and teaches:
        growth = EARLY_GROWTH
    if known.shared.n_rows > MAX_ROWS:
        growth = LATE_GROWTH
    return (
        len(known.tasks) >= growth * len(known.shared.tasks)
        or n_rows >= growth * known.shared.n_rows
    )


def _lacks_labels(known: TablesKnown, n_shared: int) -> bool:
    """Whether a task has both labels that the shared encoder knows and labels that it does not."""
    if n_shared >= known.n_answers:
        return False
    old = known.presence[:, :n_shared].any(axis=1)
    new = known.presence[:, n_shared:].any(axis=1)
    return bool((old & new).any())


def share(known: TablesKnown, settings: Settings) -> TablesKnown:
    """Make the shared encoder from all rows, and every task's mix of opinions anew."""
    n_places = known.columns.n_places
    of_tasks = [
        TaskRows(task, rows.wide(n_places), rows.targets, rows.weights)
        for task, rows in known.memory.items()
    ]
    n_rows = sum(len(rows.X) for rows in of_tasks)
    fit = fit_shared(
        of_tasks,
        known.columns,
        n_answers=known.n_answers,
        aim=settings.aim,
        n_trees=SHARED_TREES * settings.n_trees,
        rng=generator(known.seed, "shared", len(of_tasks), n_rows),
        n_jobs=settings.n_jobs,
        **settings.tree,
    )
    channels = {}
    for rows, answers in zip(of_tasks, fit.held_out, strict=True):
        own = known.channels[rows.task].held_out[:1]
        others = np.stack([found.astype(np.float32) for found in answers])
        channels[rows.task] = TaskMix(
            np.ones(1 + len(answers)),
            fit.encoder.centre(rows.X),
            _stacked(own, others, known),
            np.zeros(2 + len(answers)),
        )
    known = replace(
        known,
        shared=fit.encoder,
        channels=channels,
        asks_others=False,
        asks_linear=False,
        asked_at=(),
    )
    known = with_own_linears(known, settings.aim)
    known = with_common_weights(known, settings.aim)
    return replace(known, channels=mixes(known, settings.aim))


def read_shared(known: TablesKnown, lesson: TableLesson, settings: Settings) -> TablesKnown:
    """A task's new rows, as the shared encoder answers them before it has seen them."""
    shared = known.shared
    assert shared is not None
    task = lesson.task
    rows = known.memory[task]
    X = lesson.rows.X
    centre = shared.centre(rows.wide(known.columns.n_places))
    new = TaskRows(task, X, lesson.rows.targets, lesson.rows.weights)
    found, shared = shared.learning(new, centre, known.n_answers)
    answers = np.stack([in_all_columns(each, known) for each in found]).astype(np.float32)
    before = known.channels[task].held_out
    n_own = known.n_own
    if len(before) > n_own:  # a known task: the answers to its older rows stay
        n_older = len(rows.targets) - len(X)
        older = np.stack([in_all_columns(found, known) for found in before[n_own:, :n_older]])
        answers = np.concatenate([older, answers], axis=1)
    mix = replace(
        known.channels[task], centre=centre, held_out=_stacked(before[:n_own], answers, known)
    )
    known = replace(known, channels=merged(known.channels, {task: mix}), shared=shared)
    return replace(known, channels=merged(known.channels, mixes(known, settings.aim, [task])))


def _stacked(
    own: NDArray[np.float32], others: NDArray[np.float32], known: TablesKnown
) -> NDArray[np.float32]:
    """Opinions (J, n, K), all with the same columns; rows that lack others have none of them."""
    own = np.stack([in_all_columns(found, known) for found in own])
    if not len(others):
        return own
    others = np.stack([in_all_columns(found, known) for found in others])
    if others.shape[1] < own.shape[1]:  # rows that the shared encoder has not been asked about yet
        own_rows = own.shape[1] - others.shape[1]
        others = np.pad(others, ((0, 0), (0, own_rows), (0, 0)), constant_values=np.nan)
    return np.concatenate([own, others])
