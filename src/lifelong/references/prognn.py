"""ProgNN: progressive neural networks (Rusu et al., 2016), with the convolutional adapters of Lee
et al. (2019).
"""

from copy import deepcopy
from itertools import pairwise
from typing import ClassVar, Self

import torch
from torch import nn

from lifelong.nets.architectures import Answer, LayerSizes, layer_sizes, views_of
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import front
from lifelong.references.base import MultiTask, NetworkLearner, Round
from lifelong.references.readout import Bodies


def lateral_width(channels_in: int, n_earlier: int) -> int:
    """max(1, ⌊C_in / (2 (prev + 1))⌋): unclamped it reaches 0 at the 9th task for C_in = 16."""
    return max(1, channels_in // (2 * (n_earlier + 1)))


def n_laterals(depth: int, n_earlier: int) -> int:
    """One from each earlier column, but none into the first layer."""
    if depth == 0:
        return 0
    return n_earlier


class Lateral(nn.Module):
    """From an earlier column's layer below: learned scalar → 1×1 convolution to few channels → ReLU
    → 3×3 convolution.

    Between dense layers both convolutions are dense layers.
    """

    def __init__(self, narrow: nn.Module, wide: nn.Module) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.adapter = nn.Sequential(narrow, nn.ReLU(), wide)

    def forward(self, below: torch.Tensor) -> torch.Tensor:
        """What is added to the column's own layer."""
        added: torch.Tensor = self.adapter(self.scale * below)
        return added


class Layer(nn.Module):
    """h = ReLU(norm(main(h_below) + Σ_j lateral_j(h_below of column j)))."""

    def __init__(self, main: nn.Module, norm: nn.Module, laterals: list[Lateral]) -> None:
        super().__init__()
        self.main = main
        self.norm = norm
        self.laterals = nn.ModuleList(laterals)

    def forward(self, below: torch.Tensor, earlier: list[torch.Tensor]) -> torch.Tensor:
        """The layer's activation."""
        total = self.main(below)
        for lateral, theirs in zip(self.laterals, earlier, strict=True):
            total = total + lateral(theirs)
        activation: torch.Tensor = self.norm(total).relu()
        return activation


class Column(nn.Module):
    """One task's network. Its layers read the earlier columns' layers below; its dense top after
    convolutions does not.

    Without convolutions (flat rows, or ``network`` as hidden sizes) the dense layers are the ones
    with laterals, as in Rusu et al.'s fully connected networks.
    """

    def __init__(self, sizes: LayerSizes, n_earlier: int) -> None:
        super().__init__()
        if sizes.convolutions:
            self.layers = nn.ModuleList(_convolutions(sizes, n_earlier))
            self.top = nn.Sequential(nn.Flatten(), *_plain([sizes.flat, *sizes.dense]))
        else:
            self.layers = nn.ModuleList(_dense([sizes.flat, *sizes.dense], n_earlier))
            self.top = nn.Sequential()

    def forward(self, x: torch.Tensor, earlier: list[list[torch.Tensor]]) -> list[torch.Tensor]:
        """The activations of all layers; ``earlier`` are those of the earlier columns."""
        first, *higher = self.layers
        activations: list[torch.Tensor] = [first(x, [])]
        for depth, layer in enumerate(higher):
            activations.append(layer(activations[-1], [theirs[depth] for theirs in earlier]))
        return activations


def _convolutions(sizes: LayerSizes, n_earlier: int) -> list[Layer]:
    def lateral(c_in: int, c_out: int, stride: int) -> Lateral:
        r = lateral_width(c_in, n_earlier)
        return Lateral(
            nn.Conv2d(c_in, r, 1), nn.Conv2d(r, c_out, 3, stride=stride, padding=1, bias=False)
        )

    return [
        Layer(
            nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1),
            nn.BatchNorm2d(c_out),
            [lateral(c_in, c_out, stride) for _ in range(n_laterals(depth, n_earlier))],
        )
        for depth, (c_in, c_out, stride) in enumerate(sizes.convolutions)
    ]


def _dense(units: list[int], n_earlier: int) -> list[Layer]:
    def lateral(n_in: int, n_out: int) -> Lateral:
        r = lateral_width(n_in, n_earlier)
        return Lateral(nn.Linear(n_in, r), nn.Linear(r, n_out, bias=False))

    return [
        Layer(
            nn.Linear(a, b),
            nn.Identity(),
            [lateral(a, b) for _ in range(n_laterals(depth, n_earlier))],
        )
        for depth, (a, b) in enumerate(pairwise(units))
    ]


