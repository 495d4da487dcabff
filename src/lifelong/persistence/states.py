"""What a learner knows, as nodes of the manifest and files of arrays.

Each field of its knowledge says where its values go (:class:`lifelong.schema.Place`). Values that
are saved already keep their files: a save writes what is new and nothing else.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, NamedTuple

from numpy.typing import NDArray

from lifelong import schema
from lifelong._provided import found_at
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import TaskRecord
from lifelong.persistence.arrays import pack as pack_file
from lifelong.persistence.arrays import unpack as unpack_file
from lifelong.persistence.checking import Arrays, Name, Scope, expect, keys, name_pairs
from lifelong.persistence.directory import Directory, FileRef
from lifelong.persistence.kinds import lengths_of, pack, unpack
from lifelong.persistence.known import note, noted
from lifelong.persistence.text import Json, explained, from_json, to_json


class EncoderShape(NamedTuple):
    """What a channel needs to know of an encoder: columns of its representation, and leaves."""

    columns: int
    leaves: int  # 0: dense vectors


class Node(dict[str, Json]):
    """An object of the manifest. It never changes, so its text and files are found once.

    ``checked`` is there once it has been read as a load reads it.
    """

    __slots__ = ("__weakref__", "_files", "_text", "checked")

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
class Frame:
    """What is known of the learner while it is saved or loaded."""

    learner: Learner  # its parameters
    in_shape: tuple[int, ...]
    tasks: Mapping[Name, TaskRecord]
    shapes: dict[Name, EncoderShape] = field(default_factory=dict)  # of its encoders
    loaded: dict[str, Any] = field(default_factory=dict)  # fields of its knowledge so far
    _widths: list[int] | None = None  # found once: a scope is made for every file

    def scope(self, task: Name | None = None) -> Scope:
        """Lengths that are known; those of a task, if one is given."""
        if self._widths is None or len(self._widths) != len(self.tasks):
            self._widths = [len(record.classes) for record in self.tasks.values()]
        scope = Scope(
            lengths_of(self.in_shape),
            learner=self.learner,
            loaded=self.loaded,
            tasks=len(self.tasks),
            widths=self._widths,
        )
        if task is not None and task in self.tasks:
            record = self.tasks[task]
            scope.update(K=len(record.classes), n_rows=record.n_rows, task=task)
        return scope

    def scope_of(self, encoder: Name, task: Name) -> Scope:
        """Lengths that are known of a task's part for an encoder."""
        shape = self.shapes[encoder]
        return self.scope(task).with_(columns=shape.columns, leaves=shape.leaves)


@dataclass
class Saving:
    """One save: where to, and what is there."""

    frame: Frame
    directory: Directory
    there: set[str]  # names of files that exist
    used: set[str] = field(default_factory=set)  # names of files that the new state refers to
    written: set[str] = field(default_factory=set)  # names of files that were not there

    def put(
        self, prefix: str, structure: Json, arrays: Arrays, read: Callable[[Json, Arrays], Any]
    ) -> FileRef:
        """Write a file unless it is there.

        ``read`` is how the file will be read. It is asked now: what it would refuse then is not
        written.
        """
        pieces = pack_file(arrays, structure)
        ref = self.directory.ref(prefix, pieces)
        if ref.name not in self.there:
            again = Arrays(arrays)
            read(from_json(to_json(structure)), again)
            again.nothing_left()
            self.directory.write(ref, pieces)
            self.there.add(ref.name)
            self.written.add(ref.name)
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

    frame: Frame
    directory: Directory
    mapped_from: int | None = None  # files of at least so many bytes are mapped, not read

    def read(self, ref: FileRef, unpacked: Callable[[Json, Arrays], Any]) -> Any:
        """A file's value; every array of the file has to be asked for."""
        mapped = self.mapped_from is not None and ref.size >= self.mapped_from
        content = self.directory.content(ref, mapped=mapped)
        with explained(f"{self.directory.path / ref.name} is damaged"):
            structure, found = unpack_file(content)
            if mapped:
                found = {name: _own_places(array) for name, array in found.items()}
            arrays = Arrays(found)
            value = unpacked(structure, arrays)
            arrays.nothing_left()
        return value


def _own_places(array: NDArray[Any]) -> NDArray[Any]:
    """Of a mapped file, a copy of whatever may be used as a place in another array.

    Signed numbers and masks are checked when they are read, and used later without a look. Somebody
    may change the file in between, and a map shows that: the copy stays as it was checked. Counts
    (unsigned) and fractions stay in the file; wrong ones give wrong answers at most.
    """
    if array.dtype.kind in "ib":
        return array.copy()
    return array


@singledispatch
def save_at(place: schema.Place, value: Any, name: Name | None, to: Saving) -> Json:
    """The node of a value, whose arrays are written on the way."""
    raise TypeError(f"nothing can be saved at {place}")


@singledispatch
def load_from(place: schema.Place, node: Json, name: Name | None, loading: Loading) -> Any:
    """The value of a node."""
    raise TypeError(f"nothing can be loaded from {place}")


@save_at.register(schema.InManifest)
def _(place: schema.InManifest, value: Any, name: Name | None, to: Saving) -> Json:
    return pack(place.kind, value, Arrays(), str(name), to.frame.scope())


