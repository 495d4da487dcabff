"""How much memory a network takes when it is used (torch): a small file may describe layers that
grow without end.
"""

import math
from typing import Any

import torch
from torch import nn

from lifelong.nets.architectures import SideBySide
from lifelong.persistence.hollow import built_hollow
from lifelong.persistence.kinds import expect
from lifelong.persistence.networks import describe, rebuild

_MOST = 2**20  # numbers between two layers: at most so many,
_GROWTH = 256  # or so many for each number of the row


def check_activations(encoder: Any, in_shape: tuple[int, ...]) -> None:
    """Refuse a network that makes far more of a row than there is in it; a user's own layers are
    not looked at.
    """
    layers = describe(encoder.body)
    if layers is None:
        return
    hollow = built_hollow(lambda: rebuild(layers).eval(), len(encoder.body.state_dict()))
    _passed(
        hollow, torch.empty(1, *in_shape, device="meta"), max(_MOST, _GROWTH * math.prod(in_shape))
    )


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
