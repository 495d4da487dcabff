"""Gaussian XOR and its relatives: two small tasks that show what transfers (figure xor-xnor)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import Rows, check_choice, check_count
from lifelong.tasks.base import Task, TaskStream

_MEANS = np.array(
    [[0.5, 0.5], [-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]]
)  # two of class 0, two of class 1


def gaussian_xor(
    n: int,
    *,
    angle: float = 0.0,
    flip: bool = False,
    std: float = 0.25,
    random_state: RandomState = None,
) -> tuple[Rows, NDArray[np.int64]]:
    """Rows of Gaussian XOR, equal class priors.

    Parameters
    ----------
    n : int
        Rows.
    angle : float, default 0
        Degrees by which the whole picture is turned: 45 is R-XOR, the paper's adversary.
    flip : bool, default False
        Exchange the two classes: XNOR, which has XOR's decision boundary.
    std : float, default 0.25
        Standard deviation of each of the four Gaussians at (±.5, ±.5).
    random_state : int, Generator or None, default None
        Decides which rows are drawn; None draws others each time.

    Returns
    -------
    X : (n, 2), float32
    y : (n,), 0 or 1

    Examples
    --------
    >>> X, y = gaussian_xor(5, random_state=0)
    >>> X.shape, y.shape, X.dtype
    ((5, 2), (5,), dtype('float32'))
    """
    check_count(n, "n")
    rng = generator(seed_from(random_state), "gaussian xor")
    corner = rng.integers(4, size=n)
    X = _MEANS[corner] + std * rng.standard_normal((n, 2))
    turn = np.deg2rad(angle)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    y = (corner >= 2).astype(np.int64)
    return (X @ rotation.T).astype(np.float32), 1 - y if flip else y


def xor_stream(
    n: int = 750,
    *,
    second: Literal["xnor", "r-xor"] = "xnor",
    angle: float = 45.0,
    n_second: int | None = None,
    n_test: int = 1000,
    std: float = 0.25,
    random_state: RandomState = None,
) -> TaskStream:
    """XOR, then XNOR (same boundary, flipped labels) or R-XOR (adversary, turned by ``angle``).

    Parameters
    ----------
    n : int, default 750
        Training rows of XOR.
    second : "xnor" or "r-xor", default "xnor"
        The second task.
    angle : float, default 45
        Degrees by which R-XOR is turned; XNOR does not use it.
    n_second : int, optional
        Training rows of the second task; ``n`` if left out.
    n_test : int, default 1000
        Test rows of each task.
    std : float, default 0.25
        Standard deviation of each Gaussian.
    random_state : int, Generator or None, default None
        Decides which rows are drawn; None draws others each time.

    Returns
    -------
    TaskStream
        Two tasks, ``"xor"`` and the name given as ``second``.

    Examples
    --------
    >>> xor_stream(100, second="r-xor", random_state=0)
    TaskStream(2 tasks: 'xor', 'r-xor')
    """
    check_choice(second, "second", ("xnor", "r-xor"))
    seed = seed_from(random_state)

    def task(name: str, n_train: int, angle: float, flip: bool) -> Task:
        train, test = (
            gaussian_xor(
                rows, angle=angle, flip=flip, std=std, random_state=generator(seed, name, split)
            )
            for split, rows in (("train", n_train), ("test", n_test))
        )
        return Task(name, *train, *test)

    xnor = second == "xnor"
    return TaskStream(
        [task("xor", n, 0.0, False), task(second, n_second or n, 0.0 if xnor else angle, xnor)]
    )
