"""The network of LMC: layers of modules that know by themselves which inputs they are for."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Self

import torch
from torch import nn

from lifelong.nets.architectures import LayerSizes
from lifelong.references.base import MultiTask


class Module(nn.Module):
    """A functional part, and a decoder that reconstructs the module's input from its output.

    How badly it does is the module's own measure of whether an input is for it: s, one number per
    row.
    """

    mean: torch.Tensor  # μ of s̄, the means of s over the batches it was trained on
    std: torch.Tensor  # σ of these means

    def __init__(self, function: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.decoder = decoder
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("std", torch.zeros(()))

    @property
    def frozen(self) -> bool:
        """Whether its task is over."""
        return not any(weight.requires_grad for weight in self.function.parameters())

    def forward(
        self, x: torch.Tensor, *, s_trains_function: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Output, and s = mean squared error of the reconstruction (n,).

        Its target, the input, is detached, and so is what it is made from, the output: s trains
        the decoder alone. With ``s_trains_function`` its gradient runs through the functional part
        and on to the layers below.
        """
        output = self.function(x)
        known = output
        if not s_trains_function:
            known = output.detach()
        if isinstance(self.decoder, nn.ConvTranspose2d):
            reconstruction = self.decoder(known, output_size=x.shape[2:])
        else:
            reconstruction = self.decoder(known)
        return output, ((reconstruction - x.detach()) ** 2).flatten(1).mean(dim=1)

    @torch.no_grad()
    def note(self, s: torch.Tensor, batch_size: int) -> None:
        """Mean and deviation of the means of s (n,) over random batches of so many rows.

        The mean of B rows deviates by σ_rows / √B: after training there is no need to draw them.
        """
        self.mean.copy_(s.mean())
        self.std.copy_(s.std(correction=0) / min(batch_size, len(s)) ** 0.5)

    def z(self, s_mean: torch.Tensor) -> float:
        """(s̄ − μ)/σ: how unfamiliar a batch is."""
        return float((s_mean - self.mean) / self.std.clamp(min=1e-12))


class ModularLayer(nn.Module):
    """Modules side by side; their outputs are mixed by how well each knows the input."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        stride: int | None,
        temperature: float,
        prior_temperature: float,
    ) -> None:
        super().__init__()
        self.n_in = n_in
        self.n_out = n_out
        self.stride = stride  # without one it is a dense layer
        self.temperature = temperature
        self.prior_temperature = prior_temperature
        self.modules_ = nn.ModuleList()

    def own_modules(self) -> list[Module]:
        """The modules, in order of arrival."""
        return [module for module in self.modules_ if isinstance(module, Module)]

    def z(self, s_mean: torch.Tensor) -> list[float]:
        """How unfamiliar a batch is to each module; its means of s are (M,)."""
        modules = self.own_modules()
        return [module.z(mean) for module, mean in zip(modules, s_mean, strict=True)]

    def add_module_(self) -> Module:
        """A fresh module at this layer."""
        if self.stride is None:
            module = _dense_module(self.n_in, self.n_out)
        else:
            module = _convolution_module(self.n_in, self.n_out, self.stride)
        self.modules_.append(module)
        return module

    def forward(
        self, x: torch.Tensor, prior: torch.Tensor | None, *, s_trains_function: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The mixed output, and s of all modules (n, M).

        w ∝ softmax(−log s / temp) · softmax(−log s̄ / prior_temp), where s̄ (M,) is the mean over
        the batch, or ``prior``: the means over the task's training rows. Modules from after that
        time are not asked. No gradient runs through w.
        """
        modules = self.own_modules()
        if prior is not None:
            modules = modules[: len(prior)]
        answers = [module(x, s_trains_function=s_trains_function) for module in modules]
        outputs, losses = zip(*answers, strict=True)
        s = torch.stack(losses, dim=1)  # (n, M)
        known = s.detach().clamp(min=1e-12)
        if prior is None:
            mean = known.mean(dim=0, keepdim=True)
        else:
            mean = prior.clamp(min=1e-12)[None]
        agreement = -known.log() / self.temperature - mean.log() / self.prior_temperature
        w = agreement.softmax(dim=1)  # (n, M)
        w = w.view(*w.shape, *[1] * (outputs[0].ndim - 1))
        return (w * torch.stack(outputs, dim=1)).sum(dim=1), s


