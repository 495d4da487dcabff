"""Plain fine-tuning (``none``) against a bare loop with the same network, optimiser and batches."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import image_tasks
from lifelong import Recipe
from lifelong.nets.architectures import Standardise, cnn
from lifelong.references.none import NoneLearner


def rows(quick: bool) -> Iterator[Row]:
    """A round of training of the narrow CNN, in batches of 16: the smaller the step, the more
    overhead shows.
    """
    X, y = image_tasks(1, 500, (3, 32, 32))[0]
    iterations = 200
    repeats = 7
    if quick:
        iterations = 60
        repeats = 3
    recipe = Recipe(iterations=iterations, batch_size=16)
    bare_loop(X, y, recipe)
    pairs = in_turn(
        side(
            lambda: NoneLearner("cnn", width=0.25, recipe=recipe, random_state=0).partial_fit(
                X, y, task=0
            )
        ),
        side(lambda: bare_loop(X, y, recipe)),
        repeats,
    )
    what = f"plain fine-tuning, {recipe.iterations} steps of 16 rows"
    yield compare(what, "a bare loop, same fused Adam", pairs, "≤", 1.05)


def bare_loop(X: np.ndarray, y: np.ndarray, recipe: Recipe) -> None:
    """The same steps, and nothing else."""
    torch.set_num_threads(1)
    inputs = torch.from_numpy(X)
    targets = torch.from_numpy(y)
    model = nn.Sequential(Standardise(inputs), cnn((3, 32, 32), 0.25), nn.Linear(500, 10))
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.lr, fused=True)
    done = 0
    while done < (recipe.iterations or 0):
        for batch in torch.randperm(len(inputs)).split(recipe.batch_size):
            optimiser.zero_grad()
            cross_entropy(model(inputs[batch]), targets[batch]).backward()
            optimiser.step()
            done += 1
            if done == recipe.iterations:
                break
