"""Learners by name, for the command line and the experiments: an explicit dict, no registration on import."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from lifelong._random import RandomState
from lifelong.exceptions import ParameterError
from lifelong.experiments.baselines import Chance, NearestMean
from lifelong.learners import Learner, SillyForest, SillyNetwork
from lifelong.references import CONTROLS, REFERENCES

LEARNERS: Mapping[str, str] = {  # name → what it is
    "silly-f": "SiLLy-F: a forest per task, leaf channels (the paper)",
    "silly-n": "SiLLy-N: a network per task, forest channels (the paper)",
    "silly-f-best": "our most accurate forests: ridge channels, 100 trees per task",
    "silly-n-best": "our most accurate networks: ridge channels, middle layers, strong recipe",
    "none": "fine-tuning: nothing against forgetting",
    "ewc": "elastic weight consolidation",
    "o-ewc": "online EWC: one running penalty",
    "si": "synaptic intelligence",
    "lwf": "learning without forgetting: the old network teaches the new one",
    "total-replay": "every step replays a batch of every task",
    "partial-replay": "as many replayed rows as new ones",
    "er": "experience replay from a small reservoir",
    "a-gem": "gradients projected off those of a small memory",
    "tag": "task-based accumulated gradients",
    "prognn": "progressive networks: a new column per task",
    "df-cnn": "deconvolutional factorised networks",
    "lmc": "local module composition",
    "model-zoo": "boosted ensemble of small multi-task networks",
    "coscl": "cooperation of small continual learners",
    "randumb": "random features, nearest class mean",
    "single": "control: a plain network per task",
    "rf": "control: an ordinary random forest per task",
    "nearest-mean": "control: the class with the nearest mean",
    "chance": "control: any class, all alike",
}
_WITHOUT_NETWORK = ("silly-f", "rf", "randumb", "nearest-mean", "chance")
_OURS: Mapping[str, Callable[..., Learner]] = {
    "silly-f": SillyForest,
    "silly-n": SillyNetwork,
    "silly-f-best": SillyForest.best,
    "silly-n-best": SillyNetwork.best,
    "nearest-mean": NearestMean,
    "chance": Chance,
}


def trains_networks(name: str) -> bool:
    """Whether the learner of that name takes a ``network`` and a ``recipe``."""
    return not name.startswith(_WITHOUT_NETWORK)


def make_learner(name: str, random_state: RandomState = None, **parameters: Any) -> Learner:
    """The learner of that name; ``silly-n-4`` is ``silly-n`` on a budget of four encoders.

    >>> make_learner("silly-f-4", random_state=0)
    SillyForest(budget=4, random_state=0)
    """
    constrained = re.fullmatch(r"(silly-[nf](?:-best)?)-(\d+)", name)
    if constrained:
        return make_learner(constrained[1], random_state, budget=int(constrained[2]), **parameters)
    if name not in LEARNERS:
        near = get_close_matches(name, LEARNERS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"Unknown learner {name!r}.{hint} Known: {', '.join(LEARNERS)}.")
    if name in _OURS:
        return _OURS[name](random_state=random_state, **parameters)
    return {**REFERENCES, **CONTROLS}[name](random_state, **parameters)
