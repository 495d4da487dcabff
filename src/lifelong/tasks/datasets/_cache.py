"""Decoded copies of raw files: npy without pickle, memory-mapped, keyed by the source's checksum
and the settings.

A copy is written into a scratch folder and renamed when it is complete, so nothing half-written is
ever found. Raw files are hashed once; later loads recognise them by their sizes and times, as git
does, which takes milliseconds.
"""

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._files import replace_file, scratch_folder
from lifelong._places import cache_folder
from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._source import Source

_VERSION = 1  # of the decoders: raise it when one of them gives other numbers for the same files
_SETTLED = (
    2 * 10**9
)  # nanoseconds: a file changed just now may change again without a new time on it


def decoded(
    source: Source, data_dir: str | Path | None = None, **settings: Any
) -> dict[str, NDArray[Any]]:
    """The source's arrays, read-only and memory-mapped; decoded first if this is the first time."""
    folder = source.require(data_dir)
    files = source.files(folder)
    key = _digest(_VERSION, checksum(files, folder), json.dumps(settings, sort_keys=True))
    place = cache_folder("decoded") / f"{source.name}-{key}"
    arrays = _open(place)
    if arrays is None:
        _decode(source, folder, place, settings)
        arrays = _open(place)
    if arrays is None:
        raise DatasetError(
            f"{place} was written but cannot be read back. Check that the disk is not full."
        )
    return arrays


def write(scratch: Path, **arrays: NDArray[Any]) -> None:
    """Each array as ``<name>.npy``."""
    for name, array in arrays.items():
        np.save(scratch / f"{name}.npy", array, allow_pickle=False)


def write_part(scratch: Path, split: str, X: NDArray[Any], y: NDArray[Any]) -> None:
    """The images and labels of one part."""
    write(scratch, **{f"X_{split}": X, f"y_{split}": y})


def checksum(files: Iterable[Path], folder: Path) -> str:
    """One digest over the names and contents of all files; read from the cache while sizes and
    times stay the same.
    """
    start = (
        len(str(folder)) + 1
    )  # names below the folder, quicker than relative_to for 165,000 files
    names = {str(path)[start:]: path for path in files}
    looks = [_looks(name, path) for name, path in names.items()]
    memo = cache_folder("checksums") / _digest(str(folder.resolve()), *looks)
    if memo.is_file():
        return memo.read_text()
    contents = _digest(*((name.replace("\\", "/"), sha256(path)) for name, path in names.items()))
    newest = max((changed for _, _, changed in looks), default=0)
    if time.time_ns() - newest > _SETTLED:
        _make(memo.parent)
        replace_file(memo, contents.encode())
    return contents


def _looks(name: str, path: Path) -> tuple[str, int, int]:
    try:
        stat = path.stat()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None
    return name, stat.st_size, stat.st_mtime_ns


def sha256(path: Path) -> str:
    """The file's SHA-256, as ``sha256sum`` prints it."""
    return file_checksum(path, "sha256")


def file_checksum(path: Path, algorithm: str) -> str:
    """The file's digest in hexadecimal."""
    try:
        with path.open("rb") as file:
            return file_digest(file, algorithm).hexdigest()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from None


def _decode(source: Source, folder: Path, place: Path, settings: Mapping[str, Any]) -> None:
    _make(place.parent)
    try:
        with scratch_folder(place.parent) as scratch:
            source.decode(folder, scratch, **settings)
            shutil.rmtree(place, ignore_errors=True)  # an unreadable copy
            scratch.replace(place)
    except OSError as error:
        if not any(
            place.glob("*.npy")
        ):  # else: another process was faster, and its copy is as good
            raise DatasetError(
                f"{place} cannot be written: {error.strerror or error}. Set LIFELONG_CACHE."
            ) from None


def _open(place: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays of a finished copy; None where there is none, or none that can be read."""
    try:
        return {
            path.stem: np.load(path, mmap_mode="r", allow_pickle=False)
            for path in sorted(place.glob("*.npy"))
        } or None
    except (OSError, ValueError, EOFError):
        return None


def _digest(*parts: object) -> str:
    return blake2b("\n".join(map(repr, parts)).encode(), digest_size=16).hexdigest()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(
            f"{folder} cannot be created: {error.strerror}. Set LIFELONG_CACHE to a writable"
            " folder."
        ) from None
