"""CoSCL: cooperation of small continual learners (Wang et al., ECCV 2022), on EWC."""

from collections.abc import Iterable
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.learners.base import learnt
from lifelong.nets.architectures import Network, build
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front, n_outputs, optimise
from lifelong.references.base import MultiTask, NetworkLearner, Round, copies
from lifelong.references.fisher import batched_fisher
from lifelong.references.quadratic import (
    PenalisedKnowledge,
    Quadratic,
    penalty_tensors,
    pull_back,
)

_GATE_SCALE = 100.0
_FISHER_BATCH = 20


class Cooperation(MultiTask):
    """Several narrow trunks; a task gates and sums their features and reads them with one head."""

    def __init__(self, trunks: list[nn.Module], n_features: int) -> None:
        super().__init__(n_features)
        self.trunks = nn.ModuleList(trunks)
        self.gates = nn.ParameterList()  # e_t (learners, d) per task

    def add_task(self) -> None:
        """Gates for a new task: about half of the features of each learner start open."""
        self.gates.append(nn.Parameter(torch.randn(len(self.trunks), self.n_features)))

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """The weights of all trunks."""
        return self.trunks.parameters()

    def gated_features(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """f_k(x) · sigmoid(100 e_{k,t}): (learners, n, d)."""
        features = torch.stack([trunk(x) for trunk in self.trunks])
        gated: torch.Tensor = features * (_GATE_SCALE * self.gates[task]).sigmoid()[:, None]
        return gated

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K): head(Σ_k gated features)."""
        logits: torch.Tensor = self.heads[task](self.gated_features(x, task).sum(dim=0))
        return logits


def disagreement(logits: torch.Tensor) -> torch.Tensor:
    """Σ_{i≠j} KL(p_j ‖ p_i), p_j detached, mean over rows; logits (learners, n, K)."""
    log_p = logits.log_softmax(dim=2)
    p = log_p.detach().exp()
    n_learners = len(log_p)
    # Σ_j Σ_i Σ_k p_j (log p_j − log p_i); the terms i = j are 0, and so is their gradient Σ_k p_jk
    # ∂ log p_jk
    own = n_learners * (p * log_p.detach()).sum(dim=(0, 2))  # (n,)
    crossed = (p.sum(dim=0) * log_p.sum(dim=0)).sum(dim=1)  # (n,)
    return (own - crossed).mean()


class CoSCL(NetworkLearner):
    """Five narrow networks, together as large as one, learn side by side and are kept in agreement.

        loss = CE(head_t(Σ_k f_k(x) · sigmoid(100 e_{k,t}))) + λ/2 Σ_τ F_τ (θ − θ*_τ)²
               + 0.02 Σ_{i≠j} KL(p_j ‖ p_i),   p_j detached

    F is the empirical Fisher of batches of 20 (the size is our choice); its λ is not EWC's. p_k is
    what the task's head says of learner k's gated features alone. Gates and heads belong to their
    task and carry no penalty.

    Parameters
    ----------
    n_learners : int, default 5
        Each is narrower by √n_learners, so that all together have about the weights of one network.
    strength : float, default 40 000
        λ; the authors use 10 000 to 40 000 with this small Fisher.
    cooperation : float, default 0.02
        Weight of the disagreement.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. A ``network`` of your own is not made
        narrower.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=100, batch_size=256, lr=1e-3)
    knowledge_class: ClassVar[type[PenalisedKnowledge]] = PenalisedKnowledge
    penalty_ = learnt("penalty")

    def __init__(
        self,
        network: Network = "auto",
        *,
        n_learners: int = 5,
        strength: float = 40_000.0,
        cooperation: float = 0.02,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.n_learners = n_learners
        self.strength = strength
        self.cooperation = cooperation

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_learners, "n_learners")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        narrow = self.width / self.n_learners**0.5
        in_shape = tuple(inputs.shape[1:])
        trunks: list[nn.Module] = [
            nn.Sequential(front(inputs, self._recipe()), build(self.network, in_shape, narrow)).to(
                inputs.device
            )
            for _ in range(self.n_learners)
        ]
        return Cooperation(trunks, n_outputs(trunks[0], inputs))

    def _train(self, model: Cooperation, now: Round) -> dict[str, Quadratic]:
        weights = list(model.trunks.parameters())
        penalty: Quadratic | None = now.known.penalty

        def loss(batch: torch.Tensor) -> torch.Tensor:
            features = model.gated_features(now.inputs[batch], now.task)  # (learners, n, d)
            head = model.heads[now.task]
            fit = cross_entropy(head(features.sum(dim=0)), now.targets[batch])
            return fit + self.cooperation * disagreement(head(features))

        before_step = pull_back(weights, penalty, self.strength)
        optimise(model, loss, len(now.inputs), self._recipe(), before_step=before_step)
        new = Quadratic(batched_fisher(model, weights, now, _FISHER_BATCH), copies(weights))
        if penalty is not None:
            new = penalty.plus(new)
        return {"penalty": new}

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return penalty_tensors(known)
