"""Encoders that other learners have trained."""

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Self

from lifelong.encoders.base import FittedEncoder
from lifelong.exceptions import InputError
from lifelong.learners.growing import check_name
from lifelong.learners.parts import Parts
from lifelong.tasks.base import TaskName

if TYPE_CHECKING:
    from lifelong.persistence.exchange import ImportedEncoder
    from lifelong.persistence.store import Store


class Foreign(Parts):
    """The part of a SiLLy learner that takes them in."""

    budget: int | None
    store: "str | Path | Store | None"

    @abstractmethod
    def _open_places(self) -> int | None: ...

    @abstractmethod
    def _spread(self, name: TaskName, encoder: FittedEncoder) -> None: ...

    def add_encoder(
        self,
        encoder: "str | Path | FittedEncoder | ImportedEncoder",
        name: TaskName | None = None,
        *,
        max_bytes: int = 2**30,
    ) -> Self:
        """Take in an encoder that another learner has trained: every task with stored rows learns to use it.

        It brings no rows and no task. It must read rows of the same shape, be of the same kind as this learner's own
        and not be here yet; it counts towards the budget. A learner without tasks may take encoders first.

        Parameters
        ----------
        encoder : path of a file by :func:`~lifelong.export_encoder`, or an encoder in memory
        name : str or int, optional
            What ``encoders_`` calls it: no name of a task. By default made from its checksum.
        max_bytes : int
            Larger files are refused unread.
        """
        from lifelong import import_encoder  # by its public name, when needed: persistence knows all learners

        with self._all_or_nothing():
            found = import_encoder(encoder, self, max_bytes=max_bytes)
            if not hasattr(self, "tasks_"):
                self._begin()
                self.in_shape_, self.n_features_in_ = found.in_shape, found.in_shape[0]
            if self.store is not None and not self.tasks_:
                raise InputError("A learner with a store takes encoders once it has learnt a task: partial_fit first.")
            if self._open_places() == 0 or (self.budget == len(self.encoders_) and not self.tasks_):
                raise InputError(f"The budget of {self.budget} encoders is spent. Nothing was added.", see="exchange")
            if name is None:
                name = f"imported {found.checksum[:8] if found.checksum else type(found.encoder).__name__}"
            self._spread(self._check_encoder_name(name), found.encoder)
            if self._open_places() == 0:
                self.memory_ = {}
        return self

    def _check_encoder_name(self, name: TaskName) -> TaskName:
        taken = {*self.encoders_, *self.tasks_, *self.addresses_.values()}
        if check_name(name) in taken:
            raise InputError(f"There is a task or an encoder {name!r} already. Choose another name.")
        return name
