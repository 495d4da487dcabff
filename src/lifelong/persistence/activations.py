"""How much memory a network takes when it is used (torch): a small file may describe layers that
grow without end.
"""

import math

import torch
from torch import nn

from lifelong.nets.architectures import SideBySide
from lifelong.persistence.checking import expect

_MOST = 2**20  # numbers between two layers: at most so many,
_GROWTH = 256  # or so many for each number of the row


def check_activations(hollow: nn.Module, in_shape: tuple[int, ...]) -> None:
    """Refuse a network (without memory) that makes far more of a row than there is in it."""
    row = torch.empty(1, *in_shape, device="meta")
    _passed(hollow, row, most_of_a_row(in_shape))


def most_of_a_row(in_shape: tuple[int, ...]) -> int:
    """How many numbers there may be between two layers."""
    return max(_MOST, _GROWTH * math.prod(in_shape))


def _passed(network: nn.Module, x: torch.Tensor, most: int) -> torch.Tensor:
    """What the network makes of a row, layer by layer."""
    if isinstance(network, nn.Sequential):
        for layer in network:
            x = _passed(layer, x, most)
        return x
    if isinstance(network, SideBySide):
        x = network.joined([_passed(side, x, most) for side in network.networks])
    else:
        x = network(x)
    expect(x.numel() <= most, "the network", "has a layer that is too large")
    return x
