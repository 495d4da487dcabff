"""CIFAR-10 and CIFAR-100, binary version: records of labels and 3,072 pixels (R, G, B plane)."""

from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._cache import write
from lifelong.tasks.datasets._raw import damaged, read_bytes
from lifelong.tasks.datasets._source import Download, Source

_PIXELS = 3 * 32 * 32
_MAX_FILE = 500_000_000  # bytes; the largest official file has 154 million
_CITATION = "Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009"


def read_records(
    path: Path, *, n_label_bytes: int, n_classes: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images (n, 3, 32, 32) and labels: a record's last label byte (in CIFAR-100 the fine one)."""
    content = read_bytes(path, limit=_MAX_FILE)
    record = n_label_bytes + _PIXELS
    if not content or len(content) % record:
        raise damaged(
            path,
            f"{len(content):,} bytes: truncated or another format",
            f"whole records of {record:,} bytes",
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, record)
    labels = records[:, n_label_bytes - 1].astype(np.int64)
    if labels.max() >= n_classes:
        wrong = int(np.argmax(labels >= n_classes))
        raise damaged(
            path, f"record {wrong} has label {labels[wrong]}", f"labels 0 to {n_classes - 1}"
        )
    return records[:, n_label_bytes:].reshape(-1, 3, 32, 32), labels


def _files(folder: Path, *, train: str, test: str) -> list[Path]:
    train_files = sorted(folder.glob(train))
    missing = [
        name
        for name, found in ((train, train_files), (test, (folder / test).is_file()))
        if not found
    ]
    if missing:
        raise DatasetError(
            f"{folder} has no {missing[0]}. Expected {train} and {test} of the binary version."
        )
    return [*train_files, folder / test]


def _decode(
    folder: Path, scratch: Path, *, train: str, test: str, n_label_bytes: int, n_classes: int
) -> None:
    *train_files, test_file = _files(folder, train=train, test=test)
    read = partial(read_records, n_label_bytes=n_label_bytes, n_classes=n_classes)
    batches = [read(path) for path in train_files]
    X_train, y_train = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    X_test, y_test = read(test_file)
    write(scratch, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)


CIFAR_100 = Source(
    name="cifar-100",
    folders=("cifar-100-binary",),
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated by the authors",
    citation=_CITATION,
    parts={"train": 50_000, "test": 10_000},
    files=partial(_files, train="train.bin", test="test.bin"),
    decode=partial(_decode, train="train.bin", test="test.bin", n_label_bytes=2, n_classes=100),
    downloads=(
        Download(
            "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
            to="cifar-100-binary",
            size=168_513_733,
            checksum="md5:03b5dce01913d631647c71ecec9e9cb8",
            unpack=True,
        ),
    ),
    checksums={
        "train.bin": "md5:6172c7755cfe09b2fe270c85cebc1b15",
        "test.bin": "md5:4499cfba6c016c1be1438163640a0898",
    },
)

CIFAR_10 = Source(
    name="cifar-10",
    folders=("cifar-10-batches-bin",),
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated by the authors",
    citation=_CITATION,
    parts={"train": 50_000, "test": 10_000},
    files=partial(_files, train="data_batch_*.bin", test="test_batch.bin"),
    decode=partial(
        _decode, train="data_batch_*.bin", test="test_batch.bin", n_label_bytes=1, n_classes=10
    ),
    downloads=(
        Download(
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            to="cifar-10-batches-bin",
            size=170_052_171,
            checksum="md5:c32a1d4ab5d03f1284b67883e8d87530",
            unpack=True,
        ),
    ),
)
