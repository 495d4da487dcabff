"""Our read-out for the references' networks: middle layers, read by a ridge channel per task.

What a network has learnt and how it is read are two things. With ``readout="ridge"`` a reference is
read as SiLLy's most accurate networks are, so that only what was learnt differs.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import nn

from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.channels import RidgeChannel
from lifelong.channels.base import Seen
from lifelong.channels.ridge import FittedRidge
from lifelong.encoders.base import FittedEncoder, Representation, honest_split, n_answers_of
from lifelong.encoders.network import FittedNetwork
from lifelong.learners.knowledge import Lesson, StoredRows, TaskRecord
from lifelong.nets.architectures import middle
from lifelong.nets.randomness import one_thread
from lifelong.references.joined import SideBySide
from lifelong.tasks.base import TaskName

ReadOut = Literal["softmax", "ridge"]
READ_OUTS = ("softmax", "ridge")
SHARE = 0.85
"""Of a lesson's rows, for the network: as ``SillyNetwork.best`` has it. The others are held out,
and say how far the network's answers about rows it knows can be trusted."""

_ENOUGH = 200  # rows that tell how large a layer's values are
_OWN = "own"


class Bodies(NamedTuple):
    """The parts of a network that represent rows for one task.

    ``own`` have seen labels of the task, ``others`` have not.
    """

    own: Sequence[nn.Module]
    others: Sequence[nn.Module] = ()


def split_lesson(lesson: Lesson, seed: int) -> tuple[Lesson, StoredRows]:
    """The rows that the network trains on, and all rows, for the read-out."""
    rng = generator(seed, lesson.task, "readout", lesson.first)
    in_bag = honest_split(lesson.y, SHARE, rng=rng)[:, 0]
    trained = lesson._replace(X=lesson.X[in_bag], y=lesson.y[in_bag])
    return trained, StoredRows(lesson.X.copy(), lesson.y.copy(), in_bag=in_bag)


def joined(before: StoredRows | None, more: StoredRows) -> StoredRows:
    """Rows of two lessons; each knows which of them the network has trained on."""
    if before is None:
        return more
    assert before.in_bag is not None
    assert more.in_bag is not None
    return StoredRows(
        np.concatenate([before.X, more.X]),
        np.concatenate([before.y, more.y]),
        in_bag=np.concatenate([before.in_bag, more.in_bag]),
    )


def some_rows(rows: StoredRows, device: torch.device) -> torch.Tensor:
    """Rows that the network has trained on, as many as tell how large its layers' values are."""
    assert rows.in_bag is not None
    known = rows.X[rows.in_bag]
    every = -(-len(known) // _ENOUGH)
    return torch.from_numpy(known[::every]).to(device)


def middle_layers(trunk: Any, head: nn.Module, rows: torch.Tensor) -> nn.Module:
    """What comes first (standardised rows) and the middle layers of a trunk, side by side."""
    first, network = trunk
    with torch.no_grad(), one_thread():
        return nn.Sequential(first, middle(network, head, first(rows)))


def encoders_of(bodies: Bodies, in_shape: tuple[int, ...]) -> dict[str, FittedEncoder]:
    """Fitted encoders by name: the task's own as one, and each of the others."""
    own: list[FittedEncoder] = [_fitted(body, in_shape) for body in bodies.own]
    together = own[0]
    if len(own) > 1:
        together = SideBySide(tuple(own))
    others = {f"other {n}": _fitted(body, in_shape) for n, body in enumerate(bodies.others)}
    return {**others, _OWN: together}


def _fitted(body: nn.Module, in_shape: tuple[int, ...]) -> FittedNetwork:
    # The weights stay those of the reference's network: they must not be frozen here.
    return FittedNetwork(body.eval(), in_shape)


class Reading(NamedTuple):
    """How a task's rows are represented, and what its channel has learnt of them."""

    encoders: dict[str, FittedEncoder]
    channel: FittedRidge

    @classmethod
    def of(cls, bodies: Bodies, rows: StoredRows, record: TaskRecord) -> "Reading":
        """Learnt from all rows of the task, of which the network has trained on some."""
        encoders = encoders_of(bodies, rows.X.shape[1:])
        channel = RidgeChannel().start(record.class_counts)
        for name, encoder in encoders.items():
            in_bag = None
            if name == _OWN:
                in_bag = rows.in_bag
            seen = Seen(
                encoder.encode(rows.X),
                rows.y,
                np.arange(len(rows.y)),
                in_bag=in_bag,
                n_answers=n_answers_of(encoder),
            )
            channel = channel.update(name, seen)
        return cls(encoders, channel)

    def posteriors(self, X: Rows) -> Any:
        """Posteriors (n, K)."""
        encoded: dict[TaskName, Representation] = {
            name: encoder.encode(X) for name, encoder in self.encoders.items()
        }
        return self.channel.predict_proba(encoded)