@load_from.register(schema.InManifest)
def _(place: schema.InManifest, node: Json, name: Name | None, loading: Loading) -> Any:
    return unpack(place.kind, node, Arrays(), str(name), loading.frame.scope())


@save_at.register(schema.InFile)
def _(place: schema.InFile, value: Any, name: Name | None, to: Saving) -> Json:
    known = noted(value)
    if isinstance(known, FileRef) and to.reuse([known]):
        return Node(file=list(known))
    arrays = Arrays()
    structure = pack(place.kind, value, arrays, "value", to.frame.scope(name))
    scope = to.frame.scope(name)
    ref = to.put(
        place.prefix,
        structure,
        arrays,
        lambda node, again: unpack(place.kind, node, again, "value", scope),
    )
    note(value, ref)
    return Node(file=list(ref))


@load_from.register(schema.InFile)
def _(place: schema.InFile, node: Json, name: Name | None, loading: Loading) -> Any:
    keys(node, {"file"}, str(name))
    ref = FileRef.from_json(node["file"])
    scope = loading.frame.scope(name)
    value = loading.read(ref, lambda node, arrays: unpack(place.kind, node, arrays, "value", scope))
    note(value, ref)
    return value


@save_at.register(schema.Maybe)
def _(place: schema.Maybe, value: Any, name: Name | None, to: Saving) -> Json:
    if value is None:
        return None
    return save_at(place.place, value, name, to)


@load_from.register(schema.Maybe)
def _(place: schema.Maybe, node: Json, name: Name | None, loading: Loading) -> Any:
    if node is None:
        return None
    return load_from(place.place, node, name, loading)


@save_at.register(schema.InOrder)
def _(place: schema.InOrder, value: Any, name: Name | None, to: Saving) -> Json:
    return [save_at(place.place, item, name, to) for item in value]


@load_from.register(schema.InOrder)
def _(place: schema.InOrder, node: Json, name: Name | None, loading: Loading) -> tuple[Any, ...]:
    expect(isinstance(node, list), str(name), "is not a list")
    return tuple(load_from(place.place, item, name, loading) for item in node)


@save_at.register(schema.Each)
def _(place: schema.Each, value: Mapping[Name, Any], name: Name | None, to: Saving) -> Json:
    entries = []
    for key in value:
        node = None
        if isinstance(value, StoredMap):
            node = value.node_of(key)
        if node is None or not to.reuse(files_in(node)):
            node = save_at(place.place, value[key], key, to)
        entries.append([key, node])
    return entries


@load_from.register(schema.Each)
def _(place: schema.Each, node: Json, name: Name | None, loading: Loading) -> dict[Name, Any]:
    entries = entries_of(place, node, name, loading.frame)
    return {key: load_from(place.place, entry, key, loading) for key, entry in entries.items()}


def entries_of(place: schema.Each, node: Json, name: Name | None, frame: Frame) -> dict[Name, Node]:
    """The nodes of a map by task (or encoder)."""
    entries = name_pairs(node, str(name))
    complete = not place.every_task or set(entries) == set(frame.tasks)
    expect(complete, str(name), "is not there for exactly the known tasks")
    for key, entry in entries.items():
        expect(isinstance(entry, dict), str(name), "holds something else than objects")
        if not isinstance(entry, Node):
            entries[key] = Node(entry)
    return entries


class StoredMap(Mapping[Name, Any]):
    """A map that knows the nodes of values which are saved already."""

    @abstractmethod
    def node_of(self, name: Name) -> Json:
        """Where the value is stored; None if it is new."""


class ElsewherePlace(NamedTuple):
    """A place of its own kind."""

    save: Callable[[Any, Name | None, Saving], Json]
    load: Callable[[Json, Name | None, Loading], Any]


ELSEWHERE: dict[str, str] = {
    "encoder": "lifelong.persistence.encoders:ENCODER",
    "networks": "lifelong.persistence.multitask:NETWORKS",
}
"""Where such places are: some need torch, and are imported when they are needed."""


@save_at.register(schema.Elsewhere)
def _(place: schema.Elsewhere, value: Any, name: Name | None, to: Saving) -> Json:
    found: Any = found_at(ELSEWHERE[place.word])
    return found.save(value, name, to)


@load_from.register(schema.Elsewhere)
def _(place: schema.Elsewhere, node: Json, name: Name | None, loading: Loading) -> Any:
    found: Any = found_at(ELSEWHERE[place.word])
    return found.load(node, name, loading)


def files_in(node: Json) -> list[FileRef]:
    """Every file that a node (of ours, or checked) refers to."""
    if isinstance(node, Node):
        return node.files
    if isinstance(node, dict):
        return [ref for value in node.values() for ref in files_in(value)]
    if isinstance(node, list):
        if _is_reference(node):
            return [FileRef.from_json(node)]
        return [ref for value in node for ref in files_in(value)]
    return []


def _is_reference(node: list[Json]) -> bool:
    if len(node) != 2 or not isinstance(node[0], str) or type(node[1]) is not int:
        return False
    return node[0].endswith(".safetensors")
