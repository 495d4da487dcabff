"""What a learner has learnt: one frozen value.

Learning is a function Knowledge → Knowledge (see :mod:`lifelong.learners.algorithms`). A learner
holds one such value and replaces it when a lesson has been learnt, so that every lesson is learnt
as a whole or not at all.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes, Labels
from lifelong._validation import Rows
from lifelong.channels.base import FittedChannel, Weights, join_weights
from lifelong.encoders.base import FittedEncoder, Mask, take_rows
from lifelong.learners.density import Density, Scaling
from lifelong.schema import (
    SHARE,
    AnyOf,
    Array,
    ByName,
    Each,
    Elsewhere,
    InFile,
    InManifest,
    Maybe,
    Places,
    Record,
    Several,
    SplitByEncoder,
    TaskNames,
    maybe,
    saved,
)
from lifelong.tasks.base import TaskName

Value = TypeVar("Value")

CHANNELS = {
    "leaf": "lifelong.channels.leaf:FittedLeaf",
    "forest": "lifelong.channels.forest:FittedForestChannel",
    "neighbours": "lifelong.channels.neighbours:FittedNeighbours",
    "ridge": "lifelong.channels.ridge.channel:FittedRidge",
}
"""The channels that can be saved, by the word that stands for them in a file."""


@dataclass(frozen=True, eq=False)
class TaskRecord:
    """What a learner knows of a task besides what it learnt: its classes, and rows of each."""

    classes: Labels  # (K,), in the order of predict_proba's columns
    class_counts: NDArray[np.int64]  # (K,)
    class_weights: Weights | None = None  # (K,): their sample weights, if any row ever had one

    @cached_property
    def n_rows(self) -> int:
        """Training rows seen so far."""
        return int(self.class_counts.sum())

    @property
    def class_shares(self) -> NDArray[np.float64]:
        """The shares (K,) of the classes among the rows, or among their weights."""
        if self.class_weights is None:
            return np.asarray(self.class_counts / self.class_counts.sum())
        return np.asarray(self.class_weights / self.class_weights.sum())


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows of one task."""

    X: Rows = saved(Array("float32", ("n", "*in_shape")))
    y: Codes = saved(Places("n", below="K"))
    # which of the task's rows, in order of arrival; None: all of them
    rows: NDArray[np.intp] | None = saved(maybe(Places("n", below="n_rows")), default=None)
    weights: Weights | None = saved(maybe(Array("float64", ("n",))), default=None)
    # (n,) or (n, B): rows that the task's own encoder has trained on, or that shared ones may
    in_bag: Mask | None = saved(
        maybe(AnyOf((Array("bool", ("n",)), Array("bool", ("n", None))))), default=None
    )

    def with_rows(self, more: "StoredRows") -> "StoredRows":
        """These rows and more, which come later: the task's own encoder has not seen them."""
        rows = None
        if self.rows is not None and more.rows is not None:
            rows = np.concatenate([self.rows, more.rows])
        in_bag = None
        if self.in_bag is not None:
            new = more.in_bag
            if new is None:
                new = np.zeros((len(more.y), *self.in_bag.shape[1:]), dtype=bool)
            in_bag = np.concatenate([self.in_bag, new])
        return StoredRows(
            np.concatenate([self.X, more.X]),
            np.concatenate([self.y, more.y]),
            rows,
            join_weights(self.weights, len(self.y), more.weights, len(more.y)),
            in_bag,
        )

    def numbers(self) -> NDArray[np.intp]:
        """Which of the task's rows these are (n,)."""
        if self.rows is None:
            return np.arange(len(self.y))
        return self.rows

    @property
    def nbytes(self) -> int:
        """Bytes of rows and labels."""
        arrays = (self.X, self.y, self.rows, self.weights, self.in_bag)
        return sum(array.nbytes for array in arrays if array is not None)


ROWS = Each(InFile("rows", Record(StoredRows)))
"""Stored rows by task, a file each."""


class Lesson(NamedTuple):
    """Checked rows of one task, ready to be learnt."""

    task: TaskName
    X: Rows
    y: Codes
    record: TaskRecord  # of the task, these rows included
    weights: Weights | None = None  # (n,)

    @property
    def first(self) -> int:
        """The number of the first of these rows in the task's history."""
        return self.record.n_rows - len(self.y)


