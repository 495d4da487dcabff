"""SiLLy-X: Algorithms 1–4 of the paper, for any encoder and any channel."""

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lifelong._parallel import parallel_map
from lifelong._random import RandomState
from lifelong._validation import Rows, check_choice, check_count, check_share
from lifelong.channels.base import Channel
from lifelong.encoders.base import Encoder, FittedEncoder, Mask, Representation
from lifelong.exceptions import InputError, ParameterError
from lifelong.learners.base import Lesson
from lifelong.learners.budget import check_keep, least_useful
from lifelong.learners.explain import Explanation, explain
from lifelong.learners.foreign import Foreign
from lifelong.learners.many import Many, train_encoder
from lifelong.learners.memory import StoredRows, keep
from lifelong.learners.optional import taking_weights
from lifelong.learners.parts import pieces
from lifelong.learners.stored import Stored
from lifelong.tasks.base import TaskName

if TYPE_CHECKING:
    from lifelong.persistence.store import Store


class Silly(Stored, Foreign, Many):
    """Representation ensembling with parts of your choice.

    Parameters
    ----------
    encoder : Encoder
        How a task's encoder is trained.
    channel : Channel
        An empty channel: what each task learns on the representations of all encoders.
    budget : int, optional
        At most so many encoders.
    keep : "first" (the paper) or "useful"
        Which encoders, once the budget is spent. ``"first"``: no more are trained, no rows are kept, and new tasks get
        channels alone. ``"useful"``: every task trains one, and the one that says least about all tasks so far goes;
        this takes ridge channels, and rows are kept as ``replay`` says.
    replay : float
        Share of a task's rows that is kept for later encoders (backward transfer). 0 keeps none.
    n_jobs : int, optional
        Threads (trees, channels), or processes (networks in :meth:`partial_fit_many`). Results do not depend on it.
    random_state : int, Generator or None
    store : path or Store, optional
        A directory where the learner keeps itself: it is saved before :meth:`partial_fit` returns, goes on from what is
        there when it is made again, and loads its parts when they are needed. See :class:`~lifelong.persistence.Store`.

    Attributes
    ----------
    tasks_, encoders_, channels_, memory_, densities_ : dict
        By task: what is known of it, its encoder, its channel, its stored rows, where its rows lie.
    addresses_ : dict
        The name under which a task was learnt, and by which its encoder and its randomness go, where that is another.
    """

    _takes_weights: ClassVar[bool] = True

    encoder: Encoder
    channel: str | Channel

    def __init__(
        self,
        encoder: Encoder,
        channel: Channel,
        *,
        budget: int | None = None,
        keep: Literal["first", "useful"] = "first",
        replay: float = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        store: "str | Path | Store | None" = None,
    ) -> None:
        self.encoder = encoder
        self.channel = channel
        self.budget = budget
        self.keep = keep
        self.replay = replay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    def alone(self, task: TaskName) -> "Silly | None":
        """A copy that knows ``task`` alone, with the encoder it trained itself: encoders depend on no other task."""
        address = self._address(task)
        if address not in self.encoders_:
            return None
        single = copy(self)
        single.store = None
        for state in ("tasks_", "memory_"):
            whole = getattr(self, state)
            setattr(single, state, {task: whole[task]} if task in whole else {})
        single.encoders_ = {address: self.encoders_[address]}
        single.channels_ = {task: self.channels_[task].only([address])}
        single.densities_ = {task: self.densities_[task].only([address])} if task in self.densities_ else {}
        return single

    def explain(self, task: TaskName | None = None, X: Any = None, y: Any = None, *, folds: int = 5) -> Explanation:
        """Which encoders help a task (or every task), and by how much.

        Judged by rows that nobody has learnt from: ``X`` and ``y`` if given, or ``X = {task: (X, y), …}`` for several
        tasks; else the task's stored rows, on which channels are learnt anew ``folds`` times, each time without the
        rows they are judged by. A forest of the task's own then answers with those trees that have not seen the row, a
        third of them, so that it looks worse, and other tasks' more helpful, than it is: give rows if you have some.

        Returns
        -------
        Explanation
            Accuracies; prints as a table, and ``plot()`` draws who helps whom.
        """
        return self._retried(lambda: explain(self, task, X, y, folds=folds))

    def _start(self) -> None:
        check_count(self.budget, "budget", optional=True)
        check_share(self.replay, "replay")
        check_choice(self.keep, "keep", ["first", "useful"])
        check_keep(self.keep, self._channel())
        self._encoder()
        self.encoders_, self.channels_, self.memory_ = {}, {}, {}
        self.densities_, self.addresses_, self.scaling_ = {}, {}, None

    def _encoder(self) -> Encoder:
        return self.encoder

    def _channel(self) -> Channel:
        return choose_channel(self.channel, {})

    def _open_places(self) -> int | None:
        """How many more encoders will be trained (None: any number)."""
        if self.budget is None or self.keep == "useful":
            return None
        return max(self.budget - len(self.encoders_), 0)

    def _learn(self, lesson: Lesson) -> None:
        if self._open_places() == 0:
            self._add_channel(lesson)
        else:
            address = self._claim(lesson.task)
            self._learn_with(lesson, *train_encoder(self._encoder(), self.seed_, address, lesson, self.n_jobs))

    def _learn_with(self, lesson: Lesson, encoder: FittedEncoder, in_bag: Mask) -> None:
        self._add_channel(lesson)
        address = self._address(lesson.task)
        # Algorithm 2: the task's channel on its own encoder, which has seen the in-bag rows
        rows = StoredRows(lesson.X, lesson.y, None, lesson.weights)
        own = self._see(lesson.task, self.channels_[lesson.task], address, encoder, rows, in_bag)
        self.channels_ = self.channels_ | {lesson.task: own}
        self._spread(address, encoder)
        self._remember(lesson._replace(in_bag=in_bag))

    def _spread(self, name: TaskName, encoder: FittedEncoder) -> None:
        """Algorithm 3: the new encoder → every earlier task's channel, from its stored rows."""
        old = self.memory_.items()
        seen = {task: self._see(task, self.channels_[task], name, encoder, stored) for task, stored in old}
        self.channels_ = self.channels_ | seen  # once: a new map per task would make a task's cost quadratic in T
        self.encoders_ = self.encoders_ | {name: encoder}
        if self.budget is not None and len(self.encoders_) > self.budget:
            self._let_go(least_useful(self.channels_.values()))

    def _add_channel(self, lesson: Lesson) -> None:
        """Algorithm 2: the task's channel on every earlier encoder → all its rows."""
        self._claim(lesson.task)
        self._show(lesson, self._channel(), StoredRows(lesson.X, lesson.y, None, lesson.weights))

    def _extend(self, lesson: Lesson) -> None:
        # No encoder has seen these rows, so every channel may learn from all of them.
        first = lesson.record.n_rows - len(lesson.y)
        rows = StoredRows(lesson.X, lesson.y, np.arange(first, lesson.record.n_rows), lesson.weights)
        self._show(lesson, self.channels_[lesson.task], rows)
        self._remember(lesson)

    def _show(self, lesson: Lesson, channel: Channel, rows: StoredRows) -> None:
        """Let the task's channel learn from rows through every encoder there is."""
        channel = channel.with_class_counts(lesson.record.class_counts)
        self.channels_ = self.channels_ | {lesson.task: channel}
        self._locate(lesson)
        for name, encoder in self.encoders_.items():
            channel = self._see(lesson.task, channel, name, encoder, rows)
        self.channels_ = self.channels_ | {lesson.task: channel}

    def _see(
        self,
        task: TaskName,
        channel: Channel,
        name: TaskName,
        encoder: FittedEncoder,
        rows: StoredRows,
        in_bag: Mask | None = None,
    ) -> Channel:
        """The task's channel, having learnt from rows through the encoder called ``name``; and so has its density."""
        # A channel of your own may draw; where nothing is drawn, a generator can cost more than the channel itself.
        rng = self._rng(self._address(task), "channel", name) if getattr(channel, "draws", True) else None
        for part in pieces(len(rows.y), None if getattr(channel, "in_pieces", False) else max(len(rows.y), 1)):
            some, seen = rows.piece(part), None if in_bag is None else in_bag[part]
            Z = encoder.encode(some.X)
            if Z.dtype.kind == "f" and not np.isfinite(Z).all():
                raise InputError(f"Encoder {name!r} turns rows into NaN or infinity: it is of no use to any channel.")
            self._view(task, name, encoder, Z, some, seen)
            update = taking_weights(channel.update, some.weights)
            channel = update(name, encoder, Z, some.y, in_bag=seen, rows=some.rows, rng=rng, n_jobs=self.n_jobs)
        return channel

    def _remember(self, lesson: Lesson) -> None:
        """Keep rows for encoders to come; with the budget spent there are none to come, and all rows go."""
        if self._open_places() == 0 or self.replay == 0:
            self.memory_ = {}
            return
        first = lesson.record.n_rows - len(lesson.y)
        rng = self._rng(self._address(lesson.task), "replay", lesson.record.n_rows)
        new = keep(lesson.X, lesson.y, self.replay, first=first, weights=lesson.weights, in_bag=lesson.in_bag, rng=rng)
        old = self.memory_.get(lesson.task)
        self.memory_ = self.memory_ | {lesson.task: new if old is None else old.with_rows(new)}

    def _posteriors(self, X: Rows, task: TaskName) -> NDArray[np.float64]:
        # Algorithm 4: push the rows through all encoders; the task's channel turns representations into posteriors
        channel = self.channels_[task]
        return np.concatenate([channel.predict_proba(self._represent(X[part])) for part in pieces(len(X))])

    def _represent(self, X: Rows) -> dict[TaskName, Representation]:
        encoders = self.encoders_  # asked one by one: together they may be larger than memory
        encoded = parallel_map(lambda name: encoders[name].encode(X), encoders, n_jobs=self.n_jobs, prefer="threads")
        return dict(zip(encoders, encoded, strict=True))

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``.

        Where tasks' rows lie counts as channels.
        """
        densities = sum(density.nbytes for density in self.densities_.values())
        return {
            "parameters": sum(encoder.n_parameters for encoder in self.encoders_.values()),
            "encoders": sum(encoder.nbytes for encoder in self.encoders_.values()),
            "channels": sum(channel.nbytes for channel in self.channels_.values()) + densities,
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
