"""The control companions: where does the gain of other tasks' encoders come from?

Every arm gives a task as many encoders as there are tasks: one of its own, and companions. Only
what the companions have learnt differs, so that two arms differ by nothing but that.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes
from lifelong._random import RandomState, generator
from lifelong._validation import Rows, check_choice
from lifelong.channels.base import Channel, PlainChannel, Seen
from lifelong.encoders.base import (
    Encoder,
    FittedEncoder,
    Mask,
    n_answers_of,
    n_leaves_of,
)
from lifelong.encoders.forest import ForestEncoder
from lifelong.exceptions import ParameterError
from lifelong.learners import SillyForest, SillyNetwork
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import Lesson, StoredRows, TasksKnown, chosen
from lifelong.learners.silly import Silly
from lifelong.references.joined import ForTask, SideBySide
from lifelong.tasks.base import TaskName

Arm = Literal["alone", "untrained", "shuffled", "own", "tasks", "shared"]

_UNTRAINED_STEPS = 100  # for the running means of batch norm
_UNTRAINED_RATE = 1e-9  # weights stay as they were drawn


class Trained(NamedTuple):
    """An encoder, and the task's rows that it has trained on; None: it has seen no label of it."""

    encoder: FittedEncoder
    in_bag: Mask | None


@dataclass(frozen=True, eq=False)
class CompanionKnowledge(TasksKnown):
    """Rows, encoders and channels.

    Attributes
    ----------
    memory : by task
    own : by task
        The task's own encoders: one, or in the arm "own" as many as there are tasks.
    companions : by task
        The encoder that the task gives to all others.
    channels : by task
    views : by task
        The encoders that its channel reads: its own under its own name.
    """

    memory: Mapping[TaskName, StoredRows] = field(default_factory=dict)
    own: Mapping[TaskName, tuple[Trained, ...]] = field(default_factory=dict)
    companions: Mapping[TaskName, FittedEncoder] = field(default_factory=dict)
    channels: Mapping[TaskName, PlainChannel] = field(default_factory=dict)
    views: Mapping[TaskName, Mapping[TaskName, FittedEncoder]] = field(default_factory=dict)


