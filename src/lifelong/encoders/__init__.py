"""Encoders: each task trains one, on its in-bag rows only, and all tasks use it."""

from lifelong.encoders.base import Encoder, FittedEncoder, honest_split
from lifelong.encoders.forest import FittedForest, ForestEncoder

__all__ = ["Encoder", "FittedEncoder", "FittedForest", "ForestEncoder", "honest_split"]
