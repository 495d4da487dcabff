"""Kinds of learners, and the settings that each of them is tried with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from answers import pretrained
from answers.rows import FEATURES, FLAT, IMAGES, MANY_COLUMNS, SMALL_IMAGES
from lifelong import (
    ForestChannel,
    ForestEncoder,
    LeafChannel,
    NeighboursChannel,
    Recipe,
    RidgeChannel,
    Silly,
    SillyForest,
    SillyNetwork,
)

try:
    from lifelong.experiments.registry import make_learner
except ImportError:
    from lifelong.references.catalogue import make_learner


@dataclass(frozen=True)
class Kind:
    """One kind of learner.

    Attributes
    ----------
    name : what cases call it
    make : settings → a new learner
    shape : of the rows that it reads
    exact : whether its posteriors are counts and leaves, the same on every processor
    weights : whether it takes sample weights
    chooses : whether it can keep the most useful encoders
    loaded_with : what ``load`` needs beside the directory
    """

    name: str
    make: Callable[..., Any]
    shape: tuple[int, ...] = FLAT
    exact: bool = False
    weights: bool = True
    chooses: bool = False
    loaded_with: Callable[[], Mapping[str, Any]] = field(default=dict)


def _is_ridge(channel: Any) -> bool:
    return channel == "ridge" or isinstance(channel, RidgeChannel)


def _is_leaf(channel: Any) -> bool:
    return channel == "leaf" or isinstance(channel, LeafChannel)


# Channels by the names that cases call them; text where learners know the channel by a word.

ON_FORESTS: Mapping[str, Any] = {
    "leaf": "leaf",
    "ridge": "ridge",
    "LeafChannel(min_rows=3)": LeafChannel(min_rows=3),
    "RidgeChannel(equal)": RidgeChannel(weights="equal"),
    "ForestChannel(n_trees=5)": ForestChannel(n_trees=5),
    "NeighboursChannel()": NeighboursChannel(),
    "NeighboursChannel(n_neighbours=3)": NeighboursChannel(n_neighbours=3),
}
ON_NETWORKS: Mapping[str, Any] = {
    "forest": "forest",
    "ridge": "ridge",
    "neighbours": "neighbours",
    "RidgeChannel(equal)": RidgeChannel(weights="equal"),
    "ForestChannel(n_trees=5)": ForestChannel(n_trees=5),
    "NeighboursChannel(n_neighbours=3)": NeighboursChannel(n_neighbours=3),
}


def _of_forests(name: str, make: Callable[..., Any], channel: Any, shape: tuple[int, ...]) -> Kind:
    """Of channels on forests all but ridge only count, and only leaf channels can use weights."""
    return Kind(
        name,
        make,
        shape,
        exact=not _is_ridge(channel),
        weights=_is_leaf(channel),
        chooses=_is_ridge(channel),
    )


def _forest(name: str, channel: Any, shape: tuple[int, ...] = FLAT, **settings: Any) -> Kind:
    make = partial(SillyForest, 5, channel=channel, random_state=0, **settings)
    return _of_forests(name, make, channel, shape)


def _parts(name: str, channel: Any) -> Kind:
    make = partial(Silly, ForestEncoder(4, max_depth=4), channel, random_state=1)
    return _of_forests(name, make, channel, FLAT)


def _network(name: str, channel: Any, shape: tuple[int, ...] = FLAT, **settings: Any) -> Kind:
    settings = {"network": (10, 10), "epochs": 3, "device": "cpu", **settings}
    if "recipe" in settings:
        del settings["epochs"]  # the recipe says how long
    make = partial(SillyNetwork, channel=channel, random_state=0, **settings)
    ridge = _is_ridge(channel)
    return Kind(name, make, shape, weights=not ridge, chooses=ridge)


def _best(name: str, best: Any, shape: tuple[int, ...] = FLAT, **settings: Any) -> Kind:
    make = partial(best, random_state=0, **settings)
    return Kind(name, make, shape, weights=False, chooses=True)


FORESTS = [_forest(f"forest, {name}", channel) for name, channel in ON_FORESTS.items()]
NETWORKS = [_network(f"network, {name}", channel) for name, channel in ON_NETWORKS.items()]
PARTS = [
    _parts("parts, LeafChannel()", LeafChannel()),
    _parts("parts, RidgeChannel()", RidgeChannel()),
    _parts("parts, ForestChannel(n_trees=5)", ForestChannel(n_trees=5)),
    _parts("parts, NeighboursChannel()", NeighboursChannel()),
]
_CNN: dict[str, Any] = {"network": "cnn", "shape": IMAGES, "width": 0.25, "epochs": 2}
CNNS = [
    _network("cnn, forest", "forest", **_CNN),
    _network("cnn, ridge", "ridge", **_CNN),
    _network("cnn, neighbours", "neighbours", **_CNN),
    _network("cnn, ridge, middle layer", "ridge", layer="middle", **_CNN),
    _network("cnn, ridge, two middle layers", "ridge", n_networks=2, layer="middle", **_CNN),
]
BEST = [
    _best("best forest", SillyForest.best, n_estimators=12),
    _best("best network", SillyNetwork.best, epochs=2, network=(10, 10), device="cpu"),
    _best("best cnn", SillyNetwork.best, IMAGES, epochs=2, network="cnn", width=0.25, device="cpu"),
]
BEST_AS_IT_IS = [
    _best("best network as it is", SillyNetwork.best, epochs=2, device="cpu"),
    _best("best network as it is, images", SillyNetwork.best, IMAGES, epochs=2, device="cpu"),
]


def _own_network(in_shape: tuple[int, ...]) -> Any:
    """A network of a user's own."""
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(in_shape)), 9), nn.Tanh())


