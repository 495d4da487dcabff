"""SiLLy-X as in the paper: functions from what is known to what is known after a lesson.

==================  ==============================================================================
Algorithm 1         :func:`train_encoder`: the task's encoder, on its in-bag rows
Algorithm 2         :func:`add_channel`: the task's channel, on its own encoder and on older ones
Algorithm 3         :func:`update_old_channels`: older tasks' channels, on the new encoder
Algorithm 4         :func:`posteriors`: rows through all encoders, through the task's channel
==================  ==============================================================================

:func:`learn` puts them together. Nothing here changes what it is given: every function returns a
new :class:`~lifelong.learners.knowledge.Knowledge`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lifelong._parallel import parallel_map
from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.channels.base import (
    Channel,
    FittedChannel,
    InfluenceChannel,
    PiecewiseChannel,
    PlainChannel,
    Posteriors,
    RandomChannel,
    Seen,
    SelectiveChannel,
    WeightedChannel,
    no_counts,
    priors,
)
from lifelong.channels.leaf import FittedLeaf
from lifelong.encoders.base import (
    Encoder,
    FittedEncoder,
    Mask,
    RemembersRows,
    Representation,
    ThreadedEncoder,
    WeightedEncoder,
    has_ability,
    n_answers_of,
    n_leaves_of,
    take_rows,
)
from lifelong.encoders.forest import FittedForest, ForestEncoder
from lifelong.exceptions import InputError, ParameterError, UnsupportedError
from lifelong.learners.density import Density, Scaling
from lifelong.learners.knowledge import Knowledge, Lesson, StoredRows, keep_rows, merged
from lifelong.learners.task_inference import located, log_task_posteriors, viewed
from lifelong.tasks.base import TaskName

ROWS_AT_ONCE = 4096  # what all encoders together make of more rows may be larger than memory


@dataclass(frozen=True)
class Parts:
    """What a SiLLy learner is made of: its settings, as the algorithms need them.

    Parameters
    ----------
    encoder : Encoder
        How a task's encoder is trained.
    channel : Channel
        What each task learns on the representations of all encoders.
    budget : int, optional
        At most so many encoders.
    keep : "first" or "useful"
        Which encoders, once the budget is spent.
    replay : float
        Share of a task's rows that is kept for later encoders.
    densities : bool
        Whether to note where tasks' rows lie, so that a row's task can be inferred.
    n_jobs : int, optional
        Threads, or processes; results do not depend on it.
    shared : int, optional
        How many networks tasks share: see :mod:`lifelong.learners.shared_networks`.
    """

    encoder: Encoder
    channel: Channel
    budget: int | None = None
    keep: Literal["first", "useful"] = "first"
    replay: float = 1.0
    densities: bool = True
    n_jobs: int | None = None
    shared: int | None = None

    def __post_init__(self) -> None:
        if self.keep == "useful" and not isinstance(
            self.channel.start(no_counts()), InfluenceChannel
        ):
            raise ParameterError(
                "keep='useful' asks each channel how much every encoder tells, and "
                f"{type(self.channel).__name__} does not know. Use channel='ridge'.",
                see="channels",
            )

    def places_left(self, known: Knowledge) -> int | None:
        """How many more encoders will be trained (None: any number)."""
        if self.budget is None or self.keep == "useful":
            return None
        return max(self.budget - len(known.encoders), 0)


class Trained(NamedTuple):
    """An encoder, and the rows that it has trained on."""

    encoder: FittedEncoder
    in_bag: Mask


# A lesson


def learn(known: Knowledge, lesson: Lesson, parts: Parts) -> Knowledge:
    """A new task, or more rows of a known one."""
    if lesson.task in known.tasks:
        return extend(known, lesson, parts)
    if parts.places_left(known) == 0:  # the budget is spent: a channel alone
        return add_channel(known, lesson, parts).recorded(lesson)
    address = known.free_address(lesson.task)
    trained = train_encoder(parts.encoder, known.seed, address, lesson, parts.n_jobs)
    return learn_with(known, lesson, trained, parts)


def learn_with(known: Knowledge, lesson: Lesson, trained: Trained, parts: Parts) -> Knowledge:
    """A new task whose encoder has been trained."""
    known = add_channel(known, lesson, parts, trained)
    address = known.address(lesson.task)
    known = update_old_channels(known, address, trained.encoder, parts)
    known = remember(known, lesson, parts, trained.in_bag)
    return known.recorded(lesson)


def train_encoder(
    encoder: Encoder, seed: int, address: TaskName, lesson: Lesson, n_jobs: int | None = None
) -> Trained:
    """Algorithm 1: split the rows into in-bag and held-out, train on the in-bag rows only."""
    rng = generator(seed, address, "encoder")
    if isinstance(encoder, ThreadedEncoder):
        encoder = encoder.with_threads(n_jobs)
    in_bag = encoder.split(lesson.y, rng=rng)
    if lesson.weights is None:
        return Trained(encoder.fit(lesson.X, lesson.y, in_bag=in_bag, rng=rng), in_bag)
    if not isinstance(encoder, WeightedEncoder):
        raise _takes_no_weights(encoder)
    fitted = encoder.fit(lesson.X, lesson.y, in_bag=in_bag, rng=rng, weights=lesson.weights)
    return Trained(fitted, in_bag)


def add_channel(
    known: Knowledge, lesson: Lesson, parts: Parts, own: Trained | None = None
) -> Knowledge:
    """Algorithm 2: a task's channel on every older encoder, from all rows; on its own, held-out."""
    known = locate(known.claimed(lesson.task), lesson, parts)
    channel = parts.channel.start(no_counts()).with_class_counts(lesson.record.class_counts)
    rows = StoredRows(lesson.X, lesson.y, None, lesson.weights)
    view = TaskView(channel, known.densities.get(lesson.task))
    for name, encoder in known.encoders.items():
        view = see(view, rows, name, encoder, known, lesson.task, parts)
    if own is not None:
        name = known.address(lesson.task)
        view = see(view, rows, name, own.encoder, known, lesson.task, parts, own.in_bag)
    return with_views(known, {lesson.task: view})


