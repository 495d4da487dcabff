"""Paired differences: their mean, its standard error, and whether they win, tie or lose."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Verdict = Literal["win", "tie", "loss"]
VERDICTS: tuple[Verdict, ...] = ("win", "tie", "loss")

CLEARLY = 2.0
"""Standard errors that make a difference a win or a loss."""


def mean_and_error(values: ArrayLike) -> tuple[float, float]:
    """The mean of some values, and its standard error; NaN with fewer than two values.

    >>> mean, error = mean_and_error([1.0, 2.0, 3.0])
    >>> mean, round(error, 3)
    (2.0, 0.577)
    """
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return float(found.mean()), float("nan")
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))


def verdict(gains: ArrayLike) -> Verdict:
    """What paired gains say, by two standard errors; with fewer than two, nothing: a tie.

    Parameters
    ----------
    gains : (n,)
        How much better one is than the other in each of n draws; above 0 is better.

    >>> verdict([0.02, 0.03, 0.02]), verdict([0.02, -0.03, 0.02]), verdict([-0.01, -0.02])
    ('win', 'tie', 'loss')
    """
    mean, error = mean_and_error(gains)
    if mean > CLEARLY * error:
        return "win"
    if mean < -CLEARLY * error:
        return "loss"
    return "tie"


def count_verdicts(found: Iterable[Verdict]) -> dict[Verdict, int]:
    """How many wins, ties and losses.

    >>> count_verdicts(["win", "tie", "win"])
    {'win': 2, 'tie': 1, 'loss': 0}
    """
    every = list(found)
    return {name: every.count(name) for name in VERDICTS}
