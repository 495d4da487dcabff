"""Learnt attributes as nodes of the manifest and files of arrays.

A *state* knows how one attribute is saved (value → node) and loaded (node → value). Values that are saved already keep
their files: a save writes what is new and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from lifelong.learners.base import Learner
from lifelong.learners.memory import StoredRows
from lifelong.persistence.arrays import pack, unpack
from lifelong.persistence.directory import Directory, FileRef
from lifelong.persistence.kinds import AnyOf, Array, Arrays, Codes, Kind, Name, Record, expect, keys, maybe, name_pairs
from lifelong.persistence.known import note, noted
from lifelong.persistence.text import Json, explained, to_json


class EncoderShape(NamedTuple):
    """What a channel needs to know of an encoder: columns of its representation, and leaves (0: dense vectors)."""

    columns: int
    leaves: int


class Node(dict[str, Json]):
    """An object of the manifest. It never changes, so its text and files are found once, however often it is saved."""

    __slots__ = ("__weakref__", "_files", "_text")

    @property
    def text(self) -> str:
        """As JSON."""
        if not hasattr(self, "_text"):
            self._text = to_json(self).decode()
        return self._text

    @property
    def files(self) -> "list[FileRef]":
        """Every file that it refers to."""
        if not hasattr(self, "_files"):
            self._files = [ref for value in self.values() for ref in files_in(value)]
        return self._files


@dataclass
class Saving:
    """One save: where to, and what is there."""

    learner: Learner
    directory: Directory
    there: set[str]  # names of files that exist
    used: set[str] = field(default_factory=set)  # names of files that the new state refers to
    shapes: dict[Name, EncoderShape] = field(default_factory=dict)

    def put(self, prefix: str, structure: Json, arrays: Arrays) -> FileRef:
        """Write a file unless it is there."""
        ref = self.directory.write(prefix, pack(arrays, structure), self.there)
        self.used.add(ref.name)
        return ref

    def reuse(self, refs: list[FileRef]) -> bool:
        """Whether these files are all there; then the new state refers to them."""
        if not all(ref.name in self.there for ref in refs):
            return False
        self.used.update(ref.name for ref in refs)
        return True


@dataclass
class Loading:
    """One load: where from, and what is known so far."""

    learner: Learner
    directory: Directory
    mapped_from: int | None = None  # files of at least so many bytes are mapped instead of read
    shapes: dict[Name, EncoderShape] = field(default_factory=dict)

    def read(self, ref: FileRef, unpacked: Callable[[Json, Arrays], Any]) -> Any:
        """A file's value; every array of the file has to be asked for."""
        mapped = self.mapped_from is not None and ref.size >= self.mapped_from
        content = self.directory.content(ref, mapped=mapped)
        with explained(f"{self.directory.path / ref.name} is damaged"):
            structure, found = unpack(content)
            arrays = Arrays(found)
            value = unpacked(structure, arrays)
            arrays.nothing_left()
        return value


class State(Protocol):
    """How one learnt attribute (or one of its entries) is stored."""

    def save(self, value: Any, name: Name | None, to: Saving) -> Json: ...
    def load(self, node: Json, name: Name | None, loading: Loading) -> Any: ...


@dataclass(frozen=True)
class Plain:
    """A value that the manifest itself holds."""

    kind: Kind

    def save(self, value: Any, name: Name | None, to: Saving) -> Json:  # noqa: ARG002
        return self.kind.pack(value, Arrays(), str(name))

    def load(self, node: Json, name: Name | None, loading: Loading) -> Any:  # noqa: ARG002
        return self.kind.unpack(node, Arrays(), str(name))


