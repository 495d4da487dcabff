"""Where files are: raw data, pretrained models, and what is kept so that it need not be made twice.

Raw data
    ``data_dir`` where it is given, else ``$LIFELONG_DATA``, else ``data`` in the cache.
Pretrained models
    ``$LIFELONG_MODELS``, ``models`` beside the raw data, ``models`` in the cache: in this order.
The cache
    ``$LIFELONG_CACHE``, else ``lifelong`` in the user's cache directory. It has

    ``data``
        raw files that ``lifelong data fetch`` has brought, unless another place was given;
    ``decoded``
        raw files as arrays, one folder per source and settings;
    ``checksums``
        of raw files, by their names, sizes and times;
    ``features``
        what frozen networks make of rows;
    ``generated``
        small pictures and tiny networks for smoke runs;
    ``models``
        pretrained models that the user has put there.

    All but ``data`` and ``models`` may be deleted at any time.
"""

import os
import sys
from pathlib import Path
from typing import Literal

Kept = Literal["data", "decoded", "checksums", "features", "generated", "models"]


def cache_dir() -> Path:
    """Where this library may write: ``$LIFELONG_CACHE``, else the user's cache directory."""
    chosen = _from_variable("LIFELONG_CACHE")
    if chosen is None:
        return _user_cache() / "lifelong"
    return chosen


def cache_folder(kind: Kept) -> Path:
    """The folder of the cache for one kind of files. It need not exist.

    >>> cache_folder("decoded").name
    'decoded'
    """
    return cache_dir() / kind


def data_directory(data_dir: str | Path | None = None) -> Path:
    """Where raw files are. It need not exist.

    Parameters
    ----------
    data_dir : path, optional
        What the user asked for. Left out: ``$LIFELONG_DATA``, else ``data`` in the cache.

    Examples
    --------
    >>> data_directory("my/files").as_posix()
    'my/files'
    """
    if data_dir is not None:
        return Path(data_dir).expanduser()
    chosen = _from_variable("LIFELONG_DATA")
    if chosen is None:
        return cache_folder("data")
    return chosen


def model_folders() -> list[Path]:
    """Where pretrained models are looked for, each place once, in this order. None need exist."""
    chosen = _from_variable("LIFELONG_MODELS")
    beside_data = data_directory().parent / "models"
    places = [beside_data, cache_folder("models")]
    if chosen is not None:
        places.insert(0, chosen)
    return list(dict.fromkeys(places))


def _from_variable(name: str) -> Path | None:
    """The path in an environment variable; one that is empty counts as not set."""
    value = os.environ.get(name)
    if not value:
        return None
    return Path(value).expanduser()


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
