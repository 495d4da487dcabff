"""Constructor parameters as JSON: one table for all learners, because a name means the same wherever it occurs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lifelong.channels import ForestChannel, LeafChannel, NeighboursChannel, RidgeChannel
from lifelong.encoders.forest import ForestEncoder
from lifelong.exceptions import PersistenceError
from lifelong.learners.base import Learner
from lifelong.nets.recipe import Recipe
from lifelong.persistence.kinds import (
    AnyOf,
    Arrays,
    Exactly,
    Kind,
    Number,
    Record,
    Several,
    Text,
    Whole,
    expect,
    keys,
    maybe,
)
from lifelong.persistence.pretrained import MissingNetwork, PretrainedKind, brought
from lifelong.persistence.text import Json, Unfit

NOT_STORED = ("store",)  # where a learner lives is not part of it

_MOST_JOBS = 1024  # a file must not start more threads than a machine can bear
COUNT, SHARE, POSITIVE = Whole(1), Number(0, 1), Number(5e-324)
FLAG = AnyOf((Exactly(False), Exactly(True)))
RECIPE = Record(
    Recipe,
    {
        "epochs": COUNT,
        "batch_size": COUNT,
        "optimiser": Text(("adam", "sgd", "rmsprop")),
        "lr": POSITIVE,
        "momentum": Number(0),
        "weight_decay": Number(0),
        "iterations": maybe(COUNT),
        "schedule": Text(("constant", "cosine", "one-cycle")),
        "augment": FLAG,
        "precision": Text(("float32", "bfloat16")),
    },
    may_lack=True,
)


@dataclass(frozen=True)
class Missing:
    """In the place of a user's function, until ``load(..., network=function)`` brings it."""

    name: str


@dataclass(frozen=True)
class FunctionKind:
    """A user's function: a file cannot hold it, so only its name is written."""

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:  # noqa: ARG002
        expect(callable(value), at, "is not a function")
        return {"function": str(getattr(value, "__qualname__", type(value).__qualname__))}

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Missing:
        keys(node, {"function"}, at)
        return Missing(Text().unpack(node["function"], arrays, at))


@dataclass(frozen=True)
class Tagged:
    """One of several kinds, told apart by a word."""

    kinds: Mapping[str, Callable[[], Kind]]

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        for word, kind in self.kinds.items():
            if type(value).__name__ == word:
                node: Any = kind().pack(value, arrays, at)
                return {"kind": word, **node}
        raise Unfit(f"{at}={value!r} is yours, and only these can be saved: {', '.join(self.kinds)}")

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:
        expect(isinstance(node, dict) and isinstance(node.get("kind"), str), at, "has no kind")
        expect(node["kind"] in self.kinds, at, f"has the unknown kind {node['kind'][:40]!r}")
        rest = {name: value for name, value in node.items() if name != "kind"}
        return self.kinds[node["kind"]]().unpack(rest, arrays, at)


LAYER = Text(("last", "middle"))
NETWORK = AnyOf((Text(("auto", "cnn", "mlp")), Several(COUNT, least=1), FunctionKind()))
_FOREST_PARAMETERS: dict[str, Kind] = {
    "max_depth": maybe(COUNT),
    "max_samples": SHARE,
    "max_features": AnyOf((maybe(Text(("sqrt", "log2"))), COUNT, SHARE)),
    "min_samples_leaf": AnyOf((COUNT, SHARE)),
}


def _network_encoder() -> Record:
    from lifelong.encoders.network import NetworkEncoder

    fields: dict[str, Kind] = {
        "network": NETWORK,
        "width": POSITIVE,
        "max_samples": SHARE,
        "recipe": RECIPE,
        "device": Text(),
        "layer": LAYER,
        "n_networks": COUNT,
    }
    return Record(NetworkEncoder, fields, may_lack=True)


