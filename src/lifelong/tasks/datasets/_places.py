"""Where raw files are looked for, and where decoded copies are kept."""

import os
import sys
from pathlib import Path

from lifelong.exceptions import DatasetError


def cache_dir() -> Path:
    """Where this library may write: ``$LIFELONG_CACHE``, else the user's cache directory."""
    chosen = os.environ.get("LIFELONG_CACHE")
    return Path(chosen).expanduser() if chosen else _user_cache() / "lifelong"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def data_directory(data_dir: str | Path | None = None) -> Path:
    """Where raw files are: ``data_dir``, else ``$LIFELONG_DATA``, else ``data`` in the cache. It need not exist.

    >>> data_directory("my/files").as_posix()
    'my/files'
    """
    if data_dir is not None:
        return Path(data_dir).expanduser()
    chosen = os.environ.get("LIFELONG_DATA")
    return Path(chosen).expanduser() if chosen else cache_dir() / "data"


def damaged(path: Path | str, found: str, expected: str) -> DatasetError:
    """The error for a file that is not what it should be: which file, what is wrong, what was expected, what to do."""
    return DatasetError(f"{path}: {found}. Expected {expected}. Fetch the file again, or delete it.")


def read_bytes(path: Path, *, limit: int) -> bytes:
    """The whole file; no more than ``limit`` bytes, so that a wrong file cannot fill the memory."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise damaged(path, f"the file has {size:,} bytes", f"at most {limit:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {error.strerror or error}. Check that it is a readable file."
        ) from None