@dataclass(frozen=True)
class InFile:
    """A value in a file of its own; ``kind`` may depend on what was loaded before it."""

    prefix: str
    kind: Callable[[Learner, Name | None], Kind]

    def save(self, value: Any, name: Name | None, to: Saving) -> Json:
        known = noted(value) if _can_be_noted(value) else None
        if isinstance(known, FileRef) and to.reuse([known]):
            return Node(file=list(known))
        arrays = Arrays()
        structure = self.kind(to.learner, name).pack(value, arrays, "value")
        ref = to.put(self.prefix, structure, arrays)
        if _can_be_noted(value):
            note(value, ref)
        return Node(file=list(ref))

    def load(self, node: Json, name: Name | None, loading: Loading) -> Any:
        keys(node, {"file"}, str(name))
        ref = FileRef.from_json(node["file"])
        kind = self.kind(loading.learner, name)
        value = loading.read(ref, lambda structure, arrays: kind.unpack(structure, arrays, "value"))
        if _can_be_noted(value):
            note(value, ref)
        return value


def _can_be_noted(value: Any) -> bool:
    return type(value).__weakrefoffset__ > 0


@dataclass(frozen=True)
class Maybe:
    """None, or what another state stores."""

    state: State

    def save(self, value: Any, name: Name | None, to: Saving) -> Json:
        return None if value is None else self.state.save(value, name, to)

    def load(self, node: Json, name: Name | None, loading: Loading) -> Any:
        return None if node is None else self.state.load(node, name, loading)


@dataclass(frozen=True)
class Each:
    """A map by task; every entry is stored on its own."""

    state: State
    every_task: bool = True  # whether each task must have an entry

    def save(self, value: Mapping[Name, Any], name: Name | None, to: Saving) -> Json:  # noqa: ARG002
        known: Callable[[Name], Json] = getattr(value, "node_of", lambda _: None)
        return [[task, self._entry(value, task, known(task), to)] for task in value]

    def _entry(self, value: Mapping[Name, Any], task: Name, node: Json, to: Saving) -> Json:
        if node is not None and to.reuse(files_in(node)):
            return node
        return self.state.save(value[task], task, to)

    def load(self, node: Json, name: Name | None, loading: Loading) -> dict[Name, Any]:
        return {task: self.state.load(one, task, loading) for task, one in self.entries(node, name, loading).items()}

    def entries(self, node: Json, name: Name | None, loading: Loading) -> dict[Name, Json]:
        """The nodes by task."""
        entries = name_pairs(node, str(name))
        tasks = loading.learner.tasks_
        expect(not self.every_task or set(entries) == set(tasks), str(name), "is not there for exactly the known tasks")
        expect(all(isinstance(one, dict) for one in entries.values()), str(name), "holds something else than objects")
        return {task: one if isinstance(one, Node) else Node(one) for task, one in entries.items()}


def files_in(node: Json) -> list[FileRef]:
    """Every file that a node (of ours, or checked) refers to."""
    if isinstance(node, Node):
        return node.files
    if isinstance(node, dict):
        return [ref for value in node.values() for ref in files_in(value)]
    if isinstance(node, list):
        if len(node) == 2 and isinstance(node[0], str) and type(node[1]) is int and node[0].endswith(".safetensors"):
            return [FileRef.from_json(node)]
        return [ref for value in node for ref in files_in(value)]
    return []


WEIGHTS = Array("float64", (None,))


def rows_kind(learner: Learner, task: Name | None) -> Kind:
    """Stored rows of one task."""
    assert task is not None
    expect(task in learner.tasks_, f"stored rows of {task!r}", "belong to no task")
    record = learner.tasks_[task]
    fields: dict[str, Kind] = {
        "X": Array("float32", (None, *learner.in_shape_)),
        "y": Codes(None, len(record.classes)),
        "rows": maybe(Codes(None, record.n_rows)),
        "weights": maybe(WEIGHTS),
        "in_bag": maybe(AnyOf((Array("bool", (None,)), Array("bool", (None, None))))),
    }
    return Record(StoredRows, fields, equally_long, may_lack=True)


def equally_long(fields: dict[str, Any], at: str) -> None:
    lengths = {len(part) for part in fields.values() if isinstance(part, np.ndarray)}
    expect(len(lengths) == 1, at, "has parts of different lengths")


ROWS = InFile("rows", rows_kind)
