"""Encoders: each in one file that is complete in itself, so that it can also go to another learner."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lifelong._extras import require
from lifelong.encoders.base import FittedEncoder
from lifelong.encoders.forest import FittedForest
from lifelong.learners.base import Learner
from lifelong.persistence import pretrained
from lifelong.persistence.directory import FileRef
from lifelong.persistence.forests import MAX_TREES, ForestKind
from lifelong.persistence.kinds import Arrays, Name, Several, Whole, expect, keys
from lifelong.persistence.known import note, noted
from lifelong.persistence.parameters import encoder_to_json
from lifelong.persistence.states import Each, EncoderShape, Loading, Node, Saving, State, files_in
from lifelong.persistence.text import Json, Unfit

_SIZE = Whole(0, 2**31)
IN_SHAPE = Several(Whole(1, 2**31), least=1)
MAX_ROW = 2**24  # numbers in one row


def pack_encoder(encoder: FittedEncoder, in_shape: tuple[int, ...], arrays: Arrays) -> Json:
    """The structure of an encoder's file, complete in itself; its arrays go to ``arrays``."""
    node: Json
    if type(encoder) is FittedForest:
        node = {"kind": "forest", "forest": ForestKind(math.prod(in_shape)).pack(encoder, arrays, "forest")}
    elif _is_pretrained(encoder):
        settings = encoder_to_json(getattr(encoder, "settings", None))
        node = {"kind": "pretrained", "pretrained": pretrained.pack_fitted(encoder, settings, arrays, "layers")}
    else:
        node = {"kind": "network", "network": _networks(encoder).pack_network(encoder, arrays, "network")}
    return {**node, "in_shape": IN_SHAPE.pack(in_shape, arrays, "in_shape")}


def unpack_encoder(
    structure: Json, arrays: Arrays, in_shape: tuple[int, ...], learner: Learner | None = None
) -> FittedEncoder:
    """The encoder of a file, for rows of ``in_shape``; the learner has what no file can hold."""
    known = isinstance(structure, dict) and structure.get("kind") in ("forest", "network", "pretrained")
    expect(known, "the encoder", "has no kind")
    kind: str = structure["kind"]
    keys(structure, {"kind", "in_shape", kind}, "the encoder")
    stored = IN_SHAPE.unpack(structure["in_shape"], arrays, "in_shape")
    expect(stored == tuple(in_shape), "the encoder", f"reads rows of shape {stored}, not {tuple(in_shape)}")
    if kind == "forest":
        return ForestKind(math.prod(in_shape)).unpack(structure["forest"], arrays, "forest")
    require("torch", extra="torch", for_what="A network encoder")
    trainer, device = getattr(learner, "encoder", None), "cpu" if learner is None else device_of(learner)
    encoder: FittedEncoder
    if kind == "pretrained":
        settings = encoder_to_json(trainer)
        encoder = pretrained.unpack_fitted(structure[kind], arrays, "layers", trainer, settings, device)
    else:
        from lifelong.persistence import networks

        network = None if learner is None else user_network(learner)
        encoder = networks.unpack_network(structure[kind], arrays, kind, in_shape, network=network, device=device)
    return encoder


def _is_pretrained(encoder: Any) -> bool:
    return type(encoder).__name__ == "FittedPretrained"  # whose class needs torch


def _networks(encoder: Any) -> Any:
    if type(encoder).__name__ != "FittedNetwork":
        raise Unfit(
            f"an encoder of the class {type(encoder).__name__} is yours; only forests and networks, pretrained or not, "
            "can be saved"
        )
    from lifelong.persistence import networks

    return networks


def encoder_shape(encoder: FittedEncoder, in_shape: tuple[int, ...]) -> EncoderShape:
    """Columns of the representation, and leaves if it has any."""
    if isinstance(encoder, FittedForest):
        return EncoderShape(len(encoder.trees), encoder.n_leaves)
    if _is_pretrained(encoder):
        return EncoderShape(pretrained.n_columns(encoder), 0)
    columns: int = _networks(encoder).n_columns(encoder, in_shape)
    return EncoderShape(columns, 0)


@dataclass(frozen=True)
class EncoderState:
    """``{"columns", "leaves", "file"}``: channels can be checked without the encoder."""

    def save(self, value: FittedEncoder, name: Name | None, to: Saving) -> Json:  # noqa: ARG002
        node = noted(value)
        if not (isinstance(node, dict) and to.reuse(files_in(node))):
            arrays = Arrays()
            structure = pack_encoder(value, to.learner.in_shape_, arrays)
            columns, leaves = encoder_shape(value, to.learner.in_shape_)
            node = Node(columns=columns, leaves=leaves, file=list(to.put("encoder", structure, arrays)))
            note(value, node)
        return node

    def load(self, node: Json, name: Name | None, loading: Loading) -> FittedEncoder:  # noqa: ARG002
        shape, ref = self.head(node)
        in_shape = loading.learner.in_shape_

        def unpacked(structure: Json, arrays: Arrays) -> FittedEncoder:
            encoder = unpack_encoder(structure, arrays, in_shape, loading.learner)
            expect(encoder_shape(encoder, in_shape) == shape, "the encoder", "is not as the manifest says")
            return encoder

        encoder: FittedEncoder = loading.read(ref, unpacked)
        note(encoder, node)
        return encoder

    def head(self, node: Json) -> tuple[EncoderShape, FileRef]:
        """What the manifest says."""
        keys(node, {"columns", "leaves", "file"}, "an encoder")
        columns = _SIZE.unpack(node["columns"], Arrays(), "columns")
        leaves = _SIZE.unpack(node["leaves"], Arrays(), "leaves")
        expect(columns > 0 and (not leaves or columns <= min(leaves, MAX_TREES)), "an encoder", "has no shape")
        return EncoderShape(columns, leaves), FileRef.from_json(node["file"])


@dataclass(frozen=True)
class Encoders(Each):
    """All encoders; their shapes are known before any channel is looked at."""

    state: State = field(default_factory=EncoderState)
    every_task: bool = False

    def save(self, value: Mapping[Name, Any], name: Name | None, to: Saving) -> Json:
        node = super().save(value, name, to)
        to.shapes.update((encoder, EncoderShape(one["columns"], one["leaves"])) for encoder, one in node)
        return node

    def entries(self, node: Json, name: Name | None, loading: Loading) -> dict[Name, Json]:
        """The nodes by encoder."""
        entries = super().entries(node, name, loading)
        loading.shapes.update((encoder, EncoderState().head(one)[0]) for encoder, one in entries.items())
        return entries


def user_network(learner: Learner) -> Any:
    """The function that builds the learner's networks, if the user has brought one."""
    trainer = _trainer(learner)
    network, n_networks = getattr(trainer, "network", None), getattr(trainer, "n_networks", 1)
    if not callable(network) or n_networks == 1:
        return network if callable(network) else None
    from lifelong.nets.architectures import SideBySide

    return lambda in_shape: SideBySide(network(in_shape) for _ in range(n_networks))


def device_of(learner: Learner) -> str:
    """Where the learner's networks are."""
    return str(getattr(_trainer(learner), "device", "cpu"))


def _trainer(learner: Learner) -> Any:
    """What has the parameters of networks: the learner, or the encoder that it was given."""
    return getattr(learner, "encoder", None) or learner
