"""The Free Spoken Digit Dataset: six speakers say the ten digits; a speaker is a task.

Files are ``digit_speaker_index.wav`` in one folder. Speakers and counts come from the files.
"""

import re
from functools import partial
from pathlib import Path

import numpy as np

from lifelong._progress import progress
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_count, check_share
from lifelong.exceptions import DatasetError, ParameterError
from lifelong.tasks._rows import draw, draw_share, rows_of_classes
from lifelong.tasks.base import Task, TaskName, TaskStream
from lifelong.tasks.datasets._audio import read_wav, spectrogram
from lifelong.tasks.datasets._cache import decoded, write
from lifelong.tasks.datasets._source import Download, Source

_NAME = re.compile(r"(?P<digit>\d+)_(?P<speaker>[^_]+)_(?P<index>\d+)\.wav")


def spoken_digit(
    data_dir: str | Path | None = None,
    *,
    train_share: float = 0.55,
    rows_per_class: int | None = None,
    test_rows_per_class: int | None = None,
    window_ms: float = 16.0,
    hop_ms: float = 4.0,
    size: int = 28,
    random_state: RandomState = 0,
) -> TaskStream:
    """One task per speaker, in alphabetical order; digits as spectrograms (1, 28, 28) in [0, 1].

    Parameters
    ----------
    train_share : float
        Share of a speaker's recordings to learn from, drawn anew for each ``random_state``; the
        paper has 0.55.
    rows_per_class, test_rows_per_class : int or None
        At most so many of them per digit.
    window_ms, hop_ms : float
        Hann windows of 16 ms, one every 4 ms. The paper says "overlap of 4 ms", which would be a
        hop of 12.
    """
    if not 0 < check_share(train_share, "train_share") < 1:
        raise ParameterError(
            f"train_share={train_share} leaves no rows to learn from or none to be tested on."
        )
    for value, name in ((window_ms, "window_ms"), (hop_ms, "hop_ms")):
        if not 0.5 <= value <= 1000:
            raise ParameterError(
                f"{name}={value!r} is out of range. Give 0.5 to 1000 milliseconds."
            )
    check_count(size, "size")
    limits = [
        check_count(n, "rows_per_class", optional=True)
        for n in (rows_per_class, test_rows_per_class)
    ]
    seed = seed_from(random_state)
    arrays = decoded(FSDD, data_dir, window_ms=float(window_ms), hop_ms=float(hop_ms), size=size)
    X = arrays["X_all"]
    y = np.asarray(arrays["y_all"])
    speaker = np.asarray(arrays["speaker"])

    def task(name: TaskName) -> Task:
        rng = generator(seed, name, "rows")
        groups = rows_of_classes(np.where(speaker == name, y, -1), range(10))
        parts = draw_share(groups, train_share, rng)
        learn, ask = (
            draw(_by_digit(y, rows), n, rng) for rows, n in zip(parts, limits, strict=True)
        )
        return Task(name, X[learn], y[learn], X[ask], y[ask])

    return TaskStream.lazy({name: partial(task, name) for name in np.unique(speaker).tolist()})


def _by_digit(y: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """Those rows, grouped by digit."""
    return [rows[y[rows] == digit] for digit in np.unique(y[rows])]


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.wav"))
    if not files:
        raise DatasetError(
            f"{folder} has no .wav files. Expected recordings named digit_speaker_index.wav."
        )
    return files


def _decode(folder: Path, scratch: Path, *, window_ms: float, hop_ms: float, size: int) -> None:
    files = _files(folder)
    digits, speakers = _labels(files)
    pictures = np.empty((len(files), 1, size, size), dtype=np.float32)
    with progress(len(files), "spectrograms") as bar:
        for position, path in enumerate(files):
            rate, samples = read_wav(path)
            pictures[position, 0] = spectrogram(
                samples, rate, window_ms=window_ms, hop_ms=hop_ms, size=size
            )
            bar.advance()
    write(
        scratch,
        X_all=pictures,
        y_all=np.array(digits, dtype=np.int64),
        speaker=np.array(speakers, dtype=np.str_),
    )


def _labels(files: list[Path]) -> tuple[list[int], list[str]]:
    """Digit and speaker of each file; each speaker needs at least two recordings of each digit."""
    names = [(_NAME.fullmatch(path.name), path) for path in files]
    for match, path in names:
        if match is None or int(match["digit"]) > 9:
            raise DatasetError(
                f"{path}: not a name of this dataset. Expected digit_speaker_index.wav with a digit"
                " 0 to 9."
            )
    pairs = [(int(match["digit"]), match["speaker"]) for match, _ in names if match]
    for speaker in sorted({speaker for _, speaker in pairs}):
        for digit in range(10):
            if pairs.count((digit, speaker)) < 2:
                raise DatasetError(
                    f"{files[0].parent} has {pairs.count((digit, speaker))} recordings"
                    f" {digit}_{speaker}_*.wav. Expected at least two of each digit and speaker"
                    " (officially 50)."
                )
    return [digit for digit, _ in pairs], [speaker for _, speaker in pairs]


FSDD = Source(
    name="fsdd",
    folders=(
        "fsdd/recordings",
        "free-spoken-digit-dataset/recordings",
        "free-spoken-digit-dataset-master/recordings",
    ),
    home="https://github.com/Jakobovski/free-spoken-digit-dataset",
    licence="CC BY-SA 4.0",
    citation="Jackson et al., Free Spoken Digit Dataset, Zenodo, 2018",
    parts={"all": 3_000},
    files=_files,
    decode=_decode,
    settings={"window_ms": 16.0, "hop_ms": 4.0, "size": 28},
    downloads=(
        Download(
            "https://github.com/Jakobovski/free-spoken-digit-dataset/archive/refs/heads/master.zip",
            to="fsdd",
            unpack=True,
        ),
    ),
)
