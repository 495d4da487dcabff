"""EWC: elastic weight consolidation (Kirkpatrick et al., PNAS 2017)."""

from collections.abc import Iterable
from typing import Any

import torch

from lifelong._random import RandomState
from lifelong.learners.base import learnt
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import USUAL_ROWS_SHOWN, NetworkLearner, Round, SharedTrunk, copies
from lifelong.references.fisher import diagonal_fisher
from lifelong.references.quadratic import (
    PenalisedKnowledge,
    Quadratic,
    penalty_tensors,
    pull_back,
)


def default_strength(rows_per_class: float, rows_shown: float = USUAL_ROWS_SHOWN) -> float:
    """λ = 10 000 at 50 rows per class and 1000 at 500, for 500 steps of 256 rows; less for less.

    A network that has seen fewer rows is less sure of its answers, so that its Fisher information
    is larger, and it has fewer steps to learn beside the penalty. The square is from trials on the
    tuning stream: of 10, 100 and 1000 the best λ for 120 steps of 64 rows is 100.
    """
    trained = min(1.0, rows_shown / USUAL_ROWS_SHOWN)
    return 10_000 * 50 / rows_per_class * trained * trained


class EWC(NetworkLearner):
    """Weights that mattered for an old task are held near their values after it, by springs as
    stiff as they mattered.

        loss = CE + λ/2 Σ_τ Σ_i F_τ,i (θ_i − θ*_τ,i)²,   F_τ = E_x Σ_y p(y|x) (∂ −log p(y|x) / ∂θ)²

    One penalty per task, as in the paper; their sum is kept as one quadratic, exactly, so memory
    does not grow with T. F is the true Fisher (labels from the model, not from the data). Heads
    carry no penalty: each belongs to one task. Batch-norm statistics, which have no gradient, move
    on with every task.

    Parameters
    ----------
    strength : float, optional
        λ; if left out, 10 000 · 50 / (rows per class) for 500 steps of 256 rows; a training that
        sees the share r of these rows has r² of it. To be tuned for any other budget.
    fisher_rows : int, default 1000
        At most so many rows for the Fisher information.
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
        fisher_rows: int = 1000,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.strength = strength
        self.fisher_rows = fisher_rows

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, Quadratic]:
        weights = list(model.trunk.parameters())
        strength = self.strength
        if strength is None:
            strength = default_strength(now.rows_per_class, now.rows_shown(self._recipe()))
        penalty: Quadratic | None = now.known.penalty
        if penalty is None:
            self._fit_rows(model, now)
        else:
            optimise(
                model,
                lambda batch: now.loss(model, batch),
                len(now.inputs),
                self._recipe(),
                before_step=pull_back(weights, penalty, strength),
            )
        new = Quadratic(diagonal_fisher(model, now, self.fisher_rows), copies(weights))
        return {"penalty": self._consolidate(penalty, new)}

    def _consolidate(self, old: Quadratic | None, new: Quadratic) -> Quadratic:
        if old is None:
            return new
        return old.plus(new)  # Σ_τ F_τ (θ − θ*_τ)²

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return penalty_tensors(known)
