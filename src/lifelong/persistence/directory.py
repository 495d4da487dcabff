"""The directory of a saved learner: files that never change, and a manifest switched in one step.

A file is named after the SHA-256 of its content, so a name that exists holds what it says and is
never written again. Everything is written under a temporary name, flushed to the disk and then
renamed; the manifest last. Whoever is killed in between leaves the old state and some files that
nobody refers to; the next writer removes them.
"""

import errno
import hashlib
import mmap
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from lifelong._files import SCRATCH, replace_file, sync_folder, write_all
from lifelong._words import shown
from lifelong.exceptions import InputTypeError, PersistenceError
from lifelong.persistence.arrays import Buffer
from lifelong.persistence.text import MAX_JSON, Json

try:
    import fcntl
except ImportError:
    # Windows has no flock: there, nobody stops two processes from writing to one directory.
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
LOCK = "lock"
_OURS = re.compile(r"(encoder|channel|rows|network|values)-([0-9a-f]{64})\.safetensors")
_MAX_BYTES = 2**48
# Never follow a link out of the directory, and never wait for a pipe that somebody has put there.
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileRef(NamedTuple):
    """A file of the directory; its name holds its checksum."""

    name: str
    size: int

    @classmethod
    def from_json(cls, node: Json) -> "FileRef":
        """A checked reference: a name of our own pattern has no path in it."""
        ok = (
            isinstance(node, list)
            and len(node) == 2
            and isinstance(node[0], str)
            and type(node[1]) is int
        )
        if not ok or not _OURS.fullmatch(node[0]) or not 0 < node[1] <= _MAX_BYTES:
            raise PersistenceError(f"{str(node)[:80]!r} is no file of a saved learner")
        return cls(*node)

    @property
    def checksum(self) -> str:
        """SHA-256 of the content, in hexadecimal."""
        return self.name.split("-")[1].removesuffix(".safetensors")


class Gone(PersistenceError):  # noqa: N818
    """A file of the manifest is not there (perhaps a writer has just replaced the manifest)."""


class DiskFull(PersistenceError):  # noqa: N818
    """There is no room for what was to be written."""


