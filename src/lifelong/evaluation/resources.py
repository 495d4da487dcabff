"""How what a learner needs grows with the number of tasks."""

import numpy as np
from numpy.typing import ArrayLike


def fitted_exponent(n_tasks: ArrayLike, amounts: ArrayLike) -> float:
    """Least-squares slope b of log(amount) = a + b · log(tasks): 0 constant, 1 linear, 2 quadratic.

    The first half of the tasks is left out where there are at least four: a constant share (the
    code of a network that every learner has) hides the growth at first. NaN where an amount is 0 or
    fewer than two are left.

    >>> round(fitted_exponent([1, 2, 4, 8], [3, 6, 12, 24]), 6)
    1.0
    """
    x = np.asarray(n_tasks, dtype=np.float64)
    y = np.asarray(amounts, dtype=np.float64)
    if len(x) >= 4:
        x = x[len(x) // 2 :]
        y = y[len(y) // 2 :]
    if len(x) < 2 or (y <= 0).any():
        return float("nan")
    return float(np.polynomial.polynomial.polyfit(np.log(x), np.log(y), deg=1)[1])
