"""ProgLearn's side, run in its own environment: nothing here is known to lifelong, and nothing
there to us.

Trees look at √p features, as ours do. ``LifelongClassificationForest`` has no parameter for that,
so its tasks are added by the method it inherits, with the arguments it would pass on and
``max_features`` beside them.
"""

from typing import Any

import keras
import numpy as np
from proglearn.forest import LifelongClassificationForest
from proglearn.network import LifelongClassificationNetwork
from proglearn.progressive_learner import ClassificationProgressiveLearner

from benchmarks.streams import flat_tasks, image_tasks
from benchmarks.worker import Figures, Watch, measured, serve


def forest(tasks: int, rows: int, features: int) -> Figures:
    """Ten trees of depth 30 per task, grown on 67 % of its rows."""

    def add(learner: Any, X: np.ndarray, y: np.ndarray, t: int) -> None:
        ClassificationProgressiveLearner.add_task(
            learner,
            X,
            y,
            task_id=t,
            transformer_voter_decider_split=[0.67, 0.33, 0],
            num_transformers=10,
            transformer_kwargs={"kwargs": {"max_depth": 30, "max_features": "sqrt"}},
            voter_kwargs={"classes": np.unique(y), "kappa": np.inf},
            decider_kwargs={"classes": np.unique(y)},
        )

    return _measured(LifelongClassificationForest(), add, flat_tasks(tasks, rows, features))


def network(tasks: int, rows: int, epochs: int) -> Figures:
    """The small CNN of silly_worker; ``optimizer="adam"``, since the default fails on a second
    task.
    """
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    learner = LifelongClassificationNetwork(model, optimizer="adam", epochs=epochs, batch_size=32)
    stream = [(X.transpose(0, 2, 3, 1), y) for X, y in image_tasks(tasks, rows, (1, 28, 28))]
    return _measured(learner, lambda learning, X, y, t: learning.add_task(X, y, task_id=t), stream)


def _measured(learner: Any, add: Any, stream: list[tuple[np.ndarray, np.ndarray]]) -> Figures:
    channels = Watch()
    learner.set_voter = channels.over(learner.set_voter)
    learner.set_decider = channels.over(learner.set_decider)
    return measured(
        stream,
        lambda X, y, t: add(learner, X, y, t),
        lambda X: learner.predict(X, 0),
        channels=channels,
        encoder=learner.default_transformer_class,
        push="transform",
        held=lambda: {
            task: dict(of) for task, of in learner.task_id_to_transformer_id_to_voters.items()
        },
    )


if __name__ == "__main__":
    serve({"forest": forest, "network": network})
