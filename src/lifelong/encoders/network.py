"""Networks as encoders: the representation of a row is one of the network's hidden layers."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lifelong._labels import Codes
from lifelong._once import digest, once
from lifelong._validation import Rows, check_count
from lifelong.encoders.base import Mask, honest_split, take_rows
from lifelong.nets.architectures import Network, SideBySide, middle, n_answers
from lifelong.nets.augmentation import both_sides
from lifelong.nets.once import described
from lifelong.nets.randomness import one_thread
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import Start, choose_device, fit_classifier, forward
from lifelong.schema import COUNT, POSITIVE, SHARE, Custom, Record, Text, saved

_ENOUGH = 200  # rows that tell how large a layer's values are


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """The backbone of a trained network, in eval mode, with the standardisation of its rows.

    ``body`` is two modules in a row: what is done to inputs first, and the layers up to the
    representation.
    """

    saved_as: ClassVar[str] = "network"
    body: nn.Module
    in_shape: tuple[int, ...]

    def encode(self, X: Rows) -> Rows:
        """The hidden layer (n, d)."""
        device = next(self.body.buffers()).device

        def encoded() -> dict[str, Rows]:
            return {"rows": forward(both_sides(self.body), X, device=device)}

        return once(lambda: (self._digest, X), encoded)["rows"]

    @cached_property
    def n_answers(self) -> int:
        """How many of the last columns are the network's own answer about its task's classes."""
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
    """How to train a network encoder. Needs ``pip install 'lifelong[torch]'``.

    Parameters
    ----------
    network : str, tuple, or callable, default "auto"
        ``"auto"`` is the paper's CNN for images and its tabular MLP for flat rows; ``"cnn"`` and
        ``"mlp"`` say which; hidden sizes such as ``(10, 10)`` are an MLP of that size; a function
        in_shape → nn.Module makes whatever you like.
    width : float, default 1
        Multiplies the size of every layer: 0.25 is the paper's four times narrower network.
    max_samples : float, default 0.67
        Share of rows that the network trains on; the task's own channel learns from the others.
    recipe : Recipe, default Recipe.paper()
        How it is trained: epochs, learning rate, augmentation and the like.
    device : str, default "auto"
        Where it is trained, in torch's words; ``"auto"`` is the GPU where there is one. Other
        devices round differently.
    layer : "last" or "middle", default "last"
        What the representation is. The last hidden layer (the paper) tells mostly about the
        network's own classes; all convolutions of a CNN and its answer, or all hidden layers of an
        MLP, side by side tell other tasks more: see :func:`~lifelong.nets.architectures.middle`.
    n_networks : int, default 1
        How many networks train, on the same rows, from different beginnings; the representation is
        all of them side by side. Each trains as the recipe says: two take twice as long as one.

    Examples
    --------
    >>> from lifelong import RidgeChannel, Silly
    >>> learner = Silly(NetworkEncoder((8,)), RidgeChannel(), random_state=0)

    See Also
    --------
    lifelong.ForestEncoder : forests, which need no torch.
    lifelong.PretrainedEncoder : networks that were trained before the first task.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: SiLLy-N.
    """

    takes_weights: ClassVar[bool] = True
    network: Network = saved(Custom("network"), default="auto")
    width: float = saved(POSITIVE, default=1.0)
    max_samples: float = saved(SHARE, default=0.67)
    recipe: Recipe = saved(Record(Recipe), default_factory=Recipe.paper)
    device: str = saved(Text(), default="auto")
    layer: Literal["last", "middle"] = saved(Text(("last", "middle")), default="last")
    n_networks: int = saved(COUNT, default=1)

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
        weights: NDArray[np.float64] | None = None,
        start: Start | None = None,
    ) -> FittedNetwork:
        """Train each network with a softmax head on the in-bag rows, then take the head off.

        With ``start`` they begin with the weights of another network instead of random ones.
        """
        if in_bag is None:
            in_bag = self.split(y, rng=rng)
        rows = X[in_bag]
        labels = y[in_bag]
        trained = [
            fit_classifier(
                rows,
                labels,
                network=self.network,
                width=self.width,
                recipe=self.recipe,
                rng=rng,
                device=choose_device(self.device),
                weights=take_rows(weights, in_bag),
                start=start,
            )
            for _ in range(self.n_networks)
        ]
        front = trained[0][0][0]  # the same rows, the same standardisation
        networks = [network for (_, network), _ in trained]
        if self.layer == "middle":
            every = -(-len(rows) // _ENOUGH)
            some = torch.from_numpy(rows[::every]).to(choose_device(self.device))
            with one_thread():
                networks = [middle(network, head, front(some)) for (_, network), head in trained]
        together = networks[0]
        if self.n_networks > 1:
            together = SideBySide(networks)
        body = nn.Sequential(front, together).eval().requires_grad_(False)
        return FittedNetwork(body, X.shape[1:])
