"""DER++: dark experience replay with labels (Buzzega et al., NeurIPS 2020)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong._validation import Rows, check_count
from lifelong.exceptions import ParameterError
from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkKnowledge, NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import Memory, memory_loss
from lifelong.schema import Array, InFile, Places, Record, Whole, saved


def _most_logits(lengths: Mapping[str, Any]) -> int:
    return int(max(lengths["widths"])) + 1


@dataclass(frozen=True, eq=False)
class LogitMemory(Memory):
    """Rows, labels, task numbers, and what the network said of each row when it was inserted."""

    logits: Rows = saved(Array("float32", ("n", None)))  # (n, K of the widest head), then zeros
    n_logits: NDArray[np.intp] = saved(Places("n", below=_most_logits))  # of the head at that time
    seen: int = saved(Whole(), default=0)  # rows shown so far, each time counted

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What is wrong with rows from a file."""
        if self.seen < len(self.y):
            return "has more rows than it has seen"
        trouble = super().problem(lengths)
        if trouble is None and (self.n_logits > np.array(lengths["widths"])[self.tasks]).any():
            trouble = "has logits of other tasks"
        if trouble is None and (self.n_logits > self.logits.shape[1]).any():
            trouble = "does not have all its logits"
        return trouble

    @classmethod
    def none_yet(cls, in_shape: tuple[int, ...]) -> "LogitMemory":
        """No rows yet."""
        none = np.empty(0, np.intp)
        rows = np.empty((0, *in_shape), np.float32)
        return cls(rows, none, none, np.empty((0, 0), np.float32), none)


@dataclass(frozen=True, eq=False)
class LogitKnowledge(NetworkKnowledge):
    """A network, and a sample of all rows with logits."""

    memory: LogitMemory = saved(
        InFile("rows", Record(LogitMemory)), default_factory=lambda: LogitMemory.none_yet(())
    )


class LogitReservoir:
    """The memory while a round changes it, step by step: Vitter's algorithm R.

    Parameters
    ----------
    memory : LogitMemory
        What is remembered before the round; it stays as it is.
    capacity : int
        Places.
    n_logits : int
        Of the widest head.
    rng : Generator
        Decides who takes which place.
    """

    def __init__(
        self,
        memory: LogitMemory,
        capacity: int,
        in_shape: tuple[int, ...],
        n_logits: int,
        *,
        rng: np.random.Generator,
    ) -> None:
        self.seen = memory.seen
        self.n_rows = len(memory.y)
        self._capacity = capacity
        self._rng = rng
        self._X = np.zeros((max(capacity, self.n_rows), *in_shape), np.float32)
        n_places = len(self._X)
        self._y = np.zeros(n_places, np.intp)
        self._tasks = np.zeros(n_places, np.intp)
        self._logits = np.zeros((n_places, max(n_logits, memory.logits.shape[1])), np.float32)
        self._n_logits = np.zeros(n_places, np.intp)
        if self.n_rows:
            self._X[: self.n_rows] = memory.X
            self._y[: self.n_rows] = memory.y
            self._tasks[: self.n_rows] = memory.tasks
            self._logits[: self.n_rows, : memory.logits.shape[1]] = memory.logits
            self._n_logits[: self.n_rows] = memory.n_logits

    def insert(self, X: Rows, y: NDArray[np.intp], task: int, logits: Rows) -> None:
        """Row i (of all rows ever shown, from 0) takes a place with probability capacity/(i+1)."""
        for row in range(len(y)):
            place = int(self._rng.integers(self.seen + 1))
            if self.n_rows < self._capacity:
                place = self.n_rows
                self.n_rows += 1
            self.seen += 1
            if place >= self._capacity:
                continue
            width = logits.shape[1]
            self._X[place] = X[row]
            self._y[place] = y[row]
            self._tasks[place] = task
            self._logits[place] = 0
            self._logits[place, :width] = logits[row]
            self._n_logits[place] = width

    def frozen(self) -> LogitMemory:
        """The memory as it is now; arrays are shared until :meth:`insert` is called again."""
        n = self.n_rows
        return LogitMemory(
            self._X[:n],
            self._y[:n],
            self._tasks[:n],
            self._logits[:n],
            self._n_logits[:n],
            self.seen,
        )


