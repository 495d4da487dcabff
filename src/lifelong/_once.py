"""Work that several learners of an experiment would do alike is done once and kept in a folder.

A result is addressed by everything that it depends on. So one folder may serve any number of
processes and runs, and may be deleted at any time: what is missing is made again.
"""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from lifelong._files import replacing

Arrays = dict[str, NDArray[Any]]

_LONG = 0.05  # seconds: what takes less is not worth a file
# Of what is free on the disk: larger files are not kept, so that the run's own rows have room.
_MODEST = 1 / 300


@dataclass
class _Sharing:
    folder: Path
    at_least: float
    saved: float = 0.0


_sharing: _Sharing | None = None


@contextmanager
def sharing(folder: Path | None, at_least: float = _LONG) -> Iterator[None]:
    """Inside the block, work that takes ``at_least`` so many seconds is shared through the folder
    (None: it is not).
    """
    global _sharing
    before = _sharing
    inside = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        inside = _Sharing(folder, at_least)
    _sharing = inside
    try:
        yield
    finally:
        _sharing = before


def is_shared() -> bool:
    """Whether work is shared now."""
    return _sharing is not None


def saved_seconds() -> float:
    """What sharing has saved so far: a clock that adds it shows what the work takes for one who
    does it himself.
    """
    if _sharing is None:
        return 0.0
    return _sharing.saved


def once(depends_on: Callable[[], Iterable[Any]], work: Callable[[], Arrays]) -> Arrays:
    """What ``work`` returns, or what it returned before with equal arrays and settings."""
    shared = _sharing
    if shared is None:
        return work()
    entered = time.perf_counter()
    file = shared.folder / f"{digest(depends_on())}.safetensors"
    known = _read(file)
    if known is None:
        started = time.perf_counter()
        arrays = work()
        seconds = time.perf_counter() - started
        if seconds >= shared.at_least:
            _write(file, arrays, seconds)
    else:
        arrays, seconds = known
    shared.saved += seconds - (time.perf_counter() - entered)
    return arrays


def digest(values: Iterable[Any]) -> str:
    """Sixteen bytes as text: of arrays' values and layout, and of how anything else is written."""
    whole = blake2b(digest_size=16)
    for value in values:
        if isinstance(value, np.ndarray):
            whole.update(repr((value.dtype.str, value.shape, value.strides)).encode())
            whole.update(np.ascontiguousarray(value).data)
        else:
            whole.update(repr(value).encode())
        whole.update(b"|")
    return whole.hexdigest()


def _read(file: Path) -> tuple[Arrays, float] | None:
    try:
        with safe_open(file, framework="numpy") as content:
            names = content.keys()
            arrays = {name: content.get_tensor(name) for name in names}
            return arrays, float(content.metadata()["seconds"])
    except (OSError, SafetensorError, TypeError, KeyError):
        return None  # not there, torn by a power cut, or not ours


def _write(file: Path, arrays: Arrays, seconds: float) -> None:
    with suppress(OSError, SafetensorError):  # a full disk: the result is there all the same
        size = sum(array.nbytes for array in arrays.values())
        if size > _MODEST * shutil.disk_usage(file.parent).free:
            return
        whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        with replacing(file) as scratch:
            save_file(whole, scratch.path, {"seconds": repr(seconds)})
