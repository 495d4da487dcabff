"""LMC: local module composition (Ostapenko et al., NeurIPS 2021)."""

from dataclasses import replace
from typing import ClassVar

import torch
from torch.nn.functional import cross_entropy

from lifelong._random import RandomState
from lifelong._validation import check_count
from lifelong.nets.architectures import Network, layer_sizes
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front, optimise
from lifelong.references.base import MultiTask, NetworkLearner, Round
from lifelong.references.modular import ModularLayer, ModularNetwork, Prior


class LMC(NetworkLearner):
    """Each layer mixes modules by how well each can reconstruct its input; unfamiliar inputs call
    for a new module.

        w ∝ softmax(−log s / temp) · softmax(−log s̄ / prior_temp);   loss = CE + reg · Σ_modules s̄
        a module is added at a layer when all its modules are frozen and z = (s̄ − μ)/σ ≥ threshold
        for all of them

    s̄ is the mean of s over a batch, and μ and σ are mean and deviation of s̄ over the batches that a
    module was trained on (taken when it has been trained; the authors let them run along). What a
    decoder reads and what it has to reconstruct are both detached, so that s trains decoders and CE
    the functional parts.

    Modules freeze when their task ends. Additions are decided at the start of a task, from the
    lowest layer up, by the mean of s̄ over all its batches (the authors: batch by batch). A new
    module is first *projected*: trained alone to suit the fixed layers above, which pass the
    gradients of their s down to it. The layers are our base CNN's convolutions (the authors:
    four of 64 channels), the head reads the last one, and on flat rows the layers are dense. At
    inference s̄ is the mean over the task's training rows, so that predictions do not depend on
    which rows are asked together, and only modules of the task's time are asked: the task is known
    here, and later modules, which never saw its rows, would take its inputs over. More rows of a
    known task train its head alone.

    Parameters
    ----------
    threshold : float, default 4.0
        z at which inputs count as unfamiliar: 4, and 1.5 on some of the authors' streams.
    regularisation : float, default 10.0
        reg: weight of the reconstruction losses.
    temperature, prior_temperature : float, defaults 1.0 and 0.1
        How sharply modules are chosen, by each row and by the task: the lower, the sharper.
    projection_epochs : int, default 5
        Passes over the rows for a new module before the task itself is learnt.
    network : "auto", "cnn", "mlp" or hidden sizes, default "auto"
    width, recipe, device, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    default_recipe: ClassVar[Recipe] = Recipe(epochs=100, batch_size=64, lr=1e-3)

    def __init__(
        self,
        network: Network = "auto",
        *,
        threshold: float = 4.0,
        regularisation: float = 10.0,
        temperature: float = 1.0,
        prior_temperature: float = 0.1,
        projection_epochs: int = 5,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            network, width=width, recipe=recipe, device=device, random_state=random_state
        )
        self.threshold = threshold
        self.regularisation = regularisation
        self.temperature = temperature
        self.prior_temperature = prior_temperature
        self.projection_epochs = projection_epochs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.projection_epochs, "projection_epochs")

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        sizes = layer_sizes(self.network, tuple(inputs.shape[1:]), self.width)
        return ModularNetwork(
            sizes, front(inputs, self._recipe()), self.temperature, self.prior_temperature
        )

    def _train(self, model: ModularNetwork, now: Round) -> None:
        if now.task < len(model.priors):  # a known task
            self._fit_rows(model, now)
            return
        recipe = self._recipe()
        batch_size = recipe.batch_size
        for layer in model.modular_layers():
            if self._unfamiliar(model, layer, now.inputs):
                self._add_module(model, layer, now)
        optimise(model, lambda batch: self._loss(model, now, batch), len(now.inputs), recipe)
        self._freeze(model, now, batch_size)

    def _loss(self, model: ModularNetwork, now: Round, batch: torch.Tensor) -> torch.Tensor:
        """CE + reg · Σ s̄ over all modules of all layers."""
        features, losses = model.activations(now.inputs[batch], now.task)
        structural = torch.stack([s.mean(dim=0).sum() for s in losses]).sum()
        logits = model.heads[now.task](features)
        return cross_entropy(logits, now.targets[batch]) + self.regularisation * structural

    def _unfamiliar(self, model: ModularNetwork, layer: ModularLayer, inputs: torch.Tensor) -> bool:
        """Whether every module of the layer is frozen and sees z = (s̄ − μ)/σ ≥ threshold."""
        if not all(module.frozen for module in layer.own_modules()):
            return False
        depth = model.modular_layers().index(layer)
        s_mean = training_losses(model, inputs)[depth].mean(dim=0)  # (M,)
        return min(layer.z(s_mean)) >= self.threshold

    def _add_module(self, model: ModularNetwork, layer: ModularLayer, now: Round) -> None:
        """Add a module and project it: only it trains, by the structural losses of its own layer
        and those above.
        """
        others = [module for module in model.all_modules() if not module.frozen]
        for module in others:
            module.requires_grad_(False)
        depth = model.modular_layers().index(layer)
        layer.add_module_().to(now.inputs.device)
        projection = replace(self._recipe(), epochs=self.projection_epochs, iterations=None)

        def loss(batch: torch.Tensor) -> torch.Tensor:
            _, losses = model.activations(now.inputs[batch], now.task, projected=depth)
            own = losses[depth][:, -1].mean()
            above = losses[depth + 1 :]
            return own + sum(s.mean(dim=0).sum() for s in above)

        optimise(model, loss, len(now.inputs), projection)
        for module in others:
            module.requires_grad_(True)

    def _freeze(self, model: ModularNetwork, now: Round, batch_size: int) -> None:
        """At the task's end: trained modules note μ and σ and freeze; the task notes its prior."""
        losses = training_losses(model, now.inputs)
        for layer, s in zip(model.modular_layers(), losses, strict=True):
            for module, own in zip(layer.own_modules(), s.unbind(dim=1), strict=True):
                if not module.frozen:
                    module.note(own, batch_size)
        model.layers.requires_grad_(False)
        model.priors.append(Prior([s.mean(dim=0) for s in losses]))
        model.eval()


@torch.no_grad()
def training_losses(model: ModularNetwork, inputs: torch.Tensor) -> list[torch.Tensor]:
    """s (n, M) of every layer for all rows, in eval mode."""
    model.eval()
    chunks = [model.activations(rows, None)[1] for rows in torch.split(inputs, 500)]
    return [torch.cat(of_layer) for of_layer in zip(*chunks, strict=True)]
