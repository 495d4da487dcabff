"""Whatever happens to a raw file, the loader gives a stream or a DatasetError, never another
exception.
"""

import contextlib
import gzip
from functools import partial
from importlib import import_module

import pytest
import raw_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets import load
from lifelong.tasks.sources import from_image_folders, from_table


def write_five(root, *, zipped=True, compressed=True):
    """Small sound copies of all five datasets."""
    raw_files.write_cifar_10(root)
    raw_files.write_idx(root, zipped=zipped)
    raw_files.write_idx(root, "fashion-mnist")
    raw_files.write_svhn(root, compressed=compressed)
    raw_files.write_notmnist(root)


def write_folders(root):
    for number in range(4):
        raw_files.save_image(root / "task" / "class" / f"{number}.bmp", seed=number)


FIVE = partial(load, "five-datasets")
CORE50 = partial(load, "core50-110x5", rows_per_class=1, size=8)
FOOD1K = partial(load, "food1k-50x20", rows_per_class=1, size=8)
PLAIN = partial(write_five, zipped=False, compressed=False)
FORMATS = {  # how a sound copy is written, which of its files is damaged, how it is loaded
    "cifar-100": (
        partial(raw_files.write_cifar_100, classes=3),
        "cifar-100-binary/train.bin",
        "cifar-10x10",
    ),
    "cifar-10": (write_five, "cifar-10-batches-bin/test_batch.bin", FIVE),
    "idx images": (write_five, "mnist/train-images-idx3-ubyte.gz", FIVE),
    "idx labels": (write_five, "fashion-mnist/t10k-labels-idx1-ubyte.gz", FIVE),
    "idx unzipped": (PLAIN, "mnist/t10k-images-idx3-ubyte", FIVE),
    "mat": (write_five, "svhn/train_32x32.mat", FIVE),
    "mat uncompressed": (PLAIN, "svhn/test_32x32.mat", FIVE),
    "tar": (write_five, "notmnist/notMNIST_small.tar.gz", FIVE),
    "wav": (
        partial(raw_files.write_fsdd, speakers=["ann"], rows=2),
        "fsdd/recordings/5_ann_1.wav",
        "spoken-digit",
    ),
    "jpeg": (
        partial(raw_files.write_mini_imagenet, classes=2, rows=1, size=16),
        "mini-imagenet/train/n00000000/0.jpg",
        partial(load, "mini-imagenet-20x5", size=8),
    ),
    "png": (
        partial(raw_files.write_core50, sessions=1, things=2, rows=2),
        "core50_128x128/s1/o1/C_01_01_000.png",
        CORE50,
    ),
    "list": (
        partial(raw_files.write_food1k, classes=2, rows=2),
        "food1k/train_finetune.txt",
        FOOD1K,
    ),
    "folders": (write_folders, "task/class/2.bmp", partial(from_image_folders, size=8)),
}
QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)


@st.composite
def damage(draw):
    """A function that cuts, flips, repeats or inserts bytes somewhere."""
    kind = draw(
        st.sampled_from(["flip", "flip", "flip", "cut", "insert", "zero", "repeat", "header"])
    )
    where, length = draw(st.floats(0, 1)), draw(st.integers(1, 64))
    noise = draw(st.binary(min_size=1, max_size=16))

    def apply(content):
        at = int(where * len(content))
        if kind == "header":  # most formats keep their structure in the first bytes
            at = int(where * min(len(content), 256))
        if kind == "cut":
            return content[:at]
        if kind == "insert":
            return content[:at] + noise + content[at:]
        if kind == "repeat":
            return content[: at + length] + content[at:]
        patch = bytes(length) if kind == "zero" else noise
        return content[:at] + patch + content[at + len(patch) :]

    return apply


CASES = [(name, True) for name in FORMATS] + [
    ("idx images", False),
    ("idx labels", False),
    ("tar", False),
]


@pytest.mark.parametrize(
    ("name", "packed"),
    CASES,
    ids=[f"{name}{'' if packed else ' below gzip'}" for name, packed in CASES],
)
def test_a_damaged_file_gives_a_stream_or_a_dataset_error(name, packed, tmp_path, monkeypatch):
    write, file_name, how = FORMATS[name]
    path = tmp_path / "data" / file_name
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "data")
    content = path.read_bytes() if packed else gzip.decompress(path.read_bytes())
    loader = partial(load, how, rows_per_class=1) if isinstance(how, str) else how

    @QUICK
    @given(st.lists(damage(), min_size=1, max_size=3))
    def check(changes):
        damaged = content
        for change in changes:
            damaged = change(damaged)
        path.write_bytes(damaged if packed else gzip.compress(damaged, 1))
        with contextlib.suppress(DatasetError):
            for task in loader(tmp_path / "data"):
                assert len(task.y_train)

    check()
    assert not list((tmp_path / "cache").rglob(".unfinished-*"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_damaged_table_gives_a_stream_or_a_dataset_error(suffix, tmp_path):
    polars = import_module("polars")
    frame = polars.DataFrame(
        {"site": ["a", "b"] * 8, "y": [0, 0, 1, 1] * 4, "x": [float(n) for n in range(16)]}
    )
    path = tmp_path / f"table{suffix}"
    frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    content = path.read_bytes()

    @QUICK
    @given(damage())
    def check(change):
        path.write_bytes(change(content))
        with contextlib.suppress(DatasetError):
            from_table(path, task_column="site", label_column="y")

    check()
