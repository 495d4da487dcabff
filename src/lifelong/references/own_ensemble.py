"""The control own ensemble: for each task as many networks of its own rows as there are tasks."""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import nn

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.architectures import Network
from lifelong.nets.recipe import Recipe
from lifelong.references.base import MultiTask, NetworkLearner, Round, SharedTrunk, number_of
from lifelong.references.model_zoo import Member, Zoo
from lifelong.references.replay import KnowledgeWithRows, RowsByTask, TaskRows
from lifelong.references.total_replay import remember, stored_tensors
from lifelong.tasks.base import TaskName


class OwnEnsemble(NetworkLearner):
    """Several networks per task, all on its own rows; their softmax outputs are averaged.

    A learner that represents rows with one encoder per task asks t encoders after t tasks. This
    control asks as many, but none of them has seen another task: what it gains over one network
    is the gain of an ensemble, and only what lies above it comes from other tasks. So every new
    task gets t networks, and every old task one more. The first network of a task is the one that
    :class:`~lifelong.references.single.Single` trains.

    All rows are kept. More rows of a known task train all its networks anew, on all of its rows.
    Accuracy on an old task may rise when a task arrives (its ensemble grows); nothing is learnt
    from that task.

    Parameters
    ----------
    networks_per_task : int or None, default None
        Networks per task. None: as many as there are tasks so far.
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    knowledge_class: ClassVar[type[KnowledgeWithRows]] = KnowledgeWithRows
    memory_ = learnt("memory")

    def __init__(
        self,
        network: Network = "auto",
        *,
        networks_per_task: int | None = None,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.networks_per_task = networks_per_task

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.networks_per_task, "networks_per_task", optional=True)

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        del inputs
        return Zoo()

    def _copied(self, model: Any) -> MultiTask:
        return Zoo(model.members)  # members are never trained again, so they can be shared

    def _train(self, model: Zoo, now: Round) -> dict[str, RowsByTask]:
        memory = remember(now.known.memory, now)
        stored = stored_tensors(memory, now.inputs.device)
        # Networks from before the new rows of their task are trained anew.
        kept = [member for member in members_of(model) if member.tasks != [now.task]]
        wanted = self.networks_per_task or len(stored)
        others = [rows for rows in stored if rows.task != now.task]
        for rows in [stored[now.task], *others]:
            n_there = sum(member.tasks == [rows.task] for member in kept)
            kept += [self._new_member(now, rows) for _ in range(wanted - n_there)]
        model.members = nn.ModuleList(kept)
        return {"memory": memory}

    def _new_member(self, now: Round, rows: TaskRows) -> Member:
        """One more network for a task."""
        network = SharedTrunk.fresh(self.network, self.width, rows.inputs, self._recipe())
        network.grow(0, int(rows.targets.max()) + 1)
        self._fit_rows(network, now._replace(task=0, inputs=rows.inputs, targets=rows.targets))
        return Member(network, [rows.task]).eval()

    def alone(self, task: TaskName) -> "OwnEnsemble":
        """A copy that knows ``task`` alone: nothing is shared."""
        known = self._learnt("knowledge_")
        number = number_of(task, known)
        own = [member for member in members_of(known.model) if member.tasks == [number]]
        single = copy(self)
        single.knowledge_ = replace(
            known,
            tasks={task: known.tasks[task]},
            model=Zoo(Member(member.network, [0]) for member in own).eval(),
            memory={task: known.memory[task]},
        )
        return single

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return known.memory.values()  # type: ignore[no-any-return]


def members_of(model: Zoo) -> Iterator[Member]:
    """The networks of an ensemble."""
    for member in model.members:
        assert isinstance(member, Member)
        yield member
