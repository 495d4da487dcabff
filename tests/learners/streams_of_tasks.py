"""Small tasks for the tests of unknown, growing and changing tasks."""

import numpy as np

from lifelong import SillyForest, SillyNetwork, Task

NETWORK = {"network": (16,), "epochs": 20, "lr": 1e-2}
LEARNERS = {
    "forest": lambda **more: SillyForest(5, random_state=0, **more),
    "network": lambda **more: SillyNetwork(**NETWORK, random_state=0, **more),
    "neighbours": lambda **more: SillyNetwork(
        **NETWORK, channel="neighbours", random_state=0, **more
    ),
    "ridge forest": lambda **more: SillyForest(5, channel="ridge", random_state=0, **more),
    "ridge network": lambda **more: SillyNetwork(
        **NETWORK, channel="ridge", random_state=0, **more
    ),
}


def apart(n_tasks=3, n=60, n_classes=3, distance=4.0, seed=0):
    """Tasks whose rows lie in different places, with labels of their own; half of the rows are for
    testing.
    """
    rng = np.random.default_rng(seed)
    made = []
    for t in range(n_tasks):
        y = np.arange(2 * n) % n_classes
        centre, means = distance * rng.normal(size=6), 2 * rng.normal(size=(n_classes, 6))
        X = (centre + means[y] + 0.6 * rng.normal(size=(2 * n, 6))).astype(np.float32)
        labels = np.array([f"t{t}-{k}" for k in range(n_classes)])[y]
        made.append(Task(f"t{t}", X[:n], labels[:n], X[n:], labels[n:]))
    return made


def taught(learner, stream):
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner
