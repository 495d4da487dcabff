"""Learners and tasks that are learnt in milliseconds."""

from typing import Any

import numpy as np

from lifelong import (
    ForestChannel,
    ForestEncoder,
    LeafChannel,
    Recipe,
    Silly,
    SillyForest,
    SillyNetwork,
)
from lifelong.learners.base import Learner

QUICK = Recipe(iterations=3, batch_size=8, lr=1e-2)


def rows(number: int, n: int = 24, shape: tuple[int, ...] = (4,)) -> tuple[np.ndarray, np.ndarray]:
    """Task number so and so: two or three classes around random means."""
    rng = np.random.default_rng(number)
    n_classes = 2 + number % 2
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n_classes, *shape))[y] + 0.5 * rng.normal(size=(n, *shape))
    return X.astype(np.float32), np.array([f"class-{k}" for k in range(n_classes)])[y]


def taught(learner: Learner, n_tasks: int = 2, shape: tuple[int, ...] = (4,)) -> Learner:
    """The learner after so many tasks."""
    for number in range(n_tasks):
        X, y = rows(number, shape=shape)
        learner.partial_fit(X, y, task=f"task-{number}")
    return learner


def forest(**parameters: Any) -> SillyForest:
    return SillyForest(3, random_state=0, **parameters)


def network(**parameters: Any) -> SillyNetwork:
    return SillyNetwork((6,), recipe=QUICK, random_state=0, **parameters)


def network_parts() -> Silly:
    from lifelong import NetworkEncoder  # imports torch

    return Silly(NetworkEncoder((5,), recipe=QUICK), ForestChannel(n_trees=3), random_state=0)


OURS = {
    "forest": (forest, (4,)),
    "forest on a budget": (lambda: forest(budget=1), (4,)),
    "forest without replay": (lambda: forest(replay=0.0), (4,)),
    "ridge forest": (lambda: forest(channel="ridge"), (4,)),
    "network": (network, (4,)),
    "neighbours network": (lambda: network(channel="neighbours"), (4,)),
    "ridge network": (lambda: network(channel="ridge"), (4,)),
    "two networks per task": (lambda: network(channel="ridge", layer="middle", n_networks=2), (4,)),
    "images": (lambda: SillyNetwork("cnn", width=0.05, recipe=QUICK, random_state=0), (2, 8, 8)),
    "shared networks": (
        lambda: SillyNetwork(
            "cnn",
            width=0.05,
            channel="ridge",
            layer="middle",
            shared=2,
            recipe=QUICK,
            random_state=0,
        ),
        (1, 6, 6),
    ),
    "two cnns per task": (
        lambda: SillyNetwork(
            "cnn",
            width=0.05,
            channel="ridge",
            layer="middle",
            n_networks=2,
            recipe=QUICK,
            random_state=0,
        ),
        (2, 8, 8),
    ),
    "forests on images": (forest, (2, 8, 8)),
    "augmented images": (
        lambda: SillyNetwork(
            "cnn",
            width=0.05,
            recipe=Recipe(iterations=3, augment=True, precision="bfloat16"),
            random_state=0,
        ),
        (2, 8, 8),
    ),
    "parts of the user's choice": (
        lambda: Silly(ForestEncoder(2), LeafChannel(), random_state=0),
        (4,),
    ),
    "a network encoder": (lambda: network_parts(), (4,)),
}


def same_answers(a: Learner, b: Learner, shape: tuple[int, ...] = (4,)) -> bool:
    """Whether two learners know the same tasks and say the same of every row, to the last bit."""
    X = rows(99, n=30, shape=shape)[0]
    return list(a.tasks_) == list(b.tasks_) and all(
        np.array_equal(a.predict_proba(X, task=task), b.predict_proba(X, task=task))
        and a.classes_of(task).tolist() == b.classes_of(task).tolist()
        and a.classes_of(task).dtype.kind == b.classes_of(task).dtype.kind
        for task in a.tasks_
    )
