"""PackNet: tasks share one network by pruning (Mallya & Lazebnik, CVPR 2018)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import Network, build
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front, n_outputs, optimise
from lifelong.references.base import ADAM_500, MultiTask, NetworkLearner, Round

Named = dict[str, torch.Tensor]

_MOST_OWNERS = 255  # a byte per weight; whoever comes later has a head and norms of its own only


class OwnState(nn.Module):
    """Biases, and batch norms with their statistics, of one task."""

    def __init__(self, parameters: Mapping[str, torch.Tensor], buffers: Named) -> None:
        super().__init__()
        self.names = list(parameters)
        self.buffer_names = list(buffers)
        copied = [nn.Parameter(value.detach().clone()) for value in parameters.values()]
        self.values = nn.ParameterList(copied)
        for number, value in enumerate(buffers.values()):
            self.register_buffer(f"statistic{number}", value.detach().clone())

    def by_name(self) -> Named:
        """All of it, under the names that the network has for it."""
        named = dict(zip(self.names, self.values, strict=True))
        statistics = dict(zip(self.buffer_names, self.buffers(), strict=True))
        return {**named, **statistics}


class PackedNetwork(MultiTask):
    """One network whose weights belong to tasks: task τ computes with the weights of tasks ≤ τ.

    ``owners`` has a number for every weight of more than one dimension: 0 is free, and τ + 1 is
    task τ.
    """

    def __init__(self, before: nn.Module, network: nn.Module, n_features: int) -> None:
        super().__init__(n_features)
        self.before = before  # standardised rows
        self.network = network
        self.names = [name for name, weight in network.named_parameters() if weight.ndim > 1]
        self.own = nn.ModuleList()
        for number, weight in enumerate(self.weights()):
            free = torch.zeros_like(weight, dtype=torch.uint8)
            self.register_buffer(f"owner{number}", free)
        for name, weight in network.named_parameters():
            weight.requires_grad_(name in self.names)  # all others are the tasks' own

    def weights(self) -> list[nn.Parameter]:
        """The weights that tasks share."""
        return [self.network.get_parameter(name) for name in self.names]

    def owners(self) -> list[torch.Tensor]:
        """Whose each of those weights is."""
        return [self.get_buffer(f"owner{number}") for number in range(len(self.names))]

    def add_task(self) -> None:
        """Biases and batch norms of a new task start as the last task has left them."""
        parameters = dict(self.network.named_parameters())
        mine = {name: value for name, value in parameters.items() if name not in self.names}
        statistics = dict(self.network.named_buffers())
        if len(self.own):
            last = self.own[-1].by_name()  # type: ignore[operator]
            mine = {name: last[name] for name in mine}
            statistics = {name: last[name] for name in statistics}
        self.own.append(OwnState(mine, statistics))

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """The weights that tasks share."""
        return self.weights()

    def used(self, task: int) -> list[torch.Tensor]:
        """Weights as the task sees them: those of later tasks, and free ones, are 0."""
        last = min(task + 1, _MOST_OWNERS)
        return [
            weight * ((owner > 0) & (owner <= last))
            for weight, owner in zip(self.weights(), self.owners(), strict=True)
        ]

    def features_with(
        self, weights: Iterable[torch.Tensor], x: torch.Tensor, task: int
    ) -> torch.Tensor:
        """What the head reads (n, d), computed with these weights and the task's own state."""
        named = dict(zip(self.names, weights, strict=True))
        own: Named = self.own[task].by_name()  # type: ignore[operator]
        features: torch.Tensor = functional_call(self.network, {**named, **own}, self.before(x))
        return features

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K)."""
        logits: torch.Tensor = self.heads[task](self.features_with(self.used(task), x, task))
        return logits


def kept_places(weight: torch.Tensor, free: torch.Tensor, pruned: float) -> torch.Tensor:
    """Which of a layer's free weights stay: the share 1 − ``pruned`` with the largest magnitude.

    >>> weight = torch.tensor([[3.0, -4.0, 1.0, 2.0]])
    >>> kept_places(weight, torch.tensor([[True, True, True, False]]), pruned=0.5).tolist()
    [[True, True, False, False]]
    """
    n_kept = round((1 - pruned) * int(free.sum()) + 1e-9)
    magnitude = torch.where(free, weight.detach().abs(), -1.0).flatten()
    kept = torch.zeros(magnitude.shape, dtype=torch.bool, device=weight.device)
    kept[magnitude.topk(n_kept).indices] = True
    return kept.reshape(weight.shape)


def half_as_long(recipe: Recipe) -> Recipe:
    """The recipe with half the steps, as the authors retrain after pruning."""
    if recipe.iterations is None:
        return replace(recipe, epochs=max(1, recipe.epochs // 2))
    return replace(recipe, iterations=max(1, recipe.iterations // 2))


class PackNet(NetworkLearner):
    """Each task trains the free weights, keeps the largest of them for good, and frees the rest.

        1. train all free weights on top of the frozen ones of tasks < t
        2. per layer keep the share 1 − p of the free weights with the largest |w|; the others ← 0
        3. train the kept ones again, half as long; then they are frozen and belong to task t

    A task computes with the weights of the tasks up to itself, so old answers never change:
    backward transfer is exactly 0. Each task gets p times the weights of the one before. Free
    weights start at 0, as pruning has left them (the first task's at random).

    Biases and batch norms are a set per task (the authors freeze those of a network that was
    trained on ImageNet; ours begins at random). More rows of a known task train its head alone:
    later tasks compute with its weights.

    Parameters
    ----------
    pruned : float, default 0.75
        p, the share of the free weights of each layer that a task leaves to later ones.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. Step 3 takes half the steps of
        ``recipe``.
    """

    default_recipe: ClassVar[Recipe] = ADAM_500

    def __init__(
        self,
        network: Network = "auto",
        *,
        pruned: float = 0.75,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.pruned = pruned

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not 0 <= self.pruned < 1:
            raise ParameterError(
                f"pruned={self.pruned!r} must be a share of the weights: at least 0, below 1."
            )

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        before = front(inputs, self._recipe()).to(inputs.device)
        network = build(self.network, tuple(inputs.shape[1:]), self.width).to(inputs.device)
        width = n_outputs(nn.Sequential(before, network), inputs)
        return PackedNetwork(before, network, width)

    def _train(self, model: PackedNetwork, now: Round) -> None:
        recipe = self._recipe()
        if now.task < len(now.known.tasks):
            _train_head(model, now, recipe)
            return
        number = min(now.task + 1, _MOST_OWNERS)
        has_room = now.task < _MOST_OWNERS
        free = [(owner == 0) & has_room for owner in model.owners()]
        _train_some(model, now, recipe, free)
        with torch.no_grad():
            for weight, owner, places in zip(model.weights(), model.owners(), free, strict=True):
                kept = kept_places(weight, places, self.pruned)
                owner[kept] = number
                weight[owner == 0] = 0
        own = [places & (owner > 0) for places, owner in zip(free, model.owners(), strict=True)]
        _train_some(model, now, half_as_long(recipe), own)


def _train_some(
    model: PackedNetwork, now: Round, recipe: Recipe, trained: list[torch.Tensor]
) -> None:
    """Train some of the shared weights, the task's own state and its head."""
    weights = model.weights()

    def loss(batch: torch.Tensor) -> torch.Tensor:
        # Nothing has to be masked: the last task uses all weights, and pruned ones are 0.
        features = model.features_with(weights, now.inputs[batch], now.task)
        return cross_entropy(model.heads[now.task](features), now.targets[batch])

    restore = held_fast(weights, trained)
    optimise(model, loss, len(now.inputs), recipe, after_step=restore)


def held_fast(weights: list[nn.Parameter], trained: list[torch.Tensor]) -> Callable[[], None]:
    """Gives all other weights their values back, bit for bit, whatever the optimiser did to them.

    Masked gradients would not do: weight decay moves weights without a gradient.
    """
    before = [weight.detach().clone() for weight in weights]

    @torch.no_grad()
    def restore() -> None:
        for weight, value, places in zip(weights, before, trained, strict=True):
            weight.copy_(torch.where(places, weight, value))

    return restore


def _train_head(model: PackedNetwork, now: Round, recipe: Recipe) -> None:
    """Train the task's head alone, batch norms at rest."""
    used = [weight.detach() for weight in model.used(now.task)]

    def loss(batch: torch.Tensor) -> torch.Tensor:
        model.network.eval()
        with torch.no_grad():
            features = model.features_with(used, now.inputs[batch], now.task)
        return cross_entropy(model.heads[now.task](features), now.targets[batch])

    optimise(model, loss, len(now.inputs), recipe)
