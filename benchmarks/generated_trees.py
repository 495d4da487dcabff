"""Trees of pictures in the official layouts of Food1k and CORe50, as large as the real ones.

``python -m benchmarks.generated_trees food1k DIR`` writes ``DIR/food1k/Train`` and ``Val`` (1000
classes, 60 + 100 pictures each, 159,682 in the real one); ``core50`` writes
``DIR/core50_128x128/s1 … s11/o1 … o50`` (300 frames each, 164,866 in the real one). They show that
the experiments run at full size, and what memory, disk and time they take; accuracies on them mean
nothing. ``--share 0.1`` writes a tenth of the classes or sessions.
"""

import argparse
import io
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from lifelong._random import generator

FOOD_CLASSES = 1000
FOOD_PICTURES = {"Train": 60, "Val": 100}
CORE_SESSIONS = 11
CORE_OBJECTS = 50
CORE_FRAMES = 300
_DRAWN = 10  # different pictures of a class; further ones repeat them
LAYOUTS = ("food1k", "core50")


def food1k(folder: Path, share: float) -> Iterator[tuple[Path, int, int]]:
    """File, class and number of each picture."""
    for split, n_pictures in FOOD_PICTURES.items():
        for label in range(max(1, round(FOOD_CLASSES * share))):
            for number in range(n_pictures):
                yield folder / "food1k" / split / str(label) / f"{number}.jpg", label, number


def core50(folder: Path, share: float) -> Iterator[tuple[Path, int, int]]:
    """File, object and number of each frame."""
    for session in range(1, max(1, round(CORE_SESSIONS * share)) + 1):
        for thing in range(1, CORE_OBJECTS + 1):
            where = folder / "core50_128x128" / f"s{session}" / f"o{thing}"
            for frame in range(CORE_FRAMES):
                yield where / f"C_{session:02d}_{thing:02d}_{frame:03d}.png", thing, frame


def encoded(label: int, number: int, size: int, kind: str) -> bytes:
    """A picture that shows its class, bars of its direction, spacing and colour, under noise."""
    of_class = generator(0, "kind of picture", label)
    own = generator(0, "picture", label, number)
    across, down = np.meshgrid(np.arange(size), np.arange(size))
    angle = of_class.uniform(0, np.pi)
    spacing = of_class.uniform(size / 8, size / 3)
    along = across * np.cos(angle) + down * np.sin(angle)
    bars = np.sin(along * 2 * np.pi / spacing + own.uniform(0, 2 * np.pi))
    colour = of_class.uniform(0.2, 1, size=3)
    noise = own.normal(0, 40, size=(size // 8, size // 8, 3)).repeat(8, axis=0).repeat(8, axis=1)
    pixels = (128 + 80 * bars[:, :, None] * colour + noise).clip(0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format=kind)
    return buffer.getvalue()


def write_tree(layout: str, folder: Path, share: float) -> tuple[int, int]:
    """All files; returns how many, and their bytes."""
    if layout == "food1k":
        pictures = food1k(folder, share)
        size = 64
        kind = "JPEG"
    else:
        pictures = core50(folder, share)
        size = 128
        kind = "PNG"
    drawn: dict[tuple[int, int], bytes] = {}
    n_files = 0
    n_bytes = 0
    for path, label, number in pictures:
        key = (label, number % _DRAWN)
        if key not in drawn:
            drawn[key] = encoded(label, number % _DRAWN, size, kind)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(drawn[key])
        n_files += 1
        n_bytes += len(drawn[key])
    return n_files, n_bytes


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("layout", choices=LAYOUTS)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--share", type=float, default=1.0, help="of the classes or sessions")
    given = parser.parse_args()
    start = time.perf_counter()
    n_files, n_bytes = write_tree(given.layout, given.folder, given.share)
    seconds = time.perf_counter() - start
    print(f"{n_files} files, {n_bytes / 1e6:.0f} MB, {seconds:.0f} s.")


if __name__ == "__main__":
    main()
