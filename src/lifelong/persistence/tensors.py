"""Tensors beside a network, of the shapes of its shared weights (torch): penalties and moments."""

from typing import Any

import torch

from lifelong.nets.training import choose_device
from lifelong.persistence.checking import Arrays, Scope, expect
from lifelong.persistence.hollow import tensor_to_numpy
from lifelong.persistence.kinds import CustomKind, pack, unpack
from lifelong.persistence.text import Json
from lifelong.schema import Array

Shape = tuple[int, ...]


def _shapes(scope: Scope) -> list[Shape]:
    """Of the weights that all tasks share."""
    return [tuple(weight.shape) for weight in scope["loaded"]["model"].shared_parameters()]


def _pack(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    fits = [tuple(tensor.shape) for tensor in value] == _shapes(scope)
    expect(fits, at, "does not have the shapes of the network")
    return [_pack_one(tensor, arrays, f"{at}.{n}") for n, tensor in enumerate(value)]


def _pack_one(tensor: torch.Tensor, arrays: Arrays, at: str) -> Json:
    """Images keep their memory format."""
    channels_last = (
        tensor.ndim == 4
        and not tensor.is_contiguous()
        and tensor.is_contiguous(memory_format=torch.channels_last)
    )
    order = "C"
    if channels_last:
        order = "channels_last"
        tensor = tensor.permute(0, 2, 3, 1)
    array = tensor_to_numpy(tensor, at)
    pack(Array("float32", array.shape), array, arrays, at, Scope())
    return order


def _unpack(node: Json, arrays: Arrays, at: str, scope: Scope) -> tuple[torch.Tensor, ...]:
    shapes = _shapes(scope)
    expect(isinstance(node, list) and len(node) == len(shapes), at, "does not fit the network")
    device = choose_device(scope["learner"].device)
    tensors = []
    for n, (order, shape) in enumerate(zip(node, shapes, strict=True)):
        # In torch's own memory: the last bits of its products depend on where a tensor begins.
        tensors.append(_unpack_one(order, arrays, f"{at}.{n}", shape).clone().to(device))
    return tuple(tensors)


def _unpack_one(node: Json, arrays: Arrays, at: str, shape: Shape) -> torch.Tensor:
    if node == "channels_last" and len(shape) == 4:
        a, b, c, d = shape
        array = unpack(Array("float32", (a, c, d, b)), "C", arrays, at, Scope())
        return torch.from_numpy(array).permute(0, 3, 1, 2)
    return torch.from_numpy(unpack(Array("float32", shape), node, arrays, at, Scope()))


TENSORS = CustomKind(_pack, _unpack)
