"""Unpacking downloaded archives: no member leaves the folder, no links, no devices, a limit on what
they expand to.
"""

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from lifelong._files import scratch_folder
from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._raw import damaged

_MAX_CONTENT = (
    60_000_000_000  # bytes of all members together; CORe50 has 6 · 10⁹, Food1k about 20 · 10⁹
)
_MAX_RATIO = 1_100  # deflate cannot pack better than 1 : 1032; more is a made-up header


def check_member(archive: Path, name: str, *, is_link: bool, is_plain: bool) -> None:
    """Raise unless the member is a file or folder inside the archive's own folder."""
    path = PurePosixPath(name)
    if (
        path.is_absolute()
        or PureWindowsPath(name).drive
        or "\\" in name
        or ".." in path.parts
        or "\0" in name
    ):
        raise damaged(
            archive,
            f"member {name!r} would be written outside its folder",
            "relative names without '..'",
        )
    if is_link or not is_plain:
        raise damaged(archive, f"member {name!r} is a link or a device", "plain files and folders")


def unpack(archive: Path, target: Path) -> None:
    """All members into ``target``; the archive's own single top folder is left out.

    All or nothing.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with scratch_folder(target.parent) as scratch:
            for name, content in _members(archive):
                place = scratch / name
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as file:
                    shutil.copyfileobj(content, file, 1 << 20)
            _content_of(scratch).replace(target)
    except DatasetError:
        raise
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
    ) as error:
        raise damaged(
            archive,
            f"cannot be unpacked into {target} ({error})",
            "a sound archive and room on the disk",
        ) from None


def _content_of(folder: Path) -> Path:
    """The archive's own single top folder, if it has one."""
    entries = list(folder.iterdir())
    if len(entries) == 1 and entries[0].is_dir():
        return entries[0]
    return folder


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and open content of each file, checked."""
    total = 0
    limit = min(_MAX_CONTENT, _MAX_RATIO * archive.stat().st_size)
    for name, size, content in (
        _zip_members(archive) if archive.suffix == ".zip" else _tar_members(archive)
    ):
        total += size
        if total > limit:
            raise damaged(
                archive, f"its members expand to more than {limit:,} bytes", "no decompression bomb"
            )
        yield name, content


def _tar_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with tarfile.open(archive) as tar:
        for member in tar:
            check_member(
                archive,
                member.name,
                is_link=member.issym() or member.islnk(),
                is_plain=member.isfile() or member.isdir(),
            )
            if member.isfile():
                content = tar.extractfile(member)
            else:
                content = None
            if content is not None:
                yield member.name, member.size, content


def _zip_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as zipped:
        for info in zipped.infolist():
            kind = (
                info.external_attr >> 16
            ) & 0o170000  # the Unix file type, 0 where the archive has none
            check_member(
                archive,
                info.filename,
                is_link=kind == 0o120000,
                is_plain=kind in (0, 0o100000, 0o040000),
            )
            if not info.is_dir():
                with zipped.open(info) as content:
                    yield info.filename, info.file_size, content
