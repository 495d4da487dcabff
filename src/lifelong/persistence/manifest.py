"""The manifest: a saved learner but for its arrays, one JSON text that ends in its checksum."""

import hashlib
import os
import platform
import re
from dataclasses import replace
from functools import cache
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

import numpy as np

from lifelong import __version__
from lifelong._versions import installed
from lifelong.exceptions import PersistenceError
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import TasksKnown
from lifelong.persistence import parts as parts  # how values with a part per encoder are saved
from lifelong.persistence.checking import expect, keys
from lifelong.persistence.directory import MANIFEST, Directory
from lifelong.persistence.encoders import IN_SHAPE, MAX_ROW, note_shapes
from lifelong.persistence.kinds import packed, unpacked
from lifelong.persistence.labels import task_to_json, tasks_from_json
from lifelong.persistence.learners import learner_class, name_of
from lifelong.persistence.parameters import parameters_from_json, parameters_to_json
from lifelong.persistence.states import (
    Frame,
    Loading,
    Node,
    Saving,
    entries_of,
    files_in,
    load_from,
    save_at,
)
from lifelong.persistence.text import MAX_JSON, Json, Unfit, explained, from_json, to_json
from lifelong.schema import (
    Checked,
    Each,
    Several,
    Text,
    Whole,
    declared_fields,
    later_fields,
    maybe,
)

FORMAT = 1
_KEYS = {
    "format",
    "written_by",
    "learner",
    "parameters",
    "seed",
    "in_shape",
    "feature_names",
    "tasks",
    "state",
}
_SEAL = re.compile(rb',\n"sha256":"([0-9a-f]{64})"}\n')
_SEAL_LENGTH = 79
_FEATURE_NAMES = maybe(Several(Text(), least=1))


class Manifest(NamedTuple):
    """A manifest as read: its content, and the checksum that tells it from any other."""

    node: dict[str, Json]
    checksum: str


def read_manifest(directory: Directory) -> Manifest:
    """The manifest of a directory, its checksum and format checked."""
    path = directory.path / MANIFEST
    if not os.path.isdir(path.parent):  # noqa: PTH112 - of a name too long, pathlib asks in vain
        raise PersistenceError(f"{path.parent} is not a directory: there is no saved learner.")
    content = bytes(directory.read(MANIFEST))
    with explained(f"{path} is damaged"):
        node = from_json(content)
        expect(isinstance(node, dict), "it", "is not an object")
        check_format(node, path)
        seal = _SEAL.fullmatch(content, max(0, len(content) - _SEAL_LENGTH))
        checksum = hashlib.sha256(content[:-_SEAL_LENGTH]).hexdigest()
        if seal is None or seal[1].decode() != checksum:
            raise Unfit("its checksum is wrong, so it has been changed since it was saved")
        keys(node, {*_KEYS, "sha256"}, "it")
    return Manifest(node, checksum)


def read_checksum(directory: Directory) -> str | None:
    """The checksum at the end of the manifest, without reading the rest; None without manifest."""
    seal = _SEAL.fullmatch(directory.tail(MANIFEST, _SEAL_LENGTH) or b"")
    if seal is not None:
        return seal[1].decode()
    if not os.path.exists(directory.path / MANIFEST):  # noqa: PTH110
        return None
    return read_manifest(directory).checksum


def check_format(node: dict[str, Json], path: Any) -> None:
    """Refuse a format that only later versions know."""
    number: Any = node.get("format")
    expect(type(number) is int and number >= 1, "format", "is not a whole number")
    if number > FORMAT:
        raise PersistenceError(
            f"{path} has format {number}; this version of lifelong ({__version__}) reads formats up"
            f" to {FORMAT}. Run: pip install {_package_for(node)}"
        )


def _package_for(node: dict[str, Json]) -> str:
    """What to install so that a file of a later version can be read."""
    written_by = node.get("written_by")
    if isinstance(written_by, dict):
        writer = written_by.get("lifelong")
        if isinstance(writer, str) and re.fullmatch(r"[\w.+]{1,40}", writer):
            return f"'lifelong>={writer}'"
    return "'lifelong' --upgrade"


def sealed(node: dict[str, Json]) -> bytes:
    """The text of a manifest: a line per task and per entry, and its checksum at the end."""
    lines = [f'"{key}":{_lines(value)}' for key, value in node.items()]
    text = ("{\n" + ",\n".join(lines)).encode("ascii")
    return text + b',\n"sha256":"' + hashlib.sha256(text).hexdigest().encode() + b'"}\n'


def _lines(node: Json) -> str:
    if isinstance(node, list) and node and isinstance(node[0], list | dict):
        return "[\n" + ",\n".join(map(_line, node)) + "\n]"
    if isinstance(node, dict) and any(isinstance(value, list) for value in node.values()):
        return "{\n" + ",\n".join(f'"{key}":{_lines(value)}' for key, value in node.items()) + "\n}"
    return to_json(node).decode()


def _line(node: Json) -> str:
    if isinstance(node, Node):
        return node.text
    if isinstance(node, list) and len(node) == 2 and isinstance(node[1], Node):
        name = str(node[0])
        if isinstance(node[0], str):
            name = encode_basestring_ascii(node[0])  # as json does it, and faster: once per entry
        return f"[{name},{node[1].text}]"
    return to_json(node).decode()


