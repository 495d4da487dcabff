"""Experiments: learners by name, and what is run with them."""

from lifelong.experiments.registry import LEARNERS, make_learner

__all__ = ["LEARNERS", "make_learner"]
