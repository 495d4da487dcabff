"""A shared trunk of which only the weights of linear layers and convolutions go on learning."""

from typing import Self

import torch
from torch import nn

from lifelong.references.base import SharedTrunk


class FixedNorms(SharedTrunk):
    """Batch norms, biases and all else beside weight matrices are learnt with the first task.

    From the second task on they stay as they are: a statistic or a bias that moves would change
    what old tasks get, whatever is done about the weights.
    """

    def layers(self) -> list[nn.Module]:
        """The linear layers and convolutions of the trunk, in order."""
        found = self.trunk.modules()
        return [layer for layer in found if isinstance(layer, nn.Linear | nn.Conv2d)]

    def weights(self) -> list[nn.Parameter]:
        """Their weights: (out, in) or (out, in, k, k)."""
        return [layer.weight for layer in self.layers()]  # type: ignore[misc]

    def fix_the_rest(self) -> None:
        """Freeze all of the trunk but these weights."""
        learning = {id(weight) for weight in self.weights()}
        for weight in self.trunk.parameters():
            weight.requires_grad_(id(weight) in learning)

    def train(self, mode: bool = True) -> Self:
        """Once there are two tasks, batch norms never leave eval mode."""
        super().train(mode)
        if len(self.heads) > 1:
            for module in self.trunk.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.eval()
        return self


def restore(weight: nn.Parameter, before: torch.Tensor, where: torch.Tensor) -> None:
    """Give a weight its values of before, bit for bit, where the mask says so."""
    with torch.no_grad():
        weight.copy_(torch.where(where, before, weight))
