"""Learners on a pretrained network: the file says which it is, ``load(..., encoder=)`` brings it.

The weights of such a network are large, the same for everybody, and not ours to hand on. A file
must not name a place to fetch them from either: reading a file opens nothing but the file.
"""

from dataclasses import dataclass
from typing import Any

from lifelong.exceptions import PersistenceError
from lifelong.nets.recipe import Recipe
from lifelong.persistence.checking import Arrays, Scope, keys
from lifelong.persistence.kinds import CustomKind, packed, unpacked
from lifelong.persistence.text import Json, Unfit
from lifelong.schema import COUNT, SHARE, AnyOf, Kind, Record, Several, Text, Whole, maybe

_IDENTITY = Several(AnyOf((maybe(Text()), Whole(0))), least=1)
_TUNE = AnyOf((Text(("none", "last-two")), Whole(2)))


@dataclass(frozen=True)
class MissingNetwork:
    """In the place of a pretrained encoder, until ``load(..., encoder=)`` brings it."""

    node: dict[str, Json]


_FIELDS: dict[str, Kind] = {
    "network": Text(),
    "identity": _IDENTITY,
    "tune": _TUNE,
    "hidden": COUNT,
    "max_samples": SHARE,
    "recipe": Record(Recipe),
}


def _pack(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    """What representations depend on; not where the network lies, nor where it caches."""
    seen = {"network": value.backbone.name, "identity": value.backbone.identity}
    for name in ("tune", "hidden", "max_samples", "recipe"):
        seen[name] = getattr(value, name)
    return {name: packed(kind, seen[name], f"{at}.{name}") for name, kind in _FIELDS.items()}


def _unpack(node: Json, arrays: Arrays, at: str, scope: Scope) -> MissingNetwork:
    keys(node, set(_FIELDS), at)
    for name, kind in _FIELDS.items():
        unpacked(kind, node[name], f"{at}.{name}")
    return MissingNetwork({"kind": "PretrainedEncoder", **node})


PRETRAINED = CustomKind(_pack, _unpack)
"""A :class:`PretrainedEncoder`, by what identifies its network."""


def brought(missing: MissingNetwork, encoder: Any, packed: Json) -> Any:
    """The user's encoder, if it is the one the file means; ``packed`` is how it would be saved."""
    name = missing.node["network"]
    if encoder is None:
        raise PersistenceError(
            f"This learner stands on the pretrained network {name}, which no file of ours holds."
            " Pass it again: load(directory, encoder=PretrainedEncoder.from_pretrained(folder))."
        )
    other = _difference(missing.node, packed)
    if other is not None:
        what = other
        if other == "identity":
            what = "weights or preprocessing"
        raise PersistenceError(
            f"encoder= is not the {name} that this learner was saved with; see its {what}."
        )
    return encoder


def _difference(wanted: Json, found: Json) -> str | None:
    """The first thing in which two encoders' settings differ; a folder may have been renamed."""
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        return "class"
    return next(
        (
            key
            for key in {**wanted, **found}
            if key != "network" and wanted.get(key) != found.get(key)
        ),
        None,
    )


def pack_fitted(value: Any, settings: Json, arrays: Arrays, at: str) -> Json:
    """A task's trained layers, and the settings of the network under them."""
    from lifelong.persistence.networks import pack_network

    layers = None
    if value.layers is not None:
        layers = pack_network(value.layers, arrays, at)
    return {"settings": settings, "layers": layers}


def unpack_fitted(
    node: Json, arrays: Arrays, at: str, encoder: Any, settings: Json, device: str
) -> Any:
    """The encoder on top of the learner's own pretrained network, which ``settings`` describe."""
    keys(node, {"settings", "layers"}, at)
    if _difference(node["settings"], settings) is not None:
        raise Unfit(f"{at} stands on another pretrained network, or on none that this learner has")
    from lifelong.encoders.pretrained import FittedPretrained
    from lifelong.persistence.networks import unpack_network

    if node["layers"] is None:
        return FittedPretrained(encoder, None)
    n_features = encoder.backbone.n_features
    return FittedPretrained(
        encoder, unpack_network(node["layers"], arrays, at, (n_features,), device=device)
    )


def n_columns(value: Any) -> int:
    """Columns of the representation."""
    from lifelong.persistence.networks import n_columns as n_columns_of

    n_features: int = value.shared.n_features
    if value.layers is None:
        return n_features
    return n_columns_of(value.layers, (n_features,))