class Directory:
    """Reading and writing the files."""

    def __init__(self, path: Path | str) -> None:
        if not isinstance(path, str | os.PathLike) or "\0" in str(path):
            raise InputTypeError(f"directory={shown(path)} is no path. Give the name of a folder.")
        self.path = Path(path)
        self._lock: int | None = None  # the lock file, while this is the writer

    # Reading

    def read(self, name: str, size: int | None = None) -> bytearray:
        """A whole file, of exactly ``size`` bytes if that is given."""
        with self._opened(name, size) as (descriptor, length):
            content = bytearray(length)
            with open(descriptor, "rb", buffering=0, closefd=False) as file:
                done = 0
                while done < length:
                    count = file.readinto(memoryview(content)[done : done + (1 << 30)])
                    if not count:
                        raise PersistenceError(
                            f"{self.path / name} became shorter while it was read."
                        )
                    done += count
            return content

    def tail(self, name: str, length: int) -> bytes | None:
        """The end of a file; None if there is no such file."""
        try:
            with self._opened(name, None) as (descriptor, size):
                os.lseek(descriptor, max(0, size - length), os.SEEK_SET)
                return os.read(descriptor, length)
        except Gone:
            return None

    def map(self, ref: FileRef) -> memoryview:
        """A whole file as memory that is read when it is touched; changes there stay private."""
        with self._opened(ref.name, ref.size) as (descriptor, length):
            return memoryview(mmap.mmap(descriptor, length, access=mmap.ACCESS_COPY))

    @contextmanager
    def _opened(self, name: str, size: int | None) -> Iterator[tuple[int, int]]:
        path = self.path / name
        try:
            descriptor = os.open(path, _READ)
        except FileNotFoundError:
            raise Gone(f"{path} does not exist.") from None
        except OSError as error:
            raise PersistenceError(f"{path} cannot be read: {error.strerror}.") from None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise PersistenceError(f"{path} is not a plain file.")
            if size is None and status.st_size > MAX_JSON:
                raise PersistenceError(f"{path} is too large for a manifest.")
            if size is not None and status.st_size != size:
                raise PersistenceError(
                    f"{path} has {status.st_size} bytes instead of {size}: it is damaged."
                )
            yield descriptor, status.st_size
        except OSError as error:
            raise PersistenceError(f"{path} cannot be read: {error.strerror}.") from None
        finally:
            os.close(descriptor)

    def content(self, ref: FileRef, *, mapped: bool = False) -> Buffer:
        """A file whose checksum is right."""
        content: Buffer
        if mapped:
            content = self.map(ref)
        else:
            content = self.read(ref.name, ref.size)
        if checksum([content]) != ref.checksum:
            raise PersistenceError(
                f"{self.path / ref.name} is damaged: its checksum is not the one in its name."
            )
        return content

    def files(self) -> set[str]:
        """Names of all files of ours, referred to or not."""
        return {name for name in self._names() if _OURS.fullmatch(name)}

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.path)  # noqa: PTH208
        except FileNotFoundError:
            return []

    # Writing

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The only writer. The system's lock (flock) ends with the process, however that ends."""
        with self._explained():
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(
                self.path / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666
            )
        _LOCKS.add(descriptor)
        try:
            if fcntl is not None:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise PersistenceError(
                        f"Another process is writing to {self.path}. Wait for it, or choose another"
                        " directory.",
                        see="reliability",
                    ) from None
            self._lock = descriptor
            yield
        finally:
            self._lock = None
            if descriptor in _LOCKS:  # it is not in a forked child, which has let go of it
                _LOCKS.discard(descriptor)
                if fcntl is not None:
                    # Closing is not enough: a child that was forked meanwhile may have a copy.
                    fcntl.flock(descriptor, fcntl.LOCK_UN)
                os.close(descriptor)

    def ref(self, prefix: str, pieces: list[bytes | memoryview]) -> FileRef:
        """What a file with that content is called."""
        size = sum(len(piece) for piece in pieces)
        return FileRef(f"{prefix}-{checksum(pieces)}.safetensors", size)

    def write(self, ref: FileRef, pieces: list[bytes | memoryview]) -> None:
        """A new file, on the disk when this returns."""
        self._replace(ref.name, pieces)

    def put(self, name: str, pieces: list[bytes | memoryview]) -> None:
        """A file of any name, whole or not at all, on the disk when this returns."""
        self._replace(name, pieces)
        with self._explained():
            sync_folder(self.path)

    def reserve(self, n_bytes: int) -> None:
        """Keep so much room, in the lock file: a full disk must not keep a task from being
        forgotten, and that takes a new manifest before the old one can go.
        """
        if self._lock is None:
            return
        with self._explained():
            size = os.fstat(self._lock).st_size
            if size < n_bytes:
                os.lseek(self._lock, size, os.SEEK_SET)
                write_all(self._lock, memoryview(bytes(2 * n_bytes - size)))

    def release(self) -> None:
        """Give up the room that was kept."""
        if self._lock is not None:
            with self._explained():
                os.ftruncate(self._lock, 0)

    def switch(self, manifest: bytes) -> None:
        """All files first, then the manifest: from here on the new state counts."""
        with self._explained():
            sync_folder(self.path)
        self._replace(MANIFEST, [manifest])
        with self._explained():
            sync_folder(self.path)

    def clean(self, keep: Iterable[str]) -> None:
        """Remove what no manifest refers to; what cannot go now, the next writer removes."""
        kept = set(keep)
        for name in self._names():
            if (_OURS.fullmatch(name) and name not in kept) or name.startswith(SCRATCH):
                with suppress(OSError):
                    os.unlink(self.path / name)  # noqa: PTH108 - all writing goes through os, where tests make it fail

    def _replace(self, name: str, pieces: list[bytes | memoryview]) -> None:
        with self._explained():
            replace_file(self.path / name, pieces, sync=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            problem = (
                f"Could not write to {self.path}: {error.strerror or error}. What was saved before"
                " is intact."
            )
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull(f"{problem} Make room and save again.") from error
            raise PersistenceError(f"{problem} Save again.") from error


_LOCKS: set[int] = set()
"""Descriptors of lock files that this process has open."""


def _let_go() -> None:
    """In a forked child: the lock belongs to the parent, and ends with the parent."""
    for descriptor in _LOCKS:
        with suppress(OSError):
            os.close(descriptor)
    _LOCKS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def checksum(pieces: Iterable[bytes | Buffer]) -> str:
    """SHA-256 of the pieces one after another."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
