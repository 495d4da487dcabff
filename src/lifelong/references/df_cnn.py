"""DF-CNN: the deconvolutional factorised CNN (Lee, Stokes & Eaton, IJCAI 2019)."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import conv2d

from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import Convolution, LayerSizes, layer_sizes
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front
from lifelong.references.base import MultiTask, NetworkLearner, Round

_BASE_CHANNELS = (16, 24, 32, 36, 40)  # of the shared 2×2 knowledge base, per convolution
_MAPPED_CHANNELS = (24, 48, 64, 72, 80)  # after the task's transposed convolution


def glorot_uniform(*shape: int, fan_in: float, fan_out: float) -> torch.Tensor:
    """Random numbers between ±√(6 / (fan_in + fan_out)): what the authors start from."""
    limit = math.sqrt(6 / (fan_in + fan_out))
    return limit * (2 * torch.rand(shape) - 1)


def new_base(n_channels: int) -> torch.Tensor:
    """A knowledge base (channels, 2, 2).

    The authors' framework takes the two last of its dimensions, 2 × channels, for inputs and
    outputs, and the other 2 for a receptive field: a spread of .24 for 16 channels, .15 for 40.
    """
    return glorot_uniform(n_channels, 2, 2, fan_in=2 * 2, fan_out=2 * n_channels)


class FactorisedConvolution(nn.Module):
    """A task's own part of one convolution: it turns the shared base into a 3×3 kernel."""

    def __init__(self, sizes: Convolution, base_channels: int, mapped_channels: int) -> None:
        super().__init__()
        c_in, c_out, self.stride = sizes
        # 2×2 → 3×3; without a bias, so that the kernel is made of the base and of nothing else
        self.deconvolution = nn.ConvTranspose2d(
            base_channels, mapped_channels, 3, stride=2, padding=1, bias=False
        )
        nn.init.xavier_uniform_(self.deconvolution.weight)
        self.tensor = nn.Parameter(
            glorot_uniform(
                mapped_channels,
                c_out,
                c_in,
                fan_in=mapped_channels * c_in,
                fan_out=mapped_channels * c_out,
            )
        )
        self.norm = nn.BatchNorm2d(c_out)

    def kernel(self, base: torch.Tensor) -> torch.Tensor:
        """K[o, i, h, w] = Σ_d U[d, o, i] · ReLU(deconvolution(base))[d, h, w]."""
        return torch.einsum("doi,dhw->oihw", self.tensor, self._mapped(base))

    def _mapped(self, base: torch.Tensor) -> torch.Tensor:
        mapped: torch.Tensor = self.deconvolution(base[None])[0].relu()  # (D, 3, 3)
        return mapped

    def forward(self, x: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
        """ReLU(BN(x * kernel)); batch norm's shift is the bias."""
        activation: torch.Tensor = self.norm(
            conv2d(x, self.kernel(base), stride=self.stride, padding=1)
        ).relu()
        return activation


class TaskPart(nn.Module):
    """All that belongs to one task but its head: a factor per convolution, and the dense layers."""

    def __init__(
        self, sizes: LayerSizes, base_channels: list[int], mapped_channels: list[int]
    ) -> None:
        super().__init__()
        factors = zip(sizes.convolutions, base_channels, mapped_channels, strict=True)
        self.factors = nn.ModuleList(FactorisedConvolution(*factor) for factor in factors)
        units = [sizes.flat, *sizes.dense]
        dense = [layer for a, b in pairwise(units) for layer in (nn.Linear(a, b), nn.ReLU())]
        self.top = nn.Sequential(nn.Flatten(), *dense)


def scaled(channels: Sequence[int], width: float) -> list[int]:
    """So many channels per convolution, ``width`` times as many."""
    return [max(1, round(width * count)) for count in channels]


class FactorisedNetwork(MultiTask):
    """One knowledge base (2×2×channels) per convolution for all tasks, and a part per task."""

    def __init__(self, sizes: LayerSizes, width: float, standardise: nn.Module) -> None:
        super().__init__(sizes.dense[-1])
        self.sizes = sizes
        self.standardise = standardise
        self.base_channels = scaled(_BASE_CHANNELS, width)
        self.mapped_channels = scaled(_MAPPED_CHANNELS, width)
        self.bases = nn.ParameterList(new_base(channels) for channels in self.base_channels)
        self.parts = nn.ModuleList()

    def add_task(self) -> None:
        """A part for a new task."""
        self.parts.append(TaskPart(self.sizes, self.base_channels, self.mapped_channels))

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K) by the task's kernels, generated from the bases as they are now."""
        own = self.parts[task]
        assert isinstance(own, TaskPart)
        x = self.standardise(x)
        for factor, base in zip(own.factors, self.bases, strict=True):
            x = factor(x, base)
        logits: torch.Tensor = self.heads[task](own.top(x))
        return logits


class DFCNN(NetworkLearner):
    """Convolution kernels are generated from a small shared base by factors that belong to a task.

        kernel_l = contract(U_{l,t}, ReLU(deconvolution_{l,t}(base_l)))

    The bases and the current task's part train. Old tasks' kernels change whenever the bases
    change, with nothing to hold them. Bases and factors start from Glorot's uniform distribution,
    as the authors' do. Dense layers and batch norms belong to the task (our reading); the channels
    of the bases for a fifth convolution continue their series. Learning rate as for ProgNN.
    **Images only**: a base is a patch of a kernel, and dense layers have none.

    Parameters
    ----------
    network : "auto" or "cnn"
    width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`. ``width`` also scales the bases.
    """

    default_recipe: ClassVar[Recipe] = Recipe(
        epochs=60, batch_size=10, optimiser="rmsprop", lr=1e-4
    )

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        sizes = layer_sizes(self.network, tuple(inputs.shape[1:]), self.width)
        if not sizes.convolutions:
            raise ParameterError(
                "DF-CNN generates convolution kernels, so it reads images (n, c, h, w) with"
                " network='cnn'. For flat rows choose another learner, such as ProgNN."
            )
        return FactorisedNetwork(sizes, self.width, front(inputs, self._recipe()))

    def _train(self, model: FactorisedNetwork, now: Round) -> None:
        self._fit_rows(model, now)
