"""The paper's two learners: SiLLy-F (forests) and SiLLy-N (networks)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lifelong._extras import require
from lifelong._random import RandomState
from lifelong._validation import MOST_TREES, check_choice, check_count, check_share
from lifelong.channels import (
    Channel,
    ForestChannel,
    LeafChannel,
    NeighboursChannel,
    RidgeChannel,
)
from lifelong.encoders.base import ComparableEncoder, Encoder, SharingEncoder
from lifelong.encoders.forest import ForestEncoder, flatten
from lifelong.encoders.growing import check_tree
from lifelong.exceptions import ParameterError
from lifelong.learners.algorithms import Parts
from lifelong.learners.silly import Silly, choose_channel
from lifelong.nets.recipe import Recipe

if TYPE_CHECKING:
    from lifelong.nets.architectures import Network


class SillyForest(Silly):
    """SiLLy-F: each task grows a forest; every task counts its rows in the leaves of all forests.

    Parameters
    ----------
    n_estimators : int, default 10
        Trees per task. More trees make every task's posteriors smoother, at as much more time and
        memory.
    max_depth : int or None, default 30
        Deepest level of a tree; None grows until leaves are pure.
    max_samples : float, default 0.67
        Share of a task's rows that each tree grows on. The others are its held-out rows, from which
        the task's own channel learns.
    max_features : "sqrt", "log2", int, float or None, default "sqrt"
        Columns that a split looks at, as in scikit-learn's forests: fewer make trees differ more.
    min_samples_leaf : int or float, default 1
        Rows that a leaf has at least, as in scikit-learn's forests: more make trees smaller.
    channel : "leaf", "ridge" or Channel, default "leaf"
        What a task learns on the forests. ``"leaf"`` is the paper's; ``"ridge"``, closed form with
        learnt weights, is more accurate and larger.
    budget : int, optional
        At most so many encoders. None, the default: every task trains one.
    keep : "first" (the paper) or "useful", default "first"
        Which encoders, once the budget is spent. ``"first"``: no more are trained, no rows are
        kept, and new tasks get channels alone. ``"useful"``: every task trains one, and the one
        that tells least about all tasks so far goes; this takes ridge channels, and rows are kept
        as ``replay`` says.
    replay : float, default 1
        Share of a task's rows that is kept for later encoders (backward transfer). 0 keeps none:
        then old tasks gain nothing from new ones.
    task_inference : bool, default True
        Whether to note where tasks' rows lie, which :meth:`predict` without a task,
        :meth:`predict_task` and :meth:`novelty` need. Without it, learning is faster and what is
        learnt smaller.
    n_jobs : int, optional
        Threads (trees, channels), or processes (networks in :meth:`partial_fit_many`). Results do
        not depend on it. None, the default: one.
    random_state : int, Generator or None, default None
        The same number gives the same bits.
    store : path or Store, optional
        A directory where the learner keeps itself: it is saved before :meth:`partial_fit` returns,
        goes on from what is there when it is made again, and loads its parts when they are needed.
        None, the default, keeps it in memory alone. See :class:`~lifelong.persistence.Store`.

    Attributes
    ----------
    knowledge_ : Knowledge
        All of the following in one frozen value.
    tasks_, encoders_, channels_, memory_, densities_ : mapping
        By task: what is known of it, its encoder, its channel, its stored rows, where its rows lie.

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

    See Also
    --------
    SillyNetwork : networks instead of forests.
    Silly : encoders and channels of your own.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025.
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
        task_inference: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        store: Any = None,
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
        self.task_inference = task_inference
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    @classmethod
    def best(cls, **parameters: Any) -> "SillyForest":
        """The most accurate settings we know, not the paper's: 100 trees per task, ridge channels.

        ``lifelong run ablation-best-forest`` takes them apart. ``parameters`` are those of the
        constructor, and take the place of these settings.

        >>> SillyForest.best(random_state=0).channel
        'ridge'
        """
        return cls(**{"n_estimators": 100, "channel": "ridge", **parameters})

    def _encoder(self) -> ForestEncoder:
        check_count(self.n_estimators, "n_estimators", most=MOST_TREES)
        check_share(self.max_samples, "max_samples")
        check_tree(self.max_depth, self.max_features, self.min_samples_leaf)
        return ForestEncoder(
            self.n_estimators,
            self.max_depth,
            self.max_samples,
            self.max_features,
            self.min_samples_leaf,
        )

    def _channel(self) -> Channel:
        return choose_channel(self.channel, {"leaf": LeafChannel(), "ridge": RidgeChannel()})

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """An ordinary random forest as large as one encoder, and one as large as the ensemble.

        Parameters
        ----------
        n_tasks : int
            How many tasks the ensemble is for; the budget may allow it fewer encoders.
        """
        n_encoders = min(n_tasks, self.budget or n_tasks)
        return {
            "rf-one-encoder": self._plain_forest(self.n_estimators),
            "rf-same-size": self._plain_forest(self.n_estimators * n_encoders),
        }

    def _plain_forest(self, n_estimators: int) -> Any:
        forest = RandomForestClassifier(
            n_estimators,
            max_depth=self.max_depth,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
        )
        return make_pipeline(FunctionTransformer(flatten), forest)


