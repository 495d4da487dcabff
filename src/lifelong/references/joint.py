"""Joint training: one network on all rows of all tasks. A bound, not a lifelong learner."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch

from lifelong.learners.base import learnt
from lifelong.learners.knowledge import StoredRows
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import optimise
from lifelong.references.base import NetworkLearner, Round, SharedTrunk
from lifelong.references.replay import KnowledgeWithRows, RowsByTask, loss_by_row
from lifelong.references.total_replay import remember, stored_tensors


def for_all_tasks(recipe: Recipe, n_tasks: int) -> Recipe:
    """The recipe for the rows of so many tasks: every row is shown as often as in one task alone.

    Epochs already grow with the rows; iterations are given for one task.

    >>> for_all_tasks(Recipe(iterations=500), 3).iterations
    1500
    """
    if recipe.iterations is None:
        return recipe
    return replace(recipe, iterations=n_tasks * recipe.iterations)


class Joint(NetworkLearner):
    """A fresh network for every lesson, trained on all rows of all tasks together.

        loss = mean over all rows of CE(row, head of its task)

    All rows are kept, the network of before is thrown away, and a lesson costs t times as much as
    the first one. It says what one network can do with everything at once: an upper bound for
    learners of constant size. (Total Replay goes on from the network of before, and gives every
    task the same weight.)

    Parameters
    ----------
    network, width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. ``recipe.iterations`` are per task.
    """

    knowledge_class = KnowledgeWithRows
    memory_ = learnt("memory")

    def _train(self, model: SharedTrunk, now: Round) -> dict[str, RowsByTask]:
        memory = remember(now.known.memory, now)
        if now.known.model is None:
            self._fit_rows(model, now)
            return {"memory": memory}
        stored = stored_tensors(memory, now.inputs.device)
        inputs = torch.cat([rows.inputs for rows in stored])
        targets = torch.cat([rows.targets for rows in stored])
        tasks = torch.cat([torch.full_like(rows.targets, rows.task) for rows in stored])
        recipe = self._recipe()
        fresh = SharedTrunk.fresh(self.network, self.width, inputs, recipe)
        for number, head in enumerate(model.heads):
            fresh.grow(number, len(next(head.parameters())))

        def loss(batch: torch.Tensor) -> torch.Tensor:
            features = fresh.features(inputs[batch])
            return loss_by_row(fresh.heads, features, targets[batch], tasks[batch])

        optimise(fresh, loss, len(inputs), for_all_tasks(recipe, len(stored)))
        model.trunk = fresh.trunk
        model.heads = fresh.heads
        return {"memory": memory}

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        return known.memory.values()  # type: ignore[no-any-return]
