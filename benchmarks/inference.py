"""Predicting for one task against its encoders alone: tree applications, or the networks' forward
passes.
"""

from collections.abc import Iterator

import torch

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import Rows, flat_tasks, image_tasks
from lifelong import Silly, SillyForest, SillyNetwork


def rows(quick: bool) -> Iterator[Row]:
    """Ten forests, wide and narrow; three of the paper's CNNs with each channel."""
    for n_features in (3072, 50):
        stream = flat_tasks(10, 500, n_features)
        learner = learnt(SillyForest(random_state=0), stream)
        yield _against_encoders(
            f"SiLLy-F, 10 tasks, 500 × {n_features}", learner, stream[0], 5 if quick else 25
        )
    images = image_tasks(3, 500, (3, 32, 32))
    for channel in ("forest", "ridge", "neighbours"):
        learner = learnt(SillyNetwork("cnn", channel=channel, epochs=1, random_state=0), images)
        yield _against_encoders(
            f"SiLLy-N, 3 tasks, channel {channel}", learner, images[0], 3 if quick else 9
        )


def learnt(learner: Silly, stream: list[Rows]) -> Silly:
    """The learner after all tasks."""
    for t, (X, y) in enumerate(stream):
        learner.partial_fit(X, y, task=t)
    return learner


def _against_encoders(what: str, learner: Silly, task: Rows, repeats: int) -> Row:
    X = task[0]

    def encoders_alone() -> None:
        for encoder in learner.encoders_.values():
            if hasattr(encoder, "trees"):
                for tree in encoder.trees:
                    tree.apply(X)
            else:
                torch.set_num_threads(1)
                with torch.inference_mode():
                    encoder.body(torch.from_numpy(X))

    encoders_alone()
    pairs = in_turn(side(lambda: learner.predict(X, task=0)), side(encoders_alone), repeats)
    return compare(f"predict {len(X)} rows, {what}", "its encoders alone", pairs, "≤", 1.15)
