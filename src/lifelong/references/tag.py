"""TAG: task-based accumulated gradients (Malviya, Ravindran & Chandar, 2022), on RMSProp."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from lifelong._random import RandomState
from lifelong.learners.base import learnt
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import (
    NetworkKnowledge,
    NetworkLearner,
    Round,
    SharedTrunk,
    Tensors,
)
from lifelong.schema import Custom, InFile, InOrder, Record, saved

_KEEP_FIRST = 0.9
_KEEP_SECOND = 0.99
_EPSILON = 1e-8


@dataclass(frozen=True, eq=False)
class Moments:
    """What a finished task leaves behind, per weight tensor."""

    direction: Tensors = saved(Custom("tensors"))  # m_τ / ‖m_τ‖
    second: Tensors = saved(Custom("tensors"))  # v_τ


@dataclass(frozen=True, eq=False)
class TagKnowledge(NetworkKnowledge):
    """A network, and the moments of every round."""

    past: tuple[Moments, ...] = saved(InOrder(InFile("values", Record(Moments))), default=())


class TagRMSProp(torch.optim.Optimizer):
    """RMSProp whose steps shrink where they would go against what earlier tasks had gone for.

        m_t ← 0.9 m_t + 0.1 g,  v_t ← 0.99 v_t + 0.01 g²
        α_τ = exp(−b cos(m_t, m_τ)) for τ < t,  α_t = exp(−b)   (α_t = 1 in the first task)
        θ ← θ − lr · g / (√(Σ_τ≤t α_τ v_τ) + 1e-8)

    All of it per weight tensor. A tensor that no earlier task had (a head) takes plain RMSProp
    steps.
    """

    def __init__(
        self,
        shared: Sequence[torch.Tensor],
        own: Iterable[torch.Tensor],
        past: Sequence[Moments],
        lr: float,
        b: float,
    ) -> None:
        super().__init__([*shared, *own], {"lr": lr})
        self._past = past
        self._b = b
        self._n_shared = len(shared)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """One step for every weight that has a gradient."""
        for group in self.param_groups:
            for position, weight in enumerate(group["params"]):
                if weight.grad is not None:
                    self._step(weight, group["lr"], self._past_of(position))

    def _past_of(self, position: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """m_τ / ‖m_τ‖ and v_τ of a weight; nothing of a weight that no earlier task had."""
        if position >= self._n_shared:
            return []
        return [(moments.direction[position], moments.second[position]) for moments in self._past]

    def _step(
        self, weight: torch.Tensor, lr: float, past: list[tuple[torch.Tensor, torch.Tensor]]
    ) -> None:
        g = weight.grad
        assert g is not None
        m, v = self._moments(weight)
        m.mul_(_KEEP_FIRST).add_(g, alpha=1 - _KEEP_FIRST)
        v.mul_(_KEEP_SECOND).addcmul_(g, g, value=1 - _KEEP_SECOND)
        alpha = 1.0
        if past:
            alpha = math.exp(-self._b)
        total = v * alpha
        norm = float(m.norm())
        for direction, second in past:
            cosine = 0.0
            if norm > 0:
                cosine = float(m.flatten() @ direction.flatten()) / norm
            total.add_(second, alpha=math.exp(-self._b * cosine))
        weight.addcdiv_(g, total.sqrt_().add_(_EPSILON), value=-lr)

    def _moments(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        state: dict[str, Any] = self.state[weight]
        if not state:
            state["m"] = torch.zeros_like(weight)
            state["v"] = torch.zeros_like(weight)
        return state["m"], state["v"]

    @torch.no_grad()
    def finish(self) -> Moments:
        """The task's moments, m normalised (an all-zero m stays zero)."""
        pairs = [
            self._moments(weight) for weight in self.param_groups[0]["params"][: self._n_shared]
        ]
        return Moments(
            tuple(m / m.norm().clamp(min=1e-30) for m, _ in pairs), tuple(v for _, v in pairs)
        )


class TAG(NetworkLearner):
    """Each weight's learning rate falls where the current direction disagrees with the directions
    of earlier tasks.

    The rule is in :class:`TagRMSProp`. Memory is 2·T·P beside the network (two numbers per task and
    shared weight), and a step reads all of it. We follow the paper's RMSProp variant; the heads,
    which only one task uses, take plain RMSProp steps. A further round for a known task counts as a
    task of its own.

    Parameters
    ----------
    b : float, default 5.0
        How strongly agreement counts: 5, and 7 for five-datasets.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. The authors' learning rates: 2.5e-4
        for CIFAR, 1e-4 for mini-ImageNet, 5e-4 for five-datasets. ``recipe.optimiser`` is not used.
    """

    default_recipe: ClassVar[Recipe] = Recipe(
        epochs=10, batch_size=10, optimiser="rmsprop", lr=2.5e-4
    )
    knowledge_class: ClassVar[type[TagKnowledge]] = TagKnowledge
    past_ = learnt("past")

    def __init__(
        self,
        network: Network = "auto",
        *,
        b: float = 5.0,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.b = b

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, tuple[Moments, ...]]:
        recipe = self._recipe()
        head = model.heads[now.task].parameters()
        optimiser = TagRMSProp(
            list(model.trunk.parameters()), head, now.known.past, recipe.lr, self.b
        )
        optimise(
            model,
            lambda batch: now.loss(model, batch),
            len(now.inputs),
            recipe,
            optimiser=optimiser,
        )
        return {"past": (*now.known.past, optimiser.finish())}

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return [tensor for past in known.past for tensor in (*past.direction, *past.second)]
