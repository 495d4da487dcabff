"""Model Zoo (Ramesh & Chaudhari, ICLR 2022): boosting over tasks."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import pad

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.architectures import Network
from lifelong.nets.augmentation import both_sides
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import MultiTask, NetworkLearner, Round, SharedTrunk
from lifelong.references.readout import Bodies, ReadOut, middle_layers
from lifelong.references.replay import KnowledgeWithRows, RowsByTask, TaskRows, loss_by_row
from lifelong.references.total_replay import remember, stored_tensors


class Member(nn.Module):
    """A network for a few of the tasks."""

    def __init__(self, network: SharedTrunk, tasks: list[int]) -> None:
        super().__init__()
        self.network = network
        self.tasks = tasks

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Posteriors (n, K) of one of its tasks."""
        posteriors: torch.Tensor = self.network(x, self.tasks.index(task)).softmax(dim=1)
        return posteriors


class Zoo(MultiTask):
    """All members; a task's posteriors are the mean over the members that have its head."""

    def __init__(self, members: Iterable[nn.Module] = ()) -> None:
        super().__init__(n_features=0)
        self.members = nn.ModuleList(members)

    def grow(self, task: int, n_classes: int) -> None:
        """Nothing: the next member brings its own heads."""

    def head_modules(self) -> Iterable[nn.Module]:
        """The heads of all members."""
        return [head for member in self.members for head in member.network.heads]  # type: ignore[union-attr]

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """log of the mean posteriors (n, K)."""
        return _mean([member(x, task) for member in self._members_for(task)]).log()

    def posteriors(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """The mean over members (n, K): each has its own mind about mirror images."""
        members = self._members_for(task)
        return _mean([both_sides(member, partial(member, task=task))(x) for member in members])

    def bodies(self, task: int, rows: torch.Tensor) -> Bodies:
        """All members: those that have trained on the task side by side, and each of the others."""
        members: list[Any] = list(self.members)
        own = [
            middle_layers(
                member.network.trunk, member.network.heads[member.tasks.index(task)], rows
            )
            for member in members
            if task in member.tasks
        ]
        others = [
            middle_layers(member.network.trunk, member.network.heads[0], rows)
            for member in members
            if task not in member.tasks
        ]
        return Bodies(own, others)

    def _members_for(self, task: int) -> list[nn.Module]:
        return [member for member in self.members if task in member.tasks]  # type: ignore[operator]


def _mean(posteriors: list[torch.Tensor]) -> torch.Tensor:
    """The mean over members (n, K); one from before a class was known gives it probability 0."""
    widest = max(p.shape[1] for p in posteriors)
    return torch.stack([pad(p, (0, widest - p.shape[1])) for p in posteriors]).mean(dim=0)


def sampling_weights(losses: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """w ∝ clip(exp((ℓ − ℓ̄) / ℓ̄), 1e-4, 1e3) over the old tasks: badly known tasks come again.

    ℓ̄ is the mean over all tasks, the one of the round among them: of its classes the zoo knows
    nothing yet, so its ℓ is log K. Fitted tasks with losses near 0 are thus drawn almost alike,
    however much their losses differ.

    >>> sampling_weights(np.array([1.0, 3.0]), n_classes=2).round(3)
    array([0.218, 0.782])
    >>> sampling_weights(np.array([0.01, 0.03]), n_classes=10).round(3)
    array([0.494, 0.506])
    """
    mean = float(np.append(losses, np.log(n_classes)).mean())
    mean = max(mean, np.finfo(float).tiny)
    weights = np.exp(np.clip((losses - mean) / mean, np.log(1e-4), np.log(1e3)))
    return np.asarray(weights / weights.sum())


class ModelZoo(NetworkLearner):
    """Each new task trains a fresh network jointly with the few old tasks that the zoo knows worst.

        round t: a new net on task t and min(b, t) − 1 old tasks, drawn without replacement
                 ∝ clip(exp((ℓ − ℓ̄)/ℓ̄), 1e-4, 1e3), ℓ = the zoo's training loss per task
        p(y|x, task) = mean softmax over the nets that have the task's head

    All rows are kept. Only seen tasks are drawn, and ℓ̄ is the mean over them and the new one, which
    counts as log K (the authors' code counts all tasks that are still to come as well); no old net
    is ever trained again; images are cropped and mirrored at random (mirrored only where rows look
    like their mirror images). Its small wide-residual net is here the same base network as
    everyone's. More rows of a known task are a further round: a new net that learns from all rows
    of the task, and old tasks beside it.

    Parameters
    ----------
    tasks_per_round : int, default 5
        b.
    dropout : float, default 0.2
        Before the heads, while training.
    network, width, recipe, device, readout, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    default_recipe: ClassVar[Recipe] = Recipe(
        epochs=100,
        batch_size=16,
        optimiser="sgd",
        lr=0.01,
        momentum=0.9,
        weight_decay=1e-5,
        schedule="cosine",
        augment=True,
    )
    knowledge_class: ClassVar[type[KnowledgeWithRows]] = KnowledgeWithRows
    memory_ = learnt("memory")

    def __init__(
        self,
        network: Network = "auto",
        *,
        tasks_per_round: int = 5,
        dropout: float = 0.2,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        readout: ReadOut = "softmax",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network,
            width=width,
            recipe=recipe,
            device=device,
            readout=readout,
            random_state=random_state,
        )
        self.tasks_per_round = tasks_per_round
        self.dropout = dropout

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.tasks_per_round, "tasks_per_round")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        del inputs
        return Zoo()

    def _copied(self, model: Any) -> MultiTask:
        return Zoo(model.members)  # members are never trained again, so they can be shared

    def _train(self, model: Zoo, now: Round) -> dict[str, RowsByTask]:
        memory = remember(now.known.memory, now)
        stored = stored_tensors(memory, now.inputs.device)
        chosen = [now.task, *self._old_tasks(model, now, stored)]
        member = self._new_member(now, [stored[task] for task in chosen])
        model.members.append(member.eval())
        return {"memory": memory}

    def _old_tasks(self, zoo: Zoo, now: Round, stored: list[TaskRows]) -> list[int]:
        """min(b, t) − 1 of the other tasks, drawn by the zoo's losses on them."""
        old = [rows for rows in stored if rows.task != now.task]
        size = min(self.tasks_per_round - 1, len(old))
        if size == 0:
            return []
        losses = np.array([training_loss(zoo, *rows) for rows in old])
        weights = sampling_weights(losses, len(now.lesson.record.classes))
        rng = now.rng("zoo")
        return [
            old[place].task for place in rng.choice(len(old), size=size, replace=False, p=weights)
        ]

    def _new_member(self, now: Round, chosen: list[TaskRows]) -> Member:
        """A fresh network, trained on the rows of these tasks together."""
        inputs = torch.cat([rows.inputs for rows in chosen])
        targets = torch.cat([rows.targets for rows in chosen])
        # each row's head
        which = torch.cat([torch.full_like(rows.targets, at) for at, rows in enumerate(chosen)])
        network = SharedTrunk.fresh(self.network, self.width, inputs, self._recipe(), self.dropout)
        n_classes = [len(record.classes) for record in now.known.tasks.values()]
        # The task of the round may be new, or have new classes.
        n_classes[now.task : now.task + 1] = [len(now.lesson.record.classes)]
        for head, rows in enumerate(chosen):
            network.grow(head, n_classes[rows.task])

        def loss(batch: torch.Tensor) -> torch.Tensor:
            return loss_by_row(
                network.heads, network.features(inputs[batch]), targets[batch], which[batch]
            )

        optimise(network, loss, len(inputs), self._recipe())
        return Member(network, [rows.task for rows in chosen])

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return known.memory.values()  # type: ignore[no-any-return]


@torch.no_grad()
def training_loss(zoo: Zoo, task: int, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """ℓ: mean −log p of a task's own labels."""
    log_p = torch.cat([zoo(rows, task) for rows in torch.split(inputs, 500)])  # (n, K)
    return float(-log_p.gather(1, targets[:, None]).clamp(min=-100).mean())
