"""Mini-ImageNet: 100 classes as 20 tasks of 5, JPEGs of 84×84 in ``{train,val}/<wnid>/``."""

from pathlib import Path

import numpy as np

from lifelong._random import RandomState, seed_from
from lifelong.exceptions import DatasetError
from lifelong.tasks.base import TaskStream
from lifelong.tasks.datasets._cache import decoded, write
from lifelong.tasks.datasets._images import image_files, write_images
from lifelong.tasks.datasets._source import Source
from lifelong.tasks.datasets._streams import Choice, Part, class_groups, stream_of_classes

_FOLDERS = {"train": "train", "test": "val"}


def mini_imagenet_20x5(
    data_dir: str | Path | None = None,
    *,
    rows_per_class: int | None = None,
    test_rows_per_class: int | None = None,
    classes_per_task: int = 5,
    overlapping_tasks: int | None = None,
    size: int = 84,
    random_state: RandomState = 0,
) -> TaskStream:
    """Tasks 1 to 20 of five classes (WordNet numbers, in order); images (3, 84, 84) in [0, 1].

    Both folders hold all 100 classes: this is the split for ordinary classification, not the
    few-shot one.
    """
    seed = seed_from(random_state)
    choice = Choice(rows_per_class, test_rows_per_class, seed)
    arrays = decoded(MINI_IMAGENET, data_dir, size=size)
    train, test = (
        Part(arrays[f"X_{split}"], np.asarray(arrays[f"y_{split}"]), f"mini-imagenet/{folder}")
        for split, folder in _FOLDERS.items()
    )
    groups = class_groups(
        np.unique(train.y).tolist(),
        classes_per_task=classes_per_task,
        overlapping_tasks=overlapping_tasks,
        seed=seed,
    )
    return stream_of_classes(train, test, groups, choice)


def _class_folders(folder: Path) -> dict[str, list[Path]]:
    """The class folders of each part; both parts must have the same ones, none empty."""
    found = {split: _subfolders(folder / name) for split, name in _FOLDERS.items()}
    train, test = ({path.name for path in found[split]} for split in _FOLDERS)
    if train != test:
        lacking = "val" if train - test else "train"
        raise DatasetError(
            f"{folder / lacking} has no class folder {min(train ^ test)}, but the other part has."
            f" Expected the same classes in train and val ({len(train)} and {len(test)} found): the"
            " split for classification, not the few-shot split by classes."
        )
    return found


def _subfolders(folder: Path) -> list[Path]:
    classes = sorted(path for path in folder.glob("[!.]*") if path.is_dir())
    if not classes:
        raise DatasetError(
            f"{folder} has no class folders. Expected train/<wnid>/*.jpg and val/<wnid>/*.jpg."
        )
    return classes


def _images(classes: list[Path]) -> list[tuple[Path, str]]:
    images = {path: image_files(path) for path in classes}
    for folder, files in images.items():
        if not files:
            raise DatasetError(f"{folder} holds no images. Expected *.jpg files of one class.")
    return [(file, folder.name) for folder, files in images.items() for file in files]


def _files(folder: Path) -> list[Path]:
    return [file for classes in _class_folders(folder).values() for file, _ in _images(classes)]


def _decode(folder: Path, scratch: Path, *, size: int) -> None:
    for split, classes in _class_folders(folder).items():
        files, labels = zip(*_images(classes), strict=True)
        write_images(scratch / f"X_{split}.npy", files, size=size)
        write(scratch, **{f"y_{split}": np.array(labels, dtype=np.str_)})


MINI_IMAGENET = Source(
    name="mini-imagenet",
    folders=("mini-imagenet", "miniimagenet", "mini_imagenet"),
    home="https://github.com/pranshu28/TAG",
    licence="ImageNet terms: non-commercial research and education",
    citation=(
        "Vinyals et al., Matching Networks for One Shot Learning, 2016; Deng et al., ImageNet, 2009"
    ),
    parts={"train": 48_000, "test": 12_000},
    files=_files,
    decode=_decode,
    settings={"size": 84},
    hint=(
        "ImageNet's terms forbid passing it on, so nothing is downloaded: make folders"
        " train/<wnid>/*.jpg and val/<wnid>/*.jpg of your own copy."
    ),
)