class SillyNetwork(Silly):
    """SiLLy-N: each task trains a network; every task learns channels on all networks' layers.

    Needs torch: ``pip install 'lifelong[torch]'``.

    Parameters
    ----------
    network : str, tuple, or callable, default "auto"
        ``"auto"`` is the paper's CNN for images and its tabular MLP for flat rows; ``"cnn"`` and
        ``"mlp"`` say which; hidden sizes such as ``(10, 10)`` are an MLP of that size; a function
        in_shape → nn.Module makes whatever you like.
    width : float, default 1
        Multiplies the size of every layer: 0.25 is the paper's four times narrower network.
    channel : "forest", "ridge", "neighbours" or Channel, default "forest"
        What a task learns on the networks. ``"forest"``, of 20 trees, is the paper's; ``"ridge"``,
        in closed form, is faster and more accurate; ``"neighbours"`` asks the nearest rows.
    max_samples : float, default 0.67
        Share of a task's rows that its network trains on; its own channel learns from the others.
    recipe : "paper", "strong" or Recipe, optional
        How networks are trained; ``"paper"`` if left out. ``"strong"`` augments images and lets
        the learning rate rise and fall, which brings most for small sets of images.
    epochs, lr, batch_size : number, optional
        Take the place of what a recipe by name says. Beside a Recipe of your own they are an error:
        change the recipe instead.
    layer : "last" (the paper) or "middle", default "last"
        Which hidden layer is the representation: see :class:`~lifelong.NetworkEncoder`.
    n_networks : int, default 1
        Networks per task, side by side. Each trains in full: two take twice as long as one.
    device : str, default "auto"
        Where networks train, in torch's words; ``"auto"`` is the GPU where there is one.
    shared : int, optional
        Tasks share networks, and of images the patches that they are made of. With 1 there are two
        networks, which go on training with every new task (among many, with a tenth more of them)
        on the stored rows of all tasks; with 2 each task also has one of its own. A task reads
        these, at most four encoders, and no other task's. Training takes ``shared`` times the row
        passes of a network per task. None, the default: tasks share nothing, as in the paper. It
        takes ridge channels and stored rows: ``replay=0`` is an error.
    encoder : Encoder, optional
        Such as a :class:`~lifelong.PretrainedEncoder`; takes the place of everything about networks
        above, which must then be left alone. A frozen one serves all tasks: ``budget=1``.
    budget : int, optional
        At most so many encoders. None, the default: every task trains one.
    keep : "first" (the paper) or "useful", default "first"
        Which encoders, once the budget is spent. ``"first"``: no more are trained, no rows are
        kept, and new tasks get channels alone. ``"useful"``: every task trains one, and the one
        that tells least about all tasks so far goes; this takes ridge channels, and rows are kept
        as ``replay`` says.
    replay : float, default 1
        Share of a task's rows that is kept for later encoders (backward transfer). 0 keeps none:
        then old tasks gain nothing from new ones.
    task_inference : bool, default True
        Whether to note where tasks' rows lie, which :meth:`predict` without a task,
        :meth:`predict_task` and :meth:`novelty` need. Without it, learning is faster and what is
        learnt smaller.
    n_jobs : int, optional
        Threads (trees, channels), or processes (networks in :meth:`partial_fit_many`). Results do
        not depend on it. None, the default: one.
    random_state : int, Generator or None, default None
        The same number gives the same bits.
    store : path or Store, optional
        A directory where the learner keeps itself: it is saved before :meth:`partial_fit` returns,
        goes on from what is there when it is made again, and loads its parts when they are needed.
        None, the default, keeps it in memory alone. See :class:`~lifelong.persistence.Store`.

    Attributes
    ----------
    knowledge_ : Knowledge
        All of the following in one frozen value.
    tasks_, encoders_, channels_, memory_, densities_ : mapping
        By task: what is known of it, its encoder, its channel, its stored rows, where its rows lie.

    Examples
    --------
    >>> from lifelong.tasks.simulations import gaussian_xor
    >>> learner = SillyNetwork((10, 10), epochs=20, lr=1e-2, random_state=0)
    >>> learner = learner.partial_fit(*gaussian_xor(200, random_state=0), task="xor")
    >>> learner.predict([[0.5, 0.5]], task="xor")
    array([0])

    See Also
    --------
    SillyForest : forests instead of networks; needs no torch.
    Silly : encoders and channels of your own.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025.
    """

    def __init__(
        self,
        network: "Network" = "auto",
        *,
        width: float = 1.0,
        channel: str | Channel = "forest",
        max_samples: float = 0.67,
        epochs: int | None = None,
        lr: float | None = None,
        batch_size: int | None = None,
        recipe: Recipe | Literal["paper", "strong"] | None = None,
        layer: Literal["last", "middle"] = "last",
        n_networks: int = 1,
        device: str = "auto",
        shared: int | None = None,
        encoder: Encoder | None = None,
        budget: int | None = None,
        keep: Literal["first", "useful"] = "first",
        replay: float = 1.0,
        task_inference: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        store: Any = None,
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
        self.shared = shared
        self.encoder = encoder  # type: ignore[assignment]
        self.budget = budget
        self.keep = keep
        self.replay = replay
        self.task_inference = task_inference
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    @classmethod
    def best(cls, **parameters: Any) -> "SillyNetwork":
        """The most accurate settings we know, not the paper's.

        Ridge channels on the middle layers of networks that train on 85 % of the rows by the strong
        recipe; ``lifelong run ablation-best`` takes them apart. ``parameters`` are those of the
        constructor, and take the place of these settings; ``epochs``, ``lr`` and ``batch_size``
        change the recipe.

        >>> SillyNetwork.best(epochs=20).training_recipe() == replace(Recipe.strong(), epochs=20)
        True
        """
        ours: dict[str, Any] = {"channel": "ridge"}
        if parameters.get("encoder") is None:
            ours |= {"layer": "middle", "max_samples": 0.85, "recipe": "strong"}
        return cls(**{**ours, **parameters})

    def _parts(self) -> Parts:
        parts = super()._parts()
        if self.shared is None:
            return parts
        check_count(self.shared, "shared")
        if self.replay == 0:
            raise ParameterError(
                f"shared={self.shared!r} trains networks on stored rows of all tasks, and replay=0 "
                "stores none. Use shared=None, or replay above 0."
            )
        if self.budget is not None:
            raise ParameterError(
                f"shared={self.shared!r} bounds the networks that a task reads. Leave "
                f"budget={self.budget!r} out, or use shared=None."
            )
        if self.encoder is not None:
            raise ParameterError(
                f"shared={self.shared!r} trains networks, and encoder= takes their place. Use "
                "shared=None, or leave the encoder out."
            )
        if not isinstance(parts.channel, RidgeChannel):
            raise ParameterError(
                f"shared={self.shared!r} takes channel='ridge': other channels cannot tell which "
                "rows a shared network has trained on."
            )
        return replace(parts, shared=self.shared)

    def training_recipe(self) -> Recipe:
        """How networks are trained: the recipe, with ``epochs``, ``lr`` and ``batch_size``."""
        wanted = {"epochs": self.epochs, "lr": self.lr, "batch_size": self.batch_size}
        changes: dict[str, Any] = {
            name: value for name, value in wanted.items() if value is not None
        }
        if isinstance(self.recipe, Recipe):
            if changes:
                names = ", ".join(changes)
                raise ParameterError(
                    f"recipe is a Recipe of your own, and {names} would change it. Give either: "
                    f"recipe=dataclasses.replace(recipe, {_as_arguments(changes)})."
                )
            return self.recipe
        name = check_choice(self.recipe or "paper", "recipe", ["paper", "strong"])
        known = {"paper": Recipe.paper, "strong": Recipe.strong}
        return replace(known[name](), **changes)

    def _encoder(self) -> Encoder:
        if self.encoder is not None:
            self._check_left_alone()
            return self.encoder
        from lifelong.encoders.network import NetworkEncoder

        check_share(self.max_samples, "max_samples")
        check_choice(self.layer, "layer", ["last", "middle"])
        return NetworkEncoder(
            self.network,
            self.width,
            self.max_samples,
            self.training_recipe(),
            self.device,
            self.layer,
            self.n_networks,
        )

    def _check_left_alone(self) -> None:
        """With an encoder of the user's, parameters about networks would be ignored."""
        plain = SillyNetwork()
        for name in _OF_NETWORKS:
            value = getattr(self, name)
            if value != getattr(plain, name):
                raise ParameterError(
                    f"encoder= takes the place of everything about networks, and {name}={value!r} "
                    f"would be ignored. Leave {name} out, or set it on the encoder."
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
        sizes = super().sizes()
        counted = set()
        for encoder in self.encoders_.values():
            if not isinstance(encoder, SharingEncoder):
                continue
            if encoder.shared in counted:
                sizes["parameters"] -= encoder.shared.n_parameters
                sizes["encoders"] -= encoder.shared.nbytes
            counted.add(encoder.shared)
        return sizes

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """The same network with its own softmax head, trained on all rows of a task.

        Parameters
        ----------
        n_tasks : int
            Makes no difference.
        """
        del n_tasks
        if self.encoder is not None:
            if isinstance(self.encoder, ComparableEncoder):
                return dict(self.encoder.plain_models(self.random_state))
            return {}
        from lifelong.nets.classifier import NetworkClassifier

        return {
            "network": NetworkClassifier(
                self.network,
                width=self.width,
                recipe=self.training_recipe(),
                device=self.device,
                random_state=self.random_state,
            )
        }


_OF_NETWORKS = (
    *("network", "width", "max_samples", "epochs", "lr", "batch_size", "recipe"),
    *("layer", "n_networks"),
)


def _as_arguments(changes: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in changes.items())
