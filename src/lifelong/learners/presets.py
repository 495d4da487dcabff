"""The paper's two learners: SiLLy-F (forests) and SiLLy-N (networks)."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lifelong._extras import require
from lifelong._random import RandomState
from lifelong._validation import check_choice, check_count, check_share
from lifelong.channels import Channel, ForestChannel, LeafChannel, NeighboursChannel, RidgeChannel
from lifelong.encoders.base import Encoder
from lifelong.encoders.forest import ForestEncoder, flatten
from lifelong.learners.silly import Silly, choose_channel
from lifelong.nets.recipe import Recipe

if TYPE_CHECKING:
    from lifelong.nets.architectures import Network
    from lifelong.persistence.store import Store


class SillyForest(Silly):
    """SiLLy-F: each task grows a forest; every task counts its rows in the leaves of all forests.

    Parameters
    ----------
    n_estimators : int
        Trees per task.
    max_depth : int, optional
    max_samples : float
        Share of a task's rows that each tree grows on. The others are its held-out rows, from which the task's own
        channel learns.
    max_features, min_samples_leaf
        As in scikit-learn's forests.
    channel : "leaf" (the paper), "ridge" (closed form, learnt weights), or a Channel
    budget, keep, replay, n_jobs, random_state, store
        See :class:`~lifelong.learners.silly.Silly`.

    Examples
    --------
    >>> from lifelong.tasks.simulations import gaussian_xor
    >>> learner = SillyForest(random_state=0)
    >>> learner.partial_fit(*gaussian_xor(200, random_state=0), task="xor")
    SillyForest(random_state=0)
    >>> learner.partial_fit(*gaussian_xor(200, flip=True, random_state=1), task="xnor")
    SillyForest(random_state=0)
    >>> learner.predict([[0.5, 0.5]], task="xor"), learner.predict([[0.5, 0.5]], task="xnor")
    (array([0]), array([1]))
    """

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        max_depth: int | None = 30,
        max_samples: float = 0.67,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        channel: str | Channel = "leaf",
        budget: int | None = None,
        keep: Literal["first", "useful"] = "first",
        replay: float = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        store: "str | Path | Store | None" = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_samples = max_samples
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.channel = channel
        self.budget = budget
        self.keep = keep
        self.replay = replay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    @classmethod
    def best(cls, **parameters: Any) -> "SillyForest":
        """The most accurate settings we know, not the paper's: ``lifelong run ablation-best-forest`` takes them apart.

        >>> SillyForest.best(random_state=0).channel
        'ridge'
        """
        return cls(**{"n_estimators": 100, "channel": "ridge", **parameters})

    def _encoder(self) -> ForestEncoder:
        check_count(self.n_estimators, "n_estimators")
        check_share(self.max_samples, "max_samples")
        return ForestEncoder(
            self.n_estimators, self.max_depth, self.max_samples, self.max_features, self.min_samples_leaf
        )

    def _channel(self) -> Channel:
        return choose_channel(self.channel, {"leaf": LeafChannel(), "ridge": RidgeChannel()})

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """An ordinary random forest with as many trees as one encoder, and with as many as the whole ensemble."""
        n_encoders = min(n_tasks, self.budget or n_tasks)
        return {
            name: make_pipeline(
                FunctionTransformer(flatten),
                RandomForestClassifier(
                    self.n_estimators * times,
                    max_depth=self.max_depth,
                    max_features=self.max_features,
                    min_samples_leaf=self.min_samples_leaf,
                    random_state=self.random_state,
                ),
            )
            for name, times in {"rf-one-encoder": 1, "rf-same-size": n_encoders}.items()
        }


class SillyNetwork(Silly):
    """SiLLy-N: each task trains a network; every task learns channels on all networks' last hidden layers.

    Needs torch: ``pip install 'lifelong[torch]'``.

    Parameters
    ----------
    network : "auto", "cnn", "mlp", hidden sizes such as (10, 10), or a function in_shape → nn.Module
        ``"auto"`` is the paper's CNN for images and its tabular MLP for flat rows.
    width : float
        Multiplies the size of every layer: 0.25 is the paper's four times narrower network.
    channel : "forest" (20 trees, the paper), "ridge" (closed form, learnt weights), "neighbours", or a Channel
    max_samples : float
        Share of a task's rows that its network trains on; its own channel learns from the others.
    epochs, lr, batch_size
        Adam's training.
    recipe : Recipe, optional
        A whole training recipe; takes the place of ``epochs``, ``lr`` and ``batch_size``.
    layer : "last" (the paper) or "middle"
        Which hidden layer is the representation; see :class:`~lifelong.encoders.network.NetworkEncoder`.
    n_networks : int
        Networks per task, side by side. Each trains in full, so that two take twice as long as one.
    device : str
        ``"auto"`` is the GPU where there is one.
    encoder : Encoder, optional
        Such as a :class:`~lifelong.encoders.pretrained.PretrainedEncoder`; takes the place of everything about
        networks above. A frozen one serves all tasks: ``budget=1``.
    budget, keep, replay, n_jobs, random_state, store
        See :class:`~lifelong.learners.silly.Silly`.
    """

    def __init__(
        self,
        network: "Network" = "auto",
        *,
        width: float = 1.0,
        channel: str | Channel = "forest",
        max_samples: float = 0.67,
        epochs: int = 100,
        lr: float = 3e-4,
        batch_size: int = 32,
        recipe: Recipe | None = None,
        layer: Literal["last", "middle"] = "last",
        n_networks: int = 1,
        device: str = "auto",
        encoder: Encoder | None = None,
        budget: int | None = None,
        keep: Literal["first", "useful"] = "first",
        replay: float = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        store: "str | Path | Store | None" = None,
    ) -> None:
        require("torch", extra="torch", for_what="SillyNetwork")
        self.network = network
        self.width = width
        self.channel = channel
        self.max_samples = max_samples
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.recipe = recipe
        self.layer = layer
        self.n_networks = n_networks
        self.device = device
        self.encoder = encoder  # type: ignore[assignment]
        self.budget = budget
        self.keep = keep
        self.replay = replay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    @classmethod
    def best(cls, **parameters: Any) -> "SillyNetwork":
        """The most accurate settings we know, not the paper's: ``lifelong run ablation-best`` takes them apart.

        The recipe is ``Recipe.strong()`` or one you bring; ``epochs``, ``lr`` and ``batch_size`` change it.

        >>> SillyNetwork.best(epochs=20).recipe == replace(Recipe.strong(), epochs=20)
        True
        """
        training = {name: parameters.pop(name) for name in ("epochs", "lr", "batch_size") if name in parameters}
        recipe = replace(parameters.pop("recipe", None) or Recipe.strong(), **training)
        known = {"channel": "ridge", "layer": "middle", "max_samples": 0.85}
        return cls(**{**known, **parameters}, recipe=recipe)

    def _recipe(self) -> Recipe:
        return self.recipe or Recipe(epochs=self.epochs, lr=self.lr, batch_size=self.batch_size)

    def _encoder(self) -> Encoder:
        if self.encoder is not None:
            return self.encoder
        from lifelong.encoders.network import NetworkEncoder

        check_share(self.max_samples, "max_samples")
        check_choice(self.layer, "layer", ["last", "middle"])
        return NetworkEncoder(
            self.network, self.width, self.max_samples, self._recipe(), self.device, self.layer, self.n_networks
        )

    def _channel(self) -> Channel:
        known: dict[str, Channel] = {
            "forest": ForestChannel(),
            "neighbours": NeighboursChannel(),
            "ridge": RidgeChannel(),
        }
        return choose_channel(self.channel, known)

    def sizes(self) -> dict[str, int]:
        """As for every learner; a frozen network that several encoders stand on counts once."""
        sizes, seen = super().sizes(), set()
        for shared in (encoder.shared for encoder in self.encoders_.values() if hasattr(encoder, "shared")):
            if shared in seen:
                sizes["parameters"] -= shared.n_parameters
                sizes["encoders"] -= shared.nbytes
            seen.add(shared)
        return sizes

    def plain_models(self, n_tasks: int) -> dict[str, Any]:  # noqa: ARG002
        """The same network with its own softmax head, trained on all rows of a task."""
        if self.encoder is not None:
            plain = getattr(self.encoder, "plain_models", None)  # an encoder that a user brings may have none
            return {} if plain is None else dict(plain(self.random_state))
        from lifelong.nets.classifier import NetworkClassifier

        return {
            "network": NetworkClassifier(
                self.network,
                width=self.width,
                recipe=self._recipe(),
                device=self.device,
                random_state=self.random_state,
            )
        }
