"""A learner that keeps itself in a directory."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.exceptions import PersistenceError
from lifelong.learners.parts import Parts
from lifelong.learners.unknown_task import Inferred
from lifelong.tasks.base import TaskName

if TYPE_CHECKING:
    from lifelong.persistence.store import OpenStore, Store

Answer = TypeVar("Answer")


class Stored(Parts):
    """The part of a SiLLy learner that looks after its store."""

    store: "str | Path | Store | None"

    if not TYPE_CHECKING:  # a type checker knows the attributes from above

        def __getattr__(self, name: str) -> Any:
            """What a stored learner has learnt is found in its store when it is first asked for."""
            if name.endswith("_") and not name.startswith("__") and vars(self).get("store") is not None:
                new = "_opened" not in vars(self) or name == "tasks_"
                if new:
                    self._open_store().refresh(self)
                    if name in vars(self):
                        return vars(self)[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _open_store(self) -> "OpenStore":
        if "_opened" not in vars(self):
            from lifelong import Store  # by its public name, when needed: persistence knows all learners

            assert self.store is not None
            store = self.store if isinstance(self.store, Store) else Store(self.store)
            self._opened = store.open()
        return self._opened

    def _kept(self) -> AbstractContextManager[None]:
        return nullcontext() if self.store is None else self._open_store().writing(self)

    def predict_proba(
        self, X: Any, task: TaskName | None = None, *, priors: Mapping[Any, float] | None = None
    ) -> NDArray[np.float64]:
        """Posteriors (n, K), columns in the order of :meth:`classes_of`; see :meth:`Learner.predict_proba`."""
        return self._retried(lambda: super(Stored, self).predict_proba(X, task, priors=priors))

    def _infer(self, rows: Rows, *, same_task: bool) -> Inferred:
        return self._retried(lambda: super(Stored, self)._infer(rows, same_task=same_task))

    def _novelty(self, X: Rows) -> NDArray[np.float64]:
        return self._retried(lambda: super(Stored, self)._novelty(X))

    def _retried(self, ask: Callable[[], Answer]) -> Answer:
        """The answer, in the newest state if need be."""
        while True:
            try:
                return ask()
            except PersistenceError:
                # Another process has learnt more and removed what only the old state needed: go on from the new one.
                if self.store is None or not self._open_store().refresh(self):
                    raise
