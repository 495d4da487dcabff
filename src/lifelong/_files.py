"""Files that are whole or not there: written under a name of their own first, then renamed.

Whatever happens in between (a kill, a full disk, a second writer), the final name holds the old
content or the new one, never half of either. A scratch name is random and created exclusively, so
no two writers share one: not two threads, and not two containers with equal process ids.

All writing goes through ``os``, so that tests can make any step of it fail.
"""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import NamedTuple

Piece = bytes | bytearray | memoryview

SCRATCH = ".writing-"
"""How scratch names begin. Whoever is killed leaves one behind, and nobody needs it."""

_MOST = 1 << 30  # bytes of one write: some systems take no more than 2 GiB at once


class Scratch(NamedTuple):
    """A new, empty file.

    Attributes
    ----------
    path : Path
        Its name, for whoever writes by name.
    descriptor : int
        The same file, open for writing. It is closed by whoever opened it, not by who writes.
    """

    path: Path
    descriptor: int


def replace_file(path: Path, content: bytes | Iterable[Piece], *, sync: bool = False) -> None:
    """Write a file in place of the one that has this name, or make a new one.

    Parameters
    ----------
    path : Path
        The final name. Its folder must exist.
    content : bytes, or pieces of bytes
        Pieces are written one after another, and need not be in memory at once.
    sync : bool, default False
        Whether the content is on the disk when this returns. A power cut right after a rename
        could otherwise leave an empty file. The name itself is there for good after
        :func:`sync_folder`.

    Raises
    ------
    OSError
        As the system gives it; the scratch file is gone then, and the old file as it was.
    """
    if isinstance(content, bytes):
        content = [content]
    with replacing(path, sync=sync) as scratch:
        for piece in content:
            write_all(scratch.descriptor, memoryview(piece))


@contextmanager
def replacing(path: Path, *, sync: bool = False) -> Iterator[Scratch]:
    """A scratch file to write to; it gets the name ``path`` when the block ends without an error.

    Parameters
    ----------
    path : Path
        The final name. Its folder must exist.
    sync : bool, default False
        As for :func:`replace_file`.

    Yields
    ------
    Scratch
        Whatever is written to it counts once the block has ended without an error.
    """
    file = _new_file(path.parent)
    scratch = Path(str(file.name))
    try:
        with file:
            yield Scratch(scratch, file.fileno())
            if sync:
                os.fsync(file.fileno())
        os.replace(scratch, path)  # noqa: PTH105 - through os, where tests make it fail
    except BaseException:
        with suppress(OSError):
            os.unlink(scratch)  # noqa: PTH108
        raise


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A new, empty folder in ``parent``, to be filled and then renamed to its final name.

    Whatever still has the scratch name when the block ends is removed.
    """
    folder = parent / _scratch_name()
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Names of files reach the disk with their folder; Windows does that by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _new_file(folder: Path) -> FileIO:
    """A file that closes itself if Ctrl-C comes before anybody has it: a number would stay open."""
    while True:
        with suppress(FileExistsError):  # somebody else's: take another name
            return FileIO(folder / _scratch_name(), "xb", opener=partial(os.open, mode=0o666))


def _scratch_name() -> str:
    return f"{SCRATCH}{secrets.token_hex(8)}"


def write_all(descriptor: int, content: memoryview) -> None:
    """All bytes, however many calls the system takes for them."""
    while len(content):
        done = os.write(descriptor, content[:_MOST])
        content = content[done:]
