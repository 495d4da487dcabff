"""Networks that learners would train alike, trained once: see :mod:`lifelong._once`."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from lifelong._once import Arrays, is_shared, once

_RANDOMNESS = "torch's randomness"


def train_once(model: nn.Module, train: Callable[[], None], *depends_on: Any) -> None:
    """Train the model in place, or give it the weights that the same training has led to before.

    The same: equal layers and weights, equal values it ``depends_on`` (rows, targets, recipe),
    equal randomness.
    """
    if not is_shared() or any(
        tensor.device.type != "cpu" for tensor in model.state_dict().values()
    ):
        train()
        return

    def before() -> Iterator[Any]:
        yield from described(model)
        yield from map(_plain, depends_on)
        yield torch.get_rng_state().numpy()

    def work() -> Arrays:
        train()
        return {**_weights(model), _RANDOMNESS: torch.get_rng_state().numpy()}

    after = {name: torch.from_numpy(array) for name, array in once(before, work).items()}
    torch.set_rng_state(after.pop(_RANDOMNESS))  # whoever draws next draws what he would have drawn
    model.load_state_dict(after)
    model.eval()


def described(model: nn.Module) -> Iterator[Any]:
    """All that decides on a network's answers: torch, its layers and its weights."""
    yield torch.__version__
    for name, module in model.named_modules():
        yield f"{name} {type(module).__module__}.{module}"
    for name, array in _weights(model).items():
        yield name
        yield array


def _weights(model: nn.Module) -> Arrays:
    return {name: tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()}


def _plain(value: Any) -> Any:
    """Tensors as arrays, all else as it is."""
    if isinstance(value, torch.Tensor):
        return value.numpy()
    return value
