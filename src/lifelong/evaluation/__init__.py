"""Evaluation: one error table per learner, and the paper's statistics as functions of it."""

from lifelong.evaluation.errors import ErrorTable
from lifelong.evaluation.evaluate import evaluate

__all__ = ["ErrorTable", "evaluate"]
