"""Channels: each task's posteriors on the representations of all encoders."""

from lifelong.channels.base import Channel, FittedChannel, Seen
from lifelong.channels.forest import ForestChannel
from lifelong.channels.leaf import LeafChannel
from lifelong.channels.neighbours import NeighboursChannel
from lifelong.channels.ridge import RidgeChannel

__all__ = [
    "Channel",
    "FittedChannel",
    "ForestChannel",
    "LeafChannel",
    "NeighboursChannel",
    "RidgeChannel",
    "Seen",
]
