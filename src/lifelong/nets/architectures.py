"""The paper's networks, without their heads: an image or a row → a representation of d neurons."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import torch
from torch import nn

from lifelong.exceptions import ParameterError

Network = str | Sequence[int] | Callable[[tuple[int, ...]], nn.Module]

_CNN_CHANNELS = (16, 32, 64, 128, 254)
_DENSE = 2000
_GRIDS = (1, 2, 3, 4)  # cells per side of the grids over which the maps of convolutions are pooled


class Convolution(NamedTuple):
    """A 3×3 convolution with padding 1."""

    channels_in: int
    channels: int
    stride: int


class LayerSizes(NamedTuple):
    """What one of our networks is made of, for learners that build their layers in another way."""

    convolutions: list[Convolution]
    flat: int  # how many numbers enter the dense layers
    dense: list[int]


def cnn_sizes(in_shape: tuple[int, ...], width: float = 1.0) -> LayerSizes:
    """The base network of the paper: five convolutions, the first with stride 1, and two dense
    layers of 2000.
    """
    convolutions: list[Convolution] = []
    side = tuple(in_shape[1:])
    channels_in = in_shape[0]
    for depth, channels in enumerate(_CNN_CHANNELS):
        stride = 2
        if depth == 0:
            stride = 1
        convolution = Convolution(channels_in, max(1, round(channels * width)), stride)
        convolutions.append(convolution)
        side = tuple(-(-length // stride) for length in side)
        channels_in = convolution.channels
    dense = max(1, round(_DENSE * width))
    return LayerSizes(convolutions, channels_in * side[0] * side[1], [dense, dense])


def cnn(in_shape: tuple[int, ...], width: float = 1.0) -> nn.Sequential:
    """The paper's base network: convolutions with batch norm and ReLU; the last layer is a ReLU."""
    sizes = cnn_sizes(in_shape, width)
    layers: list[nn.Module] = []
    for channels_in, channels, stride in sizes.convolutions:
        convolution = nn.Conv2d(channels_in, channels, kernel_size=3, stride=stride, padding=1)
        layers += [convolution, nn.BatchNorm2d(channels), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Flatten(), *_dense(sizes.flat, sizes.dense))
    # CPU convolutions are faster when the channels of a pixel lie side by side.
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def mlp_sizes(
    in_shape: tuple[int, ...], hidden: Sequence[int] = (_DENSE,) * 3, width: float = 1.0
) -> LayerSizes:
    """Dense layers alone: three of 2000 for tabular rows; the simulations use two of 10."""
    return LayerSizes([], math.prod(in_shape), [max(1, round(units * width)) for units in hidden])


def mlp(
    in_shape: tuple[int, ...], hidden: Sequence[int] = (_DENSE,) * 3, width: float = 1.0
) -> nn.Sequential:
    """Dense layers with ReLU."""
    sizes = mlp_sizes(in_shape, hidden, width)
    return nn.Sequential(nn.Flatten(), *_dense(sizes.flat, sizes.dense))


def _dense(n_features: int, hidden: Sequence[int]) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for units in hidden:
        layers += [nn.Linear(n_features, units), nn.ReLU()]
        n_features = units
    return layers


def build(network: Network, in_shape: tuple[int, ...], width: float = 1.0) -> nn.Module:
    """The network that a learner's ``network`` parameter describes, freshly initialised.

    >>> build((10, 10), (2,))(torch.zeros(3, 2)).shape
    torch.Size([3, 10])
    """
    if callable(network):
        module: Any = _made_by(network, in_shape)
        if not isinstance(module, nn.Module):
            raise ParameterError(
                "network(in_shape) must return a torch nn.Module; it returned"
                f" {type(module).__name__}."
            )
        return module
    hidden = _hidden(network, in_shape)
    if hidden is None:
        return cnn(in_shape, width)
    return mlp(in_shape, hidden, width)


def _made_by(network: Any, in_shape: tuple[int, ...]) -> Any:
    """What a user's function makes; a class will do if it takes the shape of a row."""
    if isinstance(network, nn.Module):
        raise ParameterError(
            f"network is a {type(network).__name__}, an nn.Module, and each task trains one of its"
            " own. Give a function that makes one: network=lambda in_shape: nn.Sequential(...)."
        )
    if not isinstance(network, type):
        return network(in_shape)
    advice = f"network=lambda in_shape: {network.__name__}(...)."
    if network.__module__.startswith("torch."):
        raise ParameterError(
            f"network is the class {network.__name__}, which does not take the shape of a row. Give"
            f" a function that makes one from it: {advice}"
        )
    try:
        return network(in_shape)
    except TypeError as error:
        raise ParameterError(
            f"network is the class {network.__name__}, and {network.__name__}({in_shape}) failed:"
            f" {error}. Give a function that makes one from the shape of a row: {advice}"
        ) from error


def layer_sizes(network: Network, in_shape: tuple[int, ...], width: float = 1.0) -> LayerSizes:
    """What the network is made of; only a user's own function does not tell.

    >>> layer_sizes((10, 10), (2,))
    LayerSizes(convolutions=[], flat=2, dense=[10, 10])
    """
    if callable(network):
        raise ParameterError(
            "This learner builds its own layers. Give network as 'auto', 'cnn', 'mlp' or hidden"
            " sizes."
        )
    hidden = _hidden(network, in_shape)
    if hidden is None:
        return cnn_sizes(in_shape, width)
    return mlp_sizes(in_shape, hidden, width)


