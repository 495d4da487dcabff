"""Small image trees in the official layouts of Food1k and CORe50, so that their experiments run
without a download.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from lifelong._extras import require
from lifelong._files import scratch_folder
from lifelong._places import cache_folder
from lifelong._random import generator
from lifelong._validation import check_choice

Picture = tuple[str, int]  # path below the data directory, class


def _food1k() -> Iterator[Picture]:
    """12 classes with 8 pictures to learn from and 4 more each."""
    for split, rows in (("Train", 8), ("Val", 4)):
        for label in range(12):
            for row in range(rows):
                yield f"food1k/{split}/{label}/{row}.jpg", label


def _core50() -> Iterator[Picture]:
    """10 objects in 3 sessions of 12 frames."""
    for session in range(1, 4):
        for thing in range(1, 11):
            for frame in range(12):
                name = f"C_{session:02d}_{thing:02d}_{frame:03d}.png"
                yield f"core50_128x128/s{session}/o{thing}/{name}", thing


_TREES: dict[str, Callable[[], Iterator[Picture]]] = {
    "food1k-50x20": _food1k,
    "core50-110x5": _core50,
}


def generated_tree(like: str) -> Path:
    """A data directory with pictures in that dataset's layout, made once and kept in the cache."""
    pictures = _TREES[check_choice(like, "like", list(_TREES))]
    folder = cache_folder("generated") / like
    if folder.is_dir():
        return folder
    require("PIL", extra="data", for_what="Writing pictures")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(folder.parent) as scratch:
        for name, label in pictures():
            _write(scratch / name, label)
        with suppress(OSError):  # another process was first, and its pictures are the same
            scratch.rename(folder)
    return folder


def _write(path: Path, label: int, size: int = 24) -> None:
    """A picture that shows its class: bars of its direction, spacing and colour, under noise."""
    from PIL import Image

    kind = generator(0, "kind of picture", label)
    own = generator(0, "picture", path.name, path.parent.name)
    across, down = np.meshgrid(np.arange(size), np.arange(size))
    angle = kind.uniform(0, np.pi)
    spacing = kind.uniform(3, 8)
    shift = own.uniform(0, 2 * np.pi)
    bars = np.sin((across * np.cos(angle) + down * np.sin(angle)) * 2 * np.pi / spacing + shift)
    pixels = (
        128
        + 80 * bars[:, :, None] * kind.uniform(0.2, 1, size=3)
        + own.normal(0, 25, size=(size, size, 3))
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(path)
