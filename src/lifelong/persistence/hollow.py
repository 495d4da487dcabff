"""Networks without numbers: built on torch's ``meta`` device, they have shapes and take no memory.

A network from a file is built hollow first. Only when its shapes are those of the file's tensors
does it get memory, so a file cannot ask for more than it holds, however large a network it
describes.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.overrides import TorchFunctionMode

from lifelong.exceptions import ParameterError, PersistenceError
from lifelong.nets.training import choose_device
from lifelong.persistence.checking import Arrays, expect
from lifelong.persistence.text import Unfit

Module = TypeVar("Module", bound=nn.Module)
_CALLS_PER_TENSOR = 200
_CALLS = 20_000


class _Hollow(TorchFunctionMode):
    """What construction asks of numbers is made up; how much it may construct is limited."""

    def __init__(self, n_tensors: int) -> None:
        super().__init__()
        self._left = _CALLS + _CALLS_PER_TENSOR * n_tensors

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Unfit("it describes a larger network than it holds")
        if func is torch.Tensor.__float__:
            return 1.0
        if func is torch.Tensor.__bool__:
            return False
        if func is torch.Tensor.cpu:
            return args[0]
        return func(*args, **(kwargs or {}))


def built_hollow(build: Callable[[], Module], n_tensors: int) -> Module:
    """The network that ``build`` makes, without memory."""
    with torch.device("meta"), _Hollow(n_tensors):
        return build().eval()


def filled(network: Module, tensors: Mapping[str, NDArray[Any]], device: torch.device) -> Module:
    """The network with a file's tensors: exactly the ones it wants, in their own memory format."""
    wanted = network.state_dict()
    expect(
        set(wanted) == set(tensors),
        "the network",
        f"does not have the tensors of {_few(wanted, tensors)}",
    )
    for name, tensor in wanted.items():
        array = tensors[name]
        same = tuple(tensor.shape) == array.shape and str(tensor.dtype) == f"torch.{array.dtype}"
        expect(
            same,
            f"tensor {name!r}",
            f"is {array.dtype}{array.shape}, not {tensor.dtype}{tuple(tensor.shape)}",
        )
    if any(tensor.is_meta for tensor in wanted.values()):
        network = network.to_empty(device="cpu")
    network.load_state_dict(
        {name: torch.from_numpy(np.asarray(array)) for name, array in tensors.items()}
    )
    return network.eval().to(device)


def device_here(name: str) -> torch.device:
    """The device that a learner was on, or an error that says how to load it on another one."""
    try:
        return choose_device(name)
    except ParameterError as error:
        raise PersistenceError(
            f"{error} To load a learner that was on a device which is not here:"
            " load(directory, device='cpu')."
        ) from None


def _few(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    different = sorted(set(wanted) ^ set(got))
    few = ", ".join(different[:3])
    if len(different) > 3:
        return f"{few} …"
    return few


def tensors_of(network: nn.Module, arrays: Arrays, at: str = "") -> None:
    """Weights and buffers of a network as arrays, by name."""
    for name, tensor in network.state_dict().items():
        expect(isinstance(tensor, torch.Tensor), name, "is not a tensor")
        arrays[at + name] = tensor_to_numpy(tensor, name)


def tensor_to_numpy(tensor: torch.Tensor, at: str) -> NDArray[Any]:
    """The numbers, in the order of the tensor's shape."""
    try:
        return np.asarray(tensor.detach().cpu().numpy(), order="C")
    except TypeError:
        raise Unfit(f"{at} has numbers of type {tensor.dtype}, which cannot be saved") from None
