"""A run directory: ``spec.json``, ``rows.jsonl`` (append-only, one measured row per line), ``summary.json``.

A row is on the disk before the next one is measured. What a kill can leave behind is half a line at the end: readers
ignore it and the next writer cuts it off.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from lifelong.exceptions import DatasetError, ParameterError
from lifelong.experiments.rows import Row
from lifelong.experiments.spec import Spec

try:
    import fcntl
except ImportError:  # Windows has no flock: there, nobody stops two runs from writing to one directory
    fcntl = None  # type: ignore[assignment]


class Store:
    """The files of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows_path, self.spec_path = folder / "rows.jsonl", folder / "spec.json"

    def read_spec(self) -> Spec | None:
        """The stored spec, if there is one."""
        if not self.spec_path.is_file():
            return None
        try:
            return Spec.from_json(json.loads(self.spec_path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(
                f"{self.spec_path} is no spec of this version ({type(error).__name__}: {error}). "
                "Choose another directory with --out."
            ) from None

    def write_spec(self, spec: Spec) -> None:
        """Replace the stored spec."""
        self.write_json("spec.json", spec.to_json())

    def write_json(self, name: str, content: Any) -> Path:
        """Write a JSON file: after a kill there is the old one or the new one, never half of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path, scratch = self.folder / name, self.folder / f".{name}.{os.getpid()}"
        with scratch.open("w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
            _to_disk(file.fileno())
        scratch.replace(path)
        return path

    def rows(self) -> list[Row]:
        """Every row; of two with the same key the later one, and any measured one before a failed one."""
        latest: dict[Any, Row] = {}
        for row in self._read():
            if row.key not in latest or not latest[row.key].done:
                latest[row.key] = row
        return list(latest.values())

    def _read(self) -> Iterator[Row]:
        if not self.rows_path.is_file():
            return
        *lines, _torn = self.rows_path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                yield Row(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise DatasetError(
                    f"{self.rows_path}: line {number} is not a row ({error}). Delete the line and run again: "
                    "what it held is measured anew."
                ) from None

    @contextmanager
    def writing(self) -> Iterator["Writer"]:
        """The only one who may append."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.rows_path.open("a+b") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise ParameterError(
                        f"Another run is writing to {self.folder}. Wait for it, or choose another --out."
                    ) from None
            _cut_torn_line(file)
            yield Writer(file)


class Writer:
    """Appends rows; each is on the disk when ``append`` returns."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def append(self, row: Row) -> None:
        """One more line."""
        self._file.write(json.dumps(row.to_json(), ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        _to_disk(self._file.fileno())


def _cut_torn_line(file: BinaryIO) -> None:
    file.seek(0)
    complete = file.read().rfind(b"\n") + 1
    file.truncate(complete)
    file.seek(complete)


def _to_disk(descriptor: int) -> None:
    os.fsync(descriptor)
