"""Features of frozen networks, computed once per row and kept on disk.

Rows are known by a digest of their content, so the same row is found again in any task, order or
process. Features lie in shards of a few rows; a shard is named after the digest of its bytes and
renamed into place when it is complete: half a shard is never found, and a damaged one gives itself
away.
"""

import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

from lifelong._progress import progress
from lifelong._validation import Rows
from lifelong.exceptions import DatasetError

SHARD = 128  # rows: what a kill can cost
_KEY = 16  # bytes
_RECENT_CALLS = 4  # whose results stay in memory
_RECENT_BYTES = 2**26  # of one result: larger ones do not stay


def key_of(row: Any) -> bytes:
    """What a row is known by: a text, or an array of numbers."""
    if isinstance(row, str):
        return blake2b(row.encode(), digest_size=_KEY).digest()
    digest = blake2b(repr((row.shape, row.dtype.str)).encode(), digest_size=_KEY)
    digest.update(np.ascontiguousarray(row).data)
    return digest.digest()


class FeatureStore:
    """The shards of one network with one set of settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._place: dict[bytes, tuple[str, int]] = {}  # row → shard, position
        self._listed: set[str] = set()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Rows]:
        """The features of those rows that are there."""
        if not all(key in self._place for key in keys):
            self._list()
        wanted: dict[str, list[bytes]] = {}
        for key in dict.fromkeys(keys):
            if key in self._place:
                wanted.setdefault(self._place[key][0], []).append(key)
        found: dict[bytes, Rows] = {}
        for shard, here in wanted.items():
            features = self._read(shard)
            if features is None:
                self._forget(shard)
                continue
            found |= {key: features[self._place[key][1]] for key in here}
        return found

    def add(self, keys: Sequence[bytes], features: Rows) -> None:
        """One more shard."""
        packed = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), _KEY)
        content = save(
            {"keys": packed, "features": np.ascontiguousarray(features, dtype=np.float32)}
        )
        name = f"{blake2b(content, digest_size=16).hexdigest()}.safetensors"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, scratch = mkstemp(prefix=".unfinished-", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(scratch).replace(self.folder / name)
        except OSError as error:
            raise DatasetError(
                f"{self.folder} cannot be written: {error.strerror}. Set LIFELONG_CACHE to a"
                " writable folder, or cache_dir=None to keep nothing."
            ) from None
        self._enter(name, packed)

    def _list(self) -> None:
        """Take in shards that are new, perhaps another process's."""
        for path in sorted(self.folder.glob("*.safetensors")):
            if path.name not in self._listed:
                try:
                    with safe_open(path, framework="numpy") as shard:
                        self._enter(path.name, shard.get_tensor("keys"))
                except (OSError, SafetensorError):
                    self._forget(path.name)

    def _enter(self, name: str, keys: NDArray[np.uint8]) -> None:
        self._listed.add(name)
        self._place |= {key.tobytes(): (name, position) for position, key in enumerate(keys)}

    def _read(self, name: str) -> Rows | None:
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        if f"{blake2b(content, digest_size=16).hexdigest()}.safetensors" != name:
            return None
        return load(content)["features"]

    def _forget(self, name: str) -> None:
        warnings.warn(
            f"{self.folder / name} is damaged or gone: the features in it are computed again.",
            stacklevel=2,
        )
        (self.folder / name).unlink(missing_ok=True)
        self._listed.discard(name)
        self._place = {key: place for key, place in self._place.items() if place[0] != name}


_lock = threading.RLock()
_stores: dict[Path, FeatureStore] = {}
_recent: OrderedDict[tuple[Any, ...], Rows] = OrderedDict()


def features_of(
    rows: Any,
    run: Callable[[Any], Rows],
    *,
    identity: tuple[Any, ...],
    name: str,
    batch: int,
    cache_dir: Path | None,
) -> Rows:
    """Features (n, d) of all rows: from the last calls, from disk, or from ``run``, which takes
    ``batch`` rows at once.

    ``identity`` is all that features depend on besides the row. Without ``cache_dir`` nothing is
    written.
    """
    if isinstance(rows, np.ndarray):
        key = key_of(rows)
    else:
        key = key_of(repr(rows))
    call = (identity, cache_dir, key)
    with _lock:  # two threads that ask for the same rows compute them once
        if call not in _recent:
            store = None
            if cache_dir is not None:
                folder = cache_dir / f"{name}-{_digest(identity)}"
                store = _stores.setdefault(folder, FeatureStore(folder))
            features = _collect(rows, [key_of(row) for row in rows], run, store, name, batch)
            if features.nbytes > _RECENT_BYTES:
                return features
            _recent[call] = features
            while len(_recent) > _RECENT_CALLS:
                _recent.popitem(last=False)
        _recent.move_to_end(call)
        return _recent[call].copy()


def _collect(
    rows: Any,
    keys: list[bytes],
    run: Callable[[Any], Rows],
    store: FeatureStore | None,
    name: str,
    batch: int,
) -> Rows:
    found = {}
    if store is not None:
        found = store.find(keys)
    first = {key: position for position, key in reversed(list(enumerate(keys))) if key not in found}
    missing = sorted(first.values())
    starts = range(0, len(missing), batch)
    done: list[int] = []
    with progress(len(starts), f"features of {name}") as bar:
        for start in starts:
            here = missing[start : start + batch]
            found |= {
                keys[at]: vector
                for at, vector in zip(here, run([rows[at] for at in here]), strict=True)
            }
            done += here
            if store is not None and (len(done) >= SHARD or start == starts[-1]):
                store.add([keys[at] for at in done], np.stack([found[keys[at]] for at in done]))
                done = []
            bar.advance()
    return np.stack([found[key] for key in keys]).astype(np.float32, copy=False)


def _digest(identity: tuple[Any, ...]) -> str:
    return blake2b(repr(identity).encode(), digest_size=8).hexdigest()
