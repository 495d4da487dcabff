"""GPM: gradient projection memory (Saha, Garg & Roy, ICLR 2021)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import unfold

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.exceptions import ParameterError
from lifelong.learners.base import learnt
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import MultiTask, NetworkKnowledge, NetworkLearner, Round, copies
from lifelong.references.fixed_norms import FixedNorms
from lifelong.schema import Array, InFile, InOrder, Record, saved


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal directions of a layer's inputs that old tasks use."""

    vectors: NDArray[np.float32] = saved(Array("float32", (None, None)))  # (d, r)


@dataclass(frozen=True, eq=False)
class ProjectionKnowledge(NetworkKnowledge):
    """A network, and a basis for each of its layers."""

    bases: tuple[Basis, ...] = saved(InOrder(InFile("values", Record(Basis))), default=())


class GPM(NetworkLearner):
    """Steps of later tasks are orthogonal to the inputs that layers had from earlier ones.

        after task t, per layer: R (d, n), its inputs from a few rows of t;
        R̂ = R − M Mᵀ R;  M gets the first k left singular vectors of R̂ so that
        ‖M Mᵀ R‖² + ‖R̂_k‖² ≥ ε_t ‖R‖²,   ε_t = ε + t · ε_step;
        later:  ΔW ← ΔW − ΔW M Mᵀ

    A convolution is a linear layer on unfolded patches. What an old task's rows bring to a layer
    thus stays as it was, up to the share 1 − ε of their energy. The step is projected, not the
    gradient: for the authors' plain gradient descent that is the same, and it holds for any
    optimiser. Biases and batch norms are learnt with the first task and then fixed. A further round
    for a known task is projected off its own bases, too, which then grow.

    Parameters
    ----------
    energy : float, default 0.97
        ε of the first task.
    energy_step : float, default 0.003
        What ε grows by with every task.
    basis_rows : int, default 125
        Rows, drawn at random, whose inputs make R.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.

    References
    ----------
    Saha, Garg & Roy, Gradient Projection Memory for Continual Learning, ICLR 2021.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=100, batch_size=64, optimiser="sgd", lr=0.01)
    knowledge_class: ClassVar[type[ProjectionKnowledge]] = ProjectionKnowledge
    bases_ = learnt("bases")

    def __init__(
        self,
        network: Network = "auto",
        *,
        energy: float = 0.97,
        energy_step: float = 0.003,
        basis_rows: int = 125,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.energy = energy
        self.energy_step = energy_step
        self.basis_rows = basis_rows

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.basis_rows, "basis_rows")
        if not 0 < self.energy <= 1:
            raise ParameterError(f"energy={self.energy!r} must be above 0 and at most 1.")
        if not self.energy_step >= 0:
            raise ParameterError(f"energy_step={self.energy_step!r} must not be negative.")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        return FixedNorms.fresh(self.network, self.width, inputs, self._recipe())

    def _train(self, model: FixedNorms, now: Round) -> dict[str, tuple[Basis, ...]]:
        bases = [torch.from_numpy(basis.vectors).to(now.inputs.device) for basis in now.known.bases]
        if not bases:
            self._fit_rows(model, now)
            bases = [weight.new_zeros((weight[0].numel(), 0)) for weight in model.weights()]
        else:
            model.fix_the_rest()
            projection = StepProjection(model.weights(), bases)
            optimise(
                model,
                lambda batch: now.loss(model, batch),
                len(now.inputs),
                self._recipe(),
                after_step=projection.after_step,
            )
        energy = min(1.0, self.energy + self.energy_step * now.task)
        order = now.rng("basis").permutation(len(now.inputs))  # rows may come sorted by class
        inputs = layer_inputs(model, now.inputs[order[: self.basis_rows]])
        grown = [extended(M, R, energy) for M, R in zip(bases, inputs, strict=True)]
        return {"bases": tuple(Basis(M.cpu().numpy()) for M in grown)}

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        return [torch.from_numpy(basis.vectors) for basis in known.bases]


class StepProjection:
    """ΔW ← ΔW − ΔW M Mᵀ after each step."""

    def __init__(self, weights: Sequence[nn.Parameter], bases: Sequence[torch.Tensor]) -> None:
        self._weights = weights
        self._bases = bases
        self._before = copies(weights)

    @torch.no_grad()
    def after_step(self) -> None:
        """Take back what the step did along the bases."""
        for weight, M, before in zip(self._weights, self._bases, self._before, strict=True):
            step = (weight - before).flatten(1)  # (out, d)
            weight.sub_((step @ M @ M.T).reshape(weight.shape))
            before.copy_(weight)


@torch.no_grad()
def layer_inputs(model: FixedNorms, rows: torch.Tensor) -> list[torch.Tensor]:
    """R (d, n) of each layer: what it gets from the rows; of a convolution, all patches."""
    found: dict[nn.Module, torch.Tensor] = {}

    def note(layer: nn.Module, given: tuple[torch.Tensor, ...], _: torch.Tensor) -> None:
        found[layer] = given[0].detach()

    hooks = [layer.register_forward_hook(note) for layer in model.layers()]
    model.eval()
    model.trunk(rows)
    for hook in hooks:
        hook.remove()
    return [_columns(layer, found[layer]) for layer in model.layers()]


def _columns(layer: Any, given: torch.Tensor) -> torch.Tensor:
    if isinstance(layer, nn.Linear):
        return given.flatten(0, -2).T
    patches = unfold(
        given,
        layer.kernel_size,
        dilation=layer.dilation,
        padding=layer.padding,
        stride=layer.stride,
    )
    return patches.transpose(0, 1).flatten(1)  # (d, n · places)


@torch.no_grad()
def extended(M: torch.Tensor, R: torch.Tensor, energy: float) -> torch.Tensor:
    """The basis (d, r) with as many new directions of R (d, n) as the energy asks for."""
    R = R.double()
    old = M.double()
    residual = R - old @ (old.T @ R)
    total = float((R**2).sum())
    explained = total - float((residual**2).sum())
    vectors, energies = directions(residual)
    reached = explained + torch.cumsum(energies, dim=0)
    missing = int((reached < energy * total).sum())
    n_new = 0
    if explained < energy * total:
        n_new = min(missing + 1, len(energies), len(R) - old.shape[1])
    new = vectors[:, :n_new]
    new = new - old @ (old.T @ new)  # rounding must not add up over tasks
    together = torch.cat([old, new], dim=1)
    orthonormal: torch.Tensor = torch.linalg.qr(together)[0]
    return orthonormal.to(M.dtype)


def directions(R: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Left singular vectors (d, min(d, n)) of R and their energies, the largest first."""
    d, n = R.shape
    if n <= d:
        vectors, values, _ = torch.linalg.svd(R, full_matrices=False)
        return vectors, values**2
    energies, vectors = torch.linalg.eigh(R @ R.T)
    return vectors.flip(1), energies.flip(0).clamp(min=0)
