"""Learning from tables of related tasks: functions from what is known to what is known next.

Every task has a forest of its own. All tasks share one encoder (a forest, boosted trees and a
linear model on the rows of all of them), made anew whenever tasks or rows have doubled. A task's
channel mixes these opinions by weights that held-out rows have chosen
(:mod:`lifelong.channels.stacking`).
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong._validation import Labels, Rows
from lifelong.channels import stacking
from lifelong.channels.stacking import Evidence
from lifelong.encoders.answers import Aim, AnsweringForest, Answers, Targets, grow_answering
from lifelong.encoders.shared import SharedEncoder, TaskRows, draw_in_bag, fit_shared
from lifelong.learners.knowledge import TaskRecord, TasksKnown, renamed, without
from lifelong.rows.columns import Columns
from lifelong.rows.targets import LARGEST
from lifelong.rows.views import TREE_VIEW, TreeView
from lifelong.schema import (
    Array,
    Custom,
    Each,
    InFile,
    InManifest,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    Whole,
    maybe,
    saved,
)
from lifelong.tasks.base import TaskName

OWN_GROWTH = 1.25
"""A task's forest is grown anew when its rows have become so many times more."""

SHARED_GROWTH = 2.0
"""The shared encoder is made anew when tasks or rows have become so many times more. All makings
together then take at most twice the rows that there are; new labels of known tasks come on top."""

SHARED_TREES = 3
"""How many times as many trees the shared forest has as a task's own: it has more rows to tell
apart, each row is held out by a third of the trees, and it is grown once for all tasks."""

_IMPOSSIBLE = 1e-6  # the share of tasks that know a label, where none does


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
    """The forest of one task."""

    view: TreeView = saved(TREE_VIEW)
    forest: AnsweringForest = saved(Record(AnsweringForest))
    n_rows: int = saved(Whole(1))

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: a forest of other columns."""
        del lengths
        if self.forest.forest.n_features != self.view.width:
            return "has a forest of other columns"
        return None

    def answers(self, X: Rows) -> Answers:
        """What the forest answers (n, K)."""
        return self.forest.answers(self.view(X))


@dataclass(frozen=True, eq=False)
class TaskMix:
    """A task's channel: how much it listens to each opinion, and what that was learnt from.

    Attributes
    ----------
    weights : (J,)
        Of its own forest, then of the shared encoder's models.
    centre : (m,)
        Mean of the task's rows, for relative columns.
    held_out : (J, n, K)
        What each opinion answers to the task's rows without having learnt from them; NaN where it
        has no answer.
    losses : (J + 1,)
        Mean log-loss (squared error) of each opinion on these rows, and of the mix.
    """

    weights: NDArray[np.float64] = saved(Array("float64", ("J",), least=0))
    centre: NDArray[np.float32] = saved(Array("float32", (None,)))
    held_out: NDArray[np.float32] = saved(Array("float32", ("J>=1", "n", "k>=1"), finite=False))
    losses: NDArray[np.float64] = saved(Array("float64", (None,)))

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: NaN is no answer, and nothing else is none."""
        del lengths
        if np.isinf(self.held_out).any():
            return "has infinite answers"
        return None


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
    unseen : weights of the shared opinions alone, for a task that is not known
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
    batches: tuple[str, ...] = saved(InManifest(Several(Text())), default=())

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What files have wrong that do not fit together."""
        n_opinions = 1
        n_centre = 0
        if self.in_shape != (self.columns.n_places,):
            return "has columns of other rows"
        if self.shared is not None:
            n_opinions += self.shared.n_opinions
            n_centre = len(self.shared.measured)
            models = (self.shared.forest, self.shared.boosted, self.shared.linear)
            if any(model is not None and model.n_answers > self.n_answers for model in models):
                return "answers with labels that are not there"
            if len(self.unseen) != n_opinions - 1 or len(self.common) != n_opinions:
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
            )
            if not fits:
                return f"has a channel of task {task!r} that does not fit"
            if not self._fits(self.tasks[task], rows.targets, lengths["learner"].aim):
                return f"has labels of task {task!r} that are not there"
        return None

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
    def n_answers(self) -> int:
        """How many columns an answer has."""
        return len(self.labels)

    @cached_property
    def presence(self) -> NDArray[np.bool_]:
        """Which task has seen which label (T, K)."""
        code = {label: place for place, label in enumerate(self.labels.tolist())}
        seen = np.zeros((len(self.tasks), len(self.labels)), dtype=bool)
        for row, record in zip(seen, self.tasks.values(), strict=True):
            there = record.classes[record.class_counts > 0].tolist()
            row[[code[label] for label in there]] = True
        return seen

    def label_shares(self, task: TaskName | None) -> NDArray[np.float64]:
        """How probable it is that a task has a label at all (K,).

        1 for a label that it has seen. Of others: the share of tasks that know the label, among
        those that have a label in common with the task.
        """
        if task is None or task not in self.tasks:
            shares = self.presence.mean(axis=0)
            return np.asarray(np.maximum(shares, _IMPOSSIBLE))
        own = self.presence[list(self.tasks).index(task)]
        alike = self.presence[self.presence @ own]
        shares = np.asarray(np.maximum(alike.mean(axis=0), _IMPOSSIBLE))
        shares[own] = 1
        return shares

    def knows_one_of_many(self, task: TaskName) -> bool:
        """Whether a task has seen one label only, where tasks like it know more.

        Its own rows then say nothing about the others: not that they do not exist.
        """
        if task not in self.tasks or self.shared is None or self.shared.forest is None:
            return False
        own = self.presence[list(self.tasks).index(task)]
        if own.sum() > 1:
            return False
        return bool((self.label_shares(task) > _IMPOSSIBLE).sum() > 1)

    def without_task(self, task: TaskName) -> "TablesKnown":
        """Without a task; what the shared encoder has learnt from it stays until it is made anew.

        See :func:`lifelong.learners.forgetting.forget`, which makes it anew.
        """
        return replace(
            self,
            tasks=without(self.tasks, task),
            forests=without(self.forests, task),
            channels=without(self.channels, task),
            memory=without(self.memory, task),
        )

    def renamed(self, old: TaskName, new: TaskName) -> "TablesKnown":
        """With another name for a task."""
        shared = self.shared
        if shared is not None:
            names = tuple(new if name == old else name for name in shared.tasks)
            shared = replace(shared, tasks=names)
        return replace(
            self,
            tasks=renamed(self.tasks, old, new),
            forests=renamed(self.forests, old, new),
            channels=renamed(self.channels, old, new),
            memory=renamed(self.memory, old, new),
            shared=shared,
        )


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
    n_jobs : int, optional
    """

    aim: Aim
    n_trees: int
    tree: Mapping[str, Any] = field(default_factory=dict)
    shares_rows: bool = True
    n_jobs: int | None = None