def update_old_channels(
    known: Knowledge, name: TaskName, encoder: FittedEncoder, parts: Parts
) -> Knowledge:
    """Algorithm 3: every older task's channel on the new encoder, from its stored rows."""
    views = {}
    for task, rows in known.memory.items():
        view = TaskView(known.channels[task], known.densities.get(task))
        views[task] = see(view, rows, name, encoder, known, task, parts)
    known = with_views(known, views)
    known = replace(known, encoders=merged(known.encoders, {name: encoder}))
    if parts.budget is not None and len(known.encoders) > parts.budget:
        return known.without_encoder(least_useful(known.channels.values()))
    return known


def extend(known: Knowledge, lesson: Lesson, parts: Parts) -> Knowledge:
    """More rows of a known task: no encoder has seen them, so its channel learns from all."""
    numbers = np.arange(lesson.first, lesson.record.n_rows)
    rows = StoredRows(lesson.X, lesson.y, numbers, lesson.weights)
    known = locate(known, lesson, parts)
    channel = known.channels[lesson.task].with_class_counts(lesson.record.class_counts)
    view = TaskView(channel, known.densities.get(lesson.task))
    for name, encoder in known.encoders.items():
        view = see(view, rows, name, encoder, known, lesson.task, parts)
    known = with_views(known, {lesson.task: view})
    known = remember(known, lesson, parts)
    return known.recorded(lesson)


def remember(
    known: Knowledge, lesson: Lesson, parts: Parts, in_bag: Mask | None = None
) -> Knowledge:
    """Keep rows for encoders to come; with the budget spent none will come, and all rows go."""
    if parts.places_left(known) == 0 or parts.replay == 0:
        return replace(known, memory={})
    rng = generator(known.seed, known.address(lesson.task), "replay", lesson.record.n_rows)
    rows = StoredRows(lesson.X, lesson.y, None, lesson.weights, in_bag)
    new = keep_rows(rows, parts.replay, first=lesson.first, rng=rng)
    if lesson.task in known.memory:
        new = known.memory[lesson.task].with_rows(new)
    return replace(known, memory=merged(known.memory, {lesson.task: new}))


def least_useful(channels: Iterable[FittedChannel]) -> TaskName:
    """The encoder that tells least about all tasks' labels together; of several, the newest."""
    total: dict[TaskName, float] = {}
    for channel in channels:
        assert isinstance(channel, InfluenceChannel)
        for encoder, influence in channel.influence().items():
            total[encoder] = total.get(encoder, 0.0) + influence
    return min(reversed(total), key=lambda encoder: total[encoder])


