"""Learners by name, for the command line and the experiments: an explicit dict, no registration on import."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from lifelong.exceptions import ParameterError
from lifelong.learners import Learner, SillyForest, SillyNetwork


@dataclass(frozen=True)
class Entry:
    """A learner that can be asked for by name."""

    what: str
    make: Callable[..., Learner]


LEARNERS: dict[str, Entry] = {
    "silly-f": Entry("SiLLy-F: a forest per task, leaf channels (the paper)", SillyForest),
    "silly-n": Entry("SiLLy-N: a network per task, forest channels (the paper)", SillyNetwork),
}


def make_learner(name: str, **parameters: Any) -> Learner:
    """The learner of that name; ``silly-n-4`` is ``silly-n`` on a budget of four encoders.

    >>> make_learner("silly-f-4", random_state=0)
    SillyForest(budget=4, random_state=0)
    """
    constrained = re.fullmatch(r"(silly-[nf])-(\d+)", name)
    if constrained:
        return make_learner(constrained[1], budget=int(constrained[2]), **parameters)
    if name not in LEARNERS:
        near = get_close_matches(name, LEARNERS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"Unknown learner {name!r}.{hint} Known: {', '.join(LEARNERS)}.")
    return LEARNERS[name].make(**parameters)
