"""Damaged raw files: one error that names the file and what was expected, and nothing half-written
in the cache.
"""

import gzip
import os
import tarfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import raw_files
from PIL import Image
from scipy.io import loadmat

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._archives import unpack
from lifelong.tasks.datasets._cache import decoded
from lifelong.tasks.datasets._matlab import read_matlab
from lifelong.tasks.datasets.cifar import CIFAR_10, CIFAR_100
from lifelong.tasks.datasets.five_datasets import five_datasets
from lifelong.tasks.datasets.mini_imagenet import mini_imagenet_20x5
from lifelong.tasks.datasets.mnist import MNIST
from lifelong.tasks.datasets.notmnist import NOTMNIST
from lifelong.tasks.datasets.spoken_digit import spoken_digit
from lifelong.tasks.datasets.svhn import SVHN


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache of its own for each test, to look into afterwards."""
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path / "cache"))


def leftovers():
    cache = Path(os.environ["LIFELONG_CACHE"])
    return [path for path in cache.rglob("*") if "decoded" in path.parts and path.is_file()]


def test_a_truncated_batch_names_the_file_and_what_was_expected(tmp_path):
    path = raw_files.write_cifar_100(tmp_path) / "train.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(
        DatasetError,
        match=r"train\.bin: 184,439 bytes: truncated .*Expected whole records of 3,074 bytes",
    ):
        decoded(CIFAR_100, tmp_path)
    assert not leftovers()


def test_an_empty_batch_is_refused(tmp_path):
    path = raw_files.write_cifar_10(tmp_path) / "test_batch.bin"
    path.write_bytes(b"")
    with pytest.raises(DatasetError, match=r"test_batch\.bin: 0 bytes"):
        decoded(CIFAR_10, tmp_path)
    assert not leftovers()


def test_a_label_out_of_range_names_the_record(tmp_path):
    path = raw_files.write_cifar_10(tmp_path) / "data_batch_2.bin"
    content = bytearray(path.read_bytes())
    content[3073 * 4] = 10
    path.write_bytes(content)
    with pytest.raises(
        DatasetError, match=r"data_batch_2\.bin: record 4 has label 10. Expected labels 0 to 9"
    ):
        decoded(CIFAR_10, tmp_path)


def test_a_missing_batch_is_named(tmp_path):
    (raw_files.write_cifar_10(tmp_path) / "test_batch.bin").unlink()
    with pytest.raises(DatasetError, match=r"cifar-10-batches-bin has no test_batch\.bin"):
        decoded(CIFAR_10, tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            gzip.compress(b"\0\0\x0d\x03" + bytes(12)),
            "wrong magic number 0x00000d03. Expected 0x00000803",
        ),
        (
            gzip.compress(b"\0\0\x08\x03\0\0"),
            "the file ends after 6 bytes. Expected a header of 16 bytes",
        ),
        (
            gzip.compress(raw_files.idx(np.zeros((20, 28, 28), np.uint8))[:-1]),
            "15,679 bytes of values. Expected 15,680",
        ),
        (gzip.compress(raw_files.idx(np.zeros((20, 28, 28), np.uint8)))[:-9], "ends too early"),
        (b"no gzip", "not a sound gzip file"),
    ],
    # A packed file holds the time of its making: no name for a test that two workers must both
    # find.
    ids=["magic", "header", "one byte short", "cut archive", "no archive"],
)
def test_a_damaged_idx_file_says_what_is_wrong(tmp_path, content, problem):
    (raw_files.write_idx(tmp_path) / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises(DatasetError, match=rf"train-images-idx3-ubyte.gz: .*{problem}"):
        decoded(MNIST, tmp_path, size=32)
    assert not leftovers()


def test_a_gzip_bomb_is_not_unpacked(tmp_path):
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(10_000_000)
    bomb = b"".join(packer.compress(zeros) for _ in range(21)) + packer.flush()
    assert len(bomb) < 250_000
    (raw_files.write_idx(tmp_path) / "train-images-idx3-ubyte.gz").write_bytes(bomb)
    with pytest.raises(DatasetError, match=r"it unzips to more than 200,000,000 bytes"):
        decoded(MNIST, tmp_path, size=32)


def test_labels_and_images_must_be_as_many(tmp_path):
    labels = gzip.compress(raw_files.idx(np.zeros(3, np.uint8)))
    (raw_files.write_idx(tmp_path) / "t10k-labels-idx1-ubyte.gz").write_bytes(labels)
    with pytest.raises(
        DatasetError, match=r"t10k-labels-idx1-ubyte.gz: 3 labels. Expected 20, one per image"
    ):
        decoded(MNIST, tmp_path, size=32)


def test_unzipped_idx_files_are_read_as_well(tmp_path):
    raw_files.write_idx(tmp_path, zipped=False)
    assert decoded(MNIST, tmp_path, size=32)["X_train"].shape == (20, 1, 32, 32)


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        (
            {"X": raw_files.pictures(32, 32, 3, 4), "y": np.full((4, 1), 11, np.uint8)},
            "labels from 11 to 11",
        ),
        (
            {"X": raw_files.pictures(32, 32, 3, 4), "y": np.ones((3, 1), np.uint8)},
            r"it holds X uint8 .*, y uint8 \(3, 1\)",
        ),
        ({"y": np.ones((3, 1), np.uint8)}, r"it holds y uint8 \(3, 1\)"),
        (
            {"X": raw_files.pictures(32, 32, 3, 4) / 2, "y": np.ones((4, 1), np.uint8)},
            r"it holds X float64 \(32, 32, 3, 4\)",
        ),
    ],
)
def test_a_mat_file_with_other_arrays_is_refused(tmp_path, arrays, problem):
    raw_files.savemat(raw_files.write_svhn(tmp_path) / "test_32x32.mat", arrays)
    with pytest.raises(DatasetError, match=rf"test_32x32.mat: .*{problem}"):
        decoded(SVHN, tmp_path)
    assert not leftovers()


def test_a_truncated_mat_file_is_refused(tmp_path):
    path = raw_files.write_svhn(tmp_path) / "train_32x32.mat"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(
        DatasetError,
        match=(
            r"train_32x32\.mat: unreadable \(an element claims .*truncated\). Expected a whole"
            r" MATLAB"
        ),
    ):
        decoded(SVHN, tmp_path)


@pytest.mark.parametrize(
    "name", ["/etc/A/0.png", "../A/0.png", "notMNIST_small/../../A/0.png", "C:\\A\\0.png"]
)
def test_an_archive_member_outside_its_folder_is_refused(tmp_path, name):
    raw_files.write_notmnist(tmp_path, {**raw_files.letters(1), name: b"x"})
    with pytest.raises(
        DatasetError,
        match=r"notMNIST_small\.tar\.gz: member .* would be written outside its folder",
    ):
        decoded(NOTMNIST, tmp_path, size=32)
    with pytest.raises(DatasetError, match=r"would be written outside"):
        unpack(tmp_path / "notmnist" / "notMNIST_small.tar.gz", tmp_path / "unpacked" / "here")
    assert not list((tmp_path / "unpacked").iterdir())


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_an_archive_are_refused(tmp_path, kind):
    link = tarfile.TarInfo("notMNIST_small/A/link.png")
    link.type, link.linkname = kind, "/etc/passwd"
    raw_files.write_notmnist(tmp_path, {**raw_files.letters(1), "link": link})
    with pytest.raises(DatasetError, match=r"is a link or a device. Expected plain files"):
        decoded(NOTMNIST, tmp_path, size=32)


def test_up_to_two_broken_pngs_are_skipped_as_the_official_archive_has_them(tmp_path):
    members = raw_files.letters()
    for name in ("notMNIST_small/A/broken.png", "notMNIST_small/F/empty.png"):
        members[name] = b""
    raw_files.write_notmnist(tmp_path, members)
    arrays = decoded(NOTMNIST, tmp_path, size=32)
    assert len(arrays["y_train"]) + len(arrays["y_test"]) == 400
    raw_files.write_notmnist(tmp_path, {**members, "notMNIST_small/B/third.png": b"no picture"})
    with pytest.raises(
        DatasetError, match=r"tar\.gz: notMNIST_small/A/broken\.png: unreadable image"
    ):
        decoded(NOTMNIST, tmp_path, size=32)


def test_a_letter_without_pictures_is_named(tmp_path):
    members = {name: content for name, content in raw_files.letters(3).items() if "/D/" not in name}
    raw_files.write_notmnist(tmp_path, members)
    with pytest.raises(DatasetError, match=r"no readable picture of the letter D"):
        decoded(NOTMNIST, tmp_path, size=32)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (raw_files.wav([]), "the recording is empty. Expected at least one sample"),
        (raw_files.wav(range(600))[:-100], "ends after 550 of 600 samples"),
        (
            raw_files.wav(range(600), channels=2),
            "2 channels of 16 bits. Expected a mono 16-bit PCM WAV file",
        ),
        (raw_files.wav(range(600), rate=10), "a sampling rate of 10 Hz"),
        (b"RIFF", "unreadable recording"),
        (b"", "unreadable recording"),
    ],
)
def test_a_damaged_recording_says_what_is_wrong(tmp_path, content, problem):
    (raw_files.write_fsdd(tmp_path) / "3_bob_1.wav").write_bytes(content)
    with pytest.raises(DatasetError, match=rf"3_bob_1\.wav: .*{problem}"):
        spoken_digit(tmp_path)
    assert not leftovers()


def test_a_recording_shorter_than_one_window_and_a_silent_one_are_read(tmp_path):
    folder = raw_files.write_fsdd(tmp_path)
    (folder / "3_bob_1.wav").write_bytes(raw_files.wav([100, -100]))
    (folder / "3_bob_2.wav").write_bytes(raw_files.wav(np.zeros(600)))
    assert np.isfinite(spoken_digit(tmp_path)["bob"].X_train).all()


def test_a_recording_of_no_digit_and_a_speaker_without_one_are_named(tmp_path):
    folder = raw_files.write_fsdd(tmp_path)
    stray = folder / "11_bob_0.wav"
    stray.write_bytes(raw_files.wav([0]))
    with pytest.raises(DatasetError, match=r"11_bob_0\.wav: not a name of this dataset"):
        spoken_digit(tmp_path)
    stray.unlink()
    for path in folder.glob("7_ann_*.wav"):
        path.unlink()
    with pytest.raises(DatasetError, match=r"has 0 recordings 7_ann_\*\.wav"):
        spoken_digit(tmp_path)


def test_an_unreadable_image_is_named(tmp_path):
    path = raw_files.write_mini_imagenet(tmp_path) / "val" / "n00000003" / "1.jpg"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(
        DatasetError,
        match=r"n00000003.1\.jpg: unreadable image .*Expected a whole PNG, JPEG or BMP",
    ):
        mini_imagenet_20x5(tmp_path)
    assert not leftovers()


@pytest.mark.parametrize(
    ("side", "problem"),
    [(7_500, "the image claims 7500 × 7500 pixels"), (14_000, "unreadable image .* exceeds limit")],
)
def test_an_image_that_claims_gigabytes_is_not_decoded(tmp_path, side, problem):
    path = raw_files.write_mini_imagenet(tmp_path) / "train" / "n00000000" / "0.png"
    Image.new("1", (side, side)).save(path)
    assert path.stat().st_size < 50_000
    with pytest.raises(DatasetError, match=rf"0\.png: {problem}"):
        mini_imagenet_20x5(tmp_path)


def test_a_missing_class_folder_is_named(tmp_path):
    folder = raw_files.write_mini_imagenet(tmp_path)
    (folder / "val" / "n00000004").rename(tmp_path / "elsewhere")
    with pytest.raises(
        DatasetError, match=r"val has no class folder n00000004, but the other part has"
    ):
        mini_imagenet_20x5(tmp_path)


def test_an_empty_class_folder_is_named(tmp_path):
    folder = raw_files.write_mini_imagenet(tmp_path)
    for path in (folder / "train" / "n00000004").iterdir():
        path.unlink()
    with pytest.raises(DatasetError, match=r"train.n00000004 holds no images"):
        mini_imagenet_20x5(tmp_path)


def test_a_class_without_rows_in_one_of_five_datasets_is_named(tmp_path):
    raw_files.write_cifar_10(tmp_path)
    raw_files.write_svhn(tmp_path)
    raw_files.write_notmnist(tmp_path)
    raw_files.write_idx(tmp_path, "fashion-mnist")
    folder = raw_files.write_idx(tmp_path)
    labels = np.tile(np.arange(1, 6, dtype=np.uint8), 4)
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(raw_files.idx(labels)))
    with pytest.raises(DatasetError, match=r"mnist \(train rows\) has 0 rows of class 0"):
        five_datasets(tmp_path)


def test_a_mat_file_that_is_not_one_is_refused(tmp_path):
    (raw_files.write_svhn(tmp_path) / "train_32x32.mat").write_bytes(b"a web page")
    with pytest.raises(DatasetError, match=r"train_32x32\.mat: unreadable \(no MATLAB v5 header\)"):
        decoded(SVHN, tmp_path)


@pytest.mark.parametrize("compressed", [True, False])
def test_mat_files_are_read_as_scipy_reads_them(tmp_path, compressed):
    path = raw_files.write_svhn(tmp_path, compressed=compressed) / "train_32x32.mat"
    ours, theirs = read_matlab(path, limit=10**7), loadmat(path)
    for name in ("X", "y"):
        np.testing.assert_array_equal(ours[name], theirs[name])
        assert ours[name].dtype == theirs[name].dtype
