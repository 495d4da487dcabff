"""Tables in files: CSV with a header (``,`` ``;`` or tab, plain or gzip) and Parquet.

Cells become numbers, true and false, dates or text by the same rules as columns of a frame. No
library for frames is needed for CSV.
"""

import csv
import gzip
import hashlib
import re
import sys
import zlib
from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from lifelong.exceptions import DatasetError, MissingExtraError
from lifelong.rows.columns import Columns
from lifelong.rows.frames import table_of
from lifelong.rows.table import PAGE, Table, Texts, Values
from lifelong.rows.written import values_of

STDIN = Path("-")
DELIMITERS = (",", ";", "\t")
_GZIP = b"\x1f\x8b"


class Content(NamedTuple):
    """All bytes of a file, unpacked, and their checksum."""

    data: bytes
    checksum: str


class How(NamedTuple):
    """What is known of a file's columns."""

    known: Columns | None
    as_text: Collection[str]

    def is_text(self, name: str) -> bool:
        """Whether a column holds text, whatever it looks like."""
        return name in self.as_text or self._kind(name) == "category"

    def is_number(self, name: str) -> bool:
        """Whether a column is known to hold numbers, or true and false."""
        return name not in self.as_text and self._kind(name) in ("number", "boolean")

    def _kind(self, name: str) -> str | None:
        if self.known is None or name not in self.known.by_name:
            return None
        return self.known.by_name[name].kind


def read_content(path: Path) -> Content:
    """The bytes of a file, or of a pipe for ``-``; a gzip file is unpacked.

    Raises
    ------
    DatasetError
        If there is no such file, or it cannot be unpacked.
    """
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read()
        else:
            data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{path} cannot be read: {reason}.") from None
    return Content(data, hashlib.sha256(data).hexdigest())


def read_table(
    path: Path, content: Content, known: Columns | None = None, as_text: Collection[str] = ()
) -> Table:
    """A file as one table.

    Parameters
    ----------
    path : Path
        Its name tells Parquet from CSV, and stands in messages.
    content : Content
        What :func:`read_content` has read.
    known : Columns, optional
        Columns that are known already: text stays text there, whatever it looks like.
    as_text : names, default ()
        Columns of a CSV file that are read as text, whatever they look like: they hold names.
    """
    how = How(known, as_text)
    if _is_parquet(path):
        return _from_parquet(path, content)
    with _text(BytesIO(content.data)) as text:
        (table,) = _csv_tables(text, path, None, how)
    return table


def tables_in(
    path: Path, size: int, known: Columns | None = None, as_text: Collection[str] = ()
) -> Iterator[Table]:
    """The tables of a file, ``size`` rows at a time: memory does not grow with a CSV file.

    Otherwise as :func:`read_table`.
    """
    how = How(known, as_text)
    if _is_parquet(path):
        table = _from_parquet(path, read_content(path))
        for start in range(0, len(table), size):
            yield table.take(slice(start, start + size))
        return
    if path == STDIN:
        text = _text(sys.stdin.buffer)
        try:
            yield from _csv_tables(text, path, size, how)
        finally:
            text.detach()  # who opened the pipe closes it
        return
    try:
        with _opened(path) as file, _text(file) as text:
            yield from _csv_tables(text, path, size, how)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from None


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    if packed:
        return gzip.open(path)  # type: ignore[return-value]
    return path.open("rb")


def _text(file: BinaryIO) -> TextIOWrapper:
    return TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline="")


def _csv_tables(file: TextIOWrapper, path: Path, size: int | None, how: How) -> Iterator[Table]:
    """The rows of a CSV file; all of them in one table if no size is given."""
    first = ""
    lines: Any = None
    try:
        first = _first_record(file)
        names = _header(first, path)
        delimiter = _delimiter(first)
        lines = csv.reader(file, delimiter=delimiter, strict=True)
        filled = _without_empty_lines(lines, path)
        done = 0
        while chunk := list(islice(filled, size)):
            yield _table(names, chunk, path, done, how, decimal_comma=delimiter != ",")
            done += len(chunk)
            if size is None:
                break
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path} is not written in UTF-8 ({error.reason}). Save it as CSV in UTF-8."
        ) from None
    except csv.Error as error:
        at = first.count("\n")
        if lines is not None:
            at += lines.line_num
        raise DatasetError(f"{path}, after line {at}: not a readable CSV file ({error}).") from None
    if not done:
        raise DatasetError(f"{path} has a header and no rows.", see=PAGE)


