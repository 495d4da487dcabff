"""How much memory a network takes when it is used (torch): a small file may describe layers that grow without end."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from lifelong.persistence.hollow import built_hollow
from lifelong.persistence.kinds import expect
from lifelong.persistence.networks import describe, rebuild

_MOST, _GROWTH = 2**20, 256  # numbers between two layers: so many, or so many per number of the row


def plain_layers(network: nn.Module) -> Iterator[nn.Module]:
    """The layers one after another, sequences opened."""
    if isinstance(network, nn.Sequential):
        for part in network:
            yield from plain_layers(part)
    else:
        yield network


def check_activations(encoder: Any, in_shape: tuple[int, ...]) -> None:
    """Refuse a network that makes far more of a row than there is in it; a user's own layers are not looked at."""
    layers = describe(encoder.body)
    if layers is None:
        return
    hollow = built_hollow(lambda: rebuild(layers).eval(), len(encoder.body.state_dict()))
    x = torch.empty(1, *in_shape, device="meta")
    for layer in plain_layers(hollow):
        x = layer(x)
        expect(x.numel() <= max(_MOST, _GROWTH * math.prod(in_shape)), "the network", "has a layer that is too large")
