"""Total Replay: all rows of all tasks, again with every new task."""

from collections.abc import Iterable
from typing import Any

import torch

from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import KnowledgeWithRows, RowsByTask, TaskRows, losses_by_task


class TotalReplay(NetworkLearner):
    """Every step sees a full batch from each task so far, each on its own head.

        loss = mean over tasks τ ≤ t of CE(batch of τ, head τ)

    All rows are kept, and a step costs t times None's, by design. More rows of a known task are
    replayed beside its old rows, which count as a batch of their own.

    Parameters
    ----------
    network, width, recipe, device, readout, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. ``recipe.batch_size`` is per task.
    """

    knowledge_class = KnowledgeWithRows
    memory_ = learnt("memory")

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, RowsByTask]:
        recipe = self._recipe()
        old = stored_tensors(now.known.memory, now.inputs.device)

        def loss(batch: torch.Tensor) -> torch.Tensor:
            current = TaskRows(now.task, now.inputs[batch], now.targets[batch])
            losses = losses_by_task(model, [current, *drawn(old, recipe.batch_size)])
            return torch.stack(losses).mean()

        if old:
            optimise(model, loss, len(now.inputs), recipe)
        else:
            self._fit_rows(model, now)
        return {"memory": remember(now.known.memory, now)}

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return known.memory.values()  # type: ignore[no-any-return]


def stored_tensors(memory: RowsByTask, device: torch.device) -> list[TaskRows]:
    """The stored rows of each task, in order of arrival, on the device."""
    return [
        TaskRows(task, torch.from_numpy(rows.X).to(device), torch.from_numpy(rows.y).to(device))
        for task, rows in enumerate(memory.values())
    ]


def drawn(stored: list[TaskRows], size: int) -> list[TaskRows]:
    """At most ``size`` different rows of each task, at random."""
    chosen = [torch.randperm(len(rows.targets))[:size] for rows in stored]
    return [rows.some(numbers) for rows, numbers in zip(stored, chosen, strict=True)]


def remember(memory: RowsByTask, now: Round) -> RowsByTask:
    """The memory with a copy of all rows of the lesson."""
    lesson = now.lesson
    new = StoredRows(lesson.X.copy(), lesson.y.copy())
    if lesson.task in memory:
        new = memory[lesson.task].with_rows(new)
    return {**memory, lesson.task: new}
