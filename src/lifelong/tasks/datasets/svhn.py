"""SVHN, street-view house numbers: MATLAB v5 files with ``X`` (32, 32, 3, n) and ``y`` (n, 1),
digit 0 labelled 10.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._cache import write_part
from lifelong.tasks.datasets._matlab import read_matlab
from lifelong.tasks.datasets._raw import damaged
from lifelong.tasks.datasets._source import Download, Source

_FILES = {"train": "train_32x32.mat", "test": "test_32x32.mat"}
_EXPECTED = "a MATLAB v5 file with X uint8 (32, 32, 3, n) and y (n, 1)"
_MAX_BYTES = 700_000_000  # of a file and of an array in it; officially 182 and 225 million


def read_mat(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images (n, 3, 32, 32) and labels 0 to 9."""
    arrays = read_matlab(path, limit=_MAX_BYTES)
    X = arrays.get("X", np.empty(0))
    y = arrays.get("y", np.empty(0))
    if (
        X.ndim != 4
        or X.shape[:3] != (32, 32, 3)
        or X.dtype != np.uint8
        or y.shape != (X.shape[3], 1)
        or not y.size
    ):
        found = ", ".join(f"{name} {array.dtype} {array.shape}" for name, array in arrays.items())
        raise damaged(path, f"it holds {found or 'no arrays'}", _EXPECTED)
    if not np.isin(y, range(1, 11)).all():
        raise damaged(
            path,
            f"labels from {y.min()} to {y.max()}",
            "labels 1 to 10, where 10 means the digit 0",
        )
    return np.ascontiguousarray(X.transpose(3, 2, 0, 1)), y.ravel().astype(np.int64) % 10


def _files(folder: Path) -> list[Path]:
    paths = [folder / name for name in _FILES.values()]
    for path in paths:
        if not path.is_file():
            raise DatasetError(
                f"{folder} has no {path.name}. Expected {' and '.join(_FILES.values())}."
            )
    return paths


def _decode(folder: Path, scratch: Path, **_: Any) -> None:
    for split, name in _FILES.items():
        images, labels = read_mat(folder / name)
        write_part(scratch, split, images, labels)


_CHECKSUMS = {
    "train_32x32.mat": "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
    "test_32x32.mat": "md5:eb5a983be6a315427106f1b164d9cef3",
}
_BYTES = {"train_32x32.mat": 182_040_794, "test_32x32.mat": 64_275_384}

SVHN = Source(
    name="svhn",
    folders=("svhn",),
    home="http://ufldl.stanford.edu/housenumbers/",
    licence="non-commercial use only",
    citation=(
        "Netzer et al., Reading Digits in Natural Images with Unsupervised Feature Learning, NIPS"
        " workshop 2011"
    ),
    parts={"train": 73_257, "test": 26_032},
    files=_files,
    decode=_decode,
    downloads=tuple(
        Download(
            f"http://ufldl.stanford.edu/housenumbers/{name}", f"svhn/{name}", _BYTES[name], checksum
        )
        for name, checksum in _CHECKSUMS.items()
    ),
    checksums=_CHECKSUMS,
)