@dataclass(frozen=True, eq=False)
class TasksKnown:
    """What every learner knows, ours and the references: tasks by name, and what rows look like.

    Attributes
    ----------
    seed : int
        The one number that everything random derives from.
    in_shape : tuple
        Shape of a row.
    feature_names : array of str, optional
        Of the columns, where the first task's rows had names.
    tasks : by name, in order of arrival
    version : str, optional
        Which state of a store this is.
    """

    seed: int
    in_shape: tuple[int, ...]
    feature_names: NDArray[Any] | None = None
    tasks: Mapping[TaskName, TaskRecord] = field(default_factory=dict)
    version: str | None = None

    def recorded(self, lesson: Lesson) -> Self:
        """With the lesson's task, or more rows of it."""
        return replace(self, tasks={**self.tasks, lesson.task: lesson.record})


@dataclass(frozen=True, eq=False)
class Knowledge(TasksKnown):
    """Everything a SiLLy learner has learnt.

    A task's *address* is the name under which it was learnt: its encoder and its randomness go by
    it for good. ``addresses`` has those that differ from the task's name. ``shares`` has encoders
    from outside whose trees count less than a vote each: no such encoder may outvote one of ours.
    ``shared`` has the encoders that were trained on rows of several tasks, in order.
    """

    encoders: Mapping[TaskName, FittedEncoder] = saved(
        Each(Elsewhere("encoder"), every_task=False), default_factory=dict
    )
    channels: Mapping[TaskName, FittedChannel] = saved(
        Each(SplitByEncoder(CHANNELS)), default_factory=dict
    )
    memory: Mapping[TaskName, StoredRows] = saved(
        Each(InFile("rows", Record(StoredRows)), every_task=False), default_factory=dict
    )
    densities: Mapping[TaskName, Density] = saved(
        Each(
            SplitByEncoder({"": "lifelong.learners.density:Density"}, rest="rows"),
            every_task=False,
        ),
        later=True,
        default_factory=dict,
    )
    addresses: Mapping[TaskName, TaskName] = saved(
        InManifest(ByName(TaskNames())), later=True, default_factory=dict
    )
    shares: Mapping[TaskName, float] = saved(
        InManifest(ByName(SHARE)), later=True, default_factory=dict
    )
    shared: tuple[TaskName, ...] = saved(InManifest(Several(TaskNames())), later=True, default=())
    scaling: Scaling | None = saved(
        Maybe(InFile("values", Record(Scaling))), later=True, default=None
    )

    def address(self, task: TaskName) -> TaskName:
        """The name by which a task's encoder and its randomness go."""
        return self.addresses.get(task, task)

    def claimed(self, task: TaskName, address: TaskName | None = None) -> "Knowledge":
        """With an address for a new task: by default its name, unless something has that still."""
        if address is None:
            address = self.free_address(task)
        if address == task:
            return self
        return replace(self, addresses={**self.addresses, task: address})

    def free_address(self, task: TaskName, taken: Collection[TaskName] = ()) -> TaskName:
        """A new task's name, with a number where something else has that name still."""
        if task in self.addresses:
            return self.addresses[task]
        named = set(self.tasks) - set(self.addresses)
        in_use = {*self.encoders, *self.addresses.values(), *named, *taken}
        address = task
        number = 1
        while address in in_use:
            number += 1
            address = f"{task} ({number})"
        return address

    def only(self, task: TaskName) -> "Knowledge | None":
        """As if this task alone had been learnt; None if it has no encoder of its own."""
        address = self.address(task)
        if address not in self.encoders:
            return None
        densities: dict[TaskName, Density] = {}
        if task in self.densities:
            densities[task] = self.densities[task].only([address])
        return replace(
            self,
            tasks={task: self.tasks[task]},
            encoders={address: self.encoders[address]},
            channels={task: self.channels[task].only([address])},
            memory=chosen(self.memory, task),
            densities=densities,
            shares=chosen(self.shares, address),
            shared=(),
            version=None,
        )

    def part_of(self, task: TaskName) -> "Knowledge":
        """What belongs to one task, and no encoder: small enough to be sent."""
        return replace(
            self,
            tasks=chosen(self.tasks, task),
            encoders={},
            channels=chosen(self.channels, task),
            memory=chosen(self.memory, task),
            densities=chosen(self.densities, task),
            addresses=chosen(self.addresses, task),
        )

    def without_task(self, task: TaskName) -> "Knowledge":
        """Without a task; its encoder stays, as it serves others."""
        return replace(
            self,
            tasks=without(self.tasks, task),
            channels=without(self.channels, task),
            memory=without(self.memory, task),
            densities=without(self.densities, task),
            addresses=without(self.addresses, task),
        )

    def without_encoder(self, address: TaskName) -> "Knowledge":
        """Without an encoder, and without whatever tasks have learnt through it."""
        encoders = without(self.encoders, address)
        left = list(encoders)
        channels = {name: channel.only(left) for name, channel in self.channels.items()}
        densities = {name: density.only(left) for name, density in self.densities.items()}
        shares = without(self.shares, address)
        return replace(
            self,
            encoders=encoders,
            channels=channels,
            densities=densities,
            shares=shares,
            shared=tuple(name for name in self.shared if name != address),
        )

    def sizes(self) -> dict[str, int]:
        """How many parameters; bytes of encoders, of channels with densities, of stored rows."""
        densities = sum(density.nbytes for density in self.densities.values())
        return {
            "parameters": sum(encoder.n_parameters for encoder in self.encoders.values()),
            "encoders": sum(encoder.nbytes for encoder in self.encoders.values()),
            "channels": sum(channel.nbytes for channel in self.channels.values()) + densities,
            "rows": sum(stored.nbytes for stored in self.memory.values()),
        }

    def renamed(self, old: TaskName, new: TaskName) -> "Knowledge":
        """With another name for a task; its address stays."""
        addresses = dict(without(self.addresses, old))
        if self.address(old) != new:  # else it has the name again under which it was learnt
            addresses[new] = self.address(old)
        return replace(
            self,
            tasks=renamed(self.tasks, old, new),
            channels=renamed(self.channels, old, new),
            memory=renamed(self.memory, old, new),
            densities=renamed(self.densities, old, new),
            addresses=addresses,
        )


