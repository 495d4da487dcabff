"""Who helps whom: how much each encoder brings to each task, judged by rows that nobody has learnt from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._extras import require
from lifelong._random import generator
from lifelong._validation import Codes, check_count, check_labels
from lifelong.channels.base import Channel
from lifelong.encoders.base import Representation
from lifelong.exceptions import InputError
from lifelong.learners.optional import taking_weights
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
        With all encoders; with the task's own encoder alone (where it has none: of always the most frequent class).
    alone, beside, without : (T, U)
        With one encoder only; with it and the task's own; with all others.
    rows : (T,)
        How many rows judged.
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
        """(T, U): what an encoder brings to a task that has only its own; NaN for the own encoder itself."""
        own = np.array([[task == encoder for encoder in self.encoders] for task in self.tasks])
        return np.where(own, np.nan, self.beside - self.before[:, None])

    @property
    def needed(self) -> Array:
        """(T, U): what the task would lose without the encoder, all others being there."""
        return np.asarray(self.accuracy[:, None] - self.without)

    def __str__(self) -> str:
        """A table: tasks down, encoders across, in points of accuracy."""
        names = [str(name) for name in self.encoders]
        wide = max(6, *map(len, names)) + 2
        first = max(4, *(len(str(task)) for task in self.tasks)) + 2
        head = f"{'task':<{first}}{'all':>6}{'own':>6}" + "".join(f"{name:>{wide}}" for name in names)
        lines = [head]
        for t, task in enumerate(self.tasks):
            cells = ["own" if np.isnan(gain) else f"{100 * gain:+.1f}" for gain in self.helps[t]]
            numbers = f"{self.accuracy[t]:>6.3f}{self.before[t]:>6.3f}".replace(" 0.", "  .")
            lines.append(f"{task!s:<{first}}{numbers}" + "".join(f"{cell:>{wide}}" for cell in cells))
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None) -> Any:
        """Who helps whom as a picture: a matplotlib figure, also written to ``path`` (.svg, .png, .pdf) if given."""
        require("matplotlib", extra="report", for_what="A picture of who helps whom")
        from lifelong.learners.explain_picture import draw, write

        figure = draw(self)
        if path is not None:
            write(figure, Path(path))
        return figure


class Judgement(NamedTuple):
    """A channel, and rows that it has not learnt from."""

    channel: Channel
    representations: dict[TaskName, Representation]
    y: Codes

    def hits(self, encoders: Subset) -> int:
        """How many of the rows it gets right with these encoders alone."""
        seen = {name: self.representations[name] for name in encoders}
        posteriors = self.channel.only(list(encoders)).predict_proba(seen)
        return int((posteriors.argmax(axis=1) == self.y).sum())


def explain(learner: "Silly", task: TaskName | None, X: Any, y: Any, *, folds: int) -> Explanation:
    """See :meth:`~lifelong.learners.silly.Silly.explain`."""
    check_count(folds, "folds")
    if isinstance(X, Mapping):
        judges = {learner._known_task(name): list(_given(learner, name, *rows)) for name, rows in X.items()}
    elif X is not None:
        name = learner._known_task(task)
        judges = {name: list(_given(learner, name, X, y))}
    else:
        names = list(learner._all_tasks()) if task is None else [learner._known_task(task)]
        judges = {name: list(_stored(learner, name, folds)) for name in names}
    called = {learner._address(name): name for name in learner.tasks_}
    each = [_of_task(learner, name, found) for name, found in judges.items()]
    columns = [np.array(column) for column in zip(*each, strict=True)]
    accuracy, before, alone, beside, without, rows = columns
    shown = tuple(called.get(encoder, encoder) for encoder in learner.encoders_)
    return Explanation(tuple(judges), shown, accuracy, before, alone, beside, without, rows)


def _of_task(learner: "Silly", task: TaskName, judges: Sequence[Judgement]) -> tuple[Any, ...]:
    encoders: Subset = tuple(learner.encoders_)
    own = tuple(name for name in encoders if name == learner._address(task))
    n = sum(len(judge.y) for judge in judges)

    def accuracy(chosen: Subset) -> float:
        if not chosen:
            return float(learner.tasks_[task].class_shares.max())
        return sum(judge.hits(chosen) for judge in judges) / n

    alone = [accuracy((name,)) for name in encoders]
    beside = [accuracy(own if name in own else (*own, name)) for name in encoders]
    without = [accuracy(tuple(other for other in encoders if other != name)) for name in encoders]
    return accuracy(encoders), accuracy(own), alone, beside, without, n


def _given(learner: "Silly", task: TaskName, X: Any, y: Any) -> Iterator[Judgement]:
    """The learner's own channel, judged by rows that a user has kept back."""
    rows = learner._check_rows(X, first=False)
    code = {label: position for position, label in enumerate(learner.classes_of(task).tolist())}
    truth = np.array([code.get(label, -1) for label in check_labels(y, n_rows=len(rows)).tolist()])
    yield Judgement(learner.channels_[task], learner._represent(rows), truth)


def _stored(learner: "Silly", task: TaskName, folds: int) -> Iterator[Judgement]:
    """Channels learnt from some of the stored rows, each judged by the others.

    Rows that the task's own encoder has trained on cannot judge it: they only teach. A tree is not asked about them.
    """
    stored, own = learner.memory_.get(task), learner._address(task)
    if stored is None or (own in learner.encoders_ and stored.in_bag is None):
        raise InputError(
            f"There are no stored rows of task {task!r} to judge by. "
            f"Give rows that it has not learnt from: explain({task!r}, X, y).",
            see="growing-tasks",
        )
    in_bag = stored.in_bag if own in learner.encoders_ else None
    shown = learner._represent(stored.X)
    honest = {**shown, own: np.where(in_bag, np.int32(-1), shown[own])} if _by_tree(in_bag) else shown  # type: ignore[arg-type]
    judges = (
        np.ones(len(stored.y), dtype=bool) if in_bag is None else ~(in_bag.all(axis=1) if _by_tree(in_bag) else in_bag)
    )
    fold = generator(learner.seed_, own, "explain").permutation(len(stored.y)) % folds
    for one in range(folds):
        teach, judge = fold != one, (fold == one) & judges
        if not teach.any() or not judge.any():
            continue
        counts = np.bincount(stored.y[teach], minlength=len(learner.tasks_[task].classes))
        channel = learner._channel().with_class_counts(counts)
        for name, encoder in learner.encoders_.items():
            weights = None if stored.weights is None else stored.weights[teach]
            channel = taking_weights(channel.update, weights)(
                name,
                encoder,
                shown[name][teach],
                stored.y[teach],
                in_bag=in_bag[teach] if in_bag is not None and name == own else None,
                rows=np.arange(int(teach.sum())),
                rng=generator(learner.seed_, own, "explain", name),
                n_jobs=learner.n_jobs,
            )
        yield Judgement(channel, {name: Z[judge] for name, Z in honest.items()}, stored.y[judge])


def _by_tree(in_bag: NDArray[np.bool_] | None) -> bool:
    return in_bag is not None and in_bag.ndim == 2