def _plain(units: list[int]) -> list[nn.Module]:
    return [layer for a, b in pairwise(units) for layer in (nn.Linear(a, b), nn.ReLU())]


class ProgressiveNetwork(MultiTask):
    """One column per task; only the last one trains, and all others stay in eval mode."""

    def __init__(self, sizes: LayerSizes, standardise: nn.Module) -> None:
        super().__init__(sizes.dense[-1])
        self.sizes = sizes
        self.standardise = standardise
        self.columns = nn.ModuleList()

    def add_task(self) -> None:
        """Freeze what there is and add a column."""
        self.columns.requires_grad_(False)
        self.columns.append(Column(self.sizes, len(self.columns)))

    def train(self, mode: bool = True) -> Self:
        """Frozen columns never leave eval mode: their batch-norm statistics are frozen, too."""
        super().train(mode)
        for column in self.columns:
            column.train(mode and any(weight.requires_grad for weight in column.parameters()))
        return self

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K): the task's column and all before it."""
        last = self.activations(self.standardise(x), task)[-1]
        logits: torch.Tensor = self.heads[task](self.columns[task].top(last))  # type: ignore[operator]
        return logits

    def activations(self, x: torch.Tensor, task: int) -> list[torch.Tensor]:
        """What comes out of the layers of the task's column, for standardised rows."""
        if not self.sizes.convolutions:
            x = x.flatten(1)
        activations: list[list[torch.Tensor]] = []
        for column in list(self.columns)[: task + 1]:
            activations.append(column(x, activations))
        return activations[task]

    def bodies(self, task: int, rows: torch.Tensor) -> Bodies:
        """The layers of the task's column, which read all earlier ones, and its answer."""
        with torch.no_grad():
            layers = ColumnLayers(self, task, self.standardise(rows))
        return Bodies([nn.Sequential(self.standardise, layers)])


class ColumnLayers(nn.Module):
    """The layers of one column side by side, read as the middle layers of a network are."""

    def __init__(self, model: ProgressiveNetwork, task: int, rows: torch.Tensor) -> None:
        super().__init__()
        self.model = model
        self.task = task
        views = [views_of(activation) for activation in model.activations(rows, task)]
        self.views = nn.ModuleList(nn.ModuleList(of_layer) for of_layer in views)
        self.answer = nn.Sequential()
        if model.sizes.convolutions:
            # A copy: a module counts once, and the head has to be the last one but the answer.
            head = deepcopy(model.heads[task])
            self.answer = nn.Sequential(model.columns[task].top, head, Answer())  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """All layers and the answer (n, d)."""
        activations = self.model.activations(x, self.task)
        sides = [
            view(activation)
            for activation, views in zip(activations, self.views, strict=True)
            for view in views  # type: ignore[attr-defined]
        ]
        if len(self.answer):
            sides.append(self.answer(activations[-1]))
        return torch.cat(sides, dim=1)


class ProgNN(NetworkLearner):
    """A new column of layers per task, which reads the frozen columns of all earlier tasks: nothing
    is ever forgotten.

        h_l = ReLU(BN(W_l h_{l−1} + Σ_j V_lj ReLU(U_lj a_lj h^(j)_{l−1})))   for l > 1;
        U: 1×1, V: 3×3 convolutions

    Backward transfer is exactly 0. No laterals into layer 1 or into the dense layers after
    convolutions; on flat rows the dense layers carry them. Parameters grow with T². The learning
    rate is constant (the authors divide it by 1 + epoch/4000, which is 1 for any training this
    long). More rows of a known task train its head alone: later columns build on its column as it
    is.

    Parameters
    ----------
    network : "auto", "cnn", "mlp" or hidden sizes
    width, recipe, device, readout, random_state
        See :class:`~lifelong.references.base.NetworkLearner`.
    """

    default_recipe: ClassVar[Recipe] = Recipe(
        epochs=60, batch_size=10, optimiser="rmsprop", lr=1e-4
    )

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        sizes = layer_sizes(self.network, tuple(inputs.shape[1:]), self.width)
        return ProgressiveNetwork(sizes, front(inputs, self._recipe()))

    def _train(self, model: ProgressiveNetwork, now: Round) -> None:
        self._fit_rows(model, now)
        model.columns.requires_grad_(False)
