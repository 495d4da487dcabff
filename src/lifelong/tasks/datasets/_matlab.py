"""MATLAB v5 files, numeric arrays only.

scipy has a complete reader, but damaged bytes can crash it, and the whole process with it (found by
fuzzing). This one reads no more than SVHN needs and checks every length before it uses it. Format:
MathWorks, "MAT-File Format", level 5.
"""

import math
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.tasks.datasets._raw import damaged, read_bytes

_HEADER = 128  # bytes: a text, the version, and two letters that tell the byte order
_MATRIX = 14
_COMPRESSED = 15
_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_NUMERIC_CLASSES = range(6, 16)  # double, single, and whole numbers of 8 to 64 bits


class _MalformedError(ValueError):
    """What is wrong with the bytes; the caller adds the file's name."""


def read_matlab(path: Path, *, limit: int) -> dict[str, NDArray[Any]]:
    """The numeric arrays of a file by name; no more than ``limit`` bytes are read or unpacked."""
    content = read_bytes(path, limit=limit)
    order = {b"IM": "<", b"MI": ">"}.get(content[_HEADER - 2 : _HEADER])
    try:
        if order is None or content[:6] != b"MATLAB":
            raise _MalformedError("no MATLAB v5 header")
        arrays: dict[str, NDArray[Any]] = {}
        for kind, payload in _elements(memoryview(content)[_HEADER:], order):
            matrices: Iterable[tuple[int, memoryview]]
            if kind == _COMPRESSED:
                matrices = _elements(_unpacked(payload, limit), order)
            else:
                matrices = [(kind, payload)]
            arrays |= dict(
                _array(inner, order) for inner_kind, inner in matrices if inner_kind == _MATRIX
            )
        return arrays
    except _MalformedError as error:
        raise damaged(path, f"unreadable ({error})", "a whole MATLAB v5 file") from None


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and content of each element: eight bytes of tag, the content, padded to whole eights."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise _MalformedError("it ends within a tag: truncated")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        small = (
            kind >> 16
        )  # up to four bytes lie within the tag itself, their number in its upper half
        start, size, kind = (at + 4, small, kind & 0xFFFF) if small else (at + 8, size, kind)
        if start + size > len(data) or small > 4:
            raise _MalformedError(
                f"an element claims {size:,} bytes where {len(data) - start:,} are left: truncated"
            )
        yield kind, data[start : start + size]
        if small:
            at = at + 8
        else:
            at = start + size + (0 if kind == _COMPRESSED else -size % 8)


def _unpacked(payload: memoryview, limit: int) -> memoryview:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(payload, limit)
    except zlib.error as error:
        raise _MalformedError(str(error)) from None
    if not stream.eof:
        raise _MalformedError(f"an array unpacks to more than {limit:,} bytes, or ends too early")
    return memoryview(content)


def _array(matrix: memoryview, order: str) -> tuple[str, NDArray[Any]]:
    """Name and values: four elements with flags, dimensions, name and numbers.

    Other kinds come back empty.
    """
    parts = list(_elements(matrix, order))
    if len(parts) < 4 or len(parts[0][1]) != 8 or parts[1][0] != 5 or len(parts[1][1]) % 4:
        raise _MalformedError("an array without flags, dimensions, name and values")
    (_, flags), (_, dimensions), (_, name), (kind, values) = parts[:4]
    title = bytes(name).decode("latin-1")
    if (
        struct.unpack_from(f"{order}I", flags)[0] & 0xFF not in _NUMERIC_CLASSES
        or kind not in _NUMBERS
    ):
        return title, np.empty(0)
    dtype = np.dtype(order + _NUMBERS[kind])
    shape = struct.unpack(f"{order}{len(dimensions) // 4}i", dimensions)
    if (
        len(shape) > 8
        or min(shape, default=-1) < 0
        or math.prod(shape) * dtype.itemsize != len(values)
    ):
        raise _MalformedError(
            f"{title} has {len(values):,} bytes, which do not fit its shape {shape}"
        )
    return title, np.frombuffer(values, dtype=dtype).reshape(shape, order="F")
