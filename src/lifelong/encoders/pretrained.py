"""Pretrained networks as encoders: frozen features, and layers on top that each task trains."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lifelong._labels import Codes
from lifelong._random import RandomState
from lifelong._validation import Rows, check_choice, check_count, check_share
from lifelong.encoders.base import Mask, Representation, honest_split
from lifelong.encoders.frozen_features import Cache, FrozenFeatures, frozen_features
from lifelong.encoders.network import FittedNetwork, NetworkEncoder
from lifelong.exceptions import ParameterError
from lifelong.nets.classifier import NetworkClassifier
from lifelong.nets.pretrained import Backbone, open_backbone
from lifelong.nets.recipe import Recipe


@dataclass(frozen=True)
class PretrainedEncoder:
    """How a task's encoder is made from a pretrained network.

    Needs ``pip install 'lifelong[pretrained]'``.

    Parameters
    ----------
    source : str or Path
        A folder in the Hugging Face format (config.json, model.safetensors and what goes with
        them), or a hub id.
    tune : "none", "last-two" or int, default "none"
        ``"none"``: the network's features as they are; no task trains anything, so one encoder
        serves them all (``budget=1``). ``"last-two"`` is the paper's: two linear layers on top,
        trained per task, with a ReLU between; the representation is what lies between them. A
        number n trains n linear layers.
    hidden : int, default 512
        Neurons of each trained layer but the last: the length of the representation, where any
        layer is trained.
    image_size : int, optional
        Images are resized to so many pixels; the size the model was trained on if left out. Smaller
        is faster.
    pooling : "auto", "first" or "mean", default "auto"
        How the network's tokens become one vector: the first (a class token), or their average.
        ``"auto"`` takes a class token where a vision transformer has one, and the average
        otherwise.
    max_tokens : int, optional
        Longer texts are cut; the model's own limit if left out.
    batch_size : int, default 1
        Rows that go through the network at once: 1 answers single rows fastest, 16 is faster for
        thousands of small images and on a GPU. Other sizes round differently and have a cache of
        their own.
    max_samples : float, default 0.67
        Share of a task's rows that its layers train on, if it trains any; its own channel learns
        from the others.
    recipe : Recipe, default Recipe(epochs=10, lr=1e-3)
        How the layers are trained, if any are.
    cache_dir : path, "auto" or None, default "auto"
        Where features are kept on disk; ``"auto"`` is the user's cache, None keeps them in memory
        for a few calls.
    device : str, default "auto"
        Where the network runs, in torch's words; ``"auto"`` is the GPU where there is one.
    revision : str, optional
        Of a hub id: a branch, a tag or a commit. None takes the newest.

    Examples
    --------
    Nothing is read before the first row comes:

    >>> encoder = PretrainedEncoder("folder/of/a/model", tune="last-two", hidden=64)
    >>> encoder.hidden
    64

    See Also
    --------
    lifelong.NetworkEncoder : networks that each task trains from the beginning.
    lifelong.SillyNetwork : takes it as ``encoder=``.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: pretrained networks
    whose last two layers are trained.
    """

    source: str | Path
    tune: Literal["none", "last-two"] | int = "none"
    hidden: int = 512
    image_size: int | None = None
    pooling: str = "auto"
    max_tokens: int | None = None
    batch_size: int = 1
    max_samples: float = 0.67
    recipe: Recipe = field(default_factory=lambda: Recipe(epochs=10, lr=1e-3))
    cache_dir: Cache = "auto"
    device: str = "auto"
    revision: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.tune, str):
            check_choice(self.tune, "tune", ["none", "last-two"])
        elif isinstance(self.tune, bool) or self.tune < 2:
            raise ParameterError(
                f"tune={self.tune!r} trains no hidden layer. Give 'none', 'last-two', or at"
                " least 2."
            )
        check_count(self.hidden, "hidden")
        check_share(self.max_samples, "max_samples")

    @classmethod
    def from_pretrained(cls, source: str | Path, **settings: Any) -> Self:
        """The encoder, with its folder looked at: a missing or unusable model is an error now."""
        encoder = cls(source, **settings)
        _ = encoder.backbone
        return encoder

    @cached_property
    def backbone(self) -> Backbone:
        """The network; its weights are loaded when a row has no cached features."""
        return open_backbone(
            self.source,
            image_size=self.image_size,
            pooling=self.pooling,
            max_tokens=self.max_tokens,
            batch_size=self.batch_size,
            device=self.device,
            revision=self.revision,
        )

    @property
    def _n_hidden(self) -> int:
        """Trained layers before the last one."""
        if isinstance(self.tune, str):
            return {"none": 0, "last-two": 1}[self.tune]
        return self.tune - 1

    def features(self, rows: Any) -> Rows:
        """Frozen features (n, d) of raw rows; rows of d numbers are features already and stay so.

        Images (n, c, h, w) have values in [0, 1]; sounds (n, samples) have the model's sampling
        rate; texts are a list of str. Learners take images and sounds as they are. Texts become
        rows here, before a learner sees them.
        """
        return frozen_features(self.backbone, self.cache_dir, rows)

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask:
        """In-bag rows (n,). Frozen features saw no label: no row is in-bag, and all are honest."""
        if not self._n_hidden:
            return np.zeros(len(y), dtype=bool)
        return honest_split(y, self.max_samples, rng=rng)[:, 0]

    def fit(
        self,
        X: Rows,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rng: np.random.Generator,
    ) -> "FittedPretrained":
        """Train the last layers on the features of the in-bag rows, if any are to be trained."""
        if in_bag is None:
            in_bag = self.split(y, rng=rng)
        if not self._n_hidden:
            return FittedPretrained(self, None)
        layers = NetworkEncoder(
            (self.hidden,) * self._n_hidden, recipe=self.recipe, device=self.device
        )
        return FittedPretrained(self, layers.fit(self.features(X), y, in_bag=in_bag, rng=rng))

    def plain_models(self, random_state: RandomState) -> dict[str, Any]:
        """The same network for one task alone: softmax or all trained layers on frozen features."""
        frozen = FrozenFeatures(self.backbone, self.cache_dir)
        if not self._n_hidden:
            softmax = LogisticRegression(C=0.01, max_iter=1000, random_state=random_state)
            return {"linear-probe": make_pipeline(frozen, StandardScaler(), softmax)}
        layers = NetworkClassifier(
            (self.hidden,) * self._n_hidden,
            recipe=self.recipe,
            device=self.device,
            random_state=random_state,
        )
        return {"frozen-network": make_pipeline(frozen, layers)}


@dataclass(frozen=True, eq=False)
class FittedPretrained:
    """Frozen features, and the layers that one task trained on top of them, if any."""

    saved_as: ClassVar[str] = "pretrained"
    settings: PretrainedEncoder
    layers: FittedNetwork | None

    def encode(self, X: Rows) -> Representation:
        """The last hidden layer (n, d)."""
        features = self.settings.features(X)
        if self.layers is None:
            return features
        return self.layers.encode(features)

    @property
    def shared(self) -> Backbone:
        """What all encoders of this network have in common; in memory and in a file it need be
        there only once.
        """
        return self.settings.backbone

    @property
    def n_parameters(self) -> int:
        """Weights of the network and of the task's layers."""
        if self.layers is None:
            return self.shared.n_parameters
        return self.shared.n_parameters + self.layers.n_parameters

    @property
    def nbytes(self) -> int:
        """Bytes of the network and of the task's layers."""
        if self.layers is None:
            return self.shared.nbytes
        return self.shared.nbytes + self.layers.nbytes
