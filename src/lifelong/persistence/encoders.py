"""Encoders: each in one file that is complete in itself, so that another learner can have it."""

import math
from functools import partial
from typing import Any, NamedTuple

from lifelong._extras import require
from lifelong._provided import found_at
from lifelong.encoders.base import FittedEncoder
from lifelong.learners.base import Learner
from lifelong.persistence.checking import Arrays, Name, expect, keys
from lifelong.persistence.directory import FileRef
from lifelong.persistence.forests import MAX_TREES, pack_forest, unpack_forest
from lifelong.persistence.kinds import packed, unpacked
from lifelong.persistence.known import note, noted
from lifelong.persistence.parameters import encoder_to_json
from lifelong.persistence.states import (
    ElsewherePlace,
    EncoderShape,
    Frame,
    Loading,
    Node,
    Saving,
    files_in,
)
from lifelong.persistence.text import Json, Unfit
from lifelong.schema import Several, Whole

_SIZE = Whole(0, 2**31)
IN_SHAPE = Several(Whole(1, 2**31), least=1)
MAX_ROW = 2**24  # numbers in one row

ENCODERS = {
    "forest": "lifelong.encoders.forest:FittedForest",
    "network": "lifelong.encoders.network:FittedNetwork",
    "pretrained": "lifelong.encoders.pretrained:FittedPretrained",
    "patches": "lifelong.encoders.patches:FittedPatches",
    "shared-network": "lifelong.encoders.shared_network:SharedNetwork",
}
"""The encoders that can be saved, by the word that stands for them in a file."""


def word_of(encoder: Any) -> str | None:
    """The word for an encoder of ours; a class of the user's has none.

    The class says it itself (``saved_as``), so that torch is imported only where it is used.
    """
    word = getattr(type(encoder), "saved_as", None)
    if word in ENCODERS and type(encoder) is found_at(ENCODERS[word]):
        return str(word)
    return None


def pack_encoder(encoder: FittedEncoder, in_shape: tuple[int, ...], arrays: Arrays) -> Json:
    """The structure of an encoder's file, complete in itself; its arrays go to ``arrays``."""
    word = word_of(encoder)
    found: Any = encoder
    if word == "forest":
        content = pack_forest(found, arrays, "forest")
    elif word == "network":
        from lifelong.persistence import networks

        content = networks.pack_network(found, arrays, "network")
    elif word == "shared-network":
        from lifelong.persistence import shared_networks

        content = shared_networks.pack_shared(found, arrays, word)
    elif word == "patches":
        from lifelong.persistence import patches

        content = patches.pack_patches(found, arrays, word)
    elif word == "pretrained":
        from lifelong.persistence import pretrained

        settings = encoder_to_json(found.settings)
        content = pretrained.pack_fitted(found, settings, arrays, "layers")
    else:
        raise Unfit(
            f"an encoder of the class {type(encoder).__name__} is yours; only forests and networks,"
            " pretrained or not, can be saved"
        )
    return {"kind": word, word: content, "in_shape": packed(IN_SHAPE, in_shape, "in_shape")}


def unpack_encoder(
    structure: Json, arrays: Arrays, in_shape: tuple[int, ...], learner: Learner | None = None
) -> FittedEncoder:
    """The encoder of a file, for rows of ``in_shape``; the learner has what no file can hold."""
    known = isinstance(structure, dict) and structure.get("kind") in ENCODERS
    expect(known, "the encoder", "has no kind")
    kind: str = structure["kind"]
    keys(structure, {"kind", "in_shape", kind}, "the encoder")
    stored = unpacked(IN_SHAPE, structure["in_shape"], "in_shape")
    fits = stored == tuple(in_shape)
    expect(fits, "the encoder", f"reads rows of shape {stored}, not {tuple(in_shape)}")
    content = structure[kind]
    if kind == "forest":
        return unpack_forest(content, arrays, "forest", math.prod(in_shape))
    require("torch", extra="torch", for_what="A network encoder")
    device = device_of(learner)
    encoder: FittedEncoder
    if kind == "pretrained":
        from lifelong.persistence import pretrained

        trainer = getattr(learner, "encoder", None)
        settings = encoder_to_json(trainer)
        encoder = pretrained.unpack_fitted(content, arrays, "layers", trainer, settings, device)
    elif kind == "patches":
        from lifelong.persistence import patches

        encoder = patches.unpack_patches(content, arrays, kind, in_shape, device=device)
    elif kind == "shared-network":
        from lifelong.persistence import shared_networks

        network = user_network(learner)
        encoder = shared_networks.unpack_shared(
            content, arrays, kind, in_shape, network=network, device=device
        )
    else:
        from lifelong.persistence import networks

        network = user_network(learner)
        encoder = networks.unpack_network(
            content, arrays, kind, in_shape, network=network, device=device
        )
    return encoder


