"""Downloading on request: resumed where it stopped, checked, and renamed only when complete."""

import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

from lifelong._places import data_directory
from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._archives import unpack
from lifelong.tasks.datasets._cache import file_checksum
from lifelong.tasks.datasets._source import Download, Source

Report = Callable[[int, int], None]  # bytes so far, bytes in all (0: unknown)
_CHUNK = 1 << 18
_PATIENCE = 30  # seconds without an answer


def fetch(
    source: Source, data_dir: str | Path | None = None, *, report: Report | None = None
) -> Path:
    """Download what is missing of the source's files; the folder they are in."""
    root = data_directory(data_dir)
    if not source.downloads:
        raise DatasetError(f"{source.name} cannot be downloaded. {source.advice(data_dir)}")
    for download in source.downloads:
        target = root / download.to
        if not target.exists():
            _fetch_one(source, download, root, target, report or _silent)
    return source.require(data_dir)


def _fetch_one(
    source: Source, download: Download, root: Path, target: Path, report: Report
) -> None:
    if download.unpack:
        file = root / download.file_name
    else:
        file = target
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        found = file.is_file()  # an archive that the user put there
        if found:
            check(download, file)
        else:
            retrieve(download, file, report)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DatasetError(
            f"{download.url} cannot be downloaded ({reason}). {source.advice(root)}"
        ) from None
    if download.unpack:
        unpack(file, target)
        if not found:
            file.unlink()


def _silent(_done: int, _total: int) -> None:
    """Tell nobody."""


def retrieve(download: Download, file: Path, report: Report) -> None:
    """The file at the URL, via ``<file>.part``: a broken download goes on where it stopped."""
    unfinished = file.with_name(file.name + ".part")
    done = 0
    headers = {}
    if unfinished.is_file():
        done = unfinished.stat().st_size
    if done:
        headers["Range"] = f"bytes={done}-"
    request = urllib.request.Request(download.url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            if answer.status != 206:  # 200: the server sends the whole file again
                done = 0
            total = int(answer.headers.get("Content-Length") or 0) + done
            _save(answer, unfinished, done, total, report)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 416:  # 416: nothing is missing after the bytes we have
            raise
    if download.size and unfinished.stat().st_size < download.size:
        raise OSError(
            f"it broke off after {unfinished.stat().st_size:,} of {download.size:,} bytes; run the"
            " command again"
        )
    try:
        check(download, unfinished)
    except DatasetError:
        unfinished.unlink()  # else the next attempt would go on from here
        raise
    unfinished.replace(file)


def _save(
    answer: "urllib.request._UrlopenRet", unfinished: Path, done: int, total: int, report: Report
) -> None:
    free = shutil.disk_usage(unfinished.parent).free
    if total - done > free:
        raise OSError(
            f"{total - done:,} bytes are needed and {free:,} are free in {unfinished.parent}"
        )
    with unfinished.open("ab" if done else "wb") as file:
        while chunk := answer.read(_CHUNK):
            file.write(chunk)
            done += len(chunk)
            report(done, total)
    if total and done < total:
        raise OSError(
            f"it broke off after {done:,} of {total:,} bytes; run the command again to go on"
        )


def check(download: Download, file: Path) -> None:
    """Raise unless the file has the published checksum."""
    if not download.checksum:
        return
    algorithm, _, expected = download.checksum.partition(":")
    found = file_checksum(file, algorithm)
    if found != expected:
        raise DatasetError(
            f"{file} has the {algorithm} checksum {found}. Expected {expected}, as published. Fetch"
            " it again."
        )
