"""Constructor parameters as JSON: one table, because a name means the same wherever it occurs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lifelong._validation import MOST_JOBS
from lifelong.exceptions import PersistenceError
from lifelong.learners.base import Learner
from lifelong.nets.recipe import Recipe
from lifelong.persistence.checking import Arrays, Scope, expect, keys
from lifelong.persistence.kinds import CustomKind, packed, unpacked
from lifelong.persistence.pretrained import MissingNetwork, brought
from lifelong.persistence.text import Json
from lifelong.schema import (
    COUNT,
    FLAG,
    POSITIVE,
    SHARE,
    AnyOf,
    Custom,
    Exactly,
    Kind,
    Number,
    Record,
    Several,
    Tagged,
    Text,
    Whole,
    declared_fields,
    maybe,
)

NOT_STORED = ("store",)  # where a learner lives is not part of it


@dataclass(frozen=True)
class Missing:
    """In the place of a user's function, until ``load(..., network=function)`` brings it."""

    name: str


def _pack_function(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    """A file cannot hold a user's function, so only its name is written."""
    if callable(value):
        return {"function": str(getattr(value, "__qualname__", type(value).__qualname__))}
    expect(value is not None, at, "is not a network")
    return packed(_NETWORK, value, at)


def _unpack_function(node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    if isinstance(node, dict):
        keys(node, {"function"}, at)
        return Missing(unpacked(Text(), node["function"], at))
    return unpacked(_NETWORK, node, at)


_NETWORK = AnyOf((Text(("auto", "cnn", "mlp")), Several(COUNT, least=1)))
NETWORK_PARAMETER = CustomKind(_pack_function, _unpack_function)
"""A network by name, by its hidden sizes, or a user's function."""


def _pack_class_weight(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    """None, a word, or pairs of a label and its weight."""
    if value is None or isinstance(value, str):
        return packed(maybe(Text(("balanced",))), value, at)
    return [
        [packed(_LABEL, label, at), packed(Number(0), weight, at)]
        for label, weight in value.items()
    ]


def _unpack_class_weight(node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    if not isinstance(node, list):
        return unpacked(maybe(Text(("balanced",))), node, at)
    pairs = unpacked(Several(Several(_LABEL, least=2)), node, at)
    expect(all(len(pair) == 2 for pair in pairs), at, "is not pairs of a label and its weight")
    return dict(pairs)


_LABEL = AnyOf((Text(), FLAG, Whole(-(2**63)), Number()))
CLASS_WEIGHT = CustomKind(_pack_class_weight, _unpack_class_weight)
"""How much rows of each class count."""

CHANNEL = Tagged(
    {
        "LeafChannel": "lifelong.channels.leaf:LeafChannel",
        "ForestChannel": "lifelong.channels.forest:ForestChannel",
        "NeighboursChannel": "lifelong.channels.neighbours:NeighboursChannel",
        "RidgeChannel": "lifelong.channels.ridge.channel:RidgeChannel",
    }
)
ENCODER = Tagged(
    {
        "ForestEncoder": "lifelong.encoders.forest:ForestEncoder",
        "NetworkEncoder": "lifelong.encoders.network:NetworkEncoder",
        "PretrainedEncoder": "lifelong.encoders.pretrained:PretrainedEncoder",
    }
)


def _forest_parameters() -> dict[str, Kind]:
    from lifelong.encoders.forest import ForestEncoder

    fields = declared_fields(ForestEncoder)
    return {name: kind for name, kind in fields.items() if name != "n_trees"}


PARAMETERS: Mapping[str, Kind] = {
    **_forest_parameters(),
    "n_estimators": COUNT,
    "task_column": AnyOf((Exactly(None), Text(), Whole(0))),
    "shared": AnyOf((Exactly(None), FLAG, COUNT)),
    "on_unseen": Text(("pooled", "raise")),
    "class_weight": Custom("class weight"),
    "encoder": maybe(ENCODER),
    "channel": AnyOf((Text(("leaf", "ridge", "forest", "neighbours")), CHANNEL)),
    "budget": maybe(COUNT),
    "keep": Text(("first", "useful")),
    "replay": SHARE,
    "task_inference": FLAG,
    "n_jobs": AnyOf((Exactly(None), Whole(1, MOST_JOBS), Whole(-MOST_JOBS, -1))),
    "random_state": maybe(Whole(0, 2**128)),
    "network": Custom("network"),
    "width": POSITIVE,
    "epochs": maybe(COUNT),
    "lr": maybe(POSITIVE),
    "batch_size": maybe(COUNT),
    "recipe": AnyOf((maybe(Text(("paper", "strong"))), Record(Recipe))),
    "device": Text(),
    "layer": Text(("last", "middle")),
    **dict.fromkeys(("fisher_rows", "capacity", "rows_per_class", "reference_size"), COUNT),
    **dict.fromkeys(("projection_epochs", "tasks_per_round", "n_learners"), COUNT),
    **dict.fromkeys(("n_features", "n_networks"), COUNT),
    **dict.fromkeys(("strength", "kernel_width"), maybe(Number())),
    **dict.fromkeys(("decay", "xi", "temperature", "b", "threshold", "regularisation"), Number()),
    **dict.fromkeys(("prior_temperature", "dropout", "cooperation", "validation"), Number()),
    **dict.fromkeys(("alpha", "beta", "pruned", "sparsity", "largest_scale"), Number(0)),
    "networks_per_task": maybe(COUNT),
    "ridge": Number(0),
    "readout": Text(("softmax", "ridge")),
    "basis_rows": COUNT,
    "share": SHARE,
    **dict.fromkeys(("energy", "energy_step", "auxiliary"), Number(0)),
    "flip": maybe(FLAG),
}


def parameters_to_json(learner: Learner) -> dict[str, Json]:
    """All constructor parameters."""
    given = learner.get_params(deep=False)
    if isinstance(given.get("random_state"), np.random.Generator | np.random.RandomState):
        given["random_state"] = learner.seed_  # the number that was drawn from it
    return {
        name: packed(PARAMETERS[name], value, name)
        for name, value in given.items()
        if name not in NOT_STORED
    }


def parameters_from_json(
    node: Json, learner_class: type[Learner], network: Any = None, pretrained: Any = None
) -> dict[str, Any]:
    """Parameters for the constructor; one that the file lacks keeps its default.

    ``network`` fills in a function, and ``pretrained`` an encoder, that a file cannot hold.
    """
    known = set(learner_class._get_param_names()) - set(NOT_STORED)
    keys(node, set(), "parameters", optional=known)
    node = as_of_today(node)
    given = {name: unpacked(PARAMETERS[name], value, name) for name, value in node.items()}
    encoder: Any = given.get("encoder")
    if isinstance(encoder, MissingNetwork):
        given["encoder"] = brought(encoder, pretrained, encoder_to_json(pretrained))
    if isinstance(given.get("network"), Missing):
        given["network"] = _function(given["network"], network)
    if isinstance(getattr(encoder, "network", None), Missing):
        given["encoder"] = replace(encoder, network=_function(encoder.network, network))
    return given


_ONCE_DEFAULTS = {"epochs": 100, "lr": 3e-4, "batch_size": 32}


def as_of_today(node: dict[str, Json]) -> dict[str, Json]:
    """Parameters of an earlier version, in today's words.

    ``epochs``, ``lr`` and ``batch_size`` once had values where nobody had given any, and a recipe
    took their place silently.
    """
    if not set(_ONCE_DEFAULTS) <= set(node) or isinstance(node.get("recipe"), str):
        return node
    if isinstance(node.get("recipe"), dict):
        return {**node, **dict.fromkeys(_ONCE_DEFAULTS)}
    silent = {name: None for name, value in _ONCE_DEFAULTS.items() if node[name] == value}
    return {**node, **silent}


def encoder_to_json(encoder: Any) -> Json:
    """What a file says of an encoder's settings; None if it is none of ours."""
    if type(encoder).__name__ not in ENCODER.homes:
        return None
    return packed(ENCODER, encoder, "encoder")


def _function(missing: Missing, network: Any) -> Any:
    if network is None:
        raise PersistenceError(
            f"This learner's networks are made by a function of yours ({missing.name}), which a "
            "file cannot hold. Pass it again: load(directory, network=function)."
        )
    return network
