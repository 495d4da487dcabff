"""Early stopping: the weights that held-out rows liked best."""

from collections.abc import Callable
from copy import deepcopy

import numpy as np
import torch
from torch import nn


def held_out(n_rows: int, share: float, *, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """Row numbers to train on, and those of a share of the rows that is held out.

    At least two rows are trained on: of few rows none is held out.

    >>> [len(rows) for rows in held_out(50, 0.1, rng=np.random.default_rng(0))]
    [45, 5]
    """
    n_held = min(round(share * n_rows), max(n_rows - 2, 0))
    order = torch.from_numpy(rng.permutation(n_rows))
    return order[n_held:], order[:n_held]


class BestState:
    """Watches a loss while a network is trained, and brings the best weights back.

    Parameters
    ----------
    model : nn.Module
        The network.
    loss : callable () → float
        How good it is now, in eval mode: the lower, the better.
    every : int
        Steps between two looks.
    """

    def __init__(self, model: nn.Module, loss: Callable[[], torch.Tensor], every: int) -> None:
        self._model = model
        self._loss = loss
        self._every = every
        self._steps = 0
        self._lowest = float("inf")
        self._state = model.state_dict()

    def after_step(self) -> None:
        """Count a step, and look at the loss if it is time."""
        self._steps += 1
        if self._steps % self._every == 0:
            self._look()
            self._model.train()

    def restore(self) -> None:
        """Give the network its best weights; it is in eval mode then."""
        self._look()
        self._model.load_state_dict(self._state)

    @torch.no_grad()
    def _look(self) -> None:
        self._model.eval()
        loss = float(self._loss())
        if loss < self._lowest:
            self._lowest = loss
            self._state = deepcopy(self._model.state_dict())
