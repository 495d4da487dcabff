"""Learners: for one's own tables, and the paper's SiLLy-X with its presets SiLLy-F and SiLLy-N."""

from lifelong.learners.base import Learner
from lifelong.learners.front import LifelongClassifier, LifelongRegressor
from lifelong.learners.presets import SillyForest, SillyNetwork
from lifelong.learners.silly import Silly

__all__ = [
    "Learner",
    "LifelongClassifier",
    "LifelongRegressor",
    "Silly",
    "SillyForest",
    "SillyNetwork",
]
