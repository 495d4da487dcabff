"""A stream from image folders: ``root/<task>/<class>/*.png``, or ``train``, ``test`` between."""

from functools import partial
from pathlib import Path

import numpy as np

from lifelong._random import RandomState, seed_from
from lifelong._validation import Rows, check_count
from lifelong.exceptions import DatasetError, InputError
from lifelong.tasks.base import Task, TaskStream
from lifelong.tasks.datasets._images import image_files, read_image


def from_image_folders(
    root: str | Path,
    *,
    size: int = 32,
    channels: int = 3,
    test_share: float = 0.25,
    random_state: RandomState = 0,
) -> TaskStream:
    """One task per folder in ``root``, one class per folder in a task.

    Where a task's folder holds ``train`` and ``test``, those are its rows. Images are decoded when
    a task is asked for, and not kept.

    Parameters
    ----------
    root : path
        Holds ``<task>/<class>/*.png`` (or jpg, bmp), or ``<task>/train/<class>/*.png`` and
        ``<task>/test/<class>/*.png``.
    size : int, default 32
        Height and width to which images are resized.
    channels : 1 or 3, default 3
        Grey or colour.
    test_share : float, default 0.25
        The share of each class for testing, where a task has no ``test`` folder.
    random_state : int, Generator or None, default 0
        Decides which images are for testing.

    Returns
    -------
    TaskStream
        Images (channels, size, size) in [0, 1]; the folders' names are tasks and labels.

    Raises
    ------
    DatasetError
        If a folder is missing or holds no images.
    """
    check_count(size, "size")
    if channels not in (1, 3):
        raise InputError(f"channels={channels!r} is neither 1 (grey) nor 3 (colour).")
    folders = subfolders(Path(root))
    seed = seed_from(random_state)
    read = partial(_task, size=size, channels=channels, test_share=test_share, seed=seed)
    return TaskStream.lazy({folder.name: partial(read, folder) for folder in folders})


def _task(folder: Path, *, size: int, channels: int, test_share: float, seed: int) -> Task:
    parts = {path.name for path in subfolders(folder)}
    if parts == {"train", "test"}:
        train, test = (_rows(folder / split, size, channels) for split in ("train", "test"))
        return Task(folder.name, *train, *test)
    X, y = _rows(folder, size, channels)
    return Task.from_arrays(folder.name, X, y, test_share=test_share, random_state=seed)


def _rows(folder: Path, size: int, channels: int) -> tuple[Rows, np.ndarray]:
    files = [(path, group.name) for group in subfolders(folder) for path in image_files(group)]
    if not files:
        raise DatasetError(
            f"{folder} has no images in its folders. Expected <class>/*.png, *.jpg or *.bmp."
        )
    images = np.stack([read_image(path, size=size, channels=channels) for path, _ in files])
    return np.divide(images, 255, dtype=np.float32), np.array([name for _, name in files])


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name, hidden ones left out."""
    if not folder.is_dir():
        raise DatasetError(
            f"{folder} is not a folder. Expected folders of tasks, each with folders of classes."
        )
    found = sorted(
        path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")
    )
    if not found:
        raise DatasetError(f"{folder} has no folders in it. Expected <task>/<class>/*.png.")
    return found
