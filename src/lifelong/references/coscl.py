"""CoSCL: cooperation of small continual learners (Wang et al., ECCV 2022), on EWC."""

from collections.abc import Iterable
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.exceptions import ParameterError
from lifelong.learners.base import learnt
from lifelong.nets.architectures import Network, build
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front, n_outputs, optimise, steps_per_pass
from lifelong.references.base import MultiTask, NetworkLearner, Round, copies
from lifelong.references.best_state import BestState, held_out
from lifelong.references.fisher import batched_fisher
from lifelong.references.quadratic import (
    PenalisedKnowledge,
    Quadratic,
    penalty_tensors,
    pull_back,
)

_GATE_SCALE = 100.0
_FISHER_BATCH = 20
_DROPPED_MAPS = 0.25  # after each convolution that halves the image (the authors: each pooling)
_DROPPED_UNITS = 0.5  # after each dense layer


def with_dropout(network: nn.Module) -> nn.Module:
    """One of our networks with dropout behind its activations.

    An activation and its dropout take the activation's place, so that all other layers keep theirs.
    """
    assert isinstance(network, nn.Sequential)
    share = 0.0
    for place, layer in enumerate(network):
        if isinstance(layer, nn.Linear):
            share = _DROPPED_UNITS
        elif isinstance(layer, nn.Conv2d):
            share = 0.0
            if layer.stride != (1, 1):
                share = _DROPPED_MAPS
        elif isinstance(layer, nn.ReLU) and share > 0:
            network[place] = nn.Sequential(layer, nn.Dropout(share))
    return network


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

        loss = CE(head_t(Σ_k f_k(x) · sigmoid(100 e_{k,t}))) + λ/2 Σ F (θ − θ*)²
               + 0.02 Σ_{i≠j} KL(p_j ‖ p_i),   p_j detached;   after a task: F ← F + F_t,  θ* ← θ

    F_t is the empirical Fisher of batches of 20, with dropout as in training; its λ is not EWC's.
    Dropout takes .25 of the maps after each convolution that halves the image, and .5 of the
    units of each dense layer. After every pass rows that are held out are asked, and a task ends
    with the weights that they liked best. p_k is what the task's head says of learner k's gated
    features alone. Gates and heads belong to their task and carry no penalty. (The authors also
    divide the learning rate by 3 after five passes without a better state; ours stays.)

    Parameters
    ----------
    n_learners : int, default 5
        Each is narrower by √n_learners, so that all together have about the weights of one network.
    strength : float, default 40 000
        λ; the authors use 10 000 to 40 000 with this small Fisher.
    cooperation : float, default 0.02
        Weight of the disagreement.
    validation : float, default 0.1
        Share of a task's rows that is held out to choose the best state; 0: the last state.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. A ``network`` of your own is not made
        narrower and gets no dropout.
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
        validation: float = 0.1,
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
        self.validation = validation

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_learners, "n_learners")
        if not 0 <= self.validation < 1:
            raise ParameterError(
                f"validation={self.validation!r} must be a share of the rows: at least 0, below 1."
            )

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        trunks = [self._trunk(inputs) for _ in range(self.n_learners)]
        return Cooperation(trunks, n_outputs(trunks[0], inputs))

    def _trunk(self, inputs: torch.Tensor) -> nn.Module:
        """A narrow network."""
        narrow = self.width / self.n_learners**0.5
        network = build(self.network, tuple(inputs.shape[1:]), narrow)
        if not callable(self.network):
            network = with_dropout(network)
        return nn.Sequential(front(inputs, self._recipe()), network).to(inputs.device)

    def _train(self, model: Cooperation, now: Round) -> dict[str, Quadratic]:
        weights = list(model.trunks.parameters())
        penalty: Quadratic | None = now.known.penalty
        recipe = self._recipe()
        shown, held = held_out(len(now.inputs), self.validation, rng=now.rng("validation"))
        learnt_from = now.some(shown)
        judging = now.some(held)

        def loss(batch: torch.Tensor) -> torch.Tensor:
            features = model.gated_features(learnt_from.inputs[batch], now.task)  # (learners, n, d)
            head = model.heads[now.task]
            fit = cross_entropy(head(features.sum(dim=0)), learnt_from.targets[batch])
            return fit + self.cooperation * disagreement(head(features))

        def held_out_loss() -> torch.Tensor:
            fit = cross_entropy(model(judging.inputs, now.task), judging.targets)
            if penalty is None:
                return fit
            return fit + self.strength * penalty.value(weights)

        best = BestState(model, held_out_loss, every=steps_per_pass(len(shown), recipe))
        after_step = None
        if len(held):
            after_step = best.after_step
        optimise(
            model,
            loss,
            len(shown),
            recipe,
            before_step=pull_back(weights, penalty, self.strength),
            after_step=after_step,
        )
        if len(held):
            best.restore()
        fisher = batched_fisher(model, weights, learnt_from, _FISHER_BATCH)
        new = Quadratic(fisher, copies(weights))
        if penalty is not None:
            new = penalty.accumulated(new)
        return {"penalty": new}

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return penalty_tensors(known)
