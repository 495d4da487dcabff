"""Many tasks at once: encoders train in parallel; on a cluster channels learn in parallel, too."""

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from lifelong._parallel import parallel_map, place
from lifelong._random import generator
from lifelong.channels.base import Channel
from lifelong.encoders.base import Encoder, FittedEncoder, Mask
from lifelong.engines import current
from lifelong.exceptions import InputError
from lifelong.learners.base import Lesson
from lifelong.learners.density import Density, Scaling
from lifelong.learners.located import Located
from lifelong.learners.optional import taking_weights
from lifelong.tasks.base import Task, TaskName

if TYPE_CHECKING:
    from lifelong.persistence.store import Store

Trained = tuple[FittedEncoder, Mask]  # and the rows it has trained on
Encoders = tuple[dict[TaskName, FittedEncoder], dict[TaskName, FittedEncoder]]  # old and new ones
Learnt = tuple[Channel, Density | None]


class Many(Located):
    """The part of a SiLLy learner that takes in many tasks at once."""

    budget: int | None
    keep: str
    replay: float
    n_jobs: int | None
    store: "str | Path | Store | None"

    @abstractmethod
    def _encoder(self) -> Encoder: ...

    @abstractmethod
    def _open_places(self) -> int | None: ...

    @abstractmethod
    def _learn_with(self, lesson: Lesson, encoder: FittedEncoder, in_bag: Mask) -> None: ...

    @abstractmethod
    def _spread(self, name: TaskName, encoder: FittedEncoder) -> None: ...

    @abstractmethod
    def _remember(self, lesson: Lesson) -> None: ...

    def partial_fit_many(self, tasks: Iterable[Task]) -> Self:
        """Learn many new tasks: as if by :meth:`partial_fit` one by one, bit for bit, but encoders train in parallel.

        On ``n_jobs`` threads (forests) or processes (networks), one encoder each; or on a cluster
        (:func:`lifelong.engine`), where each task's channel learns from all encoders in parallel, too. All tasks are
        learnt, or none.
        """
        with self._all_or_nothing():
            lessons = [self._prepare(task.X_train, task.y_train, task.name) for task in tasks]
            names = [lesson.task for lesson in lessons]
            known = [name for position, name in enumerate(names) if name in self.tasks_ or name in names[:position]]
            if known:
                raise InputError(f"Task {known[0]!r} is not new or comes twice. Add rows to it with partial_fit.")
            if not lessons:
                return self
            if current() is not None and self._tasks_are_independent(len(lessons)):
                self._learn_on_cluster(lessons)
            else:
                self._learn_in_turn(lessons)
        return self

    def _learn_in_turn(self, lessons: list[Lesson]) -> None:
        trained = self._train_encoders(lessons[: self._open_places()])
        for position, lesson in enumerate(lessons):
            if position < len(trained):
                self._learn_with(lesson, *trained[position])
            else:
                self._learn(lesson)
            self._record(lesson)

    def _train_encoders(self, lessons: list[Lesson]) -> list[Trained]:
        encoder = self._encoder()
        addresses = [self._claim(lesson.task) for lesson in lessons]
        threads = current() is None and getattr(encoder, "workers", "processes") == "threads"
        train = partial(train_encoder, encoder, self.seed_)
        prefer: Literal["threads", "processes"] = "threads" if threads else "processes"
        return parallel_map(train, addresses, lessons, n_jobs=self.n_jobs, prefer=prefer)

    def _tasks_are_independent(self, n_new: int) -> bool:
        """Whether what a task's channel learns depends on no other task's channel or rows."""
        chooses = self.keep == "useful" and self.budget is not None and len(self.encoders_) + n_new > self.budget
        forgets_rows = self.replay == 0 and bool(self.memory_)
        return self.store is None and not chooses and not forgets_rows

    def _learn_on_cluster(self, lessons: list[Lesson]) -> None:
        """Two rounds: every encoder from its task's rows, then every task's channel from all encoders.

        Rows are sent once and serve both; encoders come back to be kept, and are sent once, all together.
        """
        rows = [place(lesson) for lesson in lessons]
        addresses = [self._claim(lesson.task) for lesson in lessons]
        open_places = self._open_places()
        train = partial(train_encoder, self._encoder(), self.seed_)
        trained = parallel_map(train, addresses[:open_places], rows[:open_places], n_jobs=None, prefer="processes")
        in_bag = [*(mask for _, mask in trained), *repeat(None, len(lessons) - len(trained))]
        new = {address: encoder for address, (encoder, _) in zip(addresses, trained, strict=False)}

        self.scaling_ = self.scaling_ or Scaling.of(lessons[0].X)
        replaying, learning = list(self.memory_), [lesson.task for lesson in lessons]
        nothing = [None] * len(replaying)
        shares = [self._share(task) for task in replaying + learning]
        encoders = repeat(place((dict(self.encoders_), new)), len(shares))
        columns = shares, nothing + rows, nothing + in_bag, encoders
        learnt = parallel_map(learn_from_all, *columns, n_jobs=None, prefer="processes")

        by_task = dict(zip(replaying + learning, learnt, strict=True))
        self.encoders_ = self.encoders_ | new
        self.channels_ = self.channels_ | {task: channel for task, (channel, _) in by_task.items()}
        known = {task: density for task, (_, density) in by_task.items() if density is not None}
        self.densities_ = self.densities_ | known
        for lesson, mask in zip(lessons, in_bag, strict=True):
            if mask is not None:
                self._remember(lesson._replace(in_bag=mask))
            self._record(lesson)

    def _share(self, task: TaskName) -> Self:
        """A copy that knows nothing of other tasks, and no encoder: small enough to be sent."""
        share = copy(self)
        share.encoders_ = {}
        for state in ("tasks_", "channels_", "memory_", "densities_", "addresses_"):
            whole = getattr(self, state)
            setattr(share, state, {task: whole[task]} if task in whole else {})
        return share


def train_encoder(encoder: Encoder, seed: int, address: TaskName, lesson: Lesson, n_jobs: int | None = None) -> Trained:
    """Algorithm 1: split the task's rows into in-bag and held-out, train the encoder on the in-bag rows only."""
    rng = generator(seed, address, "encoder")
    in_bag = encoder.split(lesson.y, rng=rng)
    fit = taking_weights(encoder.fit, lesson.weights)
    return fit(lesson.X, lesson.y, in_bag=in_bag, rng=rng, n_jobs=n_jobs), in_bag


def learn_from_all(share: Many, lesson: Lesson | None, in_bag: Mask | None, encoders: Encoders) -> Learnt:
    """One task's channel and density from all new encoders, in the order in which they came.

    Without a lesson it is an old task, which learns from its stored rows.
    """
    old, new = encoders
    share.encoders_ = old
    own = None if lesson is None or in_bag is None else share._address(lesson.task)
    for address, encoder in new.items():
        if lesson is not None and in_bag is not None and address == own:
            share._learn_with(lesson, encoder, in_bag)
        else:
            share._spread(address, encoder)
    if lesson is not None and in_bag is None:  # the budget is spent: a channel alone
        share._learn(lesson)
    (task,) = share.channels_
    return share.channels_[task], share.densities_.get(task)
