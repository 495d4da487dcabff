"""The paper's statistics: pure functions of errors, each named after what it is.

``single`` is the error of the learner trained on the task alone, ``at_arrival`` its error when the
task had just been learnt (after tasks 1…t), ``final`` its error after all tasks. Positive is good.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Errors = NDArray[np.float64]


def half_a_mistake(errors: ArrayLike, test_rows: ArrayLike) -> Errors:
    """The zero-error rule: a *measured* error of 0 on n test rows counts as 1/(2n), for ratios.

    It applies to every single measurement, before anything is averaged; this is the only place that
    does it.

    >>> half_a_mistake([0.0, 0.25], 100)
    array([0.005, 0.25 ])
    """
    errors = np.asarray(errors, dtype=np.float64)
    return np.where(errors == 0, 1 / (2 * np.asarray(test_rows)), errors)


def transfer(single: ArrayLike, final: ArrayLike) -> Errors:
    """log(e_single / e_final): what all other tasks brought."""
    return _log_ratio(single, final)


def forward_transfer(single: ArrayLike, at_arrival: ArrayLike) -> Errors:
    """log(e_single / e_at_arrival): what earlier tasks brought."""
    return _log_ratio(single, at_arrival)


def backward_transfer(at_arrival: ArrayLike, final: ArrayLike) -> Errors:
    """log(e_at_arrival / e_final): what later tasks brought; below zero is forgetting."""
    return _log_ratio(at_arrival, final)


def gain(reference: ArrayLike, final: ArrayLike) -> Errors:
    """log(e_reference / e_final): ahead of a plain single-task model trained on all rows of the
    task, or not.
    """
    return _log_ratio(reference, final)


def difference(before: ArrayLike, after: ArrayLike) -> Errors:
    """Veniat's versions of the three transfers: the difference of errors, without the logarithm."""
    return np.asarray(np.subtract(before, after), dtype=np.float64)


def _log_ratio(before: ArrayLike, after: ArrayLike) -> Errors:
    return np.asarray(np.log(np.divide(before, after)), dtype=np.float64)
