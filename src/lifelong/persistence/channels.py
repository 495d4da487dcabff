"""A task's channel, split by encoder: a save after one more encoder writes the part for that encoder alone.

Each class of channel says what is common to all encoders (*head*, in the manifest) and what belongs to one (*part*).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong.channels import Channel, ForestChannel, LeafChannel, NeighboursChannel, RidgeChannel
from lifelong.channels.ridge_views import MAX_OWN_ROWS, MAX_ROWS, View
from lifelong.encoders.forest import FittedForest
from lifelong.persistence.forests import ForestKind
from lifelong.persistence.kinds import (
    AnyOf,
    Array,
    Arrays,
    Codes,
    Exactly,
    Kind,
    Name,
    Record,
    Text,
    Whole,
    expect,
    maybe,
)
from lifelong.persistence.parameters import COUNT
from lifelong.persistence.states import WEIGHTS, EncoderShape, equally_long
from lifelong.persistence.text import Json

COUNTERS = "uint8 uint16 uint32 uint64 float32"  # fractions, where rows have weights
_POSITION = 2**48


Parts = dict[Name, Any]
PartKind = Callable[[EncoderShape, int], Kind]  # of an encoder and a number of classes


@dataclass(frozen=True)
class ChannelFormat:
    """How one class of channel is split and joined."""

    channel: type
    head: Mapping[str, Kind]  # fields that do not depend on encoders
    split: Callable[[Any], tuple[NDArray[np.int64], Parts]]  # class counts, and a part per encoder
    join: Callable[[dict[str, Any], NDArray[np.int64], Parts], Channel]
    part: PartKind
    anchor: Callable[[Any], Any]  # the object of a part that is replaced whenever the part changes


class ForestPart(NamedTuple):
    """The forest on one encoder and the table of its leaves."""

    forest: FittedForest
    table: NDArray[Any]


@dataclass(frozen=True)
class ForestPartKind:
    """Forest first: how many leaves it has says how long the table must be."""

    n_features: int
    n_classes: int

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        table = Array(COUNTERS, (value.forest.n_leaves, self.n_classes))
        node = ForestKind(self.n_features).pack(value.forest, arrays, f"{at}.forest")
        return [node, table.pack(value.table, arrays, f"{at}.table")]

    def unpack(self, node: Json, arrays: Arrays, at: str) -> ForestPart:
        expect(isinstance(node, list) and len(node) == 2, at, "is not a forest and a table")
        forest = ForestKind(self.n_features).unpack(node[0], arrays, f"{at}.forest")
        table = Array(COUNTERS, (forest.n_leaves, self.n_classes)).unpack(node[1], arrays, f"{at}.table")
        return ForestPart(forest, table)


class Remembered(NamedTuple):
    """Rows that a neighbours channel remembers through one encoder."""

    Z: NDArray[Any]
    y: NDArray[np.intp]
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class LeavesKind:
    """One leaf per row and tree (n, B)."""

    n_trees: int
    n_leaves: int

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return Array("int32", (None, self.n_trees)).pack(value, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> NDArray[np.int32]:
        leaves = Array("int32", (None, self.n_trees)).unpack(node, arrays, at)
        inside = not leaves.size or (leaves.min() >= 0 and leaves.max() < self.n_leaves)
        expect(bool(inside), at, f"holds leaves outside 0 … {self.n_leaves - 1}")
        return leaves


def _leaf_part(shape: EncoderShape, n_classes: int) -> Kind:
    return Array(COUNTERS, (shape.leaves, n_classes))


def _neighbours_part(shape: EncoderShape, n_classes: int) -> Kind:
    dtype = "int32" if shape.leaves else "float32"
    fields: dict[str, Kind] = {
        "Z": Array(dtype, (None, shape.columns)),
        "y": Codes(None, n_classes),
        "weights": maybe(WEIGHTS),
    }
    return Record(Remembered, fields, equally_long, may_lack=True)


def _ridge_part(shape: EncoderShape, n_classes: int) -> Kind:
    rows_seen: tuple[Kind, ...] = (Exactly(None), Array("bool", (None,)))
    if shape.leaves:
        rows_seen = (*rows_seen, Array("bool", (None, shape.columns)))
    view: dict[str, Kind] = {
        "Z": LeavesKind(shape.columns, shape.leaves) if shape.leaves else Array("float16", (None, shape.columns)),
        "n_leaves": Exactly(shape.leaves),
        "y": Codes(None, n_classes),
        "rows": Codes(None, _POSITION),
        "in_bag": AnyOf(rows_seen),
        "n_answers": Whole(0, 0 if shape.leaves else shape.columns - 1),
    }
    return Record(View, view, _few_rows, may_lack=True)


def _few_rows(fields: dict[str, Any], at: str) -> None:
    equally_long(fields, at)
    most = MAX_ROWS if fields.get("in_bag") is None else MAX_OWN_ROWS
    expect(1 <= len(fields["y"]) <= most, at, f"does not have 1 … {most} rows")


def _join_forest(head: dict[str, Any], counts: NDArray[np.int64], parts: Parts) -> ForestChannel:
    tables = {u: part.table for u, part in parts.items()}
    forests = {u: part.forest for u, part in parts.items()}
    return ForestChannel(head["n_trees"], forests, LeafChannel(counts, tables))


CHANNELS: Mapping[str, ChannelFormat] = {
    "leaf": ChannelFormat(
        LeafChannel,
        {"min_rows": COUNT},
        lambda channel: (channel.class_counts, dict(channel.tables)),
        lambda head, counts, parts: LeafChannel(counts, parts, head.get("min_rows", 1)),
        _leaf_part,
        lambda table: table,
    ),
    "forest": ChannelFormat(
        ForestChannel,
        {"n_trees": COUNT},
        lambda channel: (
            channel.leaves.class_counts,
            {u: ForestPart(forest, channel.leaves.tables[u]) for u, forest in channel.forests.items()},
        ),
        _join_forest,
        lambda shape, n_classes: ForestPartKind(shape.columns, n_classes),
        lambda part: part.table,
    ),
    "neighbours": ChannelFormat(
        NeighboursChannel,
        {"n_neighbours": maybe(COUNT)},
        lambda channel: (
            channel.class_counts,
            {u: Remembered(Z, y, channel.weights.get(u)) for u, (Z, y) in channel.rows.items()},
        ),
        lambda head, counts, parts: NeighboursChannel(
            head["n_neighbours"],
            counts,
            {u: (part.Z, part.y) for u, part in parts.items()},
            {u: part.weights for u, part in parts.items() if part.weights is not None},
        ),
        _neighbours_part,
        lambda part: part.Z,  # labels may be shared between encoders
    ),
    "ridge": ChannelFormat(
        RidgeChannel,
        {"weights": Text(("learnt", "equal"))},
        lambda channel: (channel.class_counts, dict(channel.views)),
        lambda head, counts, parts: RidgeChannel(head["weights"], counts, parts),
        _ridge_part,
        lambda view: view.Z,
    ),
}


def format_of(channel: Channel) -> tuple[str, ChannelFormat] | None:
    """The format of a channel's class, if it has one."""
    return next(((word, one) for word, one in CHANNELS.items() if type(channel) is one.channel), None)
