"""What each reference has learnt beside its network (torch): penalties, moments, memories."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from lifelong.learners.base import Learner
from lifelong.nets.training import choose_device
from lifelong.persistence.hollow import tensor_to_numpy
from lifelong.persistence.kinds import Array, Arrays, Codes, Kind, Name, Number, Record, Several, Whole, expect
from lifelong.persistence.multitask import NetworkState
from lifelong.persistence.states import ROWS, Each, InFile, Loading, Plain, Saving, State
from lifelong.persistence.text import Json
from lifelong.references.er import Reservoir
from lifelong.references.quadratic import Quadratic
from lifelong.references.replay import Memory
from lifelong.references.tag import Moments


@dataclass(frozen=True)
class TensorsKind:
    """A tuple of tensors of known shapes; images keep their memory format."""

    shapes: tuple[tuple[int, ...], ...]
    device: torch.device

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        expect(tuple(tuple(one.shape) for one in value) == self.shapes, at, "does not have the shapes of the network")
        return [self._pack(one, arrays, f"{at}.{place}") for place, one in enumerate(value)]

    def _pack(self, tensor: torch.Tensor, arrays: Arrays, at: str) -> Json:
        last = (
            tensor.ndim == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last)
        )
        array = tensor_to_numpy(tensor.permute(0, 2, 3, 1) if last else tensor, at)
        Array("float32", array.shape).pack(array, arrays, at)
        return "channels_last" if last else "C"

    def unpack(self, node: Json, arrays: Arrays, at: str) -> tuple[torch.Tensor, ...]:
        expect(isinstance(node, list) and len(node) == len(self.shapes), at, "does not fit the network")
        return tuple(self._unpack(one, arrays, f"{at}.{n}", self.shapes[n]) for n, one in enumerate(node))

    def _unpack(self, node: Json, arrays: Arrays, at: str, shape: tuple[int, ...]) -> torch.Tensor:
        if node == "channels_last" and len(shape) == 4:
            a, b, c, d = shape
            tensor = torch.from_numpy(Array("float32", (a, c, d, b)).unpack("C", arrays, at)).permute(0, 3, 1, 2)
        else:
            tensor = torch.from_numpy(Array("float32", shape).unpack(node, arrays, at))
        # In torch's own memory: the last bits of its products depend on where in memory a tensor begins.
        return tensor.clone().to(self.device)


def _penalised(learner: Any) -> TensorsKind:
    model = learner.model_
    weights = getattr(model, "trunks" if hasattr(model, "trunks") else "trunk").parameters()
    return TensorsKind(tuple(tuple(weight.shape) for weight in weights), choose_device(learner.device))


def _quadratic(learner: Learner, _: Name | None) -> Kind:
    tensors = _penalised(learner)
    return Record(Quadratic, {"curvature": tensors, "centre": tensors, "constant": Number()})


def _moments(learner: Learner, _: Name | None) -> Kind:
    tensors = _penalised(learner)
    return Record(Moments, {"direction": tensors, "second": tensors})


def _memory(make: type[Memory]) -> Callable[[Learner, Name | None], Kind]:
    def kind(learner: Learner, _: Name | None) -> Kind:
        widths = np.array([len(record.classes) for record in learner.tasks_.values()])

        def check(fields: dict[str, Any], at: str) -> None:
            n = len(fields["y"])
            expect(len(fields["X"]) == n and len(fields["tasks"]) == n, at, "has parts of different lengths")
            expect(bool((fields["y"] < widths[fields["tasks"]]).all()), at, "has labels of other tasks")
            expect(fields.get("seen", n) >= n, at, "has more rows than it has seen")

        fields: dict[str, Kind] = {
            "X": Array("float32", (None, *learner.in_shape_)),
            "y": Codes(None, int(widths.max())),
            "tasks": Codes(None, len(widths)),
        }
        return Record(make, {**fields, "seen": Whole()} if make is Reservoir else fields, check)

    return kind


@dataclass(frozen=True)
class EachInTuple:
    """A tuple of values, every one stored on its own."""

    state: State

    def save(self, value: Any, name: Name | None, to: Saving) -> Json:
        return [self.state.save(one, name, to) for one in value]

    def load(self, node: Json, name: Name | None, loading: Loading) -> tuple[Any, ...]:
        expect(isinstance(node, list), str(name), "is not a list")
        return tuple(self.state.load(one, name, loading) for one in node)


_MODEL: Mapping[str, State] = {"model_": NetworkState()}
_WITH_ROWS: Mapping[str, State] = {**_MODEL, "memory_": Each(ROWS)}
_WITH_PENALTY: Mapping[str, State] = {**_MODEL, "penalty_": InFile("values", _quadratic)}

STATES: Mapping[str, Mapping[str, State]] = {
    **dict.fromkeys(("NoneLearner", "LwF", "ProgNN", "DFCNN", "LMC"), _MODEL),
    **dict.fromkeys(("EWC", "OnlineEWC", "SI", "CoSCL"), _WITH_PENALTY),
    **dict.fromkeys(("TotalReplay", "PartialReplay", "ModelZoo", "Single"), _WITH_ROWS),
    "ER": {**_MODEL, "memory_": InFile("rows", _memory(Reservoir))},
    "AGEM": {**_MODEL, "memory_": InFile("rows", _memory(Memory)), "projections_": Plain(Several(Whole()))},
    "TAG": {**_MODEL, "past_": EachInTuple(InFile("values", _moments))},
}
"""What each reference has learnt, by the name of its class."""
