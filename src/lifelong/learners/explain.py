"""Who helps whom: what each encoder brings to each task, on rows that nobody learnt from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lifelong._extras import require
from lifelong._labels import Codes, check_labels
from lifelong._random import generator
from lifelong._validation import check_count
from lifelong.channels.base import FittedChannel, RandomChannel, Seen, no_counts
from lifelong.encoders.base import (
    FittedEncoder,
    RemembersRows,
    Representation,
    has_ability,
    n_answers_of,
    n_leaves_of,
)
from lifelong.exceptions import InputError
from lifelong.learners.algorithms import Parts, answer, read_by, represent, with_rows_seen
from lifelong.learners.knowledge import Knowledge
from lifelong.tasks.base import TaskName

if TYPE_CHECKING:
    from lifelong.learners.silly import Silly

Array = NDArray[np.float64]
Subset = tuple[TaskName, ...]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Accuracies of some tasks with some of the encoders.

    Attributes
    ----------
    tasks, encoders : names; an encoder goes by the name of its task
    accuracy, before : (T,)
        With all encoders; with the task's own encoder alone (where it has none: of always the most
        frequent class).
    alone, beside, without : (T, U)
        With one encoder only; with it and the task's own; with all others.
    rows : (T,)
        How many rows measured it.
    """

    tasks: tuple[TaskName, ...]
    encoders: tuple[TaskName, ...]
    accuracy: Array
    before: Array
    alone: Array
    beside: Array
    without: Array
    rows: NDArray[np.int64]

    @property
    def helps(self) -> Array:
        """(T, U): what an encoder brings to a task that has only its own; NaN for its own."""
        own = np.array([[task == encoder for encoder in self.encoders] for task in self.tasks])
        return np.where(own, np.nan, self.beside - self.before[:, None])

    @property
    def needed(self) -> Array:
        """(T, U): what the task would lose without the encoder, all others being there."""
        return np.asarray(self.accuracy[:, None] - self.without)

    def __str__(self) -> str:
        """A table: tasks down, encoders across, in points of accuracy."""
        names = [str(name) for name in self.encoders]
        wide = max([6, *map(len, names)]) + 2
        first = max([4, *(len(str(task)) for task in self.tasks)]) + 2
        head = f"{'task':<{first}}{'all':>6}{'own':>6}" + "".join(
            f"{name:>{wide}}" for name in names
        )
        lines = [head]
        for t, task in enumerate(self.tasks):
            cells = [_cell(gain) for gain in self.helps[t]]
            numbers = f"{self.accuracy[t]:>6.3f}{self.before[t]:>6.3f}".replace(" 0.", "  .")
            lines.append(
                f"{task!s:<{first}}{numbers}" + "".join(f"{cell:>{wide}}" for cell in cells)
            )
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None) -> Any:
        """Who helps whom as a picture: a matplotlib figure, also written to ``path`` (.svg, .png,
        .pdf) if given.
        """
        require("matplotlib", extra="report", for_what="A picture of who helps whom")
        from lifelong.learners.explain_picture import draw, write

        figure = draw(self)
        if path is not None:
            write(figure, Path(path))
        return figure


def _cell(gain: float) -> str:
    if np.isnan(gain):
        return "own"
    return f"{100 * gain:+.1f}"


class Trial(NamedTuple):
    """A channel, and rows that it has not learnt from."""

    channel: FittedChannel
    representations: dict[TaskName, Representation]
    y: Codes
    shares: Mapping[TaskName, float]  # of encoders from outside

    def hits(self, encoders: Subset) -> int:
        """How many of the rows it gets right with these encoders alone."""
        seen = {name: self.representations[name] for name in encoders}
        posteriors = answer(self.channel.only(list(encoders)), seen, self.shares)
        return int((posteriors.argmax(axis=1) == self.y).sum())


def explain(
    learner: "Silly", known: Knowledge, task: TaskName | None, X: Any, y: Any, *, folds: int
) -> Explanation:
    """See :meth:`~lifelong.learners.silly.Silly.explain`."""
    check_count(folds, "folds")
    trials: dict[TaskName, list[Trial]] = {}
    if isinstance(X, Mapping):
        for name, (rows, labels) in X.items():
            trials[learner._known_task(known, name)] = [_given(learner, known, name, rows, labels)]
    elif X is not None:
        name = learner._known_task(known, task)
        trials[name] = [_given(learner, known, name, X, y)]
    else:
        names = list(known.tasks)
        if task is not None:
            names = [learner._known_task(known, task)]
        for name in names:
            trials[name] = list(_stored(learner._parts(), known, name, folds))
    named = {known.address(name): name for name in known.tasks}
    read = {encoder for name in trials for encoder in _read(known, name)}
    encoders = tuple(encoder for encoder in known.encoders if encoder in read)
    rows_of_table = [_of_task(known, name, encoders, found) for name, found in trials.items()]
    columns = [np.array(column) for column in zip(*rows_of_table, strict=True)]
    accuracy, before, alone, beside, without, n_rows = columns
    shown = tuple(named.get(encoder, encoder) for encoder in encoders)
    return Explanation(tuple(trials), shown, accuracy, before, alone, beside, without, n_rows)


