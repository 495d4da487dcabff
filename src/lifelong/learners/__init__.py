"""Learners: SiLLy-X, and its two presets SiLLy-F and SiLLy-N."""

from lifelong.learners.base import Learner
from lifelong.learners.presets import SillyForest, SillyNetwork
from lifelong.learners.silly import Silly

__all__ = ["Learner", "Silly", "SillyForest", "SillyNetwork"]