class Companions(Learner):
    """A task's own encoder and, for each other task so far, one companion; the same read-out.

    ==============  ==============================================================================
    arm             the companions of a task
    ==============  ==============================================================================
    ``alone``       none: one encoder, the base line
    ``untrained``   encoders as they were drawn; of forests, trees grown on columns permuted one by
                    one, with labels at random
    ``shuffled``    encoders of the other tasks' rows with permuted labels
    ``own``         more encoders of the task's own rows, from other beginnings
    ``tasks``       encoders of the other tasks: SiLLy
    ``shared``      encoders trained on the rows of all tasks at once, a class per task and label
    ==============  ==============================================================================

    The first four need no other task's labels: only what the last two have above the best of them
    is learnt from other tasks. Companions that have seen the task's labels (``own``, ``shared``)
    train on the same in-bag rows as the task's own encoder and are read beside it as one; the
    others are read as SiLLy reads encoders of other tasks. More rows of a known task are learnt by
    its channel, and by shared encoders.

    Parameters
    ----------
    base : Silly
        Says how encoders are trained and read; its channel must not be random: ridge or leaf.
    arm : str, default "tasks"
        See the table.
    random_state : int, Generator or None, default None
        The same number gives the same bits.

    Examples
    --------
    >>> from lifelong.tasks.simulations import gaussian_xor
    >>> learner = Companions.forests("own", n_estimators=5, random_state=0)
    >>> learner = learner.partial_fit(*gaussian_xor(100, random_state=0), task="a")
    >>> learner = learner.partial_fit(*gaussian_xor(100, random_state=1), task="b")
    >>> learner.n_encoders("a")
    2
    """

    knowledge_class: ClassVar[type[CompanionKnowledge]] = CompanionKnowledge

    def __init__(
        self, base: Silly, arm: Arm = "tasks", *, random_state: RandomState = None
    ) -> None:
        self.base = base
        self.arm = arm
        self.random_state = random_state

    @classmethod
    def networks(
        cls, arm: Arm = "tasks", *, random_state: RandomState = None, **settings: Any
    ) -> "Companions":
        """Networks, trained and read as ``SillyNetwork.best(**settings)`` does."""
        return cls(SillyNetwork.best(**settings), arm, random_state=random_state)

    @classmethod
    def forests(
        cls, arm: Arm = "tasks", *, random_state: RandomState = None, **settings: Any
    ) -> "Companions":
        """Forests, grown and read as ``SillyForest.best(**settings)`` does."""
        return cls(SillyForest.best(**settings), arm, random_state=random_state)

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> CompanionKnowledge:
        check_choice(self.arm, "arm", list(get_args(Arm)))
        self._channel()
        return CompanionKnowledge(seed, in_shape, names)

    def _channel(self) -> Channel:
        channel = self.base._parts().channel
        if not isinstance(channel.start(np.zeros(1, np.int64)), PlainChannel):
            raise ParameterError(
                f"Companions cannot use {type(channel).__name__}, which is random. Give base a"
                " channel='ridge' or 'leaf'."
            )
        return channel

    # Learning

    def _learn(self, known: CompanionKnowledge, lesson: Lesson) -> CompanionKnowledge:
        rows = StoredRows(lesson.X.copy(), lesson.y.copy())
        if lesson.task in known.memory:
            rows = known.memory[lesson.task].with_rows(rows)
        known = replace(known, memory={**known.memory, lesson.task: rows}).recorded(lesson)
        known = self._with_own_encoders(known)
        if self.arm in ("untrained", "shuffled", "tasks"):
            known = self._with_companion(known, lesson.task)
        together: Mapping[TaskName, Sequence[Trained]] = known.own
        if self.arm == "shared":
            together = self._with_shared(known)
        channels = {}
        views = {}
        for task in known.tasks:
            views[task] = self._views(known, task, together[task])
            channels[task] = self._fitted_channel(known, task, views[task], together[task])
        return replace(known, channels=channels, views=views)

    def _with_own_encoders(self, known: CompanionKnowledge) -> CompanionKnowledge:
        """Every task has an encoder of its own; in the arm "own", as many as there are tasks."""
        encoder = self.base._parts().encoder
        wanted = 1
        if self.arm == "own":
            wanted = len(known.tasks)
        own = {}
        for task, stored in known.memory.items():
            trained = known.own.get(task, ())
            for number in range(len(trained), wanted):
                trained = (*trained, _another(encoder, known.seed, task, number, stored, trained))
            own[task] = trained
        return replace(known, own=own)

    def _with_companion(self, known: CompanionKnowledge, task: TaskName) -> CompanionKnowledge:
        """The encoder that the task's rows give to all other tasks."""
        if task in known.companions:
            return known
        encoder = self.base._parts().encoder
        stored = known.memory[task]
        rng = generator(known.seed, task, "companion")
        if self.arm == "tasks":
            made = known.own[task][0].encoder
        elif self.arm == "shuffled":
            made = encoder.fit(stored.X, rng.permutation(stored.y), rng=rng)
        else:
            made = _untrained(encoder, stored.X, stored.y, rng=rng)
        return replace(known, companions={**known.companions, task: made})

    def _with_shared(self, known: CompanionKnowledge) -> dict[TaskName, tuple[Trained, ...]]:
        """Own encoders, and shared ones: as many as there are other tasks."""
        together = {task: list(trained) for task, trained in known.own.items()}
        X = np.concatenate([stored.X for stored in known.memory.values()])
        firsts = np.cumsum([0, *(len(record.classes) for record in known.tasks.values())])
        labels = [
            stored.y + first
            for stored, first in zip(known.memory.values(), firsts[:-1], strict=True)
        ]
        y = np.concatenate(labels)
        ends = np.cumsum([0, *map(len, labels)])
        encoder = self.base._parts().encoder
        for number in range(1, len(known.tasks)):
            rng = generator(known.seed, "shared", len(known.tasks), number)
            in_bag = encoder.split(y, rng=rng)
            if in_bag.ndim == 1:  # the rows that own networks trained on: what is held out is so
                in_bag = np.concatenate([_in_bag(known, task) for task in known.tasks])
            fitted = encoder.fit(X, y, in_bag=in_bag, rng=rng)
            for place, (task, record) in enumerate(known.tasks.items()):
                read = ForTask(fitted, int(firsts[place]), len(record.classes))
                rows = slice(ends[place], ends[place + 1])
                together[task].append(Trained(read, in_bag[rows]))
        return {task: tuple(trained) for task, trained in together.items()}

    def _views(
        self, known: CompanionKnowledge, task: TaskName, together: Sequence[Trained]
    ) -> dict[TaskName, FittedEncoder]:
        """What the task's channel reads: its own encoders as one, and each companion."""
        own: FittedEncoder = together[0].encoder
        if len(together) > 1:
            own = SideBySide(tuple(trained.encoder for trained in together))
        others = {other: made for other, made in known.companions.items() if other != task}
        return {**others, task: own}

    def _fitted_channel(
        self,
        known: CompanionKnowledge,
        task: TaskName,
        views: Mapping[TaskName, FittedEncoder],
        together: Sequence[Trained],
    ) -> PlainChannel:
        stored = known.memory[task]
        channel: Any = self._channel().start(known.tasks[task].class_counts)
        for name, encoder in views.items():
            in_bag = None
            if name == task:
                in_bag = _joined_masks(len(stored.y), together)
            seen = Seen(
                encoder.encode(stored.X),
                stored.y,
                np.arange(len(stored.y)),
                in_bag=in_bag,
                n_leaves=n_leaves_of(encoder),
                n_answers=n_answers_of(encoder),
            )
            channel = channel.update(name, seen)
        return channel  # type: ignore[no-any-return]

    # Answers

    def _posteriors(
        self, known: CompanionKnowledge, X: Rows, task: TaskName
    ) -> NDArray[np.float64]:
        encoded = {name: encoder.encode(X) for name, encoder in known.views[task].items()}
        return known.channels[task].predict_proba(encoded)

    def n_encoders(self, task: TaskName) -> int:
        """How many encoders a task's answers come from."""
        views: Mapping[TaskName, FittedEncoder] = self._learnt("knowledge_").views[task]
        own = views[task]
        n_own = 1
        if isinstance(own, SideBySide):
            n_own = len(own.encoders)
        return n_own + len(views) - 1

    def alone(self, task: TaskName) -> "Companions":
        """A copy that knows ``task`` alone: its own first encoder, which depends on no other."""
        known: CompanionKnowledge = self._learnt("knowledge_")
        first = known.own[task][:1]
        single = copy(self)
        view: Mapping[TaskName, FittedEncoder] = {task: first[0].encoder}
        channel = self._fitted_channel(known, task, view, first)
        single.knowledge_ = replace(
            known,
            tasks=chosen(known.tasks, task),
            memory=chosen(known.memory, task),
            own={task: first},
            companions=chosen(known.companions, task),
            channels={task: channel},
            views={task: view},
        )
        return single

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """Those of the base."""
        base = copy(self.base)
        base.random_state = self.random_state
        return base.plain_models(n_tasks)

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count); bytes of ``encoders`` (each once), ``channels``, ``rows``."""
        known: CompanionKnowledge = self._learnt("knowledge_")
        used = {id(part): part for views in known.views.values() for part in _parts_of(views)}
        return {
            "parameters": sum(encoder.n_parameters for encoder in used.values()),
            "encoders": sum(encoder.nbytes for encoder in used.values()),
            "channels": sum(channel.nbytes for channel in known.channels.values()),
            "rows": sum(stored.nbytes for stored in known.memory.values()),
        }


def _parts_of(views: Mapping[TaskName, FittedEncoder]) -> list[FittedEncoder]:
    """The encoders themselves, whatever they are wrapped in."""
    found: list[FittedEncoder] = []
    for encoder in views.values():
        sides: tuple[FittedEncoder, ...] = (encoder,)
        if isinstance(encoder, SideBySide):
            sides = encoder.encoders
        for side in sides:
            if isinstance(side, ForTask):
                side = side.encoder
            found.append(side)
    return found


def _another(
    encoder: Encoder,
    seed: int,
    task: TaskName,
    number: int,
    stored: StoredRows,
    before: Sequence[Trained],
) -> Trained:
    """One more encoder of a task's own rows; the first one is SiLLy's, bit for bit."""
    rng = generator(seed, task, "encoder")
    if number:
        rng = generator(seed, task, "encoder", number)
    in_bag = encoder.split(stored.y, rng=rng)
    if number and in_bag.ndim == 1:
        first = before[0].in_bag
        assert first is not None
        in_bag = _widened(first, len(stored.y))
    return Trained(encoder.fit(stored.X, stored.y, in_bag=in_bag, rng=rng), in_bag)


def _untrained(encoder: Any, X: Rows, y: Codes, *, rng: np.random.Generator) -> FittedEncoder:
    """An encoder that has learnt nothing: it knows how large the columns are, and no more."""
    if isinstance(encoder, ForestEncoder):
        noise = rng.permuted(X, axis=0)
        fitted: FittedEncoder = encoder.fit(noise, rng.permutation(y), rng=rng)
        return fitted
    recipe = replace(
        encoder.recipe, iterations=_UNTRAINED_STEPS, lr=_UNTRAINED_RATE, schedule="constant"
    )
    untrained: Any = replace(encoder, recipe=recipe)
    return untrained.fit(X, y, rng=rng)  # type: ignore[no-any-return]


def _in_bag(known: CompanionKnowledge, task: TaskName) -> Mask:
    """The rows of a task that its own network has trained on; later ones are held out."""
    mask = known.own[task][0].in_bag
    assert mask is not None
    return _widened(mask, len(known.memory[task].y))


def _joined_masks(n_rows: int, together: Sequence[Trained]) -> Mask:
    """The in-bag rows (n,) of networks, which are the same for all; of forests, of each tree."""
    masks = [_widened(trained.in_bag, n_rows) for trained in together if trained.in_bag is not None]
    if masks[0].ndim == 1:
        return masks[0]
    return np.concatenate(masks, axis=1)


def _widened(mask: Mask, n_rows: int) -> Mask:
    """The mask for more rows, which came later: they are held out."""
    more = np.zeros((n_rows - len(mask), *mask.shape[1:]), dtype=bool)
    return np.concatenate([mask, more])
