"""notMNIST: letters A to J in many fonts, PNG files, read from ``notMNIST_small.tar.gz`` itself.

There is no official split. A picture's own digest decides on which side it falls (one in ten is for
testing), so that the many duplicates in the archive never fall on both sides.
"""

import tarfile
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._archives import check_member
from lifelong.tasks.datasets._cache import write_part
from lifelong.tasks.datasets._images import decode_image
from lifelong.tasks.datasets._raw import damaged
from lifelong.tasks.datasets._resize import resize
from lifelong.tasks.datasets._source import Download, Source

_NAME = "notMNIST_small.tar.gz"
_LETTERS = tuple("ABCDEFGHIJ")
_MAX_MEMBER = 1_000_000  # bytes of one PNG; the official ones have about 500
_MAX_MEMBERS = 2_000_000
_UNREADABLE = (
    2  # the official archive holds two broken PNGs, which are skipped; more mean a damaged archive
)


def read_letters(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images (n, 28, 28) and labels 0 (A) to 9 (J), in the archive's order."""
    images = []
    labels = []
    broken = []
    for name, content in _pictures(path):
        try:
            image = decode_image(content, f"{path}: {name}", size=None, channels=1)
        except DatasetError as error:
            broken.append(error)
            if len(broken) > _UNREADABLE:
                raise broken[0] from None
            continue
        if image.shape != (1, 28, 28):
            raise damaged(
                f"{path}: {name}",
                f"an image of {image.shape[2]} × {image.shape[1]} pixels",
                "28 × 28",
            )
        images.append(image[0])
        labels.append(_LETTERS.index(PurePosixPath(name).parent.name))
    missing = [letter for position, letter in enumerate(_LETTERS) if position not in set(labels)]
    if missing:
        raise damaged(
            path, f"no readable picture of the letter {missing[0]}", "notMNIST_small/<A to J>/*.png"
        )
    return np.stack(images), np.array(labels, dtype=np.int64)


def _pictures(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each PNG in a folder named after a letter."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            for count, member in enumerate(archive):
                check_member(
                    path,
                    member.name,
                    is_link=member.issym() or member.islnk(),
                    is_plain=member.isfile() or member.isdir(),
                )
                if count >= _MAX_MEMBERS or member.size > _MAX_MEMBER:
                    raise damaged(
                        f"{path}: {member.name}", f"{member.size:,} bytes", "small PNG files"
                    )
                letter = PurePosixPath(member.name).parent.name
                if (
                    member.isfile()
                    and letter in _LETTERS
                    and not PurePosixPath(member.name).name.startswith(".")
                ):
                    content = archive.extractfile(member)
                    yield member.name, content.read() if content else b""
    except DatasetError:
        raise
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError) as error:
        raise damaged(
            path, f"not a sound tar.gz archive ({error})", "the archive as released"
        ) from None


def is_for_testing(image: NDArray[np.uint8]) -> bool:
    """One picture in ten, always the same ones, and equal pictures alike."""
    return blake2b(image.tobytes(), digest_size=8).digest()[0] % 10 == 0


def _decode(folder: Path, scratch: Path, *, size: int) -> None:
    images, labels = read_letters(folder / _NAME)
    testing = np.array([is_for_testing(image) for image in images])
    if testing.all() or not testing.any():
        raise damaged(
            folder / _NAME,
            f"only {len(images)} pictures, too few to set some apart for testing",
            "more",
        )
    resized = np.rint(resize(images, size)).astype(np.uint8)[:, None]  # (n, 1, size, size)
    for split, rows in (("train", ~testing), ("test", testing)):
        write_part(scratch, split, resized[rows], labels[rows])


def _files(folder: Path) -> list[Path]:
    if not (folder / _NAME).is_file():
        raise DatasetError(
            f"{folder} has no {_NAME}. Put the official archive there; it need not be unpacked."
        )
    return [folder / _NAME]


NOTMNIST = Source(
    name="notmnist",
    folders=("notmnist",),
    home="http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html",
    licence="none stated by the author",
    citation="Bulatov, notMNIST dataset, 2011",
    parts={"all": 18_724},
    files=_files,
    decode=_decode,
    settings={"size": 32},
    downloads=(
        Download(
            "http://yaroslavvb.com/upload/notMNIST/notMNIST_small.tar.gz",
            to=f"notmnist/{_NAME}",
            size=8_458_043,
            checksum="md5:c9890a473a9769fda4bdf314aaf500dd",
        ),
    ),
    checksums={_NAME: "md5:c9890a473a9769fda4bdf314aaf500dd"},
)
