"""SiLLy-X: Algorithms 1–4 of the paper, for any encoder and any channel."""

from collections.abc import Iterable
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lifelong._parallel import parallel_map
from lifelong._random import RandomState, generator
from lifelong._validation import Rows, check_choice, check_count, check_share
from lifelong.channels.base import Channel
from lifelong.encoders.base import Encoder, FittedEncoder, Mask, Representation
from lifelong.exceptions import InputError, ParameterError
from lifelong.learners.base import Learner, Lesson
from lifelong.learners.memory import StoredRows, keep
from lifelong.tasks.base import Task, TaskName


class Silly(Learner):
    """Representation ensembling with parts of your choice.

    Parameters
    ----------
    encoder : Encoder
        How a task's encoder is trained.
    channel : Channel
        An empty channel: what each task learns on the representations of all encoders.
    budget : int, optional
        Train encoders for the first so many tasks only; from then on no rows are kept and new tasks get channels alone.
    replay : float
        Share of a task's rows that is kept for later encoders (backward transfer). 0 keeps none.
    n_jobs : int, optional
        Threads (trees, channels) or processes (:meth:`partial_fit_many`). Results do not depend on it.
    random_state : int, Generator or None

    Attributes
    ----------
    tasks_, encoders_, channels_, memory_ : dict
        By task: what is known of it, its encoder, its channel, its stored rows.
    """

    encoder: Encoder
    channel: str | Channel
    encoders_: dict[TaskName, FittedEncoder]
    channels_: dict[TaskName, Channel]
    memory_: dict[TaskName, StoredRows]

    def __init__(
        self,
        encoder: Encoder,
        channel: Channel,
        *,
        budget: int | None = None,
        replay: float = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.encoder = encoder
        self.channel = channel
        self.budget = budget
        self.replay = replay
        self.n_jobs = n_jobs
        self.random_state = random_state

    def partial_fit_many(self, tasks: Iterable[Task]) -> Self:
        """Learn many new tasks: as if by :meth:`partial_fit` one by one, bit for bit, but encoders train in parallel.

        With ``n_jobs`` processes, one encoder each. All tasks are learnt, or none.
        """
        with self._all_or_nothing():
            lessons = [self._prepare(task.X_train, task.y_train, task.name) for task in tasks]
            names = [lesson.task for lesson in lessons]
            known = [name for position, name in enumerate(names) if name in self.tasks_ or name in names[:position]]
            if known:
                raise InputError(f"Task {known[0]!r} is not new or comes twice. Add rows to it with partial_fit.")
            if not lessons:
                return self
            trained = self._train_encoders(lessons[: self._open_places()])
            for position, lesson in enumerate(lessons):
                if position < len(trained):
                    self._learn_with(lesson, *trained[position])
                else:
                    self._learn(lesson)
                self._record(lesson)
        return self

    def _train_encoders(self, lessons: list[Lesson]) -> list[tuple[FittedEncoder, Mask]]:
        train = partial(_train_encoder, self._encoder(), self.seed_)
        return parallel_map(train, lessons, n_jobs=self.n_jobs, prefer="processes")

    def alone(self, task: TaskName) -> "Silly | None":
        """A copy that knows ``task`` alone, with the encoder it trained itself: encoders depend on no other task."""
        if task not in self.encoders_:
            return None
        single = copy(self)
        for state in ("tasks_", "encoders_", "memory_"):
            setattr(single, state, {name: part for name, part in getattr(self, state).items() if name == task})
        single.channels_ = {task: self.channels_[task].only([task])}
        return single

    def _start(self) -> None:
        check_count(self.budget, "budget", optional=True)
        check_share(self.replay, "replay")
        self._encoder(), self._channel()
        self.encoders_, self.channels_, self.memory_ = {}, {}, {}

    def _encoder(self) -> Encoder:
        return self.encoder

    def _channel(self) -> Channel:
        return choose_channel(self.channel, {})

    def _open_places(self) -> int | None:
        """How many more encoders the budget allows (None: any number)."""
        return None if self.budget is None else max(self.budget - len(self.encoders_), 0)

    def _learn(self, lesson: Lesson) -> None:
        if self._open_places() == 0:
            self._add_channel(lesson)
        else:
            self._learn_with(lesson, *_train_encoder(self._encoder(), self.seed_, lesson, self.n_jobs))

    def _learn_with(self, lesson: Lesson, encoder: FittedEncoder, in_bag: Mask) -> None:
        self._add_channel(lesson)
        # Algorithm 2: the task's channel on its own encoder, which has seen the in-bag rows
        channels = {
            lesson.task: self._updated(lesson.task, lesson.task, encoder, StoredRows(lesson.X, lesson.y), in_bag)
        }
        # Algorithm 3: the new encoder → every earlier task's channel, from its stored rows
        for task, stored in self.memory_.items():
            channels[task] = self._updated(task, lesson.task, encoder, stored)
        self.encoders_ = {**self.encoders_, lesson.task: encoder}
        self.channels_ = {**self.channels_, **channels}
        self._remember(lesson)

    def _add_channel(self, lesson: Lesson) -> None:
        """Algorithm 2: the task's channel on every earlier encoder → all its rows."""
        self._show(lesson, self._channel(), StoredRows(lesson.X, lesson.y))

    def _extend(self, lesson: Lesson) -> None:
        # No encoder has seen these rows, so every channel may learn from all of them.
        first = lesson.record.n_rows - len(lesson.y)
        rows = StoredRows(lesson.X, lesson.y, np.arange(first, lesson.record.n_rows))
        self._show(lesson, self.channels_[lesson.task], rows)
        self._remember(lesson)

    def _show(self, lesson: Lesson, channel: Channel, rows: StoredRows) -> None:
        """Let the task's channel learn from rows through every encoder there is."""
        self.channels_ = {**self.channels_, lesson.task: channel.with_class_counts(lesson.record.class_counts)}
        for name, encoder in self.encoders_.items():
            self.channels_ = {**self.channels_, lesson.task: self._updated(lesson.task, name, encoder, rows)}

    def _updated(
        self, task: TaskName, name: TaskName, encoder: FittedEncoder, rows: StoredRows, in_bag: Mask | None = None
    ) -> Channel:
        """The channel of ``task`` after it has seen rows through the encoder called ``name``."""
        rng = self._rng(task, "channel", name)
        Z = encoder.encode(rows.X)
        return self.channels_[task].update(
            name, encoder, Z, rows.y, in_bag=in_bag, rows=rows.rows, rng=rng, n_jobs=self.n_jobs
        )

    def _remember(self, lesson: Lesson) -> None:
        """Keep rows for encoders to come; with the budget spent there are none to come, and all rows go."""
        if self._open_places() == 0 or self.replay == 0:
            self.memory_ = {}
            return
        first = lesson.record.n_rows - len(lesson.y)
        rng = self._rng(lesson.task, "replay", lesson.record.n_rows)
        new = keep(lesson.X, lesson.y, self.replay, first=first, rng=rng)
        old = self.memory_.get(lesson.task)
        self.memory_ = {**self.memory_, lesson.task: new if old is None else old.with_rows(new)}

    def _posteriors(self, X: Rows, task: TaskName) -> NDArray[np.float64]:
        # Algorithm 4: push the rows through all encoders; the task's channel turns representations into posteriors
        return self.channels_[task].predict_proba(self._represent(X))

    def _represent(self, X: Rows) -> dict[TaskName, Representation]:
        encoded = parallel_map(lambda u: u.encode(X), self.encoders_.values(), n_jobs=self.n_jobs, prefer="threads")
        return dict(zip(self.encoders_, encoded, strict=True))

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""
        return {
            "parameters": sum(encoder.n_parameters for encoder in self.encoders_.values()),
            "encoders": sum(encoder.nbytes for encoder in self.encoders_.values()),
            "channels": sum(channel.nbytes for channel in self.channels_.values()),
            "rows": sum(stored.nbytes for stored in self.memory_.values()),
        }

    def plain_models(self, n_tasks: int) -> dict[str, Any]:  # noqa: ARG002
        """None: nobody knows the plain counterpart of an encoder that a user brings."""
        return {}


def choose_channel(channel: str | Channel, known: dict[str, Channel]) -> Channel:
    """An empty channel by its name, or the one a user brings."""
    if isinstance(channel, str):
        return known[check_choice(channel, "channel", list(known))]
    if not all(hasattr(channel, method) for method in ("with_class_counts", "update", "only", "predict_proba")):
        raise ParameterError(f"channel={channel!r} is no Channel. Choose one of: {', '.join(map(repr, known))}.")
    return channel


def _train_encoder(
    encoder: Encoder, seed: int, lesson: Lesson, n_jobs: int | None = None
) -> tuple[FittedEncoder, Mask]:
    """Algorithm 1: split the task's rows into in-bag and held-out, train the encoder on the in-bag rows only."""
    rng = generator(seed, lesson.task, "encoder")
    in_bag = encoder.split(lesson.y, rng=rng)
    return encoder.fit(lesson.X, lesson.y, in_bag=in_bag, rng=rng, n_jobs=n_jobs), in_bag
