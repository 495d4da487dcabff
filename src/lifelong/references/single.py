"""The control Single: a network per task that learns from no other task."""

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows, chosen
from lifelong.references.base import MultiTask, NetworkLearner, Round, SharedTrunk, number_of
from lifelong.references.readout import Bodies
from lifelong.references.replay import KnowledgeWithRows, RowsByTask
from lifelong.references.total_replay import remember
from lifelong.tasks.base import TaskName


class Separate(MultiTask):
    """A network per task."""

    def __init__(self, networks: Iterable[nn.Module] = ()) -> None:
        super().__init__(n_features=0)
        self.networks = nn.ModuleList(networks)

    def grow(self, task: int, n_classes: int) -> None:
        """Nothing: every network brings its own head."""

    def head_modules(self) -> Iterable[nn.Module]:
        """The head of each network."""
        return [head for network in self.networks for head in network.heads]  # type: ignore[union-attr]

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K) of the task's own network."""
        logits: torch.Tensor = self.networks[task](x, 0)
        return logits

    def posteriors(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """What the task's own network says: each has its own mind about mirror images."""
        posteriors: torch.Tensor = self.networks[task].posteriors(x, 0)  # type: ignore[operator]
        return posteriors

    def bodies(self, task: int, rows: torch.Tensor) -> Bodies:
        """The task's own network."""
        found: Bodies = self.networks[task].bodies(0, rows)  # type: ignore[operator]
        return found


class Single(NetworkLearner):
    """A fresh network per task, with its own head, on all rows of the task.

    Nothing is shared and nothing forgotten: all transfers are 0. Rows are kept only so that more
    rows of a known task can train its network anew, on all of them.
    """

    knowledge_class = KnowledgeWithRows
    memory_ = learnt("memory")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        del inputs
        return Separate()

    def _copied(self, model: Any) -> MultiTask:
        return Separate(model.networks)

    def _train(self, model: Separate, now: Round) -> dict[str, RowsByTask]:
        memory = remember(now.known.memory, now)
        rows = memory[now.lesson.task]
        device = now.inputs.device
        inputs = torch.from_numpy(rows.X).to(device)
        targets = torch.from_numpy(rows.y).to(device)
        network = SharedTrunk.fresh(self.network, self.width, inputs, self._recipe())
        network.grow(0, len(now.lesson.record.classes))
        whole = now._replace(task=0, inputs=inputs, targets=targets)
        self._fit_rows(network, whole)
        networks = list(model.networks)
        before = networks[: now.task]
        after = networks[now.task + 1 :]
        model.networks = nn.ModuleList([*before, network, *after])
        return {"memory": memory}

    def alone(self, task: TaskName) -> "Single":
        """A copy that knows ``task`` alone: nothing is shared."""
        known = self._learnt("knowledge_")
        single = copy(self)
        single.knowledge_ = replace(
            known,
            tasks={task: known.tasks[task]},
            model=Separate([known.model.networks[number_of(task, known)]]),
            memory={task: known.memory[task]},
            readout_rows=chosen(known.readout_rows, task),
        )
        return single

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return known.memory.values()  # type: ignore[no-any-return]