def encoder_shape(encoder: FittedEncoder, in_shape: tuple[int, ...]) -> EncoderShape:
    """Columns of the representation, and leaves if it has any."""
    word = word_of(encoder)
    found: Any = encoder
    if word == "forest":
        return EncoderShape(len(found.trees), found.n_leaves)
    if word == "pretrained":
        from lifelong.persistence import pretrained

        return EncoderShape(pretrained.n_columns(found), 0)
    if word == "patches":
        return EncoderShape(found.body.n_columns(in_shape), 0)
    if word == "shared-network":
        found = found.network
    from lifelong.persistence import networks

    return EncoderShape(networks.n_columns(found, in_shape), 0)


class EncoderHead(NamedTuple):
    """What the manifest says of an encoder: channels can be checked without it."""

    shape: EncoderShape
    file: FileRef


def head_of(node: Json) -> EncoderHead:
    """``{"columns", "leaves", "file"}``, checked."""
    keys(node, {"columns", "leaves", "file"}, "an encoder")
    columns = unpacked(_SIZE, node["columns"], "columns")
    leaves = unpacked(_SIZE, node["leaves"], "leaves")
    fits = columns > 0 and (not leaves or columns <= min(leaves, MAX_TREES))
    expect(fits, "an encoder", "has no shape")
    return EncoderHead(EncoderShape(columns, leaves), FileRef.from_json(node["file"]))


def _save(value: FittedEncoder, name: Name | None, to: Saving) -> Json:
    in_shape = to.frame.in_shape
    node = noted(value)
    if not (isinstance(node, Node) and to.reuse(files_in(node))):
        arrays = Arrays()
        structure = pack_encoder(value, in_shape, arrays)
        columns, leaves = encoder_shape(value, in_shape)
        shape = EncoderShape(columns, leaves)
        ref = to.put("encoder", structure, arrays, partial(_unpack_as_described, shape, to.frame))
        node = Node(columns=columns, leaves=leaves, file=list(ref))
        note(value, node)
    return node


def _unpack_as_described(
    shape: EncoderShape, frame: Frame, structure: Json, arrays: Arrays
) -> FittedEncoder:
    """The encoder of a file, which must have the shape that the manifest gives."""
    encoder = unpack_encoder(structure, arrays, frame.in_shape, frame.learner)
    fits = encoder_shape(encoder, frame.in_shape) == shape
    expect(fits, "the encoder", "is not as the manifest says")
    return encoder


def _load(node: Json, name: Name | None, loading: Loading) -> FittedEncoder:
    head = head_of(node)
    read = partial(_unpack_as_described, head.shape, loading.frame)
    encoder: FittedEncoder = loading.read(head.file, read)
    note(encoder, node)
    return encoder


ENCODER = ElsewherePlace(_save, _load)


def note_shapes(entries: dict[Name, Json], frame: Frame) -> None:
    """Before any channel is looked at, the shapes of all encoders are known."""
    for name, node in entries.items():
        frame.shapes[name] = head_of(node).shape


def user_network(learner: Learner | None) -> Any:
    """The function that builds the learner's networks, if the user has brought one."""
    trainer = _trainer(learner)
    network = getattr(trainer, "network", None)
    n_networks = getattr(trainer, "n_networks", 1)
    if not callable(network):
        return None
    if n_networks == 1:
        return network
    from lifelong.nets.architectures import SideBySide

    return lambda in_shape: SideBySide(network(in_shape) for _ in range(n_networks))


def device_of(learner: Learner | None) -> str:
    """Where the learner's networks are; without a learner, on the processor."""
    return str(getattr(_trainer(learner), "device", "cpu"))


def _trainer(learner: Learner | None) -> Any:
    """What has the parameters of networks: the learner, or the encoder that it was given."""
    return getattr(learner, "encoder", None) or learner
