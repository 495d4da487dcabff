"""A run directory: ``spec.json``, ``rows.jsonl`` (append-only, a row per line), ``summary.json``.

A row is on the disk before the next one is measured. What a kill can leave behind is half a line at
the end: readers ignore it and the next writer cuts it off.

Where a report was written to, rows are packed: ``rows.jsonl.gz`` has the same lines, compressed.
"""

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from lifelong._files import replace_file
from lifelong.exceptions import DatasetError, ParameterError
from lifelong.experiments.lines import RowLines, all_lines
from lifelong.experiments.rows import Row
from lifelong.experiments.spec import Spec

try:
    import fcntl
except (
    ImportError
):  # Windows has no flock: there, nobody stops two runs from writing to one directory
    fcntl = None  # type: ignore[assignment]

_DELETE_LINE = "Delete the line and run again: what it held is measured anew."
_COPY_AGAIN = "Copy the file again, or make it anew from its run: lifelong report RUN --out DIR."


class Store:
    """The files of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows_path = folder / "rows.jsonl"
        self.packed_path = folder / "rows.jsonl.gz"
        self.spec_path = folder / "spec.json"

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
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        return self._replace(name, text.encode())

    def write_packed(self, rows: Iterable[Row]) -> Path:
        """Write ``rows.jsonl.gz``; the same rows give the same bytes."""
        buffer = io.BytesIO()
        # No name and no time in the header: both would change with every file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
            file.write(all_lines(rows))
        return self._replace(self.packed_path.name, buffer.getvalue())

    def _replace(self, name: str, content: bytes) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        replace_file(path, content, sync=True)
        return path

    def rows(self) -> list[Row]:
        """Every row; of two with one key the later, and any measured one before a failed one."""
        latest: dict[Any, Row] = {}
        for row in self._read():
            if row.key not in latest or not latest[row.key].done:
                latest[row.key] = row
        return list(latest.values())

    def _read(self) -> Iterator[Row]:
        """The packed rows, then those that a run has added since."""
        if self.packed_path.is_file():
            yield from _rows_in(_unpacked(self.packed_path), RowLines(), self.packed_path)
        if self.rows_path.is_file():
            yield from _rows_in(self.rows_path.read_bytes(), RowLines(), self.rows_path)

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
                        f"Another run is writing to {self.folder}. Wait for it, or choose another"
                        " --out."
                    ) from None
            lines = RowLines()
            for _ in _rows_in(_cut_torn_line(file), lines, self.rows_path):
                pass  # so that the lines know which provenance the file has
            yield Writer(file, lines)


class Writer:
    """Appends rows; each is on the disk when ``append`` returns."""

    def __init__(self, file: BinaryIO, lines: RowLines) -> None:
        self._file = file
        self._lines = lines

    def append(self, row: Row) -> None:
        """One more row."""
        for line in self._lines.written(row):
            self._file.write(line)
        self._file.flush()
        _to_disk(self._file.fileno())


def _rows_in(content: bytes, lines: RowLines, path: Path) -> Iterator[Row]:
    """The rows of all complete lines; ``path`` is for the error."""
    *complete, _torn = content.split(b"\n")
    for number, line in enumerate(complete, start=1):
        try:
            row = lines.read(line)
        except (ValueError, TypeError) as error:
            remedy = _COPY_AGAIN if path.suffix == ".gz" else _DELETE_LINE
            raise DatasetError(f"{path}: line {number} is not a row ({error}). {remedy}") from None
        if row is not None:
            yield row


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    try:
        if not content:
            raise EOFError("it is empty")
        return gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} is damaged ({error}). {_COPY_AGAIN}") from None


def _cut_torn_line(file: BinaryIO) -> bytes:
    """Cut half a line off the end; what is left."""
    file.seek(0)
    content = file.read()
    complete = content.rfind(b"\n") + 1
    file.truncate(complete)
    file.seek(complete)
    return content[:complete]


def _to_disk(descriptor: int) -> None:
    os.fsync(descriptor)
