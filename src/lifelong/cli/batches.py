"""Rows from a large file, so many at a time: CSV, Parquet or npy.

Memory does not grow with the file.
"""

import csv
import sys
from collections.abc import Generator, Iterator, Sequence
from importlib.util import find_spec
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong.cli.headers import Header, check_distinct, is_number, read_header
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


def batches(
    path: Path, columns: Columns, size: int, header: Header = Header.AUTO
) -> Generator[Batch]:
    """All rows of a file, ``size`` at a time.

    Parameters
    ----------
    path : Path
        A ``.csv``, ``.parquet`` or ``.npy`` file, or ``-`` for CSV from a pipe.
    columns : Columns
        What the learner reads.
    size : int
        Rows of a batch.
    header : Header, default AUTO
        Whether the first line of a CSV file is a header; other kinds of file do not use it.

    Raises
    ------
    DatasetError
        If the file cannot be read as a table of numbers; the message names file and place.
    """
    if path == STDIN:
        yield from _csv(sys.stdin.buffer, path, columns, size, header)
        return
    if not path.is_file():
        raise DatasetError(
            f"{path} is not a file. Give a .csv, .parquet or .npy file, or - for CSV from a pipe."
        )
    kind = path.suffix.lower()
    if kind == ".csv":
        try:
            file = path.open("rb")
        except OSError as error:
            raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None
        with file:
            yield from _csv(file, path, columns, size, header)
    elif kind == ".parquet":
        yield from _parquet(path, columns, size)
    elif kind == ".npy":
        yield from _npy(path, columns, size)
    else:
        raise DatasetError(
            f"{path}: unknown kind of file {kind!r}. Give a .csv, .parquet or .npy file."
        )


def _csv(
    file: BinaryIO, path: Path, columns: Columns, size: int, header: Header
) -> Iterator[Batch]:
    """Comma-separated numbers in UTF-8, with or without a byte order mark."""
    total = 0
    if path != STDIN:
        total = path.stat().st_size
    text = TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline="")
    lines = csv.reader(text, strict=True)
    try:
        first = next(lines, None)
        if first is None:
            return
        if not first:
            raise DatasetError(f"{path} begins with an empty line. Remove it.")
        names = read_header(first, header, columns.names, path)
        places = columns.places(names, len(first), path)
        filled = _without_empty_lines(lines, path)
        if names is None:
            filled = chain([first], filled)
        done = 0
        while chunk := list(islice(filled, size)):
            share = None
            if total:
                share = min(1.0, file.tell() / total)
            ends = lines.line_num
            chosen = [_chosen(line, places, len(first), path, ends) for line in chunk]
            yield Batch(_numbers(chosen, path, done + 1), done + 1, share)
            done += len(chunk)
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise DatasetError(
            f"{path}, after line {lines.line_num}: not a readable CSV file ({error})."
        ) from None
    finally:
        text.detach()  # who opened the file closes it


def _without_empty_lines(lines: Iterator[list[str]], path: Path) -> Iterator[list[str]]:
    """Empty lines are allowed at the end only: before it, one may be a row that was lost."""
    n_empty = 0
    for number, line in enumerate(lines, start=2):
        if not line:
            n_empty += 1
            continue
        if n_empty:
            raise DatasetError(
                f"{path}, record {number - n_empty}: an empty line among the rows. Fill or remove"
                " it."
            )
        yield line


def _chosen(
    line: list[str], places: list[int] | None, width: int, path: Path, ends: int
) -> list[str]:
    if len(line) != width:
        raise DatasetError(
            f"{path} has a row of {len(line)} columns instead of {width} before line {ends + 1}:"
            f" {','.join(line)[:60]!r}"
        )
    if places is None:
        return line
    return [line[place] for place in places]


def _numbers(chunk: list[list[str]], path: Path, first: int) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            return np.array(chunk, dtype=np.float32)
    except ValueError:
        for row, line in enumerate(chunk, first):
            for cell in line:
                if not is_number(cell):
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
        table = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)
        names = list(table.schema_arrow.names)
        check_distinct(names, path)
        places = columns.places(names, len(names), path)
        if places is None:
            chosen = names
        else:
            chosen = [names[place] for place in places]
        total = table.metadata.num_rows
        done = 0
        for batch in table.iter_batches(batch_size=size, columns=chosen):
            numbers = [_column(batch.column(name), name, path) for name in chosen]
            yield Batch(np.column_stack(numbers), done + 1, (done + batch.num_rows) / total)
            done += batch.num_rows
    except (pyarrow.ArrowException, OSError) as error:  # a damaged page is an OSError
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise DatasetError(f"{path}: not a readable Parquet file ({reason}).") from None


def _column(column: Any, name: str, path: Path) -> NDArray[np.float32]:
    import pyarrow.types

    found = column.type
    if pyarrow.types.is_temporal(found):  # numpy would make numbers of dates without a word
        raise DatasetError(f"{path}: column {name!r} holds dates or times. Give numbers.")
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused
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
        with np.errstate(over="ignore"):
            # A copy: networks want to own their rows.
            chunk = np.array(rows[start : start + size], dtype=np.float32)
        yield Batch(chunk, start + 1, (start + len(chunk)) / len(rows))