def learn(known: TablesKnown, lessons: Sequence[TableLesson], settings: Settings) -> TablesKnown:
    """What is known after rows of some tasks: new tasks, or more rows of known ones."""
    with warnings.catch_warnings():
        # A task of few rows and many classes is what tasks are like here, not a mistake.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        return _learn(known, lessons, settings)


def _learn(known: TablesKnown, lessons: Sequence[TableLesson], settings: Settings) -> TablesKnown:
    if not settings.shares_rows:
        known = unshared(known)
    for lesson in lessons:
        known = grow_own(remember(known, lesson), lesson, settings)
    if not settings.shares_rows:
        changed = mixes(known, settings, [lesson.task for lesson in lessons])
        return replace(known, channels={**known.channels, **changed})
    if sharing_is_due(known):
        return share(known, settings)
    for lesson in lessons:
        known = read_shared(known, lesson, settings)
    return known


def unshared(known: TablesKnown) -> TablesKnown:
    """Every task by itself: without a shared encoder, if there was one."""
    if known.shared is None:
        return known
    channels = {
        task: TaskMix(np.ones(1), np.zeros(0, np.float32), mix.held_out[:1], mix.losses[:1])
        for task, mix in known.channels.items()
    }
    return replace(known, shared=None, common=(), unseen=(), channels=channels)


