"""Partial Replay: as many replayed rows as new ones."""

from collections.abc import Iterable

import torch

from lifelong.learners.memory import StoredRows
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import losses_by_part
from lifelong.references.total_replay import drawn, remember, stored_tensors
from lifelong.tasks.base import TaskName


class PartialReplay(NetworkLearner):
    """Every step sees a batch of the current task and one batch that the old tasks share.

        loss = (1/t)·CE(current batch) + (1 − 1/t)·mean over old tasks of CE(batch_size/(t − 1) rows of the task)

    All rows are kept, but a step never costs more than twice None's. At least one row of each old task is replayed, and
    more rows of a known task are replayed beside its old ones.

    Parameters
    ----------
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    memory_: dict[TaskName, StoredRows]

    def _start(self) -> None:
        super()._start()
        self.memory_ = {}

    def _train(self, model: SharedTrunk, now: Round) -> None:
        recipe = self._recipe()
        old = stored_tensors(self.memory_, now.inputs.device)
        t = len(old) + 1
        each = max(1, recipe.batch_size // max(t - 1, 1))

        def loss(batch: torch.Tensor) -> torch.Tensor:
            current = (now.task, now.inputs[batch], now.targets[batch])
            new, *replayed = losses_by_part(model, [current, *drawn(old, each)])
            return new / t + (1 - 1 / t) * torch.stack(replayed).mean()

        if old:
            optimise(model, loss, len(now.inputs), recipe)
        else:
            self._fit_rows(model, now)
        self.memory_ = remember(self.memory_, now)

    def _stored(self) -> Iterable[StoredRows]:
        return self.memory_.values()
