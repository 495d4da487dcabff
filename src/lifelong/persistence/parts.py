"""Values that consist of a part per encoder: channels, and where a task's rows lie (``densities``).

A file holds the parts that were new at one save. It serves until one of its parts changes, so that a save after one
more encoder writes the parts for that encoder alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lifelong.persistence.channels import CHANNELS, Parts, format_of
from lifelong.persistence.directory import FileRef
from lifelong.persistence.kinds import Arrays, Kind, Name, expect, keys, name_pairs
from lifelong.persistence.known import note, noted
from lifelong.persistence.states import EncoderShape, Loading, Node, Saving, files_in
from lifelong.persistence.text import Json, Unfit

PartKind = Callable[[EncoderShape], Kind]


class PartFile(NamedTuple):
    """A file with the parts of one value for some encoders."""

    ref: FileRef
    encoders: tuple[Name, ...]


def save_parts(parts: Parts, kind: PartKind, anchor: Callable[[Any], Any], at: str, to: Saving) -> list[list[Any]]:
    """References to the files that hold the parts; ``anchor`` is what is replaced whenever a part changes."""
    expect(set(parts) <= set(to.shapes), at, "is on encoders that the learner does not have")
    kept = _kept(parts, anchor, to)
    covered = [encoder for one in kept for encoder in one.encoders]
    rest = {encoder: part for encoder, part in parts.items() if encoder not in covered}
    if [*covered, *rest] != list(parts):  # when loaded, parts come in the order of the files
        kept, rest = [], parts
    files = [one.ref for one in kept]
    if rest:
        arrays = Arrays()
        packed = [
            [encoder, kind(to.shapes[encoder]).pack(part, arrays, str(place))]
            for place, (encoder, part) in enumerate(rest.items())
        ]
        files.append(to.put("channel", {"parts": packed}, arrays))
        _note(PartFile(files[-1], tuple(rest)), rest, anchor)
    to.used.update(ref.name for ref in files)
    return [list(ref) for ref in files]


def _kept(parts: Parts, anchor: Callable[[Any], Any], to: Saving) -> list[PartFile]:
    """Files whose parts are all as they were."""
    homes = {encoder: noted(anchor(part)) for encoder, part in parts.items()}
    files = dict.fromkeys(home for home in homes.values() if isinstance(home, PartFile))
    return [
        home
        for home in files
        if home.ref.name in to.there and all(homes.get(encoder) is home for encoder in home.encoders)
    ]


def _note(home: PartFile, parts: Parts, anchor: Callable[[Any], Any]) -> None:
    for encoder in home.encoders:
        note(anchor(parts[encoder]), home)


def load_parts(node: Json, kind: PartKind, anchor: Callable[[Any], Any], at: str, loading: Loading) -> Parts:
    """All parts, in order."""
    expect(isinstance(node, list), at, "has no files")

    def unpacked(structure: Json, arrays: Arrays) -> Parts:
        keys(structure, {"parts"}, "the file")
        pairs = name_pairs(structure["parts"], "parts")
        expect(len(pairs) > 0 and set(pairs) <= set(loading.shapes), "the file", "is on unknown encoders")
        return {
            encoder: kind(loading.shapes[encoder]).unpack(one, arrays, str(place))
            for place, (encoder, one) in enumerate(pairs.items())
        }

    parts: Parts = {}
    for ref in map(FileRef.from_json, node):
        more = loading.read(ref, unpacked)
        expect(not set(more) & set(parts), at, "has two parts for one encoder")
        parts |= more
        _note(PartFile(ref, tuple(more)), more, anchor)
    return parts


@dataclass(frozen=True)
class ChannelState:
    """``{"kind", …head, "files"}``."""

    def save(self, value: Any, name: Name | None, to: Saving) -> Json:
        node = noted(value)
        if isinstance(node, dict) and to.reuse(files_in(node)):
            return node
        assert name is not None
        found = format_of(value)
        if found is None:
            raise Unfit(f"channel {type(value).__name__} is yours, and only these can be saved: {', '.join(CHANNELS)}")
        word, form = found
        at, (counts, parts) = f"the channel of task {name!r}", form.split(value)
        expect(np.array_equal(counts, to.learner.tasks_[name].class_counts), at, "has seen other rows than the task")
        head = {key: kind.pack(getattr(value, key), Arrays(), key) for key, kind in form.head.items()}
        files = save_parts(parts, lambda shape: form.part(shape, len(counts)), form.anchor, at, to)
        node = Node({"kind": word, **head, "files": files})
        note(value, node)
        return node

    def load(self, node: Json, name: Name | None, loading: Loading) -> Any:
        at = f"the channel of task {name!r}"
        assert name is not None
        expect(isinstance(node, dict) and isinstance(node.get("kind"), str), at, "has no kind")
        expect(node["kind"] in CHANNELS, at, f"has the unknown kind {node['kind'][:40]!r}")
        form = CHANNELS[node["kind"]]
        keys(node, {"kind", "files"}, at, optional=set(form.head))
        head = {key: kind.unpack(node[key], Arrays(), key) for key, kind in form.head.items() if key in node}
        counts = loading.learner.tasks_[name].class_counts
        parts = load_parts(node["files"], lambda shape: form.part(shape, len(counts)), form.anchor, at, loading)
        channel = form.join(head, counts, parts)
        note(channel, node)
        return channel
