"""What a SiLLy learner is made of, by task, and how parts go and get other names."""

from types import MappingProxyType

from lifelong.channels.base import Channel
from lifelong.encoders.base import FittedEncoder
from lifelong.learners.base import Learner
from lifelong.learners.density import Density
from lifelong.learners.growing import renamed, without
from lifelong.learners.memory import StoredRows
from lifelong.tasks.base import TaskName

_ROWS_AT_ONCE = 4096  # what all encoders together make of more rows may be larger than memory


def pieces(n_rows: int, size: int | None = None) -> list[slice]:
    """All rows, so many at a time; no rows are one empty piece."""
    size = size or _ROWS_AT_ONCE
    return [slice(at, at + size) for at in range(0, max(n_rows, 1), size)]


class Parts(Learner):
    """Encoders, channels, stored rows and densities.

    A task's *address* is the name under which it was learnt: its encoder and its randomness go by it for good.
    """

    encoders_: dict[TaskName, FittedEncoder]  # with a store, maps that load their values when asked
    channels_: dict[TaskName, Channel]
    memory_: dict[TaskName, StoredRows]
    densities_: dict[TaskName, Density] = MappingProxyType({})  # type: ignore[assignment]  # saved without them
    addresses_: dict[TaskName, TaskName] = MappingProxyType({})  # type: ignore[assignment]

    def _address(self, task: TaskName) -> TaskName:
        return self.addresses_.get(task, task)

    def _claim(self, task: TaskName) -> TaskName:
        """The address of a new task: its name, unless an encoder or a renamed task has that still."""
        taken = {*self.encoders_, *self.addresses_.values(), *(set(self.tasks_) - set(self.addresses_))}
        address, number = task, 1
        while address in taken and self.addresses_.get(task) != address:
            number += 1
            address = f"{task} ({number})"
        if address != task:
            self.addresses_ = {**self.addresses_, task: address}
        return address

    def _forget_task(self, task: TaskName, *, encoder: bool) -> None:
        address = self._address(task)
        for state in ("channels_", "memory_", "densities_", "addresses_"):
            setattr(self, state, without(getattr(self, state), task))
        if encoder and address in self.encoders_:
            self._let_go(address)

    def _let_go(self, address: TaskName) -> None:
        """Drop an encoder, and whatever tasks have learnt through it."""
        self.encoders_ = without(self.encoders_, address)
        left = list(self.encoders_)
        self.channels_ = {name: channel.only(left) for name, channel in self.channels_.items()}
        self.densities_ = {name: density.only(left) for name, density in self.densities_.items()}

    def _rename_task(self, old: TaskName, new: TaskName) -> None:
        for state in ("channels_", "memory_", "densities_"):
            setattr(self, state, renamed(getattr(self, state), old, new))
        self.addresses_ = {**without(self.addresses_, old), new: self._address(old)}
        if self.addresses_[new] == new:  # the old name again
            self.addresses_ = without(self.addresses_, new)
