"""What Recipe.paper(keras=True) adds to training: other batch-norm constants, early stopping."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import nn

from lifelong.nets.recipe import Recipe

BatchLoss = Callable[[torch.Tensor], torch.Tensor]  # row numbers of a batch → its loss
# An epoch over so many of the rows: model, loss, number of rows, recipe.
Epoch = Callable[[nn.Module, BatchLoss, int, Recipe], None]

_KERAS_MOMENTUM = 0.01  # of the new batch; Keras gives the share of the old: .99
_KERAS_EPS = 1e-3
_HELD_OUT = 3  # one row in three


@contextmanager
def batch_norm_of(model: nn.Module, recipe: Recipe) -> Iterator[None]:
    """Train with the batch norm that the recipe names; afterwards the layers are torch's again.

    A layer divides by √(variance + eps). The difference of the two eps is added to the variance in
    the end: the same answers, and what is saved is a layer like any other.
    """
    layers: list[nn.BatchNorm1d | nn.BatchNorm2d] = []
    if recipe.batch_norm == "keras":
        kinds = (nn.BatchNorm1d, nn.BatchNorm2d)
        layers = [layer for layer in model.modules() if isinstance(layer, kinds)]
    usual = [(layer.momentum, layer.eps) for layer in layers]
    for layer in layers:
        layer.momentum = _KERAS_MOMENTUM
        layer.eps = _KERAS_EPS
    yield
    for layer, (momentum, eps) in zip(layers, usual, strict=True):
        if layer.running_var is not None:
            layer.running_var += layer.eps - eps
        layer.momentum = momentum
        layer.eps = eps


def until_no_better(
    model: nn.Module, batch_loss: BatchLoss, n_rows: int, recipe: Recipe, epoch: Epoch
) -> int:
    """Train epoch after epoch until the loss of held-out rows has not fallen for ``patience``.

    Returns the number of epochs. With fewer than three rows none can be held out.
    """
    order = torch.randperm(n_rows)
    held_out = order[: n_rows // _HELD_OUT]
    learnt_from = order[n_rows // _HELD_OUT :]
    once = replace(recipe, epochs=1, patience=None)
    patience = recipe.patience or recipe.epochs
    lowest = float("inf")
    since = 0
    for number in range(1, recipe.epochs + 1):
        epoch(model, lambda rows: batch_loss(learnt_from[rows]), len(learnt_from), once)
        if not len(held_out):
            continue
        with torch.no_grad():  # an epoch leaves the model in eval mode
            loss = float(batch_loss(held_out))
        since += 1
        if loss < lowest:
            lowest = loss
            since = 0
        if since >= patience:
            return number
    return recipe.epochs