def _hidden(network: str | Sequence[int], in_shape: tuple[int, ...]) -> Sequence[int] | None:
    """Hidden sizes of the MLP that ``network`` stands for; None: the CNN."""
    if network == "auto":
        network = "cnn" if len(in_shape) == 3 else "mlp"
    if network == "cnn":
        if len(in_shape) != 3:
            raise ParameterError(
                f"network='cnn' reads images (n, c, h, w); these rows have shape {in_shape}. Use"
                " 'mlp'."
            )
        return None
    if network == "mlp":
        return (_DENSE,) * 3
    if (
        isinstance(network, Sequence)
        and not isinstance(network, str)
        and network
        and all(isinstance(units, int) and units > 0 for units in network)
    ):
        return network
    raise ParameterError(
        f"network={network!r} is unknown. Choose 'auto', 'cnn', 'mlp', hidden sizes such as (10,"
        " 10), or a function that takes the shape of a row and returns an nn.Module."
    )


def middle(network: nn.Module, head: nn.Module, rows: torch.Tensor) -> nn.Module:
    """The part of a network that serves other classes than its own as well; one that is no sequence
    of layers is left whole.

    Of an MLP, all hidden layers side by side. Of a CNN, all convolutions side by side: the largest
    value of each map in the whole image and in the cells of a 2×2, a 3×3 and a 4×4 grid (a spatial
    pyramid; no grid is finer than the map); its root, so that no map outweighs the others. All
    depths and grids have equal variance on ``rows`` that the network was trained on. What its dense
    layers have learnt is about its own classes, and comes last: the answer.
    """
    if not isinstance(network, nn.Sequential):
        return network
    layers = list(network)
    flatten = _places(layers, nn.Flatten)
    if not flatten:
        return network
    end = flatten[0]
    last: list[nn.Module] = []
    if end > 0:
        starts = _places(layers[:end], nn.Conv2d)
        last = [nn.Sequential(*layers[end:], head, Answer())]
    else:  # nothing but dense layers
        end = len(layers)
        starts = _places(layers, nn.Linear)
    blocks = [layers[start:stop] for start, stop in pairwise([0, *starts[1:], end])]
    with torch.no_grad():
        return _side_by_side(blocks, last, rows)


def _places(layers: Sequence[nn.Module], kind: type[nn.Module]) -> list[int]:
    """Where the layers of that kind are."""
    return [place for place, layer in enumerate(layers) if isinstance(layer, kind)]


def _side_by_side(
    blocks: list[list[nn.Module]], last: list[nn.Module], rows: torch.Tensor
) -> nn.Module:
    """What comes out of each block of layers, in order: pooled, of equal variance, side by side."""
    block, *deeper = blocks
    rows = nn.Sequential(*block)(rows)
    views = views_of(rows)
    if deeper:
        last = [_side_by_side(deeper, last, rows)]
    views += last
    return nn.Sequential(*block, SideBySide(views))


def views_of(rows: torch.Tensor) -> list[nn.Module]:
    """How a layer with these values is read: pooled, with equal variance in every grid."""
    return [nn.Sequential(*pool, Standardise.lengths(pool(rows))) for pool in _pools(rows)]


def _pools(rows: torch.Tensor) -> list[nn.Sequential]:
    """How a layer is read: neurons as they are, maps by the largest values in each grid's cells."""
    if rows.ndim != 4:
        return [nn.Sequential(nn.Flatten())]
    grids = [cells for cells in _GRIDS if cells <= min(rows.shape[2:])]
    return [nn.Sequential(nn.AdaptiveMaxPool2d(cells), nn.Flatten(), Root()) for cells in grids]


class Root(nn.Module):
    """Square roots; a negative number, which no ReLU has let through, keeps its sign."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """sign(x) √|x|."""
        return x.sign() * x.abs().sqrt()


class Answer(nn.Softmax):
    """What a network says about its own classes (n, K), as part of a representation: the last
    columns of it.
    """

    def __init__(self) -> None:
        super().__init__(dim=1)


def n_answers(network: nn.Module) -> int:
    """How many of the last columns of a representation are the network's own answer."""
    *_, head, last = [nn.Identity(), *network.modules()]
    if isinstance(last, Answer) and isinstance(head, nn.Linear):
        return head.out_features
    return 0


class SideBySide(nn.Module):
    """Several networks read the same rows; their neurons together are the representation.

    If each of them ends in an answer, they answer the same question: the mean of the answers comes
    last.
    """

    def __init__(self, networks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.n_answers = min(map(n_answers, self.networks))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """All neurons of all networks (n, Σ d)."""
        return self.joined([network(x) for network in self.networks])

    def joined(self, sides: list[torch.Tensor]) -> torch.Tensor:
        """What the networks say, as one representation."""
        if not self.n_answers:
            return torch.cat(sides, dim=1)
        answers = torch.stack([side[:, -self.n_answers :] for side in sides]).mean(dim=0)
        return torch.cat([*(side[:, : -self.n_answers] for side in sides), answers], dim=1)


class Standardise(nn.Module):
    """Subtract the training rows' mean, divide by their standard deviation; images per channel."""

    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, X: torch.Tensor) -> None:
        super().__init__()
        axes = (0, *range(2, X.ndim))
        scale = X.std(dim=axes, correction=0, keepdim=True)[0]
        self.register_buffer("mean", X.mean(dim=axes, keepdim=True)[0])
        self.register_buffer("scale", torch.where(scale > 0, scale, torch.ones_like(scale)))

    @classmethod
    def lengths(cls, X: torch.Tensor) -> Self:
        """All columns by the same number: centred rows (n, d) have a mean squared length of 1."""
        made = cls(X)
        length = X.var(dim=0, correction=0).sum().sqrt()
        made.scale = torch.full_like(made.scale, float(length) or 1.0)
        return made

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Standardised rows."""
        return (x - self.mean) / self.scale
