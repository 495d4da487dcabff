"""WSN: winning subnetworks (Kang et al., ICML 2022)."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import make_optimiser, optimise
from lifelong.references.base import MultiTask, NetworkLearner, Round, copies
from lifelong.references.fixed_norms import FixedNorms, restore

Masks = list[torch.Tensor]  # per layer, in the shape of its weight

_BITS = 8


class Subnetwork(nn.Module):
    """Which weights a task uses, eight to a byte."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        for layer, size in enumerate(sizes):
            n_bytes = -(-size // _BITS)
            self.register_buffer(f"layer{layer}", torch.zeros(n_bytes, dtype=torch.uint8))

    def put(self, masks: Masks) -> None:
        """Remember the masks."""
        for packed, mask in zip(self.buffers(), masks, strict=True):
            flat = torch.zeros(len(packed) * _BITS, dtype=torch.uint8, device=mask.device)
            flat[: mask.numel()] = mask.flatten()
            packed.copy_((flat.reshape(-1, _BITS) * _powers(mask.device)).sum(dim=1))

    def masks(self, weights: Sequence[torch.Tensor]) -> Masks:
        """The masks, in the shapes of the weights."""
        found = []
        for packed, weight in zip(self.buffers(), weights, strict=True):
            bits = (packed[:, None] & _powers(packed.device)) > 0
            found.append(bits.flatten()[: weight.numel()].reshape(weight.shape))
        return found


def _powers(device: torch.device) -> torch.Tensor:
    return 2 ** torch.arange(_BITS, dtype=torch.uint8, device=device)


class Subnetworks(FixedNorms):
    """One trunk; each task uses some of its weights, and the others are 0 to it."""

    def __init__(self, trunk: nn.Module, n_features: int, dropout: float = 0.0) -> None:
        super().__init__(trunk, n_features, dropout)
        self.parts = nn.ModuleList()  # what no later task changes: a file each

    def add_task(self) -> None:
        """Room for the masks of a new task."""
        sizes = [weight.numel() for weight in self.weights()]
        self.parts.append(Subnetwork(sizes))

    def masks(self, task: int) -> Masks:
        """Which weights a task uses."""
        return self.parts[task].masks(self.weights())  # type: ignore[no-any-return, operator]

    def masked_features(self, x: torch.Tensor, masks: Masks) -> torch.Tensor:
        """What a head reads (n, d) where weights are multiplied by masks."""
        modules = dict(self.trunk.named_modules())
        names = {module: name for name, module in modules.items()}
        used = {
            f"{names[layer]}.weight": weight * mask
            for layer, weight, mask in zip(self.layers(), self.weights(), masks, strict=True)
        }
        features: torch.Tensor = functional_call(self.trunk, used, (x,))
        return features

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K) of one task, by its own weights."""
        logits: torch.Tensor = self.heads[task](self.masked_features(x, self.masks(task)))
        return logits


def winners(scores: torch.Tensor, share: float) -> torch.Tensor:
    """The mask of the given share of weights with the largest scores, at least one.

    >>> winners(torch.tensor([0.1, -0.4, 0.3, 0.2]), 0.5)
    tensor([False,  True,  True, False])
    """
    n = max(1, round(share * scores.numel()))
    best = scores.abs().flatten().topk(n).indices
    mask = torch.zeros(scores.numel(), dtype=torch.bool, device=scores.device)
    mask[best] = True
    return mask.reshape(scores.shape)


def straight_through(scores: torch.Tensor, share: float) -> torch.Tensor:
    """The winners as 0 and 1; to gradients the mask is |s|, by which winners are chosen.

    Were it s itself, a negative score whose weight is wanted would move towards 0 and lose.
    """
    hard = winners(scores.detach(), share).to(scores.dtype)
    size = scores.abs()
    return hard + size - size.detach()


class WSN(NetworkLearner):
    """Each task finds a subnetwork; weights that earlier tasks use are read, and never changed.

        m_t = top c % of |s|, per layer;  loss = CE(x; θ ⊙ m_t);
        s learns through m as if ∂m/∂|s| = 1;  θ changes only where no earlier task's mask is

    Scores start anew with every task and are thrown away after it; the masks stay, a bit per weight
    and task. Backward transfer is exactly 0. Biases and batch norms are learnt with the first task
    and then fixed; heads are dense. A further round for a known task finds its subnetwork anew
    and may change weights that no other task uses.

    Parameters
    ----------
    share : float, default 0.5
        c: how much of each layer a task uses.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.

    References
    ----------
    Kang et al., Forget-free Continual Learning with Winning Subnetworks, ICML 2022.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=60, batch_size=64, lr=1e-3)

    def __init__(
        self,
        network: Network = "auto",
        *,
        share: float = 0.5,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.share = share

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share!r} must be above 0 and at most 1.")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        return Subnetworks.fresh(self.network, self.width, inputs, self._recipe())

    def _train(self, model: Subnetworks, now: Round) -> None:
        recipe = self._recipe()
        weights = model.weights()
        others = [task for task in range(len(model.heads)) if task != now.task]
        taken = used_by(model, others)
        if others:
            model.fix_the_rest()
        before = copies(weights)
        scores = nn.ParameterList(_first_scores(weight) for weight in weights)

        def loss(batch: torch.Tensor) -> torch.Tensor:
            masks = [straight_through(score, self.share) for score in scores]
            features = model.masked_features(now.inputs[batch], masks)
            return cross_entropy(model.heads[now.task](features), now.targets[batch])

        def keep_what_others_use() -> None:
            for weight, old, mask in zip(weights, before, taken, strict=True):
                restore(weight, old, mask)

        optimise(
            model,
            loss,
            len(now.inputs),
            recipe,
            optimiser=make_optimiser(nn.ModuleList([model, scores]), recipe),
            after_step=keep_what_others_use,
        )
        subnetwork: Any = model.parts[now.task]
        subnetwork.put([winners(score.detach(), self.share) for score in scores])


def used_by(model: Subnetworks, tasks: Sequence[int]) -> Masks:
    """The weights that any of these tasks uses."""
    taken = [torch.zeros_like(weight, dtype=torch.bool) for weight in model.weights()]
    for task in tasks:
        taken = [a | b for a, b in zip(taken, model.masks(task), strict=True)]
    return taken


def _first_scores(weight: torch.Tensor) -> nn.Parameter:
    """As a layer's first weights are drawn."""
    scores = torch.empty_like(weight)
    nn.init.kaiming_uniform_(scores, a=5**0.5)
    return nn.Parameter(scores)
