"""Online EWC (Schwarz et al., Progress & Compress, ICML 2018)."""

from lifelong._random import RandomState
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.references.ewc import EWC
from lifelong.references.quadratic import Quadratic


class OnlineEWC(EWC):
    """EWC with one running quadratic, centred on the last optimum instead of one centre per task.

        loss = CE + λ/2 Σ_i F_i (θ_i − θ*_i)²,   after a task: F ← F_new + γ F,  θ* ← θ

    γ is applied once, when F is updated, and not again in the loss. The paper also normalises each
    F; we do not.

    Parameters
    ----------
    decay : float, default 1.0
        γ: how much of the old importance remains.
    strength, fisher_rows
        See :class:`~lifelong.references.ewc.EWC`.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    def __init__(
        self,
        network: Network = "auto",
        *,
        decay: float = 1.0,
        strength: float | None = None,
        fisher_rows: int = 1000,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network,
            strength=strength,
            fisher_rows=fisher_rows,
            width=width,
            recipe=recipe,
            device=device,
            random_state=random_state,
        )
        self.decay = decay

    def _consolidate(self, old: Quadratic | None, new: Quadratic) -> Quadratic:
        if old is None:
            return new
        return old.accumulated(new, self.decay)  # F ← F_new + γ F, around the last optimum
