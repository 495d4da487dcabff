"""HAT: hard attention to the task (Serrà et al., ICML 2018)."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import LayerSizes, Network, layer_sizes
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front, optimise, steps_per_pass
from lifelong.references.base import MultiTask, NetworkLearner, Round

_LARGEST_EMBEDDING = 6.0  # the authors' clamp of e
_LARGEST_ARGUMENT = 50.0  # the authors' clamp of s·e inside cosh
_LARGEST_NORM = 10_000.0  # the authors' limit for the norm of all gradients
# A cycle of s over two or three batches would be a switch: small tasks share one over some passes.
_SHORTEST_CYCLE = 10


class GatedNetwork(MultiTask):
    """Our layers with a gate behind every unit (of a convolution: every map) for every task.

    h_l = sigmoid(s·e_l,t) · ReLU(norm_l,t(W_l h_{l−1} + b_l))
    """

    def __init__(self, sizes: LayerSizes, before: nn.Module, largest_scale: float) -> None:
        super().__init__(sizes.dense[-1])
        self.before = before  # standardised rows
        self.largest_scale = largest_scale
        self.n_convolutions = len(sizes.convolutions)
        convolutions: list[nn.Module] = [
            nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1)
            for c_in, c_out, stride in sizes.convolutions
        ]
        dense = [nn.Linear(a, b) for a, b in pairwise([sizes.flat, *sizes.dense])]
        self.layers = nn.ModuleList([*convolutions, *dense])
        self.n_units = [conv.channels for conv in sizes.convolutions] + list(sizes.dense)
        self.norms = nn.ModuleList()  # a list per task
        self.embeddings = nn.ModuleList()  # e: a list per task, (units,) per layer

    def add_task(self) -> None:
        """Batch norms and gates of a new task; about half of the gates start open."""
        device = next(self.layers.parameters()).device
        maps = self.n_units[: self.n_convolutions]
        self.norms.append(nn.ModuleList([nn.BatchNorm2d(n, device=device) for n in maps]))
        gates = [nn.Parameter(torch.randn(n, device=device)) for n in self.n_units]
        self.embeddings.append(nn.ParameterList(gates))

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """The weights and biases of the layers."""
        return self.layers.parameters()

    def gates(self, task: int, scale: float | None = None) -> list[torch.Tensor]:
        """sigmoid(s·e) of every layer; without s, the largest one, as for predictions."""
        s = scale or self.largest_scale
        return [(s * e).sigmoid() for e in self.embeddings[task].parameters()]

    def features(self, x: torch.Tensor, task: int, gates: list[torch.Tensor]) -> torch.Tensor:
        """What the head reads (n, d)."""
        x = self.before(x)
        for depth, (layer, gate) in enumerate(zip(self.layers, gates, strict=True)):
            if depth < self.n_convolutions:
                x = self.norms[task][depth](layer(x)).relu() * gate[:, None, None]  # type: ignore[index]
            else:
                x = layer(x.flatten(1)).relu() * gate
        return x

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K)."""
        logits: torch.Tensor = self.heads[task](self.features(x, task, self.gates(task)))
        return logits

    @torch.no_grad()
    def gates_of_others(self, task: int) -> list[torch.Tensor]:
        """a^{<t}: per unit, the largest gate of any other task; 0 if there is none."""
        largest = [torch.zeros_like(e) for e in self.embeddings[task].parameters()]
        for other in range(len(self.embeddings)):
            if other != task:
                largest = list(map(torch.maximum, largest, self.gates(other)))
        return largest


