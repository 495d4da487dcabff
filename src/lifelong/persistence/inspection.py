"""What a directory holds, and whether every byte is as it was saved; no learner is made for it."""

from pathlib import Path
from typing import Any, NamedTuple

from lifelong.exceptions import LifelongError, PersistenceError
from lifelong.persistence.directory import MANIFEST, Directory, FileRef, checksum
from lifelong.persistence.labels import tasks_from_json
from lifelong.persistence.manifest import read_manifest
from lifelong.persistence.saving import load
from lifelong.persistence.states import files_in
from lifelong.persistence.text import Json, explained


class TaskSummary(NamedTuple):
    """One task."""

    name: str | int
    rows: int
    classes: int
    bytes: int  # of what belongs to the task alone: channel, densities, stored rows
    encoder: bool  # whether there is an encoder, or a forest of a model of tables, of that name


class ColumnSummary(NamedTuple):
    """One column of a model of tables."""

    name: str
    kind: str
    categories: int  # 0 for everything but categories


class Summary(NamedTuple):
    """A saved learner, as its manifest describes it."""

    learner: str
    parameters: dict[str, Any]
    format: int
    written_by: dict[str, str]
    tasks: list[TaskSummary]
    encoders: int
    bytes: dict[str, int]  # by part of the state
    total: int  # bytes of all files, each once
    in_shape: tuple[int, ...]
    shared: bool = False  # whether there is an encoder of the rows of all tasks
    columns: tuple[ColumnSummary, ...] = ()  # of a model of tables


def inspect(directory: str | Path) -> Summary:
    """What a directory holds, from its manifest alone."""
    place = Directory(directory)
    node = read_manifest(place).node
    with explained(f"{place.path / MANIFEST} is damaged"):
        state = node["state"]
        records = tasks_from_json(node["tasks"])
        # A model of tables has its tasks' own forests in the place of encoders.
        own = [*state.get("encoders", []), *state.get("forests", [])]
        encoders = {name for name, _ in own}
        return Summary(
            node["learner"],
            node["parameters"],
            node["format"],
            node["written_by"],
            [
                TaskSummary(
                    name,
                    record.n_rows,
                    len(record.classes),
                    _bytes_of(state, name),
                    name in encoders,
                )
                for name, record in records.items()
            ],
            len(encoders),
            {field: _total(files_in(value)) for field, value in state.items()},
            _total(files_in(state)) + len(place.read(MANIFEST)),
            tuple(node["in_shape"]),
            state.get("shared") is not None,
            _columns(state),
        )


def _columns(state: Json) -> tuple[ColumnSummary, ...]:
    found = state.get("columns") or {"columns": []}
    return tuple(
        ColumnSummary(column["name"], column["kind"], len(column["categories"]))
        for column in found["columns"]
    )


def _bytes_of(state: Json, task: str | int) -> int:
    total = 0
    for field, entries in state.items():
        if field in ("encoders", "forests") or not isinstance(entries, list):
            continue
        for entry in entries:
            if not isinstance(entry, list) or len(entry) != 2:
                continue
            name, value = entry
            if type(name) is type(task) and name == task:
                total += _total(files_in(value))
    return total


def _total(refs: list[FileRef]) -> int:
    return sum(ref.size for ref in set(refs))


def damaged_files(directory: str | Path) -> dict[str, str]:
    """Files whose bytes are not those that were saved: name → what is wrong."""
    place = Directory(directory)
    problems = {}
    node = read_manifest(place).node
    with explained(f"{place.path / MANIFEST} is damaged"):
        refs = sorted(set(files_in(node["state"])))
    for ref in refs:
        try:
            if checksum([place.read(ref.name, ref.size)]) != ref.checksum:
                problems[ref.name] = "its content is not what was saved (wrong checksum)"
        except PersistenceError as error:
            problems[ref.name] = str(error)
    return problems


def verify(directory: str | Path, *, network: Any = None) -> list[str]:
    """Every problem of a saved learner, one line each: manifest, bytes of all files, and whether it
    all makes sense.
    """
    try:
        problems = [f"{name}: {what}" for name, what in damaged_files(directory).items()]
        if not problems:
            load(directory, network=network)
    except LifelongError as error:
        return [str(error)]
    return problems
