"""ER: replay from a tiny reservoir (Chaudhry et al., On Tiny Episodic Memories, 2019)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from lifelong._labels import Codes
from lifelong._random import RandomState
from lifelong._validation import Rows, check_count
from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkKnowledge, NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import Memory, loss_by_row
from lifelong.schema import InFile, Record, Whole, saved


@dataclass(frozen=True, eq=False)
class Reservoir(Memory):
    """A uniform sample of all rows ever seen (Vitter's algorithm R)."""

    seen: int = saved(Whole(), default=0)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What is wrong with rows from a file."""
        if self.seen < len(self.y):
            return "has more rows than it has seen"
        return super().problem(lengths)

    def with_rows(
        self, X: Rows, y: Codes, task: int, capacity: int, *, rng: np.random.Generator
    ) -> "Reservoir":
        """Row i (of all rows ever, from 0) takes a place with probability capacity / (i + 1)."""
        places = list(range(len(self.y)))  # which row, of memory and new ones, sits in each place
        for number in range(len(y)):
            newcomer = len(self.y) + number
            place = int(rng.integers(self.seen + number + 1))
            if len(places) < capacity:
                places.append(newcomer)
            elif place < capacity:
                places[place] = newcomer
        rows, labels, tasks = self.joined(X, y, task)
        return Reservoir(rows[places], labels[places], tasks[places], self.seen + len(y))


@dataclass(frozen=True, eq=False)
class ReservoirKnowledge(NetworkKnowledge):
    """A network, and a sample of all rows."""

    memory: Reservoir = saved(
        InFile("rows", Record(Reservoir)), default_factory=lambda: Reservoir.empty(())
    )


class ER(NetworkLearner):
    """Every step also learns from a few remembered rows, by default one per class.

        loss = CE(current batch) + CE(memory batch), unweighted; each memory row on its own task's
        head

    The rows of a lesson enter the reservoir when it has been learnt, each once (the paper adds them
    batch by batch during its single pass, so there a batch may also meet rows of its own task; here
    every lesson takes ten passes). More rows of a known task are learnt, and enter the reservoir,
    like any others.

    Parameters
    ----------
    capacity : int, default 100
        Rows in the memory: 100 is one row per class of CIFAR 10×10.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. A memory batch is as large as
        ``recipe.batch_size``.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=10, batch_size=10, optimiser="sgd", lr=0.1)
    knowledge_class: ClassVar[type[ReservoirKnowledge]] = ReservoirKnowledge
    memory_ = learnt("memory")

    def __init__(
        self,
        network: Network = "auto",
        *,
        capacity: int = 100,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.capacity = capacity

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.capacity, "capacity")

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, Reservoir]:
        recipe = self._recipe()
        device = now.inputs.device
        lesson = now.lesson
        memory: Reservoir = now.known.memory
        if not memory.seen:
            memory = Reservoir.empty(lesson.X.shape[1:])

        def loss(batch: torch.Tensor) -> torch.Tensor:
            if not memory.seen:
                return now.loss(model, batch)
            inputs, targets, tasks = memory.draw(recipe.batch_size, device)
            features = model.features(torch.cat([now.inputs[batch], inputs]))
            current = features[: len(batch)]
            replayed = features[len(batch) :]
            new = cross_entropy(model.heads[now.task](current), now.targets[batch])
            return new + loss_by_row(model.heads, replayed, targets, tasks)

        optimise(model, loss, len(now.inputs), recipe)
        rng = now.rng("reservoir")
        new = memory.with_rows(lesson.X, lesson.y, now.task, self.capacity, rng=rng)
        return {"memory": new}

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return [known.memory.stored()]
