"""Food1k, the 1,000-class part of Food2k (LargeFineFoodAI, ICCV 2021): 50 tasks of 20 classes,
images of 50×50.

Official layout: ``Train/<class>/*.jpg`` and ``Val/<class>/*.jpg`` with class folders ``0`` …
``999``, and list files ``train_finetune.txt`` and ``val_finetune.txt`` with a line ``path label``
per image. Where list files are there they say which images belong to the dataset; otherwise all
images in the class folders do.
"""

from pathlib import Path, PurePosixPath

import numpy as np

from lifelong._random import RandomState, seed_from
from lifelong.exceptions import DatasetError
from lifelong.tasks._rows import rows_of_classes
from lifelong.tasks.base import TaskStream
from lifelong.tasks.datasets._cache import decoded, write
from lifelong.tasks.datasets._images import image_files, write_images
from lifelong.tasks.datasets._raw import damaged, read_bytes
from lifelong.tasks.datasets._source import Download, Source
from lifelong.tasks.datasets._streams import Choice, Part, class_groups, stream_of_pools

_LISTS = (
    "train_finetune.txt",
    "val_finetune.txt",
    "train_list.txt",
    "val_list.txt",
    "train.txt",
    "val.txt",
    "test.txt",
)
_PARTS = ("Train", "Val", "train", "val", "Test", "test", "images", ".")
_MAX_LIST = 500_000_000  # bytes


def food1k_50x20(
    data_dir: str | Path | None = None,
    *,
    rows_per_class: int | None = 60,
    test_rows_per_class: int | None = None,
    classes_per_task: int = 20,
    overlapping_tasks: int | None = None,
    size: int = 50,
    random_state: RandomState = 0,
) -> TaskStream:
    """Tasks 1 to 50 of twenty classes, images (3, 50, 50) in [0, 1].

    As in the paper, 60 rows of each class are drawn to learn from and all others are for testing;
    which ones depends on ``random_state``.
    """
    seed = seed_from(random_state)
    choice = Choice(rows_per_class, test_rows_per_class, seed)
    arrays = decoded(FOOD1K, data_dir, size=size)
    part = Part(arrays["X_all"], np.asarray(arrays["y_all"]), "food1k")
    classes = np.unique(part.y).tolist()
    groups = class_groups(
        classes, classes_per_task=classes_per_task, overlapping_tasks=overlapping_tasks, seed=seed
    )
    return stream_of_pools(
        {name: rows_of_classes(part.y, group) for name, group in groups.items()}, part, choice
    )


def listed(folder: Path) -> list[tuple[Path, int]]:
    """Image file and class of each row."""
    lists = _list_files(folder)
    if lists:
        rows = [row for path in lists for row in _read_list(path, folder)]
    else:
        rows = _walk(folder)
    found = sorted(set(rows))
    labels = {label for _, label in found}
    if not found:
        raise DatasetError(
            f"{folder} names no images. Expected Train/<class>/*.jpg or {_LISTS[0]}."
        )
    missing = set(range(max(labels) + 1)) - labels
    if missing:
        raise DatasetError(
            f"{folder} has no class {min(missing)}. Expected class folders 0 to {max(labels)}."
        )
    return found


def _list_files(folder: Path) -> list[Path]:
    return [
        path
        for name in _LISTS
        for path in (folder / name, folder / "label" / name)
        if path.is_file()
    ]


def _read_list(path: Path, folder: Path) -> list[tuple[Path, int]]:
    try:
        lines = read_bytes(path, limit=_MAX_LIST).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise damaged(path, f"not text ({error.reason})", "lines 'path label'") from None
    return [
        _read_line(path, folder, number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _read_line(path: Path, folder: Path, number: int, line: str) -> tuple[Path, int]:
    name, _, label = line.strip().rpartition(" ")
    inside = PurePosixPath(name.strip().replace("\\", "/").lstrip("/"))
    if (
        not name
        or not label.isascii()
        or not label.isdecimal()
        or len(label) > 6
        or ".." in inside.parts
    ):
        raise damaged(
            path, f"line {number} is {line[:80]!r}", "'path label' with a whole-number label"
        )
    if path.name.startswith("train"):
        first = _PARTS[:1]
    else:
        first = _PARTS[1:2]
    for split in (*first, *_PARTS):
        if (
            len(name) < 1000
            and max(map(len, inside.parts), default=256) < 256
            and (folder / split / inside).is_file()
        ):
            return (folder / split / inside), int(label)
    raise damaged(
        path, f"line {number} names {inside}, which is not there", f"an image below {folder}"
    )


def _walk(folder: Path) -> list[tuple[Path, int]]:
    parts = [folder / split for split in ("Train", "Val") if (folder / split).is_dir()] or [folder]
    rows: list[tuple[Path, int]] = []
    for class_folder in sorted(
        path for split in parts for path in split.iterdir() if path.is_dir()
    ):
        files = image_files(class_folder)
        if not class_folder.name.isdecimal() or not files:
            problem = (
                "holds no images" if class_folder.name.isdecimal() else "is not a class number"
            )
            raise DatasetError(
                f"{class_folder} {problem}. Expected class folders 0, 1, … with *.jpg files."
            )
        rows += [(path, int(class_folder.name)) for path in files]
    return rows


def _files(folder: Path) -> list[Path]:
    return [*_list_files(folder), *(path for path, _ in listed(folder))]


def _decode(folder: Path, scratch: Path, *, size: int) -> None:
    files, labels = zip(*listed(folder), strict=True)
    write_images(scratch / "X_all.npy", files, size=size)
    write(scratch, y_all=np.array(labels, dtype=np.int64))


_MIRROR = (
    "https://s3plus.meituan.net/v1/mss_fad1a48f61e8451b8172ba5abfdbbee5/foodai-workshop-challenge"
)

FOOD1K = Source(
    name="food1k",
    folders=("food1k", "LargeFineFoodAI", "largefinefoodai-iccv-recognition"),
    home="https://www.kaggle.com/competitions/largefinefoodai-iccv-recognition",
    licence="none found; released for a research challenge",
    citation="Min et al., Large Scale Visual Food Recognition, IEEE TPAMI, 2023",
    parts={"all": 159_682},  # of the paper's table: 60,000 + 99,682
    files=_files,
    decode=_decode,
    settings={"size": 50},
    downloads=(
        Download(f"{_MIRROR}/Train.tar", to="food1k/Train", unpack=True),
        Download(f"{_MIRROR}/Val.tar", to="food1k/Val", unpack=True),
    ),
)