@runtime_checkable
class LazyMap(Protocol):
    """A map whose values are loaded when they are asked for: it is edited without loading any."""

    def without(self, name: TaskName) -> Mapping[TaskName, Any]: ...

    def renamed(self, old: TaskName, new: TaskName) -> Mapping[TaskName, Any]: ...


def merged(by_name: Mapping[TaskName, Value], more: Mapping[TaskName, Value]) -> Any:
    """One map of both; of a name that both have, the value of ``more``."""
    return by_name | more  # type: ignore[operator]


def chosen(by_name: Mapping[TaskName, Value], name: TaskName) -> dict[TaskName, Value]:
    """The one entry, if there is one."""
    if name not in by_name:
        return {}
    return {name: by_name[name]}


def without(by_name: Mapping[TaskName, Value], name: TaskName) -> Mapping[TaskName, Value]:
    """All entries but one."""
    if isinstance(by_name, LazyMap):
        return by_name.without(name)
    return {key: value for key, value in by_name.items() if key != name}


def renamed(
    by_name: Mapping[TaskName, Value], old: TaskName, new: TaskName
) -> Mapping[TaskName, Value]:
    """The same entries in the same order, one of them under another name."""
    if isinstance(by_name, LazyMap):
        return by_name.renamed(old, new)
    return {new if key == old else key: value for key, value in by_name.items()}


def keep_rows(
    rows: StoredRows, share: float, *, first: int = 0, rng: np.random.Generator
) -> StoredRows:
    """A copy of exactly ``round(share · n)`` rows, spread evenly over the classes (replay).

    ``first`` is the number of the first of these rows in the task's history.

    >>> rows = StoredRows(np.zeros((10, 1), np.float32), np.repeat([0, 1], 5))
    >>> np.bincount(keep_rows(rows, 0.4, rng=np.random.default_rng(0)).y)
    array([2, 2])
    """
    n = len(rows.y)
    n_kept = round(share * n)
    by_class = np.argsort(rows.y + rng.random(n))  # sorted by class, random within a class
    every = np.floor((np.arange(n_kept) + rng.random()) * n / max(n_kept, 1)).astype(np.intp)
    kept = np.sort(by_class[every])
    return StoredRows(
        rows.X[kept],
        rows.y[kept],
        first + kept,
        take_rows(rows.weights, kept),
        take_rows(rows.in_bag, kept),
    )