def _read(known: Knowledge, task: TaskName) -> Mapping[TaskName, FittedEncoder]:
    """The encoders that a task may read: all, or few where tasks share networks."""
    if known.shared:
        return read_by(known, task)
    return known.encoders


def _of_task(
    known: Knowledge, task: TaskName, encoders: Subset, trials: Sequence[Trial]
) -> tuple[Any, ...]:
    own = tuple(name for name in encoders if name == known.address(task))
    n = sum(len(trial.y) for trial in trials)

    read = _read(known, task)

    def accuracy(names: Subset) -> float:
        chosen = tuple(name for name in names if name in read)
        if not chosen:
            return float(known.tasks[task].class_shares.max())
        return sum(trial.hits(chosen) for trial in trials) / n

    alone = [accuracy((name,)) for name in encoders]
    beside = [accuracy(tuple(dict.fromkeys((*own, name)))) for name in encoders]
    without = [accuracy(tuple(other for other in encoders if other != name)) for name in encoders]
    return accuracy(encoders), accuracy(own), alone, beside, without, n


def _given(learner: "Silly", known: Knowledge, task: TaskName, X: Any, y: Any) -> Trial:
    """The learner's own channel, on rows that a user has kept back."""
    rows = learner._rows_to_ask(known, X)
    classes = known.tasks[task].classes.tolist()
    code = {label: position for position, label in enumerate(classes)}
    labels = check_labels(y, n_rows=len(rows)).tolist()
    truth = np.array([code.get(label, -1) for label in labels])
    representations = represent(_read(known, task), rows, learner.n_jobs)
    return Trial(known.channels[task], representations, truth, known.shares)


def _stored(parts: Parts, known: Knowledge, task: TaskName, folds: int) -> Iterator[Trial]:
    """Channels learnt from some of the stored rows, each measured on the others.

    Rows that the task's own encoder has trained on cannot test it: channels only learn from them.
    A tree is not asked about them.
    """
    stored = known.memory.get(task)
    own = known.address(task)
    if stored is None or (own in known.encoders and stored.in_bag is None):
        raise InputError(
            f"There are no stored rows of task {task!r} to measure on. "
            f"Give rows that it has not learnt from: explain({task!r}, X, y).",
            see="growing-tasks",
        )
    in_bag = None
    if own in known.encoders:
        in_bag = stored.in_bag
    encoders = _read(known, task)
    shown = represent(encoders, stored.X, parts.n_jobs)
    honest = dict(shown)
    unseen = np.ones(len(stored.y), dtype=bool)
    if in_bag is not None and in_bag.ndim == 2:
        honest[own] = np.where(in_bag, np.int32(-1), shown[own])
        unseen = np.asarray(~in_bag.all(axis=1))
    elif in_bag is not None:
        unseen = ~in_bag
    for encoder in encoders.values():
        if has_ability(encoder, RemembersRows):
            trained_on = cast(RemembersRows, encoder).seen(own, stored.numbers())
            if trained_on is not None:
                unseen = unseen & ~trained_on
    fold = generator(known.seed, own, "explain").permutation(len(stored.y)) % folds
    for number in range(folds):
        learning = fold != number
        testing = (fold == number) & unseen
        if not learning.any() or not testing.any():
            continue
        counts = np.bincount(stored.y[learning], minlength=len(known.tasks[task].classes))
        channel = parts.channel.start(no_counts()).with_class_counts(counts)
        for name, encoder in encoders.items():
            seen = Seen(
                shown[name],
                stored.y,
                stored.numbers(),
                stored.weights,
                n_leaves=n_leaves_of(encoder),
                n_answers=n_answers_of(encoder),
            )
            if name == own:
                seen = replace(seen, in_bag=in_bag)
            if has_ability(encoder, RemembersRows):
                seen = with_rows_seen(seen, cast(RemembersRows, encoder), own)
            seen = seen.take(learning)
            seen = replace(seen, rows=np.arange(len(seen)))
            if isinstance(channel, RandomChannel):
                rng = generator(known.seed, own, "explain", name)
                channel = channel.train(name, seen, rng=rng, n_jobs=parts.n_jobs)
            else:
                channel = channel.update(name, seen)
        representations = {name: Z[testing] for name, Z in honest.items()}
        yield Trial(channel, representations, stored.y[testing], known.shares)