def logit_distance(
    heads: nn.ModuleList, features: torch.Tensor, memory: LogitMemory, chosen: NDArray[np.intp]
) -> torch.Tensor:
    """Mean over rows of the mean square of (logits now − logits then), on each row's own head."""
    tasks = torch.from_numpy(memory.tasks[chosen])
    n_logits = torch.from_numpy(memory.n_logits[chosen])
    then = torch.from_numpy(memory.logits[chosen]).to(features.device)
    total = features.new_zeros(())
    # A head may have been narrower when a row was inserted.
    for task, width in sorted(set(zip(tasks.tolist(), n_logits.tolist(), strict=True))):
        own = ((tasks == task) & (n_logits == width)).to(features.device)
        now = heads[task](features[own])[:, :width].float()
        total = total + ((now - then[own, :width]) ** 2).mean(dim=1).sum()
    return total / len(features)


class DERPlusPlus(NetworkLearner):
    """Every step also matches old logits on one memory batch, and old labels on another.

        loss = CE(current batch) + α · MSE(logits now, logits then; memory batch 1)
               + β · CE(memory batch 2)

    The memory is a reservoir over all rows ever shown. As in the authors' code a row enters it
    with the step that shows it (in every pass anew), and its logits are what the network said in
    that step: in training mode, of the augmented row where rows are augmented. Rows themselves
    are stored as they are. Each remembered row counts on its own task's head (the authors have
    one head for all classes).

    Parameters
    ----------
    capacity : int, default 500
        Rows in the memory.
    alpha : float, default 0.3
        α, the weight of the distance to old logits.
    beta : float, default 0.5
        β, the weight of the memory's labels.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. A memory batch is as large as
        ``recipe.batch_size``.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=50, batch_size=32, optimiser="sgd", lr=0.03)
    knowledge_class: ClassVar[type[LogitKnowledge]] = LogitKnowledge
    memory_ = learnt("memory")

    def __init__(
        self,
        network: Network = "auto",
        *,
        capacity: int = 500,
        alpha: float = 0.3,
        beta: float = 0.5,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.capacity = capacity
        self.alpha = alpha
        self.beta = beta

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.capacity, "capacity")
        for name, weight in (("alpha", self.alpha), ("beta", self.beta)):
            if not weight >= 0:
                raise ParameterError(f"{name}={weight!r} must not be negative.")

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, LogitMemory]:
        recipe = self._recipe()
        device = now.inputs.device
        lesson = now.lesson
        n_logits = len(lesson.record.classes)
        reservoir = LogitReservoir(
            now.known.memory,
            self.capacity,
            lesson.X.shape[1:],
            n_logits,
            rng=now.rng("reservoir"),
        )

        def loss(batch: torch.Tensor) -> torch.Tensor:
            logits = model(now.inputs[batch], now.task)
            total = cross_entropy(logits, now.targets[batch])
            memory = reservoir.frozen()
            if reservoir.n_rows > 1:  # batch norm cannot learn from one row
                chosen = torch.randperm(reservoir.n_rows)[: recipe.batch_size].numpy()
                features = model.features(torch.from_numpy(memory.X[chosen]).to(device))
                distance = logit_distance(model.heads, features, memory, chosen)
                labels = memory_loss(model, memory.draw(recipe.batch_size, device))
                total = total + self.alpha * distance + self.beta * labels
            rows = batch.numpy()
            said = logits.detach().float().cpu().numpy()
            reservoir.insert(lesson.X[rows], lesson.y[rows], now.task, said)
            return total

        optimise(model, loss, len(now.inputs), recipe)
        return {"memory": reservoir.frozen()}

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return [known.memory.stored()]

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return [torch.from_numpy(known.memory.logits)]