def _first_record(file: TextIOWrapper) -> str:
    """The first line, or more of them while a name in quotes goes on."""
    record = file.readline()
    while record.count('"') % 2:
        line = file.readline()
        if not line:
            break
        record += line
    return record


def _without_empty_lines(lines: Iterator[list[str]], path: Path) -> Iterator[list[str]]:
    """Empty lines are allowed at the end only: before it, one may be a row that was lost."""
    n_rows = 0
    is_empty = False
    for line in lines:
        if not line:
            is_empty = True
            continue
        if is_empty:
            raise DatasetError(
                f"{path} has an empty line after row {n_rows}. Fill or remove it.", see=PAGE
            )
        n_rows += 1
        yield line


def _delimiter(first: str) -> str:
    """The one of ``,`` ``;`` and tab that the first line has most of, outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", first)
    return max(DELIMITERS, key=bare.count)


def _header(first: str, path: Path) -> list[str]:
    if not first.strip():
        raise DatasetError(f"{path} is empty.", see=PAGE)
    reader = csv.reader(first.splitlines(keepends=True), delimiter=_delimiter(first), strict=True)
    names = next(reader)
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        name = sorted(twice)[0]
        raise DatasetError(f"{path} has two columns called {name!r}. Rename one of them.", see=PAGE)
    if all(_is_number(name) for name in names):
        raise DatasetError(
            f"{path} begins with numbers, not with the names of its columns. Add a first line that "
            "names them.",
            see=PAGE,
        )
    return names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _table(
    names: Sequence[str],
    lines: list[list[str]],
    path: Path,
    done: int,
    how: How,
    *,
    decimal_comma: bool,
) -> Table:
    width = len(names)
    for number, line in enumerate(lines, start=done + 1):
        if len(line) != width:
            raise DatasetError(
                f"{path}, row {number}: {len(line)} cells, and the header has {width}: "
                f"{','.join(line)[:60]!r}.",
                see=PAGE,
            )
    columns: dict[str, Values] = {}
    booleans = set()
    for name, cells in zip(names, zip(*lines, strict=True), strict=True):
        columns[name], is_boolean = values_of(
            cells,
            is_text=how.is_text(name),
            is_number=how.is_number(name),
            decimal_comma=decimal_comma,
        )
        if is_boolean:
            booleans.add(name)
    return Table(columns, frozenset(booleans), len(lines))


def _from_parquet(path: Path, content: Content) -> Table:
    if find_spec("pyarrow") is None:
        raise MissingExtraError("Reading Parquet needs pyarrow. Run: pip install pyarrow")
    import pyarrow
    import pyarrow.parquet

    try:
        frame = pyarrow.parquet.read_table(BytesIO(content.data), page_checksum_verification=True)
    except (pyarrow.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise DatasetError(f"{path}: not a readable Parquet file ({reason}).") from None
    return table_of(frame)


def labels_of(values: Values) -> list[Any]:
    """A column as labels: text, or whole numbers where all are; None is missing.

    >>> labels_of(np.array([0.0, 1.0]))
    [0, 1]
    """
    if isinstance(values, Texts):
        return list(values.objects().tolist())
    if values.dtype.kind == "M":
        return list(values.astype(str).tolist())
    there = values[~np.isnan(values)]
    whole = bool((there == np.floor(there)).all())
    return [_label(number, whole) for number in values.tolist()]


def _label(number: float, whole: bool) -> int | float | None:
    if number != number:
        return None
    if whole:
        return int(number)
    return number