def describe(learner: Learner, known: TasksKnown, to: Saving) -> dict[str, Json]:
    """The content of a learner's manifest; its arrays are written on the way."""
    fits = int(np.prod(known.in_shape, dtype=object)) <= MAX_ROW
    expect(fits, "a row", f"has more than {MAX_ROW} numbers")
    names = None
    if known.feature_names is not None:
        names = known.feature_names.tolist()
    # Everything that can be refused is looked at before the first file is written.
    head = {
        "format": FORMAT,
        "written_by": versions(),
        "learner": name_of(learner),
        "parameters": parameters_to_json(learner),
        "seed": known.seed,
        "in_shape": packed(IN_SHAPE, known.in_shape, "in_shape"),
        "feature_names": packed(_FEATURE_NAMES, names, "feature names"),
        "tasks": [task_to_json(name, record) for name, record in known.tasks.items()],
    }
    to_json({key: value for key, value in head.items() if key != "tasks"})
    state = {}
    for field, place in declared_fields(type(known)).items():
        state[field] = save_at(place, getattr(known, field), field, to)
        if field == "encoders":
            note_shapes(dict(state[field]), to.frame)
    return {**head, "state": state}


@cache
def versions() -> dict[str, str]:
    """What the file was written with."""
    ours = {"lifelong": __version__, "python": platform.python_version()}
    return {**ours, **installed("numpy", "scipy", "scikit-learn", "torch")}


def read_learner(node: dict[str, Json], network: Any = None, encoder: Any = None) -> Learner:
    """The learner with its parameters; what it has learnt is still missing."""
    made_by = learner_class(node["learner"])
    return made_by(**parameters_from_json(node["parameters"], made_by, network, encoder))


def read_tasks(node: dict[str, Json], learner: Learner) -> TasksKnown:
    """What the learner knows, but for the fields of its knowledge that have files."""
    known = _read_head(node, learner)
    return replace(known, tasks=tasks_from_json(node["tasks"]))


def _read_head(node: dict[str, Json], learner: Learner) -> TasksKnown:
    """What is known of rows."""
    seed = unpacked(Whole(0, 2**128), node["seed"], "seed")
    in_shape = unpacked(IN_SHAPE, node["in_shape"], "in_shape")
    fits = int(np.prod(in_shape, dtype=object)) <= MAX_ROW
    expect(fits, "in_shape", "is too large for one row")
    expect(len(in_shape) in (1, 3), "in_shape", "is neither flat rows nor images")
    names = unpacked(_FEATURE_NAMES, node["feature_names"], "feature names")
    if names is not None:
        expect(len(names) == in_shape[0], "feature names", "are not one per column")
        names = np.array(names, dtype=object)
    return learner.knowledge_for(in_shape)(seed, in_shape, names)


def check_loadable(node: dict[str, Json], text: bytes, learner: Learner, frame: Frame) -> None:
    """What a load checks, before the manifest is switched: what cannot be loaded is not saved.

    Entries that an earlier save has checked are not looked at again, nor are files: each was read
    when it was written.
    """
    expect(len(text) <= MAX_JSON, "it", f"has more than {MAX_JSON} bytes beside its arrays")
    head = {key: value for key, value in node.items() if key not in ("tasks", "state")}
    head = from_json(to_json(head))
    network, encoder = brought_by(learner)
    read_learner(head, network, encoder)
    known = _read_head(head, learner)
    for task in node["tasks"]:
        if not hasattr(task, "checked"):
            tasks_from_json([from_json(task.text.encode())])
            task.checked = True
    loading = Loading(frame, Directory(""))
    places = declared_fields(type(known))
    for field, value in state_nodes(node, known).items():
        if isinstance(places[field], Each):
            entries = entries_of(places[field], value, field, frame)
            if field == "encoders":
                note_shapes(entries, frame)
        elif not files_in(value):
            load_from(places[field], from_json(to_json(value)), field, loading)


def brought_by(learner: Learner) -> tuple[Any, Any]:
    """What no file can hold of a learner, for :func:`read_learner`: its network and its encoder."""
    encoder = getattr(learner, "encoder", None)
    network = getattr(encoder or learner, "network", None)
    return network, encoder


def state_nodes(node: dict[str, Json], known: TasksKnown) -> dict[str, Json]:
    """The nodes of the fields that have files, in the order in which they are loaded."""
    fields = declared_fields(type(known))
    needed = set(fields) - later_fields(type(known))
    keys(node["state"], needed, "state", optional=set(fields))
    return {field: node["state"][field] for field in fields if field in node["state"]}


def read_state(node: dict[str, Json], known: TasksKnown, loading: Loading) -> TasksKnown:
    """Load everything that the learner has learnt."""
    fields = declared_fields(type(known))
    for field, value in state_nodes(node, known).items():
        if field == "encoders":
            note_shapes(entries_of(fields[field], value, field, loading.frame), loading.frame)
        loading.frame.loaded[field] = load_from(fields[field], value, field, loading)
    known = replace(known, **loading.frame.loaded)
    if isinstance(known, Checked):
        problem = known.problem(loading.frame.scope())
        expect(problem is None, "what was learnt", problem or "")
    return known
