"""Values that consist of a part per encoder: channels, and where a task's rows lie (densities).

A file holds the parts that were new at one save. It serves until one of its parts changes, so that
a save after one more encoder writes the parts for that encoder alone; every eighth time it also
joins small files into a larger one, so that a value has few files however many parts it has.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lifelong import schema
from lifelong._provided import found_at
from lifelong.persistence.checking import Arrays, Name, Scope, expect, keys, name_pairs
from lifelong.persistence.directory import FileRef
from lifelong.persistence.kinds import pack, unpack
from lifelong.persistence.known import note, noted
from lifelong.persistence.states import (
    Frame,
    Loading,
    Node,
    Saving,
    files_in,
    load_from,
    save_at,
)
from lifelong.persistence.text import Json, Unfit

Parts = Mapping[Name, Any]

FILES_PER_LEVEL = 8
"""Files of about one size that become one. More: longer manifests; fewer: more is written again."""


class PartFile(NamedTuple):
    """A file with the parts of one value for some encoders."""

    ref: FileRef
    encoders: tuple[Name, ...]


class Split(NamedTuple):
    """How a class is split: the field with parts, their kind, and the other fields."""

    parts: str
    kind: schema.Kind
    rest: dict[str, schema.Kind]


def split_of(make: type) -> Split:
    """From the declarations of its fields."""
    fields = schema.declared_fields(make)
    rest = {name: kind for name, kind in fields.items() if not isinstance(kind, schema.PerEncoder)}
    ((name, per_encoder),) = ((name, kind) for name, kind in fields.items() if name not in rest)
    return Split(name, per_encoder.kind, rest)


@save_at.register(schema.SplitByEncoder)
def _(place: schema.SplitByEncoder, value: Any, name: Name | None, to: Saving) -> Json:
    node = noted(value)
    if isinstance(node, Node) and to.reuse(files_in(node)):
        return node
    assert name is not None
    word = _word_of(place, value)
    split = split_of(type(value))
    at = f"what task {name!r} has learnt"
    node = Node()
    if place.rest:
        node[place.rest] = _save_rest(place, split, value, name, to)
    else:
        counts = to.frame.tasks[name].class_counts
        expect(np.array_equal(value.class_counts, counts), at, "is from other rows than the task's")
        node["kind"] = word
        for field in schema.written_fields(value):
            if field in split.rest:
                node[field] = pack(
                    split.rest[field], getattr(value, field), Arrays(), field, to.frame.scope(name)
                )
    node["files"] = _save_parts(getattr(value, split.parts), split.kind, name, at, to)
    note(value, node)
    return node


@load_from.register(schema.SplitByEncoder)
def _(place: schema.SplitByEncoder, node: Json, name: Name | None, loading: Loading) -> Any:
    assert name is not None
    at = f"what task {name!r} has learnt"
    if place.rest:
        ((_, home),) = place.homes.items()
        make = found_at(home)
        split = split_of(make)
        keys(node, {place.rest, "files"}, at)
        rest = _load_rest(place, split, node[place.rest], name, loading)
    else:
        expect(isinstance(node, dict) and isinstance(node.get("kind"), str), at, "has no kind")
        word = node["kind"]
        expect(word in place.homes, at, f"has the unknown kind {word[:40]!r}")
        make = found_at(place.homes[word])
        split = split_of(make)
        keys(node, {"kind", "files"}, at, optional=set(split.rest))
        scope = loading.frame.scope(name)
        rest = {
            field: unpack(kind, node[field], Arrays(), field, scope)
            for field, kind in split.rest.items()
            if field in node
        }
        rest["class_counts"] = loading.frame.tasks[name].class_counts
    parts = _load_parts(node["files"], split.kind, name, at, loading)
    value = make(**rest, **{split.parts: parts})
    note(value, node)
    if place.rest:
        note(_first(split, value), FileRef.from_json(node[place.rest]["file"]))
    return value


def _word_of(place: schema.SplitByEncoder, value: Any) -> str:
    for word, home in place.homes.items():
        if type(value) is found_at(home):
            return word
    known = ", ".join(place.homes)
    raise Unfit(f"channel {type(value).__name__} is yours, and only these can be saved: {known}")


# Fields that belong to no encoder, in a file of their own


def _first(split: Split, value: Any) -> Any:
    """The object that is replaced whenever one of these fields is: notes are by identity."""
    return getattr(value, next(iter(split.rest)))


def _save_rest(
    place: schema.SplitByEncoder, split: Split, value: Any, name: Name, to: Saving
) -> Json:
    first = _first(split, value)
    known = noted(first)
    if isinstance(known, FileRef) and to.reuse([known]):
        return Node(file=list(known))
    arrays = Arrays()
    scope = to.frame.scope(name)
    structure = {
        field: pack(kind, getattr(value, field), arrays, f"value.{field}", scope)
        for field, kind in split.rest.items()
    }
    ref = to.put("channel", structure, arrays, partial(_unpack_rest, split, scope))
    note(first, ref)
    return Node(file=list(ref))


def _load_rest(
    place: schema.SplitByEncoder, split: Split, node: Json, name: Name, loading: Loading
) -> dict[str, Any]:
    expect(name in loading.frame.tasks, f"what {name!r} has learnt", "belongs to no task")
    keys(node, {"file"}, place.rest)
    read = partial(_unpack_rest, split, loading.frame.scope(name))
    found: dict[str, Any] = loading.read(FileRef.from_json(node["file"]), read)
    return found


def _unpack_rest(split: Split, scope: Scope, structure: Json, arrays: Arrays) -> dict[str, Any]:
    keys(structure, set(split.rest), "the file")
    return {
        field: unpack(kind, structure[field], arrays, f"value.{field}", scope)
        for field, kind in split.rest.items()
    }


# Parts, some to a file


def _save_parts(
    parts: Parts, kind: schema.Kind, task: Name, at: str, to: Saving
) -> list[list[Any]]:
    """References to the files that hold the parts."""
    known = set(parts) <= set(to.frame.shapes)
    expect(known, at, "is on encoders that the learner does not have")
    kept = _kept(parts, to)
    sizes = [len(home.encoders) for home in kept]
    kept = kept[: n_files_kept(sizes, len(parts) - sum(sizes))]
    covered = [encoder for home in kept for encoder in home.encoders]
    rest = {encoder: value for encoder, value in parts.items() if encoder not in covered}
    if [*covered, *rest] != list(parts):  # when loaded, parts come in the order of the files
        kept = []
        rest = dict(parts)
    files = [home.ref for home in kept]
    if rest:
        arrays = Arrays()
        packed = []
        for place, (encoder, value) in enumerate(rest.items()):
            scope = to.frame.scope_of(encoder, task)
            packed.append([encoder, pack(kind, value, arrays, str(place), scope)])
        read = partial(_unpack_parts, kind, task, to.frame)
        files.append(to.put("channel", {"parts": packed}, arrays, read))
        _note(PartFile(files[-1], tuple(rest)), rest)
    to.used.update(ref.name for ref in files)
    return [list(ref) for ref in files]


def _kept(parts: Parts, to: Saving) -> list[PartFile]:
    """Files whose parts are all as they were."""
    homes = {encoder: noted(value) for encoder, value in parts.items()}
    files = dict.fromkeys(home for home in homes.values() if isinstance(home, PartFile))
    return [
        home
        for home in files
        if home.ref.name in to.there
        and all(homes.get(encoder) is home for encoder in home.encoders)
    ]


def n_files_kept(sizes: Sequence[int], n_new: int) -> int:
    """How many files stay as they are when parts are added; the others' parts join the new ones.

    A file per save would make one reference per task and encoder: a manifest that grows with the
    square of the number of tasks. So as soon as :data:`FILES_PER_LEVEL` files in a row are of the
    new one's level or below, they become one file of the next level. A part is written again once
    per level, and there are log(parts) levels.

    Parameters
    ----------
    sizes : sequence of int
        Parts in each file, oldest first.
    n_new : int
        Parts that are in no file yet.

    Examples
    --------
    >>> n_files_kept([1, 1, 1], n_new=1)
    3
    >>> n_files_kept([64, 8, 1, 1, 1, 1, 1, 1, 1], n_new=1)
    2
    """
    n_kept = len(sizes)
    if n_new == 0:
        return n_kept
    size = n_new
    while True:
        first = n_kept
        while first and _level(sizes[first - 1]) <= _level(size):
            first -= 1
        if n_kept - first + 1 < FILES_PER_LEVEL:
            return n_kept
        size += sum(sizes[first:n_kept])
        n_kept = first


def _level(size: int) -> int:
    level = 0
    while size >= FILES_PER_LEVEL:
        size //= FILES_PER_LEVEL
        level += 1
    return level


def _note(home: PartFile, parts: Parts) -> None:
    for encoder in home.encoders:
        note(parts[encoder], home)


def _load_parts(
    node: Json, kind: schema.Kind, task: Name, at: str, loading: Loading
) -> dict[Name, Any]:
    """All parts, in order."""
    expect(isinstance(node, list), at, "has no files")
    read = partial(_unpack_parts, kind, task, loading.frame)
    parts: dict[Name, Any] = {}
    for ref in map(FileRef.from_json, node):
        more = loading.read(ref, read)
        expect(not set(more) & set(parts), at, "has two parts for one encoder")
        parts |= more
        _note(PartFile(ref, tuple(more)), more)
    return parts


def _unpack_parts(
    kind: schema.Kind, task: Name, frame: Frame, structure: Json, arrays: Arrays
) -> dict[Name, Any]:
    """The parts of one file, by encoder."""
    keys(structure, {"parts"}, "the file")
    pairs = name_pairs(structure["parts"], "parts")
    known = len(pairs) > 0 and set(pairs) <= set(frame.shapes)
    expect(known, "the file", "is on unknown encoders")
    found = {}
    for place, (encoder, node) in enumerate(pairs.items()):
        scope = frame.scope_of(encoder, task)
        found[encoder] = unpack(kind, node, arrays, str(place), scope)
    return found
