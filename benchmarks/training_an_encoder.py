"""Training a network encoder against the loop everybody writes: same network and batches, plain
Adam, float32.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import image_tasks
from lifelong import Recipe
from lifelong.encoders.network import NetworkEncoder
from lifelong.nets.architectures import Standardise, cnn


def rows(quick: bool) -> Iterator[Row]:
    """The paper's CNN and its four times narrower one, on 335 images of 32×32, one thread each."""
    X, y = image_tasks(1, 335, (3, 32, 32))[0]
    epochs = 3
    repeats = 7
    if quick:
        epochs = 1
        repeats = 3
    for width in (1.0, 0.25):
        recipe = Recipe(epochs=epochs)
        encoder = NetworkEncoder("cnn", width=width, max_samples=1.0, recipe=recipe)
        bare_loop(X, y, width, recipe)
        pairs = in_turn(
            side(lambda e=encoder: e.fit(X, y, rng=np.random.default_rng(0))),
            side(lambda w=width, r=recipe: bare_loop(X, y, w, r)),
            repeats,
        )
        yield compare(
            f"training an encoder, the paper's CNN × {width}",
            "a bare PyTorch loop",
            pairs,
            "≤",
            0.7,
        )


def bare_loop(X: np.ndarray, y: np.ndarray, width: float, recipe: Recipe) -> None:
    """What a PyTorch tutorial does, with nothing switched on."""
    torch.set_num_threads(1)
    inputs = torch.from_numpy(X)
    targets = torch.from_numpy(y)
    body = cnn((3, 32, 32), width).to(memory_format=torch.contiguous_format)
    model = nn.Sequential(Standardise(inputs), body, nn.Linear(body[-2].out_features, 10))
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.lr)
    for _ in range(recipe.epochs):
        for batch in torch.randperm(len(inputs)).split(recipe.batch_size):
            optimiser.zero_grad()
            cross_entropy(model(inputs[batch]), targets[batch]).backward()
            optimiser.step()
