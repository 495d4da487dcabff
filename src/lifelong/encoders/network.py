"""Networks as encoders: the representation of a row is one of the network's hidden layers."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lifelong._once import digest, once
from lifelong._validation import Codes, Rows, check_count
from lifelong.encoders.base import Mask, honest_split
from lifelong.nets.architectures import Network, SideBySide, middle, n_answers
from lifelong.nets.augmentation import both_sides
from lifelong.nets.once import described
from lifelong.nets.randomness import one_thread
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import choose_device, fit_classifier, forward

_ENOUGH = 200  # rows that tell how loud a layer is


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """The backbone of a trained network, in eval mode, with the standardisation of its training rows.

    ``body`` is two modules in a row: what is done to inputs first, and the layers up to the representation.
    """

    body: nn.Module
    in_shape: tuple[int, ...]

    def encode(self, X: Rows) -> Rows:
        """The hidden layer (n, d)."""
        work = lambda: {"rows": forward(both_sides(self.body), X, device=next(self.body.buffers()).device)}  # noqa: E731
        return once(lambda: (self._digest, X), work)["rows"]

    @cached_property
    def n_answers(self) -> int:
        """How many of the last columns are what the network itself says about the classes of its task."""
        return n_answers(self.body)

    @cached_property
    def _digest(self) -> str:
        return digest(described(self.body))

    @property
    def n_parameters(self) -> int:
        """Trainable weights."""
        return sum(weight.numel() for weight in self.body.parameters())

    @property
    def nbytes(self) -> int:
        """Bytes of weights and buffers."""
        return sum(tensor.nbytes for tensor in self.body.state_dict().values())


@dataclass(frozen=True)
class NetworkEncoder:
    """How to train a network encoder.

    Parameters
    ----------
    network : "auto", "cnn", "mlp", hidden sizes such as (10, 10), or a function in_shape → nn.Module
        ``"auto"`` is the paper's CNN for images and its tabular MLP for flat rows.
    width : float
        Multiplies the size of every layer: 0.25 is the paper's four times narrower network.
    max_samples : float
        Share of rows that the network trains on.
    recipe : Recipe
    device : str
    layer : "last" or "middle"
        What the representation is. The last hidden layer (the paper) speaks mostly of the network's own classes; all
        convolutions of a CNN and its answer, or all hidden layers of an MLP, side by side tell other tasks more: see
        :func:`~lifelong.nets.architectures.middle`.
    n_networks : int
        How many networks train, on the same rows, from different beginnings; the representation is all of them side by
        side. Each trains as the recipe says, so that two take twice as long as one.
    """

    network: Network = "auto"
    width: float = 1.0
    max_samples: float = 0.67
    recipe: Recipe = field(default_factory=Recipe.paper)
    device: str = "auto"
    layer: Literal["last", "middle"] = "last"
    n_networks: int = 1

    def __post_init__(self) -> None:
        check_count(self.n_networks, "n_networks")

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask:
        """In-bag rows (n,)."""
        return honest_split(y, self.max_samples, rng=rng)[:, 0]

    def fit(
        self,
        X: Rows,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rng: np.random.Generator,
        n_jobs: int | None = None,  # noqa: ARG002 - one network trains on one thread; many networks, many processes
        weights: NDArray[np.float64] | None = None,
    ) -> FittedNetwork:
        """Train each network with a softmax head on the in-bag rows, then take the head off."""
        in_bag = self.split(y, rng=rng) if in_bag is None else in_bag
        rows, labels = X[in_bag], y[in_bag]
        trained = [
            fit_classifier(
                rows,
                labels,
                network=self.network,
                width=self.width,
                recipe=self.recipe,
                rng=rng,
                device=choose_device(self.device),
                weights=None if weights is None else weights[in_bag],
            )
            for _ in range(self.n_networks)
        ]
        front = trained[0][0][0]  # the same rows, the same standardisation
        networks = [network for (_, network), _ in trained]
        if self.layer == "middle":
            some = torch.from_numpy(rows[:: -(-len(rows) // _ENOUGH)]).to(choose_device(self.device))
            with one_thread():
                networks = [middle(network, head, front(some)) for (_, network), head in trained]
        together = networks[0] if self.n_networks == 1 else SideBySide(networks)
        return FittedNetwork(nn.Sequential(front, together).eval().requires_grad_(False), X.shape[1:])
