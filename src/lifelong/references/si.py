"""SI: synaptic intelligence (Zenke, Poole & Ganguli, ICML 2017)."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from lifelong._random import RandomState
from lifelong.learners.base import learnt
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import (
    USUAL_ROWS_SHOWN,
    NetworkLearner,
    Round,
    SharedTrunk,
    Tensors,
    copies,
)
from lifelong.references.quadratic import (
    PenalisedKnowledge,
    Quadratic,
    penalty_tensors,
    pull_back,
)


def default_strength(rows_per_class: float, rows_shown: float = USUAL_ROWS_SHOWN) -> float:
    """c = 10 000 at 50 rows per class and 100 at 500, for 500 steps of 256 rows; less for less."""
    trained = min(1.0, rows_shown / USUAL_ROWS_SHOWN)
    return 10_000 * (50 / rows_per_class) ** 2 * trained * trained


class PathIntegral:
    """W_i = −Σ_steps g_i Δθ_i: how much of the loss's fall along the path is due to each weight."""

    def __init__(self, weights: Sequence[torch.Tensor]) -> None:
        self._weights = weights
        self._before = copies(weights)
        self.total = [torch.zeros_like(weight) for weight in weights]

    @torch.no_grad()
    def after_step(self) -> None:
        """Add the step just taken, with the gradient applied in it (the penalty's included)."""
        for W, weight, before in zip(self.total, self._weights, self._before, strict=True):
            if weight.grad is not None:
                W.addcmul_(weight.grad, before.sub_(weight))  # −g (θ_after − θ_before)
            before.copy_(weight)


def importance(W: torch.Tensor, moved: torch.Tensor, xi: float) -> torch.Tensor:
    """ω = max(W, 0) / ((θ − θ_prev)² + ξ): a weight that made the loss worse gets no spring, never
    a repelling one.
    """
    return W.clamp(min=0) / (moved**2 + xi)


class SI(NetworkLearner):
    """Weights along whose path the loss fell are held near where the last task left them.

        W += −g·Δθ each step;  after a task: Ω += W / ((θ − θ_prev)² + ξ);
        loss = CE + c Σ_i Ω_i (θ_i − θ_prev,i)²

    W and θ_prev start anew with every task. Negative W counts as 0 per task, so Ω never falls (our
    decision; the formula alone would let a weight be pushed away). Shared layers only, as for EWC.

    Parameters
    ----------
    strength : float, optional
        c; if left out, 10 000 · (50 / rows per class)² for 500 steps of 256 rows; a training that
        sees the share r of these rows has r² of it. To be tuned for any other budget.
    xi : float, default 0.1
        ξ, which bounds the importance of a weight that hardly moved.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    knowledge_class = PenalisedKnowledge
    penalty_ = learnt("penalty")

    def __init__(
        self,
        network: Network = "auto",
        *,
        strength: float | None = None,
        xi: float = 0.1,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.strength = strength
        self.xi = xi

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, Quadratic]:
        weights = list(model.trunk.parameters())
        c = self.strength
        if c is None:
            c = default_strength(now.rows_per_class, now.rows_shown(self._recipe()))
        previous = copies(weights)
        path = PathIntegral(weights)
        penalty: Quadratic | None = now.known.penalty
        optimise(
            model,
            lambda batch: now.loss(model, batch),
            len(now.inputs),
            self._recipe(),
            # c Σ Ω (θ − θ_prev)² = 2c · ½ Σ Ω (θ − θ_prev)²
            before_step=pull_back(weights, penalty, 2 * c),
            after_step=path.after_step,
        )
        new = Quadratic(self._importances(path, weights, previous), copies(weights))
        if penalty is not None:
            new = penalty.accumulated(new)  # Ω += ω
        return {"penalty": new}

    @torch.no_grad()
    def _importances(
        self, path: PathIntegral, weights: Sequence[torch.Tensor], previous: Tensors
    ) -> Tensors:
        """ω of the task."""
        moves = zip(path.total, weights, previous, strict=True)
        return tuple(importance(W, now - was, self.xi) for W, now, was in moves)

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return penalty_tensors(known)
