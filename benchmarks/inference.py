"""Predicting for one task against its encoders alone: tree applications, or the networks' forward
passes.
"""

from collections.abc import Iterator
from importlib.util import find_spec

import torch

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import Rows, flat_tasks, image_tasks
from lifelong import Silly, SillyForest, SillyNetwork
from lifelong.encoders import walking_many


def rows(quick: bool) -> Iterator[Row]:
    """Ten forests, wide and narrow; three of the paper's CNNs with each channel.

    Walks and sums of forests are compiled beforehand, as in a process that has answered some.
    """
    note = "without numba"
    if find_spec("numba") is not None:
        walking_many.WARM_UP = 0
        note = "with numba"
    for n_features in (3072, 50):
        stream = flat_tasks(10, 500, n_features)
        learner = learnt(SillyForest(random_state=0), stream)
        yield _against_encoders(
            f"SiLLy-F, 10 tasks, 500 × {n_features}", learner, stream[0], 5 if quick else 25, note
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


def _against_encoders(what: str, learner: Silly, task: Rows, repeats: int, note: str = "") -> Row:
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
    for _ in range(2):  # forests are laid out for compiled walks when they have been asked enough
        learner.predict(X, task=0)
    pairs = in_turn(side(lambda: learner.predict(X, task=0)), side(encoders_alone), repeats)
    work = f"predict {len(X)} rows, {what}"
    return compare(work, "its encoders alone", pairs, "≤", 1.15, note=note)