def _brings_network(kind: Kind) -> Kind:
    """A kind whose network no file can hold."""
    return replace(kind, loaded_with=lambda: {"network": _own_network})


def _network_parts(**settings: Any) -> Silly:
    """A network encoder and a channel that a user has put together."""
    from lifelong import NetworkEncoder

    encoder = NetworkEncoder((6,), recipe=Recipe(epochs=3, optimiser="sgd", lr=0.05), device="cpu")
    return Silly(encoder, ForestChannel(n_trees=4), random_state=2, **settings)


def _function_parts(**settings: Any) -> Silly:
    """The same with a network of a user's own."""
    from lifelong import NetworkEncoder

    encoder = NetworkEncoder(_own_network, recipe=Recipe(epochs=2), device="cpu")
    return Silly(encoder, RidgeChannel(), random_state=2, **settings)


def _drawn_state(**settings: Any) -> SillyForest:
    """Randomness from a generator, whose first number is the seed."""
    return SillyForest(4, random_state=np.random.default_rng(5), **settings)


def _settled_forest(**settings: Any) -> SillyForest:
    return SillyForest(
        4,
        max_depth=3,
        max_samples=0.8,
        max_features=None,
        min_samples_leaf=4,
        random_state=3,
        **settings,
    )


_AUGMENTED = Recipe(iterations=4, batch_size=16, augment=True, schedule="cosine", weight_decay=0.01)
_HALF = Recipe(iterations=4, batch_size=16, precision="bfloat16", optimiser="rmsprop")

OTHERS = [
    replace(
        _network("network, forest, middle layer", "forest", layer="middle"),
        loaded_with=lambda: {"device": "cpu"},
    ),
    _network("network, ridge, middle layer", "ridge", layer="middle"),
    _network("network, forest, two networks", "forest", n_networks=2),
    _network("network, ridge, two middle layers", "ridge", n_networks=2, layer="middle"),
    _network("network, neighbours, augmented images", "neighbours", recipe=_AUGMENTED, **_CNN),
    _network("network, forest, bfloat16", "forest", recipe=_HALF),
    Kind("network parts, ForestChannel(n_trees=4)", _network_parts),
    _brings_network(_network("network of a function, ridge", "ridge", network=_own_network)),
    _brings_network(
        _network(
            "two networks of a function, neighbours",
            "neighbours",
            network=_own_network,
            n_networks=2,
        )
    ),
    Kind("forest with other parameters, leaf", _settled_forest, exact=True),
    _forest("forest, leaf, images", "leaf", SMALL_IMAGES),
    _forest("forest, ridge, images", "ridge", SMALL_IMAGES),
    _forest("forest, leaf, many columns", "leaf", MANY_COLUMNS),
    _forest("forest, NeighboursChannel(), many columns", NeighboursChannel(), MANY_COLUMNS),
]
PRETRAINED = [
    Kind(
        "pretrained, ridge",
        partial(pretrained.learner, "none", "ridge"),
        FEATURES,
        weights=False,
        chooses=True,
        loaded_with=lambda: {"encoder": pretrained.encoder("none")},
    ),
    Kind(
        "pretrained, two trained layers, neighbours",
        partial(pretrained.learner, "last-two", "neighbours"),
        FEATURES,
        weights=False,
        loaded_with=lambda: {"encoder": pretrained.encoder("last-two")},
    ),
]
NOTHING_HELD_OUT = [
    _forest("forest, leaf, max_samples 1", "leaf", max_samples=1.0),
    _forest("forest, ridge, max_samples 1", "ridge", max_samples=1.0),
    _network("network, forest, max_samples 1", "forest", max_samples=1.0),
    _network("network, ridge, max_samples 1", "ridge", max_samples=1.0),
]
NOT_IN_A_STORE = [  # a store does not go on with these
    Kind("forest, leaf, random_state a generator", _drawn_state, exact=True),
    _brings_network(Kind("parts of a function, RidgeChannel()", _function_parts, weights=False)),
]
TWO_JOBS = [
    _forest("forest, leaf, n_jobs 2", "leaf", n_jobs=2),
    _forest("forest, ridge, n_jobs 2", "ridge", n_jobs=2),
    _network("network, forest, n_jobs 2", "forest", n_jobs=2),
    _network("network, ridge, n_jobs 2", "ridge", n_jobs=2),
]


