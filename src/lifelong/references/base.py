"""What the network references share: one network for all tasks, one head per task, a round of
training per lesson.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState, generator
from lifelong._validation import Rows, check_choice
from lifelong.exceptions import ParameterError
from lifelong.learners.base import Learner, learnt
from lifelong.learners.knowledge import Lesson, StoredRows, TasksKnown
from lifelong.nets.architectures import Network, build
from lifelong.nets.augmentation import both_sides
from lifelong.nets.classifier import NetworkClassifier
from lifelong.nets.once import train_once
from lifelong.nets.precision import settled
from lifelong.nets.randomness import one_thread, private_randomness
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import choose_device, forward, front, n_outputs, n_steps, optimise
from lifelong.references.readout import (
    READ_OUTS,
    Bodies,
    Reading,
    ReadOut,
    joined,
    middle_layers,
    some_rows,
    split_lesson,
)
from lifelong.schema import Each, Elsewhere, InFile, Record, saved
from lifelong.tasks.base import TaskName

Tensors = tuple[torch.Tensor, ...]

ADAM_500 = Recipe(iterations=500, batch_size=256, lr=1e-4)
"""None, EWC, O-EWC, SI, LwF and both replays: 500 steps of 256 rows, whatever the size of the task.
"""


USUAL_ROWS_SHOWN = 500 * 256
"""Rows that those 500 steps see; strengths of penalties are given for them."""


class MultiTask(nn.Module, ABC):
    """A network for several tasks, numbered in order of arrival: rows, task → logits (n, its K)."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.n_features = n_features  # what a head reads
        self.heads = nn.ModuleList()

    @abstractmethod
    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K) of one task."""

    def posteriors(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Softmax of the logits (n, K)."""
        return both_sides(self, lambda x: self(x, task).softmax(dim=1))(x)

    def add_task(self) -> None:
        """Make room for a new task, beside its head."""

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """The weights that all tasks share."""
        return ()

    def head_modules(self) -> Iterable[nn.Module]:
        """Every head there is."""
        return self.heads

    def bodies(self, task: int, rows: torch.Tensor) -> Bodies:
        """What represents rows for a task; ``rows`` of it tell how large values are."""
        del task, rows
        raise ParameterError(
            f"A {type(self).__name__} has no layers that a ridge channel could read. Use"
            " readout='softmax'."
        )

    def grow(self, task: int, n_classes: int) -> None:
        """A head for a new task; for a known one, a head wide enough that keeps what it learnt."""
        device = next((weight.device for weight in self.parameters()), None)
        head = nn.Linear(self.n_features, n_classes, device=device)
        if task == len(self.heads):
            self.add_task()
            self.heads.append(head)
        elif n_classes > (n_known := len(next(self.heads[task].parameters()))):
            with torch.no_grad():
                for wide, known in zip(
                    head.parameters(), self.heads[task].parameters(), strict=True
                ):
                    wide[:n_known] = known
            self.heads[task] = head


class SharedTrunk(MultiTask):
    """One trunk for all tasks (standardised by the first task's rows), one linear head per task."""

    def __init__(self, trunk: nn.Module, n_features: int, dropout: float = 0.0) -> None:
        super().__init__(n_features)
        self.trunk = trunk
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def fresh(
        cls,
        network: Network,
        width: float,
        inputs: torch.Tensor,
        recipe: Recipe,
        dropout: float = 0.0,
    ) -> "SharedTrunk":
        """A new network for rows like ``inputs``, without heads."""
        trunk = nn.Sequential(
            front(inputs, recipe), build(network, tuple(inputs.shape[1:]), width)
        ).to(inputs.device)
        return cls(trunk, n_outputs(trunk, inputs), dropout)

    def shared_parameters(self) -> Iterable[nn.Parameter]:
        """The trunk's weights."""
        return self.trunk.parameters()

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """What the heads read (n, d)."""
        features: torch.Tensor = self.dropout(self.trunk(x))
        return features

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K) of one task."""
        logits: torch.Tensor = self.heads[task](self.features(x))
        return logits

    def bodies(self, task: int, rows: torch.Tensor) -> Bodies:
        """The middle layers of the trunk, and the answer of the task's head."""
        return Bodies([middle_layers(self.trunk, self.heads[task], rows)])


