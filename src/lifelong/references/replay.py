"""Rows of several tasks in one batch, and the memories that such rows come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._labels import Codes
from lifelong._validation import Rows
from lifelong.learners.knowledge import ROWS, StoredRows
from lifelong.references.base import NetworkKnowledge, Round, SharedTrunk
from lifelong.schema import Array, Places, saved
from lifelong.tasks.base import TaskName

RowsByTask = Mapping[TaskName, StoredRows]


@dataclass(frozen=True, eq=False)
class KnowledgeWithRows(NetworkKnowledge):
    """A network, and all rows of all tasks."""

    memory: RowsByTask = saved(ROWS, default_factory=dict)


class TaskRows(NamedTuple):
    """Rows of one task, on the device."""

    task: int  # its number, in order of arrival
    inputs: torch.Tensor  # (n, ...)
    targets: torch.Tensor  # (n,)

    def some(self, numbers: torch.Tensor) -> "TaskRows":
        """The rows with these numbers."""
        return TaskRows(self.task, self.inputs[numbers], self.targets[numbers])


def losses_by_task(model: SharedTrunk, batches: Sequence[TaskRows]) -> tuple[torch.Tensor, ...]:
    """Cross-entropy of each batch on its task's head; one joint pass through the trunk."""
    features = model.features(torch.cat([batch.inputs for batch in batches]))
    pieces = torch.split(features, [len(batch.inputs) for batch in batches])
    return tuple(
        cross_entropy(model.heads[batch.task](piece), batch.targets)
        for piece, batch in zip(pieces, batches, strict=True)
    )


def loss_by_row(
    heads: nn.ModuleList, features: torch.Tensor, targets: torch.Tensor, tasks: torch.Tensor
) -> torch.Tensor:
    """Mean cross-entropy over rows of many tasks, each row on its own task's head."""
    total = features.new_zeros(())
    for task in sorted(set(tasks.tolist())):
        own = tasks == task
        total = total + cross_entropy(heads[task](features[own]), targets[own], reduction="sum")
    return total / len(features)


def _most_classes(lengths: Mapping[str, Any]) -> int:
    return int(max(lengths["widths"]))


@dataclass(frozen=True, eq=False)
class Memory:
    """Rows with their labels and task numbers."""

    X: Rows = saved(Array("float32", ("n", "*in_shape")))
    y: Codes = saved(Places("n", below=_most_classes))
    tasks: NDArray[np.intp] = saved(Places("n", below="tasks"))

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What is wrong with rows from a file."""
        widths = np.array(lengths["widths"])
        if not (self.y < widths[self.tasks]).all():
            return "has labels of other tasks"
        return None

    @classmethod
    def empty(cls, in_shape: tuple[int, ...]) -> Self:
        """No rows yet."""
        return cls(np.empty((0, *in_shape), np.float32), np.empty(0, np.intp), np.empty(0, np.intp))

    def joined(self, X: Rows, y: Codes, task: int) -> tuple[Rows, Codes, NDArray[np.intp]]:
        """The rows of the memory and then these."""
        tasks = np.concatenate([self.tasks, np.full(len(y), task)])
        return np.concatenate([self.X, X]), np.concatenate([self.y, y]), tasks

    def draw(
        self, size: int, device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """At most ``size`` different rows at random: inputs, targets, task numbers."""
        chosen = torch.randperm(len(self.y))[:size]
        inputs, targets, tasks = (
            torch.from_numpy(array)[chosen].to(device) for array in (self.X, self.y, self.tasks)
        )
        return inputs, targets, tasks

    def stored(self) -> StoredRows:
        """Rows and labels alone, to count their bytes."""
        return StoredRows(self.X, self.y)


def memory_loss(
    model: SharedTrunk, rows: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """Mean cross-entropy of rows drawn from a memory."""
    inputs, targets, tasks = rows
    return loss_by_row(model.heads, model.features(inputs), targets, tasks)


def filled_up(now: Round, rows_per_class: int) -> Memory:
    """The memory, and of each class of the task as many random rows as still have places."""
    _, X, y, record = now.lesson[:4]
    known: Memory = now.known.memory
    if not len(known.y):
        known = Memory.empty(X.shape[1:])
    full = np.bincount(known.y[known.tasks == now.task], minlength=len(record.classes))
    order = now.rng("memory").permutation(len(y))
    chosen = [
        rows[: rows_per_class - full[k]] for k, rows in enumerate(_by_class(y, order, len(full)))
    ]
    kept = np.concatenate(chosen)
    return Memory(*known.joined(X[kept], y[kept], now.task))


def _by_class(y: NDArray[Any], order: NDArray[np.intp], n_classes: int) -> list[NDArray[np.intp]]:
    """Row numbers of each class, in the given order."""
    return [order[y[order] == k] for k in range(n_classes)]
