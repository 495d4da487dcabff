"""Learners by name, from the one table in :mod:`lifelong.references`.

The report reads the table through this module: it is plain data, and no learner is imported.
"""

from typing import TYPE_CHECKING, Any

from lifelong._random import RandomState
from lifelong.references.entry import CONTROL, Entry
from lifelong.references.registry import LEARNERS, entry_of, find_learner, split_budget

if TYPE_CHECKING:
    from lifelong.learners.base import Learner

__all__ = [
    "CONTROL",
    "LEARNERS",
    "Entry",
    "entry_of",
    "find_learner",
    "make_learner",
    "split_budget",
    "trains_networks",
]


def trains_networks(name: str) -> bool:
    """Whether the learner of that name takes a ``network`` and a ``recipe``."""
    return find_learner(name).trains_network


def make_learner(name: str, random_state: RandomState = None, **parameters: Any) -> "Learner":
    """The learner of that name; ``silly-n-4`` is ``silly-n`` on a budget of four encoders.

    >>> make_learner("silly-f-4", random_state=0)
    SillyForest(budget=4, random_state=0)
    """
    return find_learner(name)(random_state, **parameters)