CHANNEL = Tagged(
    {
        "LeafChannel": lambda: Record(LeafChannel, {"min_rows": COUNT}, may_lack=True),
        "ForestChannel": lambda: Record(ForestChannel, {"n_trees": COUNT}),
        "NeighboursChannel": lambda: Record(NeighboursChannel, {"n_neighbours": maybe(COUNT)}),
        "RidgeChannel": lambda: Record(RidgeChannel, {"weights": Text(("learnt", "equal"))}),
    }
)
ENCODER = Tagged(
    {
        "ForestEncoder": lambda: Record(ForestEncoder, {"n_trees": COUNT, **_FOREST_PARAMETERS}, may_lack=True),
        "NetworkEncoder": _network_encoder,
        "PretrainedEncoder": lambda: PretrainedKind(RECIPE),
    }
)

PARAMETERS: Mapping[str, Kind] = {
    **_FOREST_PARAMETERS,
    "n_estimators": COUNT,
    "encoder": maybe(ENCODER),
    "channel": AnyOf((Text(("leaf", "ridge", "forest", "neighbours")), CHANNEL)),
    "budget": maybe(COUNT),
    "keep": Text(("first", "useful")),
    "replay": SHARE,
    "n_jobs": AnyOf((Exactly(None), Whole(1, _MOST_JOBS), Whole(-_MOST_JOBS, -1))),
    "random_state": maybe(Whole(0, 2**128)),
    "network": NETWORK,
    "width": POSITIVE,
    "epochs": COUNT,
    "lr": POSITIVE,
    "batch_size": COUNT,
    "recipe": maybe(RECIPE),
    "device": Text(),
    "layer": LAYER,
    **dict.fromkeys(("fisher_rows", "capacity", "rows_per_class", "reference_size", "projection_epochs"), COUNT),
    **dict.fromkeys(("tasks_per_round", "n_learners", "n_features", "n_networks"), COUNT),
    **dict.fromkeys(("strength", "kernel_width"), maybe(Number())),
    **dict.fromkeys(("decay", "xi", "temperature", "b", "threshold", "regularisation"), Number()),
    **dict.fromkeys(("prior_temperature", "dropout", "cooperation"), Number()),
}


def parameters_to_json(learner: Learner) -> Json:
    """All constructor parameters."""
    given = {name: value for name, value in learner.get_params(deep=False).items() if name not in NOT_STORED}
    if isinstance(given.get("random_state"), np.random.Generator | np.random.RandomState):
        given["random_state"] = learner.seed_  # the number that was drawn from it
    return {name: PARAMETERS[name].pack(value, Arrays(), name) for name, value in given.items()}


def parameters_from_json(
    node: Json, learner_class: type[Learner], network: Any = None, pretrained: Any = None
) -> dict[str, Any]:
    """Parameters for the constructor; one that the file lacks keeps its default.

    ``network`` fills in a function, and ``pretrained`` an encoder, that a file cannot hold.
    """
    known = set(learner_class._get_param_names()) - set(NOT_STORED)
    keys(node, set(), "parameters", optional=known)
    given = {name: PARAMETERS[name].unpack(value, Arrays(), name) for name, value in node.items()}
    encoder: Any = given.get("encoder")
    if isinstance(encoder, MissingNetwork):
        given["encoder"] = brought(encoder, pretrained, encoder_to_json(pretrained))
    if isinstance(given.get("network"), Missing):
        given["network"] = _function(given["network"], network)
    if isinstance(getattr(encoder, "network", None), Missing):
        given["encoder"] = replace(encoder, network=_function(encoder.network, network))
    return given


def encoder_to_json(encoder: Any) -> Json:
    """What a file says of an encoder's settings; None if it is none of ours."""
    if type(encoder).__name__ not in ENCODER.kinds:
        return None
    return ENCODER.pack(encoder, Arrays(), "encoder")


def _function(missing: Missing, network: Any) -> Any:
    if network is None:
        raise PersistenceError(
            f"This learner's networks are made by a function of yours ({missing.name}), which a file cannot hold. "
            "Pass it again: load(directory, network=function)."
        )
    return network
