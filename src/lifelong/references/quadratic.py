"""The quadratic penalty that EWC, online EWC, SI and CoSCL pull their weights back with."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from lifelong.references.base import NetworkKnowledge, Tensors
from lifelong.schema import Custom, InFile, Number, Record, saved


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½ Σ_i A_i (θ_i − c_i)² + constant, over all weights of the shared layers.

    A sum of such penalties is again one: that is why EWC, which adds a penalty per task, needs no
    memory per task.
    """

    curvature: Tensors = saved(Custom("tensors"))  # A ≥ 0
    centre: Tensors = saved(Custom("tensors"))  # c
    constant: float = saved(Number(), default=0.0)

    def plus(self, other: "Quadratic") -> "Quadratic":
        """The sum: A = A₁ + A₂, c = (A₁ c₁ + A₂ c₂) / A, constant += ½ Σ A₁ A₂ / A · (c₁ − c₂)²."""
        curvature = []
        centre = []
        constant = self.constant + other.constant
        for A1, c1, A2, c2 in zip(
            self.curvature, self.centre, other.curvature, other.centre, strict=True
        ):
            A = A1 + A2
            share = torch.where(A > 0, A2 / A.clamp(min=torch.finfo(A.dtype).tiny), 1.0)
            curvature.append(A)
            centre.append(c1 + share * (c2 - c1))
            constant += float((A1.double() * share * (c1 - c2) ** 2).sum()) / 2
        return Quadratic(tuple(curvature), tuple(centre), constant)

    def accumulated(self, new: "Quadratic", decay: float = 1.0) -> "Quadratic":
        """One running penalty: importance is added up, around the new centre: A ← A_new + γ A."""
        pairs = zip(new.curvature, self.curvature, strict=True)
        return Quadratic(tuple(A_new + decay * A for A_new, A in pairs), new.centre)

    def value(self, weights: Iterable[torch.Tensor]) -> torch.Tensor:
        """½ Σ A (θ − c)² + constant."""
        terms = zip(self.curvature, weights, self.centre, strict=True)
        return (
            torch.stack([(A * (theta - c) ** 2).sum() for A, theta, c in terms]).sum() / 2
            + self.constant
        )

    def add_gradient(self, weights: Sequence[torch.Tensor], strength: float) -> None:
        """``weight.grad += strength · A (θ − c)``: what autograd would add for ``strength ·
        value``, in two passes.
        """
        with torch.no_grad():
            for A, theta, c in zip(self.curvature, weights, self.centre, strict=True):
                pull = (theta - c).mul_(A)
                if theta.grad is None:
                    theta.grad = pull.mul_(strength)
                else:
                    theta.grad.add_(pull, alpha=strength)

    def tensors(self) -> Tensors:
        """Everything it remembers."""
        return (*self.curvature, *self.centre)


@dataclass(frozen=True, eq=False)
class PenalisedKnowledge(NetworkKnowledge):
    """A network, and the penalty that holds its shared weights."""

    penalty: Quadratic | None = saved(InFile("values", Record(Quadratic)), default=None)


def pull_back(
    weights: Sequence[torch.Tensor], penalty: Quadratic | None, strength: float
) -> Callable[[], None] | None:
    """What the training loop does before a step: add the gradient of ``strength · penalty``."""
    if penalty is None:
        return None
    return lambda: penalty.add_gradient(weights, strength)


def penalty_tensors(known: PenalisedKnowledge) -> Tensors:
    """What is remembered beside the network: nothing before the first task's end."""
    if known.penalty is None:
        return ()
    return known.penalty.tensors()