@dataclass(frozen=True, eq=False)
class NetworkKnowledge(TasksKnown):
    """What a network reference has learnt: one network for all tasks.

    ``readout_rows`` are the rows of each task where a ridge channel reads the network.
    """

    model: MultiTask | None = saved(Elsewhere("networks"), default=None)
    readout_rows: Mapping[TaskName, StoredRows] = saved(
        Each(InFile("rows", Record(StoredRows)), every_task=False),
        later=True,
        default_factory=dict,
    )

    @cached_property
    def readings(self) -> dict[TaskName, Reading]:
        """How tasks read the network: each is learnt when it is first asked for."""
        return {}

    def reading(self, task: TaskName, device: torch.device) -> Reading:
        """How a task reads the network as it is now."""
        if task not in self.readings:
            assert self.model is not None
            rows = self.readout_rows[task]
            bodies = self.model.bodies(number_of(task, self), some_rows(rows, device))
            self.readings[task] = Reading.of(bodies, rows, self.tasks[task])
        return self.readings[task]


class Round(NamedTuple):
    """One round of training: the rows of one task, on the device."""

    task: int  # its number, in order of arrival
    inputs: torch.Tensor  # (n, ...)
    targets: torch.Tensor  # (n,)
    rows_per_class: float
    lesson: Lesson
    known: Any  # what is known before it

    def rng(self, purpose: str) -> np.random.Generator:
        """The generator for one purpose of this round."""
        lesson = self.lesson
        return generator(self.known.seed, lesson.task, purpose, lesson.record.n_rows)

    def rows_shown(self, recipe: Recipe) -> int:
        """How many rows the round's training sees, each time counted."""
        n_rows = len(self.inputs)
        return n_steps(n_rows, recipe) * min(recipe.batch_size, n_rows)

    def some(self, numbers: torch.Tensor) -> "Round":
        """The same round with some of its rows."""
        return self._replace(inputs=self.inputs[numbers], targets=self.targets[numbers])

    def loss(self, model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of a batch of the rows on the task's own head."""
        return cross_entropy(model(self.inputs[batch], self.task), self.targets[batch])


class NetworkLearner(Learner):
    """A reference that trains one multi-head network, task after task.

    A lesson is a round of training by the algorithm's rule, for a new task with a new head. **More
    rows of a known task are a further round, on those rows, with the task's old head** (wider where
    new classes came).

    Parameters
    ----------
    network : "auto", "cnn", "mlp", sequence of int or callable, default "auto"
        ``"auto"`` is the paper's CNN for images and its tabular MLP for flat rows. Numbers, such
        as ``(10, 10)``, are hidden sizes. A function takes the shape of a row and returns an
        ``nn.Module``.
    width : float, default 1.0
        Multiplies the size of every layer.
    recipe : Recipe, optional
        How each round is trained; if left out, the settings of the algorithm's authors for 50 rows
        per class.
    device : str, default "auto"
        ``"auto"`` is the GPU where there is one.
    readout : "softmax" or "ridge", default "softmax"
        How a task reads the network: by its own softmax head, or as SiLLy's most accurate networks
        are read: by a ridge channel on the middle layers. Then networks train on 85 % of the rows,
        and all rows are kept.
    random_state : int, Generator or None, default None
        Decides on the first weights, the order of rows and all else that is drawn.
    """

    default_recipe: ClassVar[Recipe] = ADAM_500
    knowledge_class: ClassVar[type[NetworkKnowledge]] = NetworkKnowledge
    model_ = learnt("model")

    def __init__(
        self,
        network: Network = "auto",
        *,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        readout: ReadOut = "softmax",
        random_state: RandomState = None,
    ) -> None:
        self.network = network
        self.width = width
        self.recipe = recipe
        self.device = device
        self.readout = readout
        self.random_state = random_state

    @abstractmethod
    def _train(self, model: Any, now: Round) -> Mapping[str, Any] | None:
        """One round: train ``model`` in place by the algorithm's rule.

        Returns whatever else is known after it: fields of the knowledge class, by name.
        """

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        """The network before its first task."""
        return SharedTrunk.fresh(self.network, self.width, inputs, self._recipe())

    def _copied(self, model: Any) -> MultiTask:
        """A copy that may be trained while the network of before stays as it is."""
        return deepcopy(model)  # type: ignore[no-any-return]

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> NetworkKnowledge:
        self._check_parameters()
        return self.knowledge_class(seed, in_shape, names)

    def _check_parameters(self) -> None:
        """Refuse parameters out of their range."""
        if not self.width > 0:
            raise ParameterError(f"width={self.width!r} must be positive.")
        check_choice(self.readout, "readout", READ_OUTS)

    def _learn(self, known: Any, lesson: Lesson) -> Any:
        if self.readout == "softmax":
            return self._trained(known, lesson)
        in_bag, rows = split_lesson(lesson, known.seed)
        rows = joined(known.readout_rows.get(lesson.task), rows)
        known = self._trained(known, in_bag)
        return replace(known, readout_rows={**known.readout_rows, lesson.task: rows})

    def _trained(self, known: Any, lesson: Lesson) -> Any:
        """What is known after a round of training on the rows of a lesson."""
        now = self._round(known, lesson)
        with one_thread(), private_randomness(now.rng("network")):
            if known.model is None:
                model = self._fresh(now.inputs)
            else:
                model = self._copied(known.model)  # the network of before stays as it is
            model.grow(now.task, len(lesson.record.classes))
            more = self._train(model.to(now.inputs.device), now) or {}
        return replace(known, model=model, **more).recorded(lesson)

    def _round(self, known: Any, lesson: Lesson) -> Round:
        device = choose_device(self.device)
        return Round(
            number_of(lesson.task, known),
            torch.from_numpy(lesson.X).to(device),
            torch.from_numpy(lesson.y).to(device),
            len(lesson.y) / len(np.unique(lesson.y)),
            lesson,
            known,
        )

    def _recipe(self) -> Recipe:
        return self.recipe or self.default_recipe

    def _fit_rows(self, model: MultiTask, now: Round) -> None:
        """Plain training on the rows of the round, on the task's own head."""
        recipe = settled(self._recipe(), model)

        def train() -> None:
            optimise(model, lambda batch: now.loss(model, batch), len(now.inputs), recipe)

        if len(model.heads) == 1:
            # Several references are the same network as long as they know a single task.
            train_once(model, train, now.task, now.inputs, now.targets, recipe)
        else:
            train()

    def _posteriors(self, known: Any, X: Rows, task: TaskName) -> NDArray[np.float64]:
        device = choose_device(self.device)
        if self.readout == "ridge":
            read: NDArray[np.float64] = known.reading(task, device).posteriors(X)
            return read
        number = number_of(task, known)
        posteriors = forward(lambda x: known.model.posteriors(x, number), X, device=device)
        return posteriors.astype(np.float64)

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """The same network with its own softmax head and recipe, trained on all rows of a task."""
        del n_tasks
        return {
            "network": NetworkClassifier(
                self.network,
                width=self.width,
                recipe=self._recipe(),
                device=self.device,
                random_state=self.random_state,
            )
        }

    def _remembered(self, known: Any) -> Iterable[torch.Tensor]:
        """Whatever the algorithm remembers beside its network and rows."""
        del known
        return ()

    def _stored(self, known: Any) -> Iterable[StoredRows]:
        """The rows it keeps."""
        del known
        return ()

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count); bytes of ``encoders`` (no heads), ``channels``, ``rows``."""
        known = self._learnt("model_")
        model = known.model
        heads = sum(_nbytes(head) for head in model.head_modules())
        device = choose_device(self.device)
        readings = [known.reading(task, device) for task in known.readout_rows]
        kept = [*self._stored(known), *known.readout_rows.values()]
        whole = _nbytes(model)
        return {
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "encoders": whole - heads + sum(tensor.nbytes for tensor in self._remembered(known)),
            "channels": heads + sum(reading.channel.nbytes for reading in readings),
            "rows": sum(stored.nbytes for stored in kept),
        }


def _nbytes(module: nn.Module) -> int:
    """Bytes of weights and buffers."""
    return sum(tensor.nbytes for tensor in module.state_dict().values())


def number_of(task: TaskName, known: TasksKnown) -> int:
    """The task's number in order of arrival; a new one comes last."""
    for number, name in enumerate(known.tasks):
        if name == task:
            return number
    return len(known.tasks)


def copies(weights: Iterable[torch.Tensor]) -> Tensors:
    """The weights as they are now."""
    return tuple(weight.detach().clone() for weight in weights)
