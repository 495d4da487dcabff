"""Rows from a large file, so many at a time: CSV, Parquet or npy.

Memory does not grow with the file.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from lifelong.exceptions import DatasetError, MissingExtraError

STDIN = Path("-")


class Batch(NamedTuple):
    """Some rows, which of the file's they are, and how much of the file is read after them."""

    X: NDArray[Any]
    first: int  # the number of the first row, from 1
    share: float | None  # of the file, 0 … 1; None: nobody knows


class Columns(NamedTuple):
    """What a learner reads."""

    n: int
    names: Sequence[str] | None  # if its first task had column names

    def places(self, found: Sequence[str] | None, n_found: int, path: Path) -> list[int] | None:
        """Which of a file's columns to take, in order; None: all, as they are."""
        if found is not None and self.names is not None:
            missing = [name for name in self.names if name not in found]
            if missing:
                raise DatasetError(
                    f"{path} has no column {missing[0]!r}, which the learner reads. "
                    f"Columns: {', '.join(map(repr, found[:20]))}."
                )
            return [list(found).index(name) for name in self.names]
        if n_found != self.n:
            raise DatasetError(f"{path} has {n_found} columns, and the learner reads {self.n}.")
        return None


def batches(path: Path, columns: Columns, size: int) -> Iterator[Batch]:
    """All rows of a file, ``size`` at a time."""
    if path == STDIN:
        yield from _csv(sys.stdin, path, columns, size)
        return
    if not path.is_file():
        raise DatasetError(
            f"{path} is not a file. Give a .csv, .parquet or .npy file, or - for CSV from a pipe."
        )
    kind = path.suffix.lower()
    if kind == ".csv":
        try:
            file = path.open(newline="", encoding="utf-8-sig")
        except OSError as error:
            raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None
        with file:
            yield from _csv(file, path, columns, size)
    elif kind == ".parquet":
        yield from _parquet(path, columns, size)
    elif kind == ".npy":
        yield from _npy(path, columns, size)
    else:
        raise DatasetError(
            f"{path}: unknown kind of file {kind!r}. Give a .csv, .parquet or .npy file."
        )


def _csv(file: TextIO, path: Path, columns: Columns, size: int) -> Iterator[Batch]:
    """Comma-separated numbers; a first line that is not numbers is a header."""
    total = 0
    if path != STDIN:
        total = path.stat().st_size
    lines = csv.reader(file, strict=True)
    try:
        filled = (line for line in lines if line)
        first = next(filled, None)
        if first is None:
            return
        if _is_numbers(first):
            header = None
        else:
            header = [name.strip() for name in first]
        places = columns.places(header, len(first), path)
        width = len(first)
        if header:
            waiting = []
        else:
            waiting = [first]
        done = 0
        while chunk := waiting + list(islice(filled, size - len(waiting))):
            waiting = []
            ends = lines.line_num
            if places is not None or any(len(line) != width for line in chunk):
                chunk = [_chosen(line, places, width, path, ends) for line in chunk]
            if total:
                share = min(1.0, file.buffer.tell() / total)
            else:
                share = None
            yield Batch(_numbers(chunk, path, done + 1), done + 1, share)
            done += len(chunk)
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise DatasetError(
            f"{path}, line {lines.line_num}: not a readable CSV file ({error})."
        ) from None


def _chosen(
    line: list[str], places: list[int] | None, width: int, path: Path, ends: int
) -> list[str]:
    if len(line) != width:
        raise DatasetError(
            f"{path} has a row of {len(line)} columns instead of {width} before line {ends + 1}:"
            f" {','.join(line)[:60]}"
        )
    if places is None:
        return line
    return [line[place] for place in places]


def _is_numbers(line: Sequence[str]) -> bool:
    try:
        [float(cell) for cell in line]
    except ValueError:
        return False
    return True


def _numbers(chunk: list[list[str]], path: Path, first: int) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            return np.array(chunk, dtype=np.float32)
    except ValueError:
        for row, line in enumerate(chunk, first):
            for cell in line:
                if not _is_numbers([cell]):
                    raise DatasetError(
                        f"{path}, row {row}: {cell[:40]!r} is not a number."
                    ) from None
        raise


def _parquet(path: Path, columns: Columns, size: int) -> Iterator[Batch]:
    if find_spec("pyarrow") is None:
        raise MissingExtraError(
            "Reading Parquet in batches needs pyarrow. Run: pip install pyarrow"
        )
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(path)
        names = list(table.schema_arrow.names)
        places = columns.places(names, len(names), path)
        if places is None:
            chosen = names
        else:
            chosen = [names[place] for place in places]
        total = table.metadata.num_rows
        done = 0
        for batch in table.iter_batches(batch_size=size, columns=chosen):
            parts = [_column(batch.column(name), name, path) for name in chosen]
            yield Batch(np.column_stack(parts), done + 1, (done + batch.num_rows) / total)
            done += batch.num_rows
    except pyarrow.ArrowException as error:
        raise DatasetError(
            f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})."
        ) from None


def _column(column: Any, name: str, path: Path) -> NDArray[np.float32]:
    try:
        return np.asarray(column.to_numpy(zero_copy_only=False)).astype(np.float32)
    except (TypeError, ValueError):
        raise DatasetError(f"{path}: column {name!r} does not hold numbers only.") from None


def _npy(path: Path, columns: Columns, size: int) -> Iterator[Batch]:
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DatasetError(
            f"{path}: not a readable npy file of numbers ({str(error).splitlines()[0]})."
        ) from None
    if not isinstance(rows, np.ndarray) or rows.ndim < 2 or rows.dtype.kind not in "fiub":
        raise DatasetError(f"{path} does not hold rows of numbers (n, …).")
    columns.places(None, int(np.prod(rows.shape[1:])), path)
    for start in range(0, len(rows), size):
        chunk = np.array(
            rows[start : start + size], dtype=np.float32
        )  # a copy: networks want to own their rows
        yield Batch(chunk, start + 1, (start + len(chunk)) / len(rows))
