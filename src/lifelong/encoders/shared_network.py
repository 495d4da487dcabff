"""One network that several tasks share: trained on rows of all of them, an answer for each class.

It remembers which rows of which task it has trained on, so that a channel can tell the rows that
test it from those that cannot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from lifelong._validation import Rows
from lifelong.encoders.base import Mask
from lifelong.encoders.network import FittedNetwork, NetworkEncoder
from lifelong.encoders.several_tasks import (
    HeadOfTask,
    RowsOfTask,
    classes_of_all,
    even_sample,
    heads_of,
)
from lifelong.encoders.within_class import MOST_ROWS, WithinClass, within_class
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import Start, n_steps
from lifelong.tasks.base import TaskName


@dataclass(frozen=True, eq=False)
class SharedNetwork:
    """A network that has trained on rows of several tasks.

    Attributes
    ----------
    network : FittedNetwork
        Its last columns, if it answers, are posteriors over the classes of all its tasks.
    heads : tuple of HeadOfTask
        For each task, in the order of these columns, its number of classes and the rows seen.
    within : WithinClass or None
        What rows of one class differ by, of all tasks: it counts less in the hidden layers.

    See Also
    --------
    fit_shared_network : how it is trained.
    """

    saved_as: ClassVar[str] = "shared-network"
    network: FittedNetwork
    heads: tuple[HeadOfTask, ...]
    within: WithinClass | None = None

    def encode(self, X: Rows) -> Rows:
        """The hidden layers, and the answers (n, d)."""
        Z = self.network.encode(X)
        if self.within is None:
            return Z
        layers = self.within(Z[:, : Z.shape[1] - self.n_answers])
        return np.hstack([layers, Z[:, layers.shape[1] :]])

    @property
    def body(self) -> nn.Module:
        """The layers."""
        return self.network.body

    @property
    def tasks(self) -> tuple[TaskName, ...]:
        """Those whose rows it has trained on."""
        return tuple(head.task for head in self.heads)

    @property
    def n_answers(self) -> int:
        """How many of the last columns are answers, about classes of all tasks."""
        return self.network.n_answers

    def seen(self, task: TaskName, rows: NDArray[np.intp]) -> Mask | None:
        """Which of a task's rows (n,) it has trained on; None if it knows nothing of the task."""
        for head in self.heads:
            if head.task == task:
                return np.isin(rows, head.seen)
        return None

    def answers_about(self, task: TaskName) -> tuple[int, int] | None:
        """The first of its answers that is about a task, and how many are."""
        first = 0
        for head in self.heads:
            if head.task == task:
                # of a class without a row in bag there may be no answer
                return first, max(0, min(head.n_classes, self.n_answers - first))
            first += head.n_classes
        return None

    @property
    def n_parameters(self) -> int:
        """Trainable weights."""
        return self.network.n_parameters

    @property
    def nbytes(self) -> int:
        """Bytes of weights, of directions, and of the numbers of rows."""
        n_bytes = self.network.nbytes + sum(head.seen.nbytes for head in self.heads)
        if self.within is not None:
            n_bytes += self.within.nbytes
        return n_bytes


def fit_shared_network(
    of_tasks: Sequence[RowsOfTask],
    encoder: NetworkEncoder,
    *,
    rng: np.random.Generator,
    previous: SharedNetwork | None = None,
) -> SharedNetwork:
    """Train one network on the in-bag rows of all tasks, to tell all their classes apart.

    Parameters
    ----------
    of_tasks : sequence of RowsOfTask
        Stored rows of each task.
    encoder : NetworkEncoder
        Architecture and recipe.
    rng : numpy.random.Generator
        Where all randomness comes from.
    previous : SharedNetwork, optional
        Begin with its weights. None, the default: with random ones.

    Returns
    -------
    SharedNetwork
    """
    start = None
    if previous is not None:
        start = Start(previous.body, _same_answers(previous, of_tasks))
    network = encoder.fit(
        np.concatenate([rows.X for rows in of_tasks]),
        classes_of_all(of_tasks),
        in_bag=np.concatenate([rows.in_bag for rows in of_tasks]),
        rng=rng,
        weights=_joined_weights(of_tasks),
        start=start,
    )
    within = None
    if len(of_tasks) > 1:  # a task's own rows tell its channel nothing new
        X, y = even_sample(of_tasks, MOST_ROWS)
        Z = network.encode(X)
        within = within_class(Z[:, : Z.shape[1] - network.n_answers], y)
    return SharedNetwork(network, heads_of(of_tasks), within)


def shortened(recipe: Recipe, share: float, n_rows: int, n_tasks: int = 1) -> Recipe:
    """The recipe with that share of its steps, for so many rows of so many tasks.

    >>> shortened(Recipe.strong(), 0.25, n_rows=640).iterations
    150
    """
    if recipe.patience is not None:  # it counts epochs
        return replace(recipe, epochs=max(1, round(recipe.epochs * share)))
    steps = n_steps(n_rows, recipe)
    if recipe.iterations is not None:  # of one task, whatever the number of its rows
        steps *= n_tasks
    return replace(recipe, iterations=max(1, int(steps * share)))


def _same_answers(previous: SharedNetwork, of_tasks: Sequence[RowsOfTask]) -> int:
    """How many of the first classes are the ones that the previous network began with."""
    same = 0
    for head, rows in zip(previous.heads, of_tasks, strict=False):
        if head.task != rows.task:
            break
        same += head.n_classes
        if head.n_classes != rows.n_classes:
            break
    return same


def _joined_weights(of_tasks: Sequence[RowsOfTask]) -> NDArray[np.float64] | None:
    if all(rows.weights is None for rows in of_tasks):
        return None
    found: list[Any] = []
    for rows in of_tasks:
        if rows.weights is None:
            found.append(np.ones(len(rows.y)))
        else:
            found.append(rows.weights)
    return np.concatenate(found)
