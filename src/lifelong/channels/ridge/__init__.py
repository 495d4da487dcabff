"""Ridge regression as a channel: settings, solver, views, readings, mixing, channel."""

from lifelong.channels.ridge.channel import FittedRidge, RidgeChannel
from lifelong.channels.ridge.settings import RidgeSettings

__all__ = ["FittedRidge", "RidgeChannel", "RidgeSettings"]
