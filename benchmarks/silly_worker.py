"""Our side of the comparison with ProgLearn."""

from typing import Any

from torch import nn

from benchmarks.streams import flat_tasks, image_tasks
from benchmarks.worker import Figures, Watch, measured, serve
from lifelong import SillyForest, SillyNetwork
from lifelong.encoders.forest import FittedForest
from lifelong.encoders.network import FittedNetwork
from lifelong.learners import algorithms


def forest(tasks: int, rows: int, features: int) -> Figures:
    """SiLLy-F with ProgLearn's settings."""
    return _measured(
        SillyForest(n_estimators=10, max_depth=30, random_state=0),
        FittedForest,
        tasks,
        rows,
        features,
    )


def network(tasks: int, rows: int, epochs: int) -> Figures:
    """SiLLy-N with ProgLearn's channel, the nearest neighbours."""
    learner = SillyNetwork(small_cnn, channel="neighbours", epochs=epochs, random_state=0)
    return _measured(learner, FittedNetwork, tasks, rows, (1, 28, 28))


def small_cnn(_: tuple[int, ...]) -> nn.Module:
    """Two convolutions and a dense layer for 28×28 images; proglearn_worker has the same."""
    convolutions = [
        nn.Conv2d(1, 16, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.ReLU(),
    ]
    return nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(32 * 6 * 6, 64), nn.ReLU())


def _measured(learner: Any, encoder: Any, n_tasks: int, n_rows: int, shape: Any) -> Figures:
    if isinstance(shape, int):
        stream = flat_tasks(n_tasks, n_rows, shape)
    else:
        stream = image_tasks(n_tasks, n_rows, shape)
    channels = Watch()
    plain = algorithms.see  # Algorithms 2 and 3: push rows through an encoder, update the channel
    algorithms.see = channels.over(plain)
    try:
        return measured(
            stream,
            lambda X, y, t: learner.partial_fit(X, y, task=t),
            lambda X: learner.predict(X, task=0),
            channels=channels,
            encoder=encoder,
            push="encode",
            held=lambda: (learner.channels_, learner.densities_),
        )
    finally:
        algorithms.see = plain


if __name__ == "__main__":
    serve({"forest": forest, "network": network})