# What a task learns through an encoder


class TaskView(NamedTuple):
    """What a task has learnt: its channel, and where its rows lie."""

    channel: FittedChannel
    density: Density | None


def with_views(known: Knowledge, views: Mapping[TaskName, TaskView]) -> Knowledge:
    """With what some tasks have learnt; once for all of them, as a map per task would cost T²."""
    channels = {task: view.channel for task, view in views.items()}
    densities = {task: view.density for task, view in views.items() if view.density is not None}
    return replace(
        known,
        channels=merged(known.channels, channels),
        densities=merged(known.densities, densities),
    )


def see(
    view: TaskView,
    rows: StoredRows,
    name: TaskName,
    encoder: FittedEncoder,
    known: Knowledge,
    task: TaskName,
    parts: Parts,
    in_bag: Mask | None = None,
) -> TaskView:
    """What a task has learnt, with rows of it as the encoder called ``name`` represents them."""
    channel, density = view
    counts_leaves = isinstance(channel, FittedLeaf)  # so that the density need not
    for piece in _pieces_for(channel, len(rows.y)):
        seen = represented(name, encoder, rows, piece, in_bag)
        if has_ability(encoder, RemembersRows):
            seen = with_rows_seen(seen, cast(RemembersRows, encoder), known.address(task))
        if density is not None and not counts_leaves:
            density = viewed(density, name, seen, known.seed)
        if seen.weights is not None and not has_ability(channel, WeightedChannel):
            raise _takes_no_weights(channel)
        if has_ability(channel, RandomChannel):
            rng = generator(known.seed, known.address(task), "channel", name)
            trained = cast(RandomChannel, channel)
            channel = trained.train(name, seen, rng=rng, n_jobs=parts.n_jobs)
        else:
            channel = cast(PlainChannel, channel).update(name, seen)
    return TaskView(channel, density)


def represented(
    name: TaskName, encoder: FittedEncoder, rows: StoredRows, piece: slice, in_bag: Mask | None
) -> Seen:
    """Some of a task's rows as an encoder represents them."""
    Z = encoder.encode(rows.X[piece])
    if Z.dtype.kind == "f" and not np.isfinite(Z).all():
        raise InputError(
            f"Encoder {name!r} turns rows into NaN or infinity: it is of no use to any channel."
        )
    return Seen(
        Z,
        rows.y[piece],
        rows.numbers()[piece],
        take_rows(rows.weights, piece),
        take_rows(in_bag, piece),
        n_leaves_of(encoder),
        n_answers_of(encoder),
    )


def with_rows_seen(seen: Seen, encoder: RemembersRows, task: TaskName) -> Seen:
    """Rows as an encoder of several tasks represents them, with what it has trained on."""
    in_bag = encoder.seen(task, seen.rows)
    return replace(seen, in_bag=in_bag, about_task=encoder.answers_about(task))


def locate(known: Knowledge, lesson: Lesson, parts: Parts) -> Knowledge:
    """Note where the task's rows lie, whatever encoders make of them."""
    if not parts.densities:
        return known
    if lesson.task in known.tasks and lesson.task not in known.densities:
        return known  # it was learnt without: its first rows are gone
    scaling = known.scaling or Scaling.of(lesson.X)
    density = located(
        known.densities.get(lesson.task),
        scaling.project(lesson.X, known.seed),
        lesson.y,
        len(lesson.record.classes),
        lesson.weights,
    )
    densities = merged(known.densities, {lesson.task: density})
    return replace(known, scaling=scaling, densities=densities)


def _pieces_for(channel: FittedChannel, n_rows: int) -> list[slice]:
    if has_ability(channel, PiecewiseChannel):
        return pieces(n_rows, cast(PiecewiseChannel, channel).rows_at_once)
    return [slice(0, n_rows)]


def pieces(n_rows: int, size: int) -> list[slice]:
    """All rows, so many at a time; no rows are one empty piece."""
    return [slice(at, at + size) for at in range(0, max(n_rows, 1), size)]


def _takes_no_weights(encoder_or_channel: object) -> UnsupportedError:
    return UnsupportedError(
        f"{type(encoder_or_channel).__name__} takes no sample_weight. Leave the weights out, or "
        "choose another part."
    )


# Answers


def posteriors(known: Knowledge, X: Rows, task: TaskName, n_jobs: int | None) -> Posteriors:
    """Algorithm 4: push the rows through all encoders; the task's channel gives posteriors."""
    answers = []
    encoders = read_by(known, task)
    for piece in pieces(len(X), ROWS_AT_ONCE):
        representations = represent(encoders, X[piece], n_jobs)
        answers.append(_answer_of(known, task, representations, len(X[piece])))
    return np.concatenate(answers)


def read_by(known: Knowledge, task: TaskName) -> Mapping[TaskName, FittedEncoder]:
    """The encoders that a task's channel reads: all, if it does not say."""
    channel = known.channels[task]
    if not has_ability(channel, SelectiveChannel):
        return known.encoders
    reads = cast(SelectiveChannel, channel).reads
    return {name: known.encoders[name] for name in known.encoders if name in reads}


def _answer_of(
    known: Knowledge,
    task: TaskName,
    representations: dict[TaskName, Representation],
    n_rows: int,
) -> Posteriors:
    """A task's posteriors (n, K): its class shares, if the encoders it read are all forgotten."""
    if not representations:
        return np.tile(priors(known.tasks[task].class_counts), (n_rows, 1))
    return answer(known.channels[task], representations, known.shares)


def answer(
    channel: FittedChannel,
    representations: dict[TaskName, Representation],
    shares: Mapping[TaskName, float],
) -> Posteriors:
    """A channel's posteriors. Where trees vote, those of a large forest from outside count less.

    Other channels need no limit: one forest or one vote per encoder, or learnt weights.
    """
    if shares and isinstance(channel, FittedLeaf):
        return channel.predict_proba(representations, shares)
    return channel.predict_proba(representations)


def represent(
    encoders: Mapping[TaskName, FittedEncoder], X: Rows, n_jobs: int | None
) -> dict[TaskName, Representation]:
    """Rows as every encoder represents them."""

    def encoded(name: TaskName) -> Representation:
        return encoders[name].encode(X)  # asked one by one: together they may exceed memory

    made = parallel_map(encoded, encoders, n_jobs=n_jobs, prefer="threads")
    return dict(zip(encoders, made, strict=True))


def joint_posteriors(
    known: Knowledge, X: Rows, n_jobs: int | None
) -> dict[TaskName, NDArray[np.float64]]:
    """P(t, k | x) of every task's classes (n, K), where all tasks have densities."""
    all_pieces = pieces(len(X), ROWS_AT_ONCE)
    answers = [_joint_posteriors(known, X[piece], n_jobs) for piece in all_pieces]
    return {task: np.concatenate([answer[task] for answer in answers]) for task in known.tasks}


def _joint_posteriors(
    known: Knowledge, X: Rows, n_jobs: int | None
) -> dict[TaskName, NDArray[np.float64]]:
    assert known.scaling is not None
    representations = represent(known.encoders, X, n_jobs)
    densities = {task: known.densities[task] for task in known.tasks}
    channels = {task: known.channels[task] for task in known.tasks}
    tables = {}
    for task, channel in channels.items():
        if isinstance(channel, FittedLeaf):
            tables[task] = dict(channel.tables)
        else:
            tables[task] = densities[task].tables()
    rows = known.scaling.project(X, known.seed)
    logs = log_task_posteriors(densities, tables, rows, representations, known.seed)
    weights = np.exp(logs)  # (n, T)
    return {
        task: weights[:, [t]] * _answer_of(known, task, representations, len(X))
        for t, task in enumerate(known.tasks)
    }


# Encoders from elsewhere


def add_encoder(
    known: Knowledge, name: TaskName, encoder: FittedEncoder, parts: Parts
) -> Knowledge:
    """Algorithm 3 for an encoder that another learner has trained: it brings no rows, no task.

    Its trees together have at most as many votes as those of one of our own encoders.
    """
    if isinstance(encoder, FittedForest) and isinstance(parts.encoder, ForestEncoder):
        n_own = parts.encoder.n_trees
        if len(encoder.trees) > n_own:
            share = n_own / len(encoder.trees)
            known = replace(known, shares={**known.shares, name: share})
    known = update_old_channels(known, name, encoder, parts)
    if parts.places_left(known) == 0:
        return replace(known, memory={})
    return known
