"""DER: dynamically expandable representation (Yan, Xie & He, CVPR 2021)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.architectures import Network, build
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front, n_outputs, optimise
from lifelong.references.base import MultiTask, NetworkKnowledge, NetworkLearner, Round
from lifelong.references.replay import Memory, filled_up, loss_by_row
from lifelong.schema import InFile, Record, saved


@dataclass(frozen=True, eq=False)
class ExpandableKnowledge(NetworkKnowledge):
    """A network, and rows of each class."""

    memory: Memory = saved(InFile("rows", Record(Memory)), default_factory=lambda: Memory.empty(()))


class Expandable(MultiTask):
    """A feature extractor per task; every head reads all of them side by side."""

    def __init__(
        self, standardise: nn.Module, make: Callable[[], nn.Module], n_features: int
    ) -> None:
        super().__init__(n_features)  # of one extractor
        self.standardise = standardise
        self.make = make
        self.networks = nn.ModuleList()  # frozen but for the last: a file each

    def grow(self, task: int, n_classes: int) -> None:
        """For a new task an extractor, which all heads read from then on, and a head."""
        if task == len(self.heads):
            self.networks.requires_grad_(False)
            self.networks.append(self.make())
            for number, head in enumerate(self.heads):
                self.heads[number] = _widened(head, self._width(), head.out_features)  # type: ignore[arg-type]
            self.heads.append(nn.Linear(self._width(), n_classes))
        elif n_classes > self.heads[task].out_features:  # type: ignore[operator]
            self.heads[task] = _widened(self.heads[task], self._width(), n_classes)  # type: ignore[arg-type]

    def _width(self) -> int:
        return self.n_features * len(self.networks)

    def train(self, mode: bool = True) -> Self:
        """Frozen extractors never leave eval mode: their batch-norm statistics are frozen, too."""
        super().train(mode)
        for network in self.networks:
            network.train(mode and any(weight.requires_grad for weight in network.parameters()))
        return self

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """What all extractors make of the rows (n, T · d), in order of arrival."""
        x = self.standardise(x)
        return torch.cat([network(x) for network in self.networks], dim=1)

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K) of one task."""
        logits: torch.Tensor = self.heads[task](self.features(x))
        return logits


def _widened(head: nn.Linear, n_features: int, n_classes: int) -> nn.Linear:
    """The head for more features, which do not count yet, or more classes, as they are drawn."""
    wide = nn.Linear(n_features, n_classes, device=head.weight.device)
    with torch.no_grad():
        wide.weight[: head.out_features] = 0
        wide.weight[: head.out_features, : head.in_features] = head.weight
        wide.bias[: head.out_features] = head.bias
    return wide


def auxiliary_labels(labels: torch.Tensor, is_new: torch.Tensor, n_classes: int) -> torch.Tensor:
    """y_a: the class of a row of the new task; one more class for all others together.

    >>> auxiliary_labels(torch.tensor([2, 0, 1]), torch.tensor([True, False, True]), 3).tolist()
    [2, 3, 1]
    """
    return torch.where(is_new, labels, n_classes)


class DER(NetworkLearner):
    """A new feature extractor per task beside the old, frozen ones; heads read all of them.

        Φ(x) = [F_1(x), …, F_t(x)],  F_1 … F_{t−1} frozen;
        loss = CE(H(Φ(x)), y) on new rows + the same on remembered ones + λ CE(H_a(F_t(x)), y_a)
        y_a: the class of a new row; one class for all old rows together

    The auxiliary head H_a makes the new extractor tell apart what the old ones cannot; it is thrown
    away. Old tasks' heads learn to use the new extractor from remembered rows, 20 per class. In the
    paper one classifier has all classes, and is trained once more on equally many rows of each;
    here each task has a head of its own, so that no class competes with another task's. Extractors
    are not pruned (the paper's DER without P). More rows of a known task train the heads alone.

    Parameters
    ----------
    rows_per_class : int, default 20
        Rows that each class of a task keeps.
    auxiliary : float, default 1.0
        λ.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. A memory batch is as large as
        ``recipe.batch_size``.

    References
    ----------
    Yan, Xie & He, DER: Dynamically Expandable Representation for Class Incremental Learning, CVPR
    2021.
    """

    default_recipe: ClassVar[Recipe] = Recipe(
        epochs=60,
        batch_size=64,
        optimiser="sgd",
        lr=0.05,
        momentum=0.9,
        weight_decay=5e-4,
        schedule="cosine",
    )
    knowledge_class: ClassVar[type[ExpandableKnowledge]] = ExpandableKnowledge
    memory_ = learnt("memory")

    def __init__(
        self,
        network: Network = "auto",
        *,
        rows_per_class: int = 20,
        auxiliary: float = 1.0,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.rows_per_class = rows_per_class
        self.auxiliary = auxiliary

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.rows_per_class, "rows_per_class")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        network = self.network
        width = self.width
        shape = tuple(inputs.shape[1:])

        def make() -> nn.Module:
            return build(network, shape, width)

        standardise = front(inputs, self._recipe())
        n_features = n_outputs(nn.Sequential(standardise, make()), inputs)
        return Expandable(standardise, make, n_features)

    def _train(self, model: Expandable, now: Round) -> dict[str, Memory]:
        is_new = now.lesson.task not in now.known.tasks
        if not is_new:
            model.networks.requires_grad_(False)
        memory: Memory = now.known.memory
        if len(memory.y):
            self._expand(model, now, memory, is_new=is_new)
        else:
            self._fit_rows(model, now)
        model.networks.requires_grad_(False)
        return {"memory": filled_up(now, self.rows_per_class)}

    def _expand(self, model: Expandable, now: Round, memory: Memory, *, is_new: bool) -> None:
        """Train the new extractor and all heads on new rows and remembered ones."""
        recipe = self._recipe()
        device = now.inputs.device
        n_classes = len(now.lesson.record.classes)
        auxiliary = nn.Linear(model.n_features, n_classes + 1, device=device)
        learning = nn.ModuleList([model, auxiliary])

        def loss(batch: torch.Tensor) -> torch.Tensor:
            inputs, targets, tasks = memory.draw(recipe.batch_size, device)
            features = model.features(torch.cat([now.inputs[batch], inputs]))
            labels = torch.cat([now.targets[batch], targets])
            which = torch.cat([torch.full_like(batch, now.task).to(device), tasks])
            n_new = len(batch)
            new = loss_by_row(model.heads, features[:n_new], labels[:n_new], which[:n_new])
            old = loss_by_row(model.heads, features[n_new:], labels[n_new:], which[n_new:])
            if not is_new:
                return new + old
            newest = features[:, -model.n_features :]
            either = auxiliary_labels(labels, which == now.task, n_classes)
            return new + old + self.auxiliary * cross_entropy(auxiliary(newest), either)

        optimise(learning, loss, len(now.inputs), recipe)

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return [known.memory.stored()]
