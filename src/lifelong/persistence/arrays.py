"""One file of arrays: the safetensors format, with our own structure (JSON) in its metadata.

Any safetensors reader can open such a file. We read it ourselves, because we want to be stricter
(no key twice, no unaligned or overlapping array), and because arrays can then be views of a memory
map: nothing is allocated for what the file declares, only for what it holds.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.persistence.text import Json, Unfit, from_json, to_json

_CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}
_DTYPES = {code: np.dtype(name) for name, code in _CODES.items()}
_MAX_DIMENSIONS = 8
_MAX_LENGTH = 2**48

Buffer = bytearray | memoryview


def pack(arrays: Mapping[str, NDArray[Any]], structure: Json) -> list[bytes | memoryview]:
    """The file, in pieces that follow each other; arrays are not copied."""
    # Large items first: every array starts at a multiple of its item.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    header: dict[str, Json] = {"__metadata__": {"lifelong": to_json(structure).decode()}}
    end = 0
    for name, array in ordered:
        if array.dtype.name not in _CODES:
            raise Unfit(
                f"numbers of type {array.dtype} cannot be saved; known types: {', '.join(_CODES)}"
            )
        start = end
        end = start + array.nbytes
        header[name] = {
            "dtype": _CODES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    text = to_json(header)
    text += b" " * (-len(text) % 8)
    return [
        len(text).to_bytes(8, "little"),
        text,
        *(_bytes_of(array) for _, array in ordered if array.size),
    ]


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def unpack(buffer: Buffer) -> tuple[Json, dict[str, NDArray[Any]]]:
    """The structure and the arrays of a file; arrays are views of ``buffer``."""
    length = int.from_bytes(buffer[:8], "little")
    if len(buffer) < 8 or length > len(buffer) - 8:
        raise Unfit("its header is longer than the file")
    header = from_json(bytes(buffer[8 : 8 + length]))
    if not isinstance(header, dict):
        raise Unfit("its header is not an object")
    metadata = header.pop("__metadata__", None)
    ours = isinstance(metadata, dict) and set(metadata) == {"lifelong"}
    if not ours or not isinstance(metadata["lifelong"], str):
        raise Unfit("it has no metadata of this library")
    data = memoryview(buffer)[8 + length :]
    spans = sorted((*_span(name, entry), name) for name, entry in header.items())
    end = 0
    for start, stop, name in spans:
        if start != end:
            raise Unfit(f"array {name!r} does not begin where the one before it ends")
        end = stop
    if end != len(data):
        raise Unfit("its arrays are not as long as the file")
    structure = from_json(metadata["lifelong"].encode("ascii", "replace"))
    arrays = {name: _array(data[start:stop], header[name], name) for start, stop, name in spans}
    return structure, arrays


def _span(name: str, entry: Json) -> tuple[int, int]:
    """Where an array begins and ends; its shape must say the same."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise Unfit(f"array {name!r} is not described by dtype, shape and data_offsets")
    dtype = _DTYPES.get(str(entry["dtype"]))
    shape = entry["shape"]
    offsets = entry["data_offsets"]
    if dtype is None:
        raise Unfit(f"array {name!r} has the unknown type {str(entry['dtype'])[:20]!r}")
    if not _whole_numbers(shape, _MAX_LENGTH) or len(shape) > _MAX_DIMENSIONS:
        raise Unfit(f"array {name!r} has no shape")
    if not _whole_numbers(offsets, _MAX_LENGTH) or len(offsets) != 2:
        raise Unfit(f"array {name!r} has no offsets")
    if offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize or offsets[0] % dtype.itemsize:
        raise Unfit(f"array {name!r} has a shape that does not fit its offsets")
    return offsets[0], offsets[1]


def _whole_numbers(node: Json, most: int) -> bool:
    return isinstance(node, list) and all(
        type(number) is int and 0 <= number <= most for number in node
    )


def _array(data: memoryview, entry: Json, name: str) -> NDArray[Any]:
    dtype = _DTYPES[entry["dtype"]]
    shape = entry["shape"]
    if not len(data):
        return np.empty(shape, dtype)
    array = np.frombuffer(data, dtype)
    if dtype == np.bool_ and array.view(np.uint8).max() > 1:
        raise Unfit(f"array {name!r} holds something that is neither true nor false")
    return array.reshape(shape)
