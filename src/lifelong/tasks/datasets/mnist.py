"""MNIST and Fashion-MNIST: IDX files, 28×28 grey, gzipped as released or already unzipped."""

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._cache import write_part
from lifelong.tasks.datasets._raw import damaged, read_bytes
from lifelong.tasks.datasets._resize import resize
from lifelong.tasks.datasets._source import Download, Source

_MAX_FILE = 100_000_000  # bytes on disk; the largest official file has 26 million
_MAX_CONTENT = 200_000_000  # bytes unzipped: a few kilobytes of gzip can hold gigabytes
_NAMES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


def read_idx(path: Path, *, dimensions: int) -> NDArray[np.uint8]:
    """An array of bytes. IDX: 0, 0, 8 (for bytes), the number of dimensions, sizes, the values."""
    content = _unzipped(path)
    header = 4 + 4 * dimensions
    magic = bytes([0, 0, 8, dimensions])
    if content[:4] != magic:
        raise damaged(
            path,
            f"wrong magic number 0x{content[:4].hex()}",
            f"0x{magic.hex()} (IDX, {dimensions}-d bytes)",
        )
    if len(content) < header:
        raise damaged(
            path, f"the file ends after {len(content)} bytes", f"a header of {header} bytes"
        )
    shape = tuple(
        int(size) for size in np.frombuffer(content, dtype=">u4", count=dimensions, offset=4)
    )
    values = int(
        np.prod([float(size) for size in shape])
    )  # as floats: four damaged bytes can claim 2³² each
    if not values or len(content) - header != values:
        raise damaged(
            path,
            f"{len(content) - header:,} bytes of values",
            f"{values:,} for the shape {shape} in its header",
        )
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)


def _unzipped(path: Path) -> bytes:
    content = read_bytes(path, limit=_MAX_FILE)
    if path.suffix != ".gz":
        return content
    stream = zlib.decompressobj(wbits=31)  # 31: a gzip header and its checksum at the end
    try:
        unzipped = stream.decompress(content, _MAX_CONTENT)
    except zlib.error as error:
        raise damaged(path, f"not a sound gzip file ({error})", "the file as released") from None
    if stream.unconsumed_tail:
        raise damaged(path, f"it unzips to more than {_MAX_CONTENT:,} bytes", "an IDX file")
    if not stream.eof:
        raise damaged(path, "the gzip file ends too early: truncated", "the file as released")
    return unzipped


def _files(folder: Path) -> list[Path]:
    return [_file(folder, name) for names in _NAMES.values() for name in names]


def _file(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise DatasetError(
        f"{folder} has no {name}.gz. Expected the four IDX files of the official release."
    )


def _decode(folder: Path, scratch: Path, *, size: int) -> None:
    for split, (image_name, label_name) in _NAMES.items():
        image_file = _file(folder, image_name)
        label_file = _file(folder, label_name)
        images = read_idx(image_file, dimensions=3)
        labels = read_idx(label_file, dimensions=1)
        if len(images) != len(labels):
            raise damaged(
                label_file,
                f"{len(labels):,} labels",
                f"{len(images):,}, one per image of {image_file.name}",
            )
        if labels.max() > 9:
            raise damaged(label_file, f"label {labels.max()}", "labels 0 to 9")
        resized = np.rint(resize(images, size)).astype(np.uint8)[:, None]  # (n, 1, size, size)
        write_part(scratch, split, resized, labels.astype(np.int64))


def _downloads(base: str, folder: str, checksums: dict[str, str]) -> tuple[Download, ...]:
    return tuple(
        Download(f"{base}/{name}", to=f"{folder}/{name}", checksum=value)
        for name, value in checksums.items()
    )


_MNIST_MD5 = {
    "train-images-idx3-ubyte.gz": "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "md5:d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "md5:9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "md5:ec29112dd5afa0611ce80d1b7f02629c",
}
_FASHION_MD5 = {
    "train-images-idx3-ubyte.gz": "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "md5:25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "md5:bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "md5:bb300cfdad3c16e7a12a480ee83cd310",
}

MNIST = Source(
    name="mnist",
    folders=("mnist",),
    home="http://yann.lecun.com/exdb/mnist/",
    licence="CC BY-SA 3.0 (commonly stated)",
    citation=(
        "LeCun, Bottou, Bengio, Haffner, Gradient-based learning applied to document recognition,"
        " 1998"
    ),
    parts={"train": 60_000, "test": 10_000},
    files=_files,
    decode=_decode,
    settings={"size": 32},
    downloads=_downloads("https://ossci-datasets.s3.amazonaws.com/mnist", "mnist", _MNIST_MD5),
    checksums=_MNIST_MD5,
)

FASHION_MNIST = Source(
    name="fashion-mnist",
    folders=("fashion-mnist",),
    home="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="Xiao, Rasul, Vollgraf, Fashion-MNIST, arXiv:1708.07747, 2017",
    parts={"train": 60_000, "test": 10_000},
    files=_files,
    decode=_decode,
    settings={"size": 32},
    downloads=_downloads(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com", "fashion-mnist", _FASHION_MD5
    ),
    checksums=_FASHION_MD5,
)
