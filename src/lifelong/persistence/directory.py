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

from lifelong._files import SCRATCH, replace_file, sync_folder
from lifelong.exceptions import PersistenceError
from lifelong.persistence.arrays import Buffer
from lifelong.persistence.text import Json

try:
    import fcntl
except ImportError:
    # Windows has no flock: there, nobody stops two processes from writing to one directory.
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
LOCK = "lock"
_OURS = re.compile(r"(encoder|channel|rows|network|values)-([0-9a-f]{64})\.safetensors")
_MAX_BYTES = 2**48
_MAX_MANIFEST = 2**30
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


class Directory:
    """Reading and writing the files."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

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
            if size is None and status.st_size > _MAX_MANIFEST:
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
            yield
        finally:
            os.close(descriptor)

    def write(self, prefix: str, pieces: list[bytes | memoryview], there: set[str]) -> FileRef:
        """A new file, on the disk when this returns; nothing is written if it is ``there``."""
        ref = FileRef(
            f"{prefix}-{checksum(pieces)}.safetensors", sum(len(piece) for piece in pieces)
        )
        if ref.name not in there:
            self._replace(ref.name, pieces)
            there.add(ref.name)
        return ref

    def put(self, name: str, pieces: list[bytes | memoryview]) -> None:
        """A file of any name, whole or not at all, on the disk when this returns."""
        self._replace(name, pieces)
        with self._explained():
            sync_folder(self.path)

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
            advice = "Save again."
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                advice = "Make room and save again."
            raise PersistenceError(
                f"Could not write to {self.path}: {error.strerror or error}. What was saved before"
                f" is intact. {advice}"
            ) from error


def checksum(pieces: Iterable[bytes | Buffer]) -> str:
    """SHA-256 of the pieces one after another."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
