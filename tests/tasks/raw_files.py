"""Small sound files in every official raw format, for tests to load, damage and count."""

import gzip
import io
import struct
import tarfile
import wave

import numpy as np
from PIL import Image
from scipy.io import savemat


def pictures(n, *shape, seed=0):
    """Random bytes: every picture differs."""
    return np.random.default_rng(seed).integers(0, 256, size=(n, *shape), dtype=np.uint8)


def write_cifar_100(root, *, rows=3, classes=20):
    folder = root / "cifar-100-binary"
    folder.mkdir(parents=True)
    for part, name in enumerate(("train.bin", "test.bin")):
        labels = np.repeat(np.arange(classes, dtype=np.uint8), rows)
        records = np.column_stack([labels // 5, labels, pictures(len(labels), 3072, seed=part)])
        (folder / name).write_bytes(records.tobytes())
    return folder


def write_cifar_10(root, *, rows=2):
    folder = root / "cifar-10-batches-bin"
    folder.mkdir(parents=True)
    for part, name in enumerate(("data_batch_1.bin", "data_batch_2.bin", "test_batch.bin")):
        labels = np.repeat(np.arange(10, dtype=np.uint8), rows)
        (folder / name).write_bytes(
            np.column_stack([labels, pictures(len(labels), 3072, seed=part)]).tobytes()
        )
    return folder


def idx(array):
    """The array in IDX format."""
    return (
        bytes([0, 0, 8, array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


def write_idx(root, name="mnist", *, rows=2, zipped=True):
    folder = root / name
    folder.mkdir(parents=True)
    labels = np.tile(np.arange(10, dtype=np.uint8), rows)
    for part in ("train", "t10k"):
        for kind, content in (
            ("images-idx3", pictures(len(labels), 28, 28)),
            ("labels-idx1", labels),
        ):
            raw = idx(content)
            path = folder / f"{part}-{kind}-ubyte{'.gz' if zipped else ''}"
            path.write_bytes(gzip.compress(raw) if zipped else raw)
    return folder


def write_svhn(root, *, rows=2, compressed=True):
    folder = root / "svhn"
    folder.mkdir(parents=True)
    y = np.tile(np.arange(1, 11, dtype=np.uint8), rows)[:, None]
    for name in ("train_32x32.mat", "test_32x32.mat"):
        savemat(
            folder / name, {"X": pictures(32, 32, 3, len(y)), "y": y}, do_compression=compressed
        )
    return folder


def png(image):
    """The picture (h, w) or (h, w, 3) as PNG bytes."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, format="PNG")
    return buffer.getvalue()


def write_tar(path, members):
    """A tar.gz of ``{name: bytes}``, or of TarInfo objects without content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def letters(rows=40):
    """The members of a small notMNIST archive."""
    images = iter(pictures(10 * rows, 28, 28))
    return {
        f"notMNIST_small/{letter}/{n}.png": png(next(images))
        for letter in "ABCDEFGHIJ"
        for n in range(rows)
    }


def write_notmnist(root, members=None):
    return write_tar(root / "notmnist" / "notMNIST_small.tar.gz", members or letters()).parent


def wav(samples, *, rate=8000, channels=1, width=2):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, dtype="<i2").tobytes())
    return buffer.getvalue()


def write_fsdd(root, *, speakers=("ann", "bob"), rows=4, n_samples=600):
    folder = root / "fsdd" / "recordings"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for speaker in speakers:
        for digit in range(10):
            for index in range(rows):
                samples = rng.integers(-9000, 9000, size=n_samples)
                (folder / f"{digit}_{speaker}_{index}.wav").write_bytes(wav(samples))
    return folder


def save_image(path, *, size=16, seed=0):
    """A random colour picture; the suffix says which format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pictures(size, size, 3, seed=seed)).save(path)


def write_mini_imagenet(root, *, classes=10, rows=3, size=84):
    for part in ("train", "val"):
        for number in range(classes):
            for row in range(rows):
                seed = hash((part == "val", number, row)) % 1000
                save_image(
                    root / "mini-imagenet" / part / f"n{number:08d}" / f"{row}.jpg",
                    size=size,
                    seed=seed,
                )
    return root / "mini-imagenet"


def write_food1k(root, *, classes=6, rows=5, lists=True):
    folder, lines = root / "food1k", {"Train": [], "Val": []}
    for part in lines:
        for label in range(classes):
            for row in range(rows):
                name = f"{label}/{part.lower()}{row}.jpg"
                save_image(folder / part / name, size=24, seed=label * 100 + row)
                lines[part].append(f"{name} {label}")
    if lists:
        for part, rows_of_part in lines.items():
            (folder / f"{part.lower()}_finetune.txt").write_text("\n".join(rows_of_part) + "\n")
    return folder


def write_core50(root, *, sessions=11, things=50, rows=3, size=8):
    folder = root / "core50_128x128"
    for session in range(1, sessions + 1):
        for thing in range(1, things + 1):
            for frame in range(rows):
                name = f"C_{session:02d}_{thing:02d}_{frame:03d}.png"
                save_image(folder / f"s{session}" / f"o{thing}" / name, size=size, seed=thing)
    return folder