def freedom(
    layers: Iterable[nn.Module], others: Sequence[torch.Tensor]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """What is left of the gradients of each layer's weight and bias.

    1 − min(gate of the unit, gate of its input) for a weight, 1 − gate of the unit for a bias.
    Gates of maps are repeated for all positions that a dense layer reads. The first layer's inputs
    are used by everyone.
    """
    factors = []
    inputs: torch.Tensor | None = None
    for layer, units in zip(layers, others, strict=True):
        weight = layer.weight
        assert isinstance(weight, torch.Tensor)
        below = torch.ones(weight.shape[1], device=weight.device)
        if inputs is not None:
            below = inputs.repeat_interleave(weight.shape[1] // len(inputs))
        used = torch.minimum(units[:, None], below[None])  # (out, in)
        left = 1 - used.reshape(*used.shape, *[1] * (weight.ndim - 2))
        factors.append((left, 1 - units))
        inputs = units
    return factors


def sparsity(gates: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> torch.Tensor:
    """R = Σ a (1 − a^{<t}) / Σ (1 − a^{<t}): the share of the unused units that the task uses."""
    unused = [1 - other for other in others]
    used = torch.stack([(a * free).sum() for a, free in zip(gates, unused, strict=True)]).sum()
    total = torch.stack([free.sum() for free in unused]).sum()
    return used / total.clamp(min=1e-6)


def annealed(step: int, n_steps: int, largest: float) -> float:
    """s of a step within its cycle: from 1/s_max up to s_max, in equal steps.

    >>> [round(annealed(step, 3, 400.0), 2) for step in range(3)]
    [0.0, 200.0, 400.0]
    """
    done = (step % n_steps) / (n_steps - 1)
    return 1 / largest + (largest - 1 / largest) * done


def compensated(
    gradient: torch.Tensor, e: torch.Tensor, scale: float, largest: float
) -> torch.Tensor:
    """The gradient of an embedding as if the gate were sigmoid(e), times s_max.

    q' = q · s_max (cosh(s·e) + 1) / (s (cosh(e) + 1)): while s is large most gates are flat, and
    their embeddings would never move.
    """
    argument = (scale * e).clamp(-_LARGEST_ARGUMENT, _LARGEST_ARGUMENT)
    return gradient * largest / scale * (argument.cosh() + 1) / (e.cosh() + 1)


class HAT(NetworkLearner):
    """Every task learns which units it uses, and units that other tasks use are protected.

        h_l = a_l · ReLU(BN(W_l h_{l−1} + b_l)),   a_l = sigmoid(s·e_l,t)
        loss = CE + c · Σ a (1 − a^{<t}) / Σ (1 − a^{<t}),   a^{<t} = largest gate of other tasks
        ∂W_ij ← (1 − min(a^{<t}_i, a^{<t}_j)) ∂W_ij

    s rises from 1/s_max to s_max in every pass (in at least 10 steps, where a pass has fewer), and
    is s_max for predictions. Gradients of e are compensated for s, and e stays within ±6. As
    in the authors' code the norm of all gradients is limited to 10 000.

    Batch norms are a set per task (the authors have none, but dropout): shared ones would change
    old tasks however well their weights are protected. The authors divide the learning rate by 3
    on plateaus; ours falls along a cosine by default. Protection is of gradients, so the recipe
    should be ``"sgd"`` without weight decay: Adam makes a small gradient large again. More rows
    of a known task are a further round in which all other tasks are protected.

    Parameters
    ----------
    largest_scale : float, default 400.0
        s_max. Larger: gates nearer to 0 and 1, less forgetting, less plasticity.
    sparsity : float, default 0.75
        c. Larger: fewer units per task.
    network : "auto", "cnn", "mlp" or hidden sizes
    width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    default_recipe: ClassVar[Recipe] = Recipe(
        epochs=200, batch_size=64, optimiser="sgd", lr=0.05, schedule="cosine"
    )

    def __init__(
        self,
        network: Network = "auto",
        *,
        largest_scale: float = 400.0,
        sparsity: float = 0.75,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.largest_scale = largest_scale
        self.sparsity = sparsity

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (self.largest_scale > 0 and math.isfinite(self.largest_scale)):
            raise ParameterError(f"largest_scale={self.largest_scale!r} must be positive.")
        if not self.sparsity >= 0:
            raise ParameterError(f"sparsity={self.sparsity!r} must not be negative.")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        sizes = layer_sizes(self.network, tuple(inputs.shape[1:]), self.width)
        before = front(inputs, self._recipe())
        return GatedNetwork(sizes, before, self.largest_scale).to(inputs.device)

    def _train(self, model: GatedNetwork, now: Round) -> None:
        recipe = self._recipe()
        others = model.gates_of_others(now.task)
        embeddings = list(model.embeddings[now.task].parameters())
        cycle = max(steps_per_pass(len(now.inputs), recipe), _SHORTEST_CYCLE)
        step = 0
        scale = self.largest_scale

        def loss(batch: torch.Tensor) -> torch.Tensor:
            nonlocal step, scale
            scale = annealed(step, cycle, self.largest_scale)
            step += 1
            gates = model.gates(now.task, scale)
            features = model.features(now.inputs[batch], now.task, gates)
            fit = cross_entropy(model.heads[now.task](features), now.targets[batch])
            return fit + self.sparsity * sparsity(gates, others)

        protect = protection(model, others)

        @torch.no_grad()
        def before_step() -> None:
            protect()
            for e in embeddings:
                assert e.grad is not None
                e.grad = compensated(e.grad, e, scale, self.largest_scale)
            nn.utils.clip_grad_norm_(model.parameters(), _LARGEST_NORM)

        @torch.no_grad()
        def after_step() -> None:
            for e in embeddings:
                e.clamp_(-_LARGEST_EMBEDDING, _LARGEST_EMBEDDING)

        optimise(
            model,
            loss,
            len(now.inputs),
            recipe,
            before_step=before_step,
            after_step=after_step,
        )


def protection(model: GatedNetwork, others: Sequence[torch.Tensor]) -> Callable[[], None]:
    """Multiplies the gradients of the shared layers by what is left to the current task."""
    factors = freedom(model.layers, others)

    @torch.no_grad()
    def protect() -> None:
        for layer, (of_weight, of_bias) in zip(model.layers, factors, strict=True):
            layer.weight.grad.mul_(of_weight)  # type: ignore[union-attr, operator]
            layer.bias.grad.mul_(of_bias)  # type: ignore[union-attr, operator]

    return protect
