"""LwF: learning without forgetting (Li & Hoiem, ECCV 2016)."""

import torch
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong.nets.architectures import Network
from lifelong.nets.augmentation import augmented, rows_as_they_are
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkLearner, Round, SharedTrunk


def soft_cross_entropy(
    student: torch.Tensor, teacher: torch.Tensor, temperature: float
) -> torch.Tensor:
    """−T² Σ_k softmax(teacher / T)_k log softmax(student / T)_k, mean over rows; both (n, K)."""
    soft = (teacher / temperature).softmax(dim=1)
    return -(temperature**2) * (soft * (student / temperature).log_softmax(dim=1)).sum(dim=1).mean()


class LwF(NetworkLearner):
    """While a task is learnt, the old heads must answer *its* rows as before: no old row is needed.

        loss = (1/t)·CE_new + (1 − 1/t)·mean over old heads of −T² Σ_k q_k log p_k,
        q, p = softmax(logits / T) of the teacher and of the student

    The teacher is the network before the task, in eval mode. Where rows are augmented, it answers
    the same augmented batch as the student; otherwise its answers are recorded once. The new
    task's weight 1/t shrinks with t (van de Ven's form; the paper leaves the weight open). More
    rows of a known task distil all other heads and its own.

    Parameters
    ----------
    temperature : float, default 2.0
        T.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    def __init__(
        self,
        network: Network = "auto",
        *,
        temperature: float = 2.0,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.temperature = temperature

    def _train(self, model: SharedTrunk, now: Round) -> None:
        teacher: SharedTrunk | None = now.known.model
        if teacher is None:
            self._fit_rows(model, now)
            return
        recipe = self._recipe()
        share = 1 / (len(teacher.heads) + 1)  # 1/t
        recorded: list[torch.Tensor] | None = None
        if not recipe.augment:
            recorded = recorded_answers(teacher, now.inputs)

        def loss(batch: torch.Tensor) -> torch.Tensor:
            rows = augmented(model, now.inputs[batch])
            if recorded is None:
                answers = recorded_answers(teacher, rows)
            else:
                answers = [answer[batch] for answer in recorded]
            with rows_as_they_are(model):
                features = model.features(rows)
            new = cross_entropy(model.heads[now.task](features), now.targets[batch])
            old = [
                soft_cross_entropy(head(features)[:, : answer.shape[1]], answer, self.temperature)
                for head, answer in zip(model.heads, answers, strict=False)
            ]
            return share * new + (1 - share) * torch.stack(old).mean()

        optimise(model, loss, len(now.inputs), recipe)


@torch.no_grad()
def recorded_answers(teacher: SharedTrunk, inputs: torch.Tensor) -> list[torch.Tensor]:
    """The logits (n, K_τ) of every head of the teacher, for all rows."""
    features = torch.cat([teacher.features(rows) for rows in torch.split(inputs, 500)])
    return [head(features) for head in teacher.heads]
