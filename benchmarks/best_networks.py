"""``SillyNetwork.best`` on ten tasks of images: training a network against a bare loop, for each
row that passes; and predicting with shared networks against one network of the same recipe.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.measure import Figures, Row, Side, compare, in_turn, side, timed
from benchmarks.streams import Rows, image_tasks
from benchmarks.training_an_encoder import bare_loop
from lifelong import Recipe, SillyNetwork
from lifelong.encoders.network import NetworkEncoder
from lifelong.nets.architectures import cnn
from lifelong.nets.classifier import NetworkClassifier
from lifelong.nets.precision import settled

N_TASKS = 10
N_ROWS = 500


def rows(quick: bool) -> Iterator[Row]:
    """500 images of 32×32 per task, the strong recipe, one thread each."""
    stream = list(mirrored(image_tasks(N_TASKS, N_ROWS, (3, 32, 32))))
    epochs = 4
    repeats = 3
    if quick:
        epochs = 1
        repeats = 1
    yield training(stream[0], epochs, repeats)
    for shared in (1, 2):
        yield predicting(stream, shared, repeats)


def mirrored(stream: list[Rows]) -> Iterator[Rows]:
    """Half of the images from the other side: networks then look at both sides, as at CIFAR's."""
    rng = np.random.default_rng(0)
    for X, y in stream:
        turned = rng.random(len(X)) < 0.5
        yield np.where(turned[:, None, None, None], X[:, :, :, ::-1], X), y


def training(task: Rows, epochs: int, repeats: int) -> Row:
    """One encoder, augmentation and its cycle of learning rates included."""
    X, y = task
    recipe = replace(Recipe.strong(), epochs=epochs)
    encoder = NetworkEncoder("cnn", layer="middle", max_samples=1.0, recipe=recipe)
    ours = side(lambda: encoder.fit(X, y, rng=np.random.default_rng(0)))
    theirs = side(lambda: bare_loop(X, y, 1.0, recipe))
    passes = epochs * len(X)
    pairs = in_turn(per_pass(ours, passes), per_pass(theirs, passes), repeats)
    work = "strong recipe, the paper's CNN: training, per row that passes"
    precision = settled(recipe, cnn((3, 32, 32))).precision
    return compare(work, "a bare PyTorch loop", pairs, "≤", 0.65, note=f"in {precision}")


def per_pass(work: Side, passes: int) -> Side:
    """Seconds divided by rows that pass."""

    def figures() -> Figures:
        return {name: seconds / passes for name, seconds in work().items()}

    return figures


def predicting(stream: list[Rows], shared: int, repeats: int) -> Row:
    """1000 rows of one task. How long networks were trained does not matter to it."""
    recipe = replace(Recipe.strong(), epochs=1)
    learner = SillyNetwork.best(shared=shared, recipe=recipe, random_state=0)
    for name, (X, y) in enumerate(stream):
        learner.partial_fit(X, y, task=name)
    one = NetworkClassifier("cnn", recipe=recipe, random_state=0).fit(*stream[0])
    X = np.concatenate([X for X, _ in stream[:2]])
    learner.predict(X, task=0)
    pairs = in_turn(
        lambda: timed(lambda: learner.predict(X, task=0)),
        lambda: timed(lambda: one.predict(X)),
        repeats,
    )
    read = len(learner.channels_[0].reads)
    work = f"SillyNetwork.best(shared={shared}), {N_TASKS} tasks: predict {len(X)} images"
    return compare(work, "one network", pairs, "≤", 4.5, note=f"reads {read} encoders")
