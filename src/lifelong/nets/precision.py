"""What ``Recipe(precision="auto")`` trains in: half precision where that is clearly faster.

What decides was measured with ``python -m benchmarks.trials halves``.
"""

import time
from dataclasses import replace
from functools import cache

import torch
from torch import nn

from lifelong.nets.randomness import one_thread
from lifelong.nets.recipe import Recipe

ENOUGH_WEIGHTS = 500_000
"""Smaller networks stay in full precision: half of it saves an eighth of the time of some of them
in batches of 32, and up to 25 000 weights it mostly takes longer."""

_CLEARLY = 0.6
"""A product in half precision takes a quarter to a third of the time on a processor with
instructions for it, and nine tenths to many times as long on one without: the load on a machine
does not bridge that gap."""

_SIDE = 256  # of the matrices that tell
_TIMES = 5


def settled(recipe: Recipe, model: nn.Module) -> Recipe:
    """The recipe for training this model here, ``"auto"`` replaced by what it comes to.

    The same kind of processor decides the same. Devices other than the CPU stay in float32.
    """
    if recipe.precision != "auto":
        return recipe
    weights = list(model.parameters())
    large = sum(weight.numel() for weight in weights) >= ENOUGH_WEIGHTS
    if large and weights[0].device.type == "cpu" and half_is_faster():
        return replace(recipe, precision="bfloat16")
    return replace(recipe, precision="float32")


@cache
def half_is_faster() -> bool:
    """Whether this processor multiplies matrices clearly faster in half precision."""
    with one_thread():
        full = torch.ones(_SIDE, _SIDE)
        return _seconds(full.bfloat16()) < _CLEARLY * _seconds(full)


def _seconds(matrix: torch.Tensor) -> float:
    """Of a product, at best: what else the machine does shall not count."""
    best = float("inf")
    for _ in range(_TIMES):
        began = time.perf_counter()
        matrix @ matrix
        best = min(best, time.perf_counter() - began)
    return best
