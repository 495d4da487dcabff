"""Every number the ridge channel was given rather than learnt, with its unit and its reason."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifelong.schema import COUNT, POSITIVE, Number, saved

PENALTIES: NDArray[np.float64] = 10.0 ** np.arange(-4, 2.51, 0.25)
"""λ that leave-one-out chooses from, in units of the mean squared length of a row's features."""

STACKING_WEIGHTS: NDArray[np.float64] = np.linspace(0, 1, 11)
"""Weights of a second opinion; the posterior mean over them is taken, so the grid may be coarse."""

TEMPERATURES: NDArray[np.float64] = np.geomspace(1, 100, 25)
"""What scores are multiplied with before the softmax. Scores estimate centred class indicators,
between −1 and 1: at 1 the softmax is almost flat, at 100 it is certain."""


@dataclass(frozen=True)
class RidgeSettings:
    """What a ridge channel may spend, and how it decides where nothing can be learnt.

    Parameters
    ----------
    landmarks : int, default 2000, rows
        Solving takes n³ operations: of more rows, an even sample of so many stands for all.
    max_rows : int, default 5000, rows
        2 n D bytes are kept per encoder: of a larger task, an even sample of so many rows.
    max_own_rows : int, default 10 000, rows
        The same for the task's own encoder, which matters most.
    kernel_bytes : int, default 256 MiB
        Kernels that are needed twice are kept while they take no more than this all together.
    default_penalty : float, default 0.3
        λ where no held-out row can choose.
    default_temperature : float, default 5
        Where no held-out row can choose.
    cost_of_answer : float, default 10, nats
        Evidence that it takes to believe a network's own softmax alone instead of the regression:
        on twenty rows, chance alone would often favour an answer that is worse.
    share_of_trees : float, default 0.5
        Other forests are compared with the task's own by so many times the trees that the own one
        has for a row out of bag. As many would be fair to either side, but not to their mean: of
        two forests with few trees each, it is better than one because of the number of trees.

    Examples
    --------
    >>> from lifelong import RidgeChannel
    >>> RidgeChannel(settings=RidgeSettings(max_rows=500)).settings.max_rows
    500

    See Also
    --------
    lifelong.RidgeChannel : the channel.
    """

    landmarks: int = saved(COUNT, default=2000)
    max_rows: int = saved(COUNT, default=5000)
    max_own_rows: int = saved(COUNT, default=10_000)
    kernel_bytes: int = saved(COUNT, default=2**28)
    default_penalty: float = saved(POSITIVE, default=0.3)
    default_temperature: float = saved(POSITIVE, default=5.0)
    cost_of_answer: float = saved(Number(0), default=10.0)
    share_of_trees: float = saved(POSITIVE, default=0.5)


DEFAULT = RidgeSettings()