def remember(known: TablesKnown, lesson: TableLesson) -> TablesKnown:
    """Keep the rows: the shared encoder will be made anew from them."""
    rows = lesson.rows
    if lesson.task in known.memory:
        rows = known.memory[lesson.task].with_rows(rows)
    return replace(
        known,
        tasks={**known.tasks, lesson.task: lesson.record},
        memory={**known.memory, lesson.task: rows},
    )


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
        answers = before.answers(X)
        forest = before.forest.with_rows(
            before.view(X), lesson.rows.targets, known.n_answers, lesson.rows.weights
        )
        old = known.channels[task].held_out[0].astype(np.float64)
        held_out = np.concatenate([_columns(old, known), _columns(answers, known)])
        own = replace(before, forest=forest)
    else:
        view = TreeView.of(known.columns)
        X = view(rows.wide(known.columns.n_places))
        rng = generator(known.seed, task, "forest", n)
        in_bag = draw_in_bag(rows.targets, settings.n_trees, settings.aim, rng)
        forest = grow_answering(
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
        held_out = forest.held_out_answers(X, in_bag)
        own = OwnForest(view, forest, n)
    mix = TaskMix(
        np.ones(1), np.zeros(0, np.float32), held_out[None].astype(np.float32), np.zeros(2)
    )
    if task in known.channels:
        others = known.channels[task].held_out[1:]
        mix = replace(known.channels[task], held_out=_stacked(mix.held_out, others, known))
    return replace(
        known,
        forests={**known.forests, task: own},
        channels={**known.channels, task: mix},
    )


def sharing_is_due(known: TablesKnown) -> bool:
    """Whether tasks or rows have doubled since the shared encoder was made, or labels have come
    that it would have to tell from those that it knows.
    """
    if known.shared is None or _lacks_labels(known, known.shared.linear.n_answers):
        return True
    n_rows = sum(record.n_rows for record in known.tasks.values())
    return (
        len(known.tasks) >= SHARED_GROWTH * len(known.shared.tasks)
        or n_rows >= SHARED_GROWTH * known.shared.n_rows
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
    known = replace(known, shared=fit.encoder, channels=channels)
    known = with_common_weights(known, settings)
    return replace(known, channels=mixes(known, settings))


def read_shared(known: TablesKnown, lesson: TableLesson, settings: Settings) -> TablesKnown:
    """A task's new rows, as the shared encoder answers them before it has seen them."""
    shared = known.shared
    assert shared is not None
    task = lesson.task
    rows = known.memory[task]
    X = lesson.rows.X
    centre = shared.centre(rows.wide(known.columns.n_places))
    answers = np.stack(
        [_columns(found, known) for found in shared.answers(X, task, centre)]
    ).astype(np.float32)
    before = known.channels[task].held_out
    if len(before) > 1:  # a known task: the answers to its older rows stay
        n_older = len(rows.targets) - len(X)
        older = np.stack([_columns(found, known) for found in before[1:, :n_older]])
        answers = np.concatenate([older, answers], axis=1)
    mix = replace(
        known.channels[task], centre=centre, held_out=_stacked(before[:1], answers, known)
    )
    with_task = TaskRows(task, X, lesson.rows.targets, lesson.rows.weights)
    known = replace(
        known,
        channels={**known.channels, task: mix},
        shared=shared.with_rows(with_task, centre, known.n_answers),
    )
    return replace(known, channels={**known.channels, **mixes(known, settings, [task])})


# How much a task listens to whom


def with_common_weights(known: TablesKnown, settings: Settings) -> TablesKnown:
    """Weights of all tasks together, with and without their own forests."""
    evidence = [evidence_of(known, task, settings.aim) for task in known.channels]
    evidence = _some_rows(evidence, known.seed)
    common = _common(evidence, settings.aim)
    without_own = [found._replace(opinions=found.opinions[1:]) for found in evidence]
    unseen = _common(without_own, settings.aim)
    return replace(known, common=tuple(common.tolist()), unseen=tuple(unseen.tolist()))


def mixes(
    known: TablesKnown, settings: Settings, tasks: Sequence[TaskName] | None = None
) -> dict[TaskName, TaskMix]:
    """The weights of some tasks (default: all), from the common ones and their own rows."""
    found = {}
    for task in tasks or known.channels:
        mix = known.channels[task]
        evidence = evidence_of(known, task, settings.aim)
        common = np.array(known.common)
        if len(common) != len(mix.held_out):
            common = np.full(len(mix.held_out), 1 / len(mix.held_out))
        weights = _of_task(evidence, common, settings.aim)
        losses = _losses(evidence, weights, settings.aim)
        found[task] = replace(mix, weights=weights, losses=losses)
    return found


def evidence_of(known: TablesKnown, task: TaskName, aim: Aim) -> Evidence:
    """The held-out opinions on a task's rows; rows that an opinion does not answer are left out."""
    mix = known.channels[task]
    targets = known.memory[task].targets
    answers = mix.held_out.astype(np.float64)
    there = ~np.isnan(answers[:, :, 0]).any(axis=0)
    times = known.memory[task].all_weights()[there]
    if len(times):
        times = times / times.mean()
    if aim == "number":
        return Evidence(answers[:, there, 0], targets[there], times)
    wide = np.stack([_columns(found, known) for found in answers[:, there]])
    return Evidence(stacking.log_opinion(wide), targets[there], times)


def _common(evidence: Sequence[Evidence], aim: Aim) -> NDArray[np.float64]:
    if aim == "number":
        return stacking.common_number_weights(evidence)
    return stacking.common_weights(evidence)


def _of_task(evidence: Evidence, common: NDArray[np.float64], aim: Aim) -> NDArray[np.float64]:
    if aim == "number":
        return stacking.task_number_weights(evidence, common)
    return stacking.task_weights(evidence, common)


def _losses(evidence: Evidence, weights: NDArray[np.float64], aim: Aim) -> NDArray[np.float64]:
    """Of each opinion, and of the mix; 0 where no row can tell."""
    opinions, targets, times = evidence
    if not len(targets):
        return np.zeros(len(weights) + 1)
    if aim == "number":
        every = [*opinions, np.tensordot(weights, opinions, axes=1)]
        return np.array([np.mean(times * (found - targets) ** 2) for found in every])
    alone = np.eye(len(weights))
    every = [stacking.mixed(chosen, opinions) for chosen in [*alone, weights]]
    return np.array([np.mean(times * stacking.log_losses(found, targets)) for found in every])


def _some_rows(evidence: list[Evidence], seed: int) -> list[Evidence]:
    """At most :data:`~lifelong.channels.stacking.MAX_COMMON_ROWS` rows of all tasks together."""
    n_rows = sum(len(found.targets) for found in evidence)
    share_of = stacking.MAX_COMMON_ROWS / max(n_rows, 1)
    if share_of >= 1:
        return evidence
    rng = generator(seed, "common weights", n_rows)
    chosen = []
    for opinions, targets, times in evidence:
        rows = rng.random(len(targets)) < share_of
        chosen.append(Evidence(opinions[:, rows], targets[rows], times[rows]))
    return chosen


def _columns(answers: NDArray[Any], known: TablesKnown) -> NDArray[Any]:
    """Answers (n, K) with a column for every label that is known now."""
    lacking = known.n_answers - answers.shape[1]
    if lacking == 0:
        return answers
    return np.pad(answers, ((0, 0), (0, lacking)))


def _stacked(
    own: NDArray[np.float32], others: NDArray[np.float32], known: TablesKnown
) -> NDArray[np.float32]:
    """Opinions (J, n, K), all with the same columns; rows that lack others have none of them."""
    own = np.stack([_columns(found, known) for found in own])
    if not len(others):
        return own
    others = np.stack([_columns(found, known) for found in others])
    if others.shape[1] < own.shape[1]:  # rows that the shared encoder has not been asked about yet
        own_rows = own.shape[1] - others.shape[1]
        others = np.pad(others, ((0, 0), (0, own_rows), (0, 0)), constant_values=np.nan)
    return np.concatenate([own, others])


# Answers


def answer(known: TablesKnown, X: Rows, task: TaskName | None, aim: Aim) -> Answers:
    """Probabilities (n, K) of all labels, or numbers (n, 1), for rows of one task.

    A task that is not known is answered by what all tasks share.
    """
    if task is not None and aim == "classes" and known.knows_one_of_many(task):
        return _as_unseen(known, X, task)
    if task not in known.tasks and (known.shared is None or known.shared.forest is None):
        # Tasks that share nothing, or one task, which is all that is known.
        return np.asarray(np.mean([answer(known, X, each, aim) for each in known.tasks], axis=0))
    opinions = []
    weights = np.array(known.unseen)
    centre = None
    if task in known.tasks:
        assert task is not None
        opinions.append(known.forests[task].answers(X))
        weights = known.channels[task].weights
        centre = known.channels[task].centre
    if known.shared is not None:
        opinions += known.shared.answers(X, task, centre)
    answers = np.stack([_columns(found, known) for found in opinions])
    if aim == "number":
        filled = np.where(np.isnan(answers), np.nanmean(answers, axis=0), answers)
        mean: Answers = np.tensordot(weights, filled, axes=1)
        return mean
    return _probabilities(known, answers, weights, task)


def _as_unseen(known: TablesKnown, X: Rows, task: TaskName) -> Answers:
    """What all tasks share answers for a task of one label; only its rows' mean is its own."""
    assert known.shared is not None
    opinions = known.shared.answers(X, None, known.channels[task].centre)
    answers = np.stack([_columns(found, known) for found in opinions])
    return _probabilities(known, answers, np.array(known.unseen), task)


def _probabilities(
    known: TablesKnown, answers: Answers, weights: NDArray[np.float64], task: TaskName | None
) -> Answers:
    """The mix of opinions (J, n, K), by how probable it is that the task has a label at all."""
    logs = stacking.log_opinion(np.nan_to_num(answers, nan=1 / known.n_answers))
    shares = known.label_shares(task)
    found = stacking.mixed(weights, logs) * shares
    impossible = shares <= _IMPOSSIBLE
    if impossible.any():  # however sure the opinions of tasks unlike this one are
        best = found[:, ~impossible].max(axis=1, keepdims=True)
        found[:, impossible] = np.minimum(found[:, impossible], _IMPOSSIBLE * best)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
