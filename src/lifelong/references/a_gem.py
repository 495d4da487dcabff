"""A-GEM: averaged gradient episodic memory (Chaudhry et al., ICLR 2019)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkKnowledge, NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import Memory, filled_up, memory_loss
from lifelong.schema import InFile, InManifest, Record, Several, Whole, saved

Gradients = Sequence[torch.Tensor | None]  # one per weight; None counts as 0


def dot(a: Gradients, b: Gradients) -> float:
    """Inner product over all weights."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return math.fsum(float(x.flatten() @ y.flatten()) for x, y in pairs)


@torch.no_grad()
def project(weights: Sequence[torch.Tensor], reference: Gradients) -> bool:
    """If g·g_ref < 0: g ← g − (g·g_ref / g_ref·g_ref) g_ref, in place. Says whether it was."""
    gradients = [weight.grad for weight in weights]
    conflict = dot(gradients, reference)
    if conflict >= 0:
        return False
    factor = conflict / dot(reference, reference)
    for weight, g_ref in zip(weights, reference, strict=True):
        if g_ref is None:
            continue
        if weight.grad is None:
            weight.grad = -factor * g_ref
        else:
            weight.grad.sub_(g_ref, alpha=factor)
    return True


@dataclass(frozen=True, eq=False)
class EpisodicKnowledge(NetworkKnowledge):
    """A network, rows of each class, and how many steps of each round were projected."""

    memory: Memory = saved(InFile("rows", Record(Memory)), default_factory=lambda: Memory.empty(()))
    projections: tuple[int, ...] = saved(InManifest(Several(Whole())), default=())


class AGEM(NetworkLearner):
    """To first order, no step may worsen the loss on remembered rows: the gradient is projected.

        g: current batch; g_ref: a batch from the memory of old tasks;
        if g·g_ref < 0:  g ← g − (g·g_ref / g_ref·g_ref) g_ref

    All weights take part, old heads included; a weight without gradient counts as 0. As in the
    paper each class keeps a fixed number of rows; ten passes instead of its single one. More rows
    of a known task fill up its classes.

    Parameters
    ----------
    rows_per_class : int, default 13
        Rows that each class of a task keeps.
    reference_size : int, default 256
        Rows in a reference batch.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=10, batch_size=10, optimiser="sgd", lr=0.03)
    knowledge_class: ClassVar[type[EpisodicKnowledge]] = EpisodicKnowledge
    memory_ = learnt("memory")
    projections_ = learnt("projections")  # per round, how many steps were projected

    def __init__(
        self,
        network: Network = "auto",
        *,
        rows_per_class: int = 13,
        reference_size: int = 256,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.rows_per_class = rows_per_class
        self.reference_size = reference_size

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.rows_per_class, "rows_per_class")
        check_count(self.reference_size, "reference_size")

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, Any]:
        weights = list(model.parameters())
        memory: Memory = now.known.memory
        count = 0

        def without_conflict() -> None:
            nonlocal count
            rows = memory.draw(self.reference_size, now.inputs.device)
            reference = torch.autograd.grad(memory_loss(model, rows), weights, allow_unused=True)
            count += project(weights, reference)

        before_step = None
        if len(memory.y):
            before_step = without_conflict
        optimise(
            model,
            lambda batch: now.loss(model, batch),
            len(now.inputs),
            self._recipe(),
            before_step=before_step,
        )
        projections = (*now.known.projections, count)
        return {"projections": projections, "memory": filled_up(now, self.rows_per_class)}

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return [known.memory.stored()]
