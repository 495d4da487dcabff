"""Image files → arrays, with Pillow.

A damaged file gives one clear error, a huge one is not decoded.
"""

import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from lifelong._extras import require
from lifelong._progress import progress
from lifelong.tasks.datasets._raw import damaged, read_bytes

MAX_FILE = 50_000_000  # bytes of one image file
MAX_PIXELS = 50_000_000  # width × height: a few hundred bytes of PNG can claim gigabytes
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
_FORMATS = ("PNG", "JPEG", "BMP")


def image_files(folder: Path) -> list[Path]:
    """The image files of one folder, by name."""
    names = (entry.name for entry in os.scandir(folder) if entry.name.lower().endswith(SUFFIXES))
    # Sorting names and not paths: CORe50 has 165,000 of them.
    return [folder / name for name in sorted(names) if not name.startswith(".")]


def decode_image(
    content: bytes, name: Path | str, *, size: int | None, channels: int = 3
) -> NDArray[np.uint8]:
    """One image (c, h, w), resized to ``size`` × ``size`` if given; ``name`` is for errors."""
    require("PIL", extra="data", for_what="Reading images")
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # Pillow's hints about odd but readable files; its size limit is below
            image: Image.Image = Image.open(io.BytesIO(content), formats=_FORMATS)
            width, height = image.size
            if width * height <= MAX_PIXELS:
                if size is not None:
                    image.draft(
                        None, (2 * size, 2 * size)
                    )  # large JPEGs: decode no more than is needed
                image = image.convert("RGB" if channels == 3 else "L")
                if size is not None and image.size != (size, size):
                    image = image.resize((size, size), Image.Resampling.BILINEAR)
                pixels = np.asarray(image, dtype=np.uint8)
    except Exception as error:  # Pillow's decoders raise a dozen kinds on damaged bytes
        raise damaged(
            name, f"unreadable image ({error})", "a whole PNG, JPEG or BMP image"
        ) from None
    if width * height > MAX_PIXELS:
        raise damaged(
            name, f"the image claims {width} × {height} pixels", f"at most {MAX_PIXELS:,} pixels"
        )
    if channels == 3:
        return pixels.transpose(2, 0, 1)
    return pixels[None]


def read_image(path: Path, *, size: int | None, channels: int = 3) -> NDArray[np.uint8]:
    """The image in a file, as (c, h, w)."""
    return decode_image(read_bytes(path, limit=MAX_FILE), path, size=size, channels=channels)


def write_images(target: Path, files: Sequence[Path], *, size: int, channels: int = 3) -> None:
    """All images into one npy file (n, c, size, size), one at a time: memory does not grow."""
    images = open_memmap(
        target, mode="w+", dtype=np.uint8, shape=(len(files), channels, size, size)
    )
    with progress(len(files), "decoding images") as bar:
        for position, path in enumerate(files):
            images[position] = read_image(path, size=size, channels=channels)
            bar.advance()
    images.flush()