# References and controls

_ADAM = Recipe(iterations=6, batch_size=16, lr=1e-2)
_SGD = Recipe(epochs=2, batch_size=16, optimiser="sgd", lr=0.05)
_MOMENTUM = Recipe(epochs=2, batch_size=16, optimiser="sgd", lr=0.05, momentum=0.9)
_RMSPROP = Recipe(iterations=6, batch_size=16, optimiser="rmsprop", lr=3e-3)
_SMALL = {"network": (12,), "recipe": _ADAM, "device": "cpu"}

_REFERENCES: Mapping[str, Mapping[str, Any]] = {
    "none": _SMALL,
    "ewc": {**_SMALL, "strength": 20_000.0},
    "o-ewc": {**_SMALL, "strength": 20_000.0},
    "si": {**_SMALL, "strength": 20_000.0},
    "lwf": _SMALL,
    "total-replay": _SMALL,
    "partial-replay": _SMALL,
    "er": {**_SMALL, "recipe": _SGD, "capacity": 9},
    "a-gem": {**_SMALL, "recipe": _SGD, "rows_per_class": 3, "reference_size": 20},
    "tag": _SMALL,
    "prognn": {**_SMALL, "network": (12, 12), "recipe": _RMSPROP},
    "df-cnn": {**_SMALL, "recipe": _RMSPROP},
    "lmc": {**_SMALL, "network": (12, 12), "projection_epochs": 2},
    "model-zoo": {**_SMALL, "recipe": _MOMENTUM, "tasks_per_round": 2},
    "coscl": {**_SMALL, "n_learners": 2},
    "randumb": {"n_features": 30},
    "single": _SMALL,
    "rf": {"n_estimators": 6},
    "nearest-mean": {},
    "chance": {},
}


MENDED: Mapping[str, str] = {  # references that answer otherwise than at c4c0343, and why
    "df-cnn": "bases and factors start from Glorot's distribution, as the authors' do",
    "lmc": "decoders are detached; deviations are those of batch means, so modules are added",
    "coscl": "dropout, best held-out state, importance around the last weights",
    "randumb": "a ridge of 1e-4, and mirror images of colour images",
}
# EWC, O-EWC and SI answer as before for a given strength; only its default is another one.


def _reference(name: str, settings: Mapping[str, Any], shape: tuple[int, ...]) -> Kind:
    make = partial(make_learner, name, random_state=0, **settings)
    title = f"{name}, images" if shape != FLAT else name
    return Kind(title, make, shape, exact=name in ("rf", "chance"), weights=False)


def _image_settings(name: str) -> Mapping[str, Any]:
    """The same settings, with a narrow CNN where there is a network."""
    settings = dict(_REFERENCES[name])
    if "network" in settings:
        settings["network"] = "cnn"
        settings["width"] = 0.1
    return settings


ON_ROWS = [_reference(name, given, FLAT) for name, given in _REFERENCES.items() if name != "df-cnn"]
ON_IMAGES = [_reference(name, _image_settings(name), SMALL_IMAGES) for name in _REFERENCES]


# Settings


@dataclass(frozen=True)
class Setting:
    """What a learner may keep: encoders and rows."""

    budget: int | None = None
    keep: str = "first"
    replay: float = 1.0

    @property
    def given(self) -> dict[str, Any]:
        """What the constructor gets."""
        usual = vars(Setting())
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    def __str__(self) -> str:
        return "".join(f", {name} {value}" for name, value in self.given.items())


PLAIN = Setting()
ON_A_BUDGET = Setting(2, "first", 0.5)
USEFUL = Setting(2, "useful", 0.5)


def settings_of(kind: Kind) -> list[Setting]:
    """All settings that make sense for a kind."""
    replays = (1.0, 0.5, 0.0)
    chosen = [Setting(budget, "first", replay) for budget in (None, 2) for replay in replays]
    if kind.chooses:
        chosen += [Setting(2, "useful", replay) for replay in replays]
    return chosen
