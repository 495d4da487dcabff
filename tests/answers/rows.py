"""The tasks: Gaussians around random means, the same on every machine."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

FLAT = (7,)
MANY_COLUMNS = (70,)
FEATURES = (32,)  # of the pretrained network
IMAGES = (3, 16, 16)
SMALL_IMAGES = (2, 8, 8)

NOISE = 0.9


@dataclass(frozen=True)
class Lesson:
    """Rows of one task, their labels, and weights that may be used or not."""

    X: np.ndarray
    y: Any
    weights: np.ndarray


LESSONS: dict[Any, tuple[int, list[Any]]] = {  # rows and labels, by what the lesson is for
    "words": (48, ["ant", "bee", "cat"]),
    7: (40, [10, 20]),
    "mixed": (60, ["x", 2, None, True]),
    "flags": (44, [False, True]),
    "more words": (21, ["bee", "ant", "dragonfly"]),
    "words anew": (45, ["elk", "fox"]),
    "more of 7": (12, ["neither", 10]),
    "more mixed": (16, [None, "x"]),
    "elsewhere": (50, ["north", "south", "west"]),
    "one class": (6, ["only"]),
    "few": (5, ["p", "q", "r", "s"]),
    "large": (5200, ["l", "m"]),
}


@cache
def lesson(name: Any, shape: tuple[int, ...]) -> Lesson:
    """The lesson of that name, in rows of that shape."""
    n_rows, labels = LESSONS[name]
    number = list(LESSONS).index(name)
    return drawn(n_rows, labels, shape, seed=100 + number)


def drawn(n_rows: int, labels: list[Any], shape: tuple[int, ...], seed: int) -> Lesson:
    """Rows around one mean per label; every ninth row has weight 0."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(len(labels), *shape))
    codes = rng.permutation(np.arange(n_rows) % len(labels))
    X = means[codes] + NOISE * rng.normal(size=(n_rows, *shape))
    weights = rng.uniform(0.2, 2.5, size=n_rows)
    weights[4::9] = 0.0
    return Lesson(X.astype(np.float32), _as_given([labels[code] for code in codes]), weights)


def _as_given(labels: list[Any]) -> Any:
    """An array of labels of one kind, or a list of mixed ones, as users hand them in."""
    if len({type(label) for label in labels}) == 1:
        return np.array(labels)
    return labels


@cache
def asked_rows(shape: tuple[int, ...], n_rows: int) -> np.ndarray:
    """Rows like those of the tasks, and a few far away from all of them."""
    wanted = [lesson(name, shape) for name in ("words", 7, "mixed", "flags")]
    rng = np.random.default_rng(99)
    mixed = np.concatenate([one.X[:25] for one in wanted])
    rows = mixed[rng.permutation(len(mixed))[:n_rows]]
    rows = rows + 0.3 * rng.normal(size=rows.shape)
    rows[::8] *= 5
    return rows.astype(np.float32)
