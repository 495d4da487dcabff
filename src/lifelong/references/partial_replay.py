"""Partial Replay: as many replayed rows as new ones."""

from collections.abc import Iterable
from typing import Any

import torch

from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import KnowledgeWithRows, RowsByTask, TaskRows, losses_by_task
from lifelong.references.total_replay import drawn, remember, stored_tensors


class PartialReplay(NetworkLearner):
    """Every step sees a batch of the current task and one batch that the old tasks share.

        loss = (1/t)·CE(current batch) + (1 − 1/t)·mean over old tasks of CE(batch_size/(t − 1) rows
        of the task)

    All rows are kept, but a step never costs more than twice None's. At least one row of each old
    task is replayed, and more rows of a known task are replayed beside its old ones.

    Parameters
    ----------
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    knowledge_class = KnowledgeWithRows
    memory_ = learnt("memory")

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, RowsByTask]:
        recipe = self._recipe()
        old = stored_tensors(now.known.memory, now.inputs.device)
        t = len(old) + 1
        each = max(1, recipe.batch_size // max(t - 1, 1))

        def loss(batch: torch.Tensor) -> torch.Tensor:
            current = TaskRows(now.task, now.inputs[batch], now.targets[batch])
            new, *replayed = losses_by_task(model, [current, *drawn(old, each)])
            return new / t + (1 - 1 / t) * torch.stack(replayed).mean()

        if old:
            optimise(model, loss, len(now.inputs), recipe)
        else:
            self._fit_rows(model, now)
        return {"memory": remember(now.known.memory, now)}

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return known.memory.values()  # type: ignore[no-any-return]