def _dense_module(n_in: int, n_out: int) -> Module:
    function = nn.Sequential(nn.Linear(n_in, n_out), nn.ReLU())
    return Module(function, nn.Linear(n_out, n_in))


def _convolution_module(n_in: int, n_out: int, stride: int) -> Module:
    convolution = nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1)
    decoder = nn.ConvTranspose2d(n_out, n_in, 3, stride=stride, padding=1)
    return Module(nn.Sequential(convolution, nn.BatchNorm2d(n_out), nn.ReLU()), decoder)


class Prior(nn.Module):
    """The mean s of every module, layer by layer, on a task's training rows."""

    def __init__(self, means: list[torch.Tensor]) -> None:
        super().__init__()
        for layer, mean in enumerate(means):
            self.register_buffer(f"layer_{layer}", mean)

    def layers(self) -> list[torch.Tensor]:
        """One tensor (M,) per layer."""
        return list(self.buffers())


class ModularNetwork(MultiTask):
    """Layers of modules, a head per task; the base CNN's convolutions or the MLP's dense layers."""

    def __init__(
        self,
        sizes: LayerSizes,
        standardise: nn.Module,
        temperature: float,
        prior_temperature: float,
    ) -> None:
        shapes: list[tuple[int, int, int | None]]
        if sizes.convolutions:
            super().__init__(sizes.flat)
            shapes = [tuple(layer) for layer in sizes.convolutions]  # type: ignore[misc]
        else:
            super().__init__(sizes.dense[-1])
            shapes = [(a, b, None) for a, b in pairwise([sizes.flat, *sizes.dense])]
        self.standardise = standardise
        self.flat_rows = not sizes.convolutions
        self.layers = nn.ModuleList(
            ModularLayer(*shape, temperature, prior_temperature) for shape in shapes
        )
        for layer in self.modular_layers():
            layer.add_module_()
        self.priors = nn.ModuleList()  # per task, once it is learnt

    def modular_layers(self) -> list[ModularLayer]:
        """The layers, from the input up."""
        return [layer for layer in self.layers if isinstance(layer, ModularLayer)]

    def all_modules(self) -> Iterator[Module]:
        """Every module of every layer."""
        for layer in self.modular_layers():
            yield from layer.own_modules()

    def train(self, mode: bool = True) -> Self:
        """Frozen modules never leave eval mode."""
        super().train(mode)
        for module in self.all_modules():
            module.train(mode and not module.frozen)
        return self

    def activations(
        self, x: torch.Tensor, task: int | None, *, projected: int | None = None
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The last layer's output, and s (n, M) of every layer.

        ``task`` None: the prior comes from the batch. The layers above the layer ``projected``
        pass the gradients of their s down to it.
        """
        x = self.standardise(x)
        if self.flat_rows:
            x = x.flatten(1)
        losses = []
        for depth, prior in enumerate(self._priors_of(task)):
            above = projected is not None and depth > projected
            x, s = self.layers[depth](x, prior, s_trains_function=above)
            losses.append(s)
        return x.flatten(1), losses

    def _priors_of(self, task: int | None) -> Sequence[torch.Tensor | None]:
        """One per layer; None where the batch decides."""
        if task is None or task >= len(self.priors):
            return [None] * len(self.layers)
        prior = self.priors[task]
        assert isinstance(prior, Prior)
        return prior.layers()

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K)."""
        logits: torch.Tensor = self.heads[task](self.activations(x, task)[0])
        return logits
