"""Tiny streams and tiny settings: every reference learns them in about a second."""

from functools import cache
from typing import Any

import numpy as np

from lifelong import Recipe, Task, TaskStream
from lifelong.learners.base import Learner
from lifelong.references import BOUNDS, CONTROLS, REFERENCES

ADAM = Recipe(iterations=60, batch_size=32, lr=1e-2)
SGD = Recipe(epochs=8, batch_size=10, optimiser="sgd", lr=0.05)
RMSPROP = Recipe(iterations=80, batch_size=10, optimiser="rmsprop", lr=3e-3)
TINY: dict[str, dict[str, Any]] = {
    **{
        name: {"network": (16,), "recipe": ADAM}
        for name, entry in {**REFERENCES, **BOUNDS}.items()
        if entry.trains_network
    },
    "er": {"network": (16,), "recipe": SGD, "capacity": 9},
    "a-gem": {"network": (16,), "recipe": SGD, "rows_per_class": 3, "reference_size": 20},
    "tag": {"network": (16,), "recipe": Recipe(epochs=20, batch_size=10, lr=1e-2)},
    "prognn": {"network": (16, 16), "recipe": RMSPROP},
    "lmc": {"network": (16, 16), "recipe": ADAM},
    "df-cnn": {
        "network": "cnn",
        "width": 0.1,
        "recipe": Recipe(iterations=50, batch_size=20, optimiser="rmsprop", lr=1e-3),
    },
    "model-zoo": {
        "network": (16,),
        "recipe": Recipe(epochs=8, batch_size=16, optimiser="sgd", lr=0.05, momentum=0.9),
    },
    "der++": {"network": (16,), "recipe": SGD, "capacity": 20},
    "hat": {
        "network": (16, 16),
        "recipe": Recipe(epochs=20, batch_size=16, optimiser="sgd", lr=0.1),
        "sparsity": 0.1,  # of 32 units few would be left
    },
    "randumb": {"n_features": 200},
    "ranpac": {"n_features": 200},
    "gpm": {
        "network": (16,),
        "energy": 0.9,
        "recipe": Recipe(epochs=20, batch_size=10, optimiser="sgd", lr=0.1),
    },
    "wsn": {"network": (32,), "recipe": Recipe(iterations=60, batch_size=32, lr=1e-2)},
    "der": {"network": (16,), "recipe": ADAM, "rows_per_class": 5},
    "single": {"network": (16,), "recipe": ADAM},
    "rf": {"n_estimators": 20},
}
FACTORIES = {**REFERENCES, **CONTROLS, **BOUNDS}
N_CLASSES = {"first": 3, "second": 2, "third": 4}  # heads of different sizes


def tiny(name: str, seed: int = 0, **parameters: Any) -> Learner:
    """The reference of that name, small and quick."""
    return FACTORIES[name](seed, **{**TINY[name], **parameters})


def make_stream(
    shape: tuple[int, ...], n_rows: int = 25, shift: float = 0.0, seed: int = 0
) -> TaskStream:
    """Three tasks of 3, 2 and 4 classes: Gaussians around random means; ``shift`` moves each task's
    rows away.
    """
    rng = np.random.default_rng(seed)

    def task(number: int, name: str, n_classes: int) -> Task:
        means = rng.normal(size=(n_classes, *shape))
        y = np.tile(np.arange(n_classes), 2 * n_rows)
        X = means[y] + 0.7 * rng.normal(size=(len(y), *shape)) + number * shift
        half = len(y) // 2
        labels = np.array([f"{name}-{k}" for k in range(n_classes)])[y]
        return Task(name, X[:half], labels[:half], X[half:], labels[half:])

    return TaskStream([task(number, *classes) for number, classes in enumerate(N_CLASSES.items())])


def teach(learner: Learner, stream: TaskStream) -> Learner:
    """All tasks, one after another."""
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


@cache
def stream_for(name: str) -> TaskStream:
    """Images for DF-CNN, flat rows for all others."""
    if name == "df-cnn":
        return make_stream((2, 8, 8))
    return make_stream((8,))


@cache
def taught(name: str) -> Learner:
    """The reference after all three tasks; to be looked at only."""
    return teach(tiny(name), stream_for(name))
