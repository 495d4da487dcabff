"""Recordings → spectrograms: short Hann windows, log power, resized to a small square image."""

import io
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifelong.tasks.datasets._raw import damaged, read_bytes
from lifelong.tasks.datasets._resize import resize

MAX_FILE = 50_000_000  # bytes; a recording of the dataset has about 7,000
_EXPECTED = "a mono 16-bit PCM WAV file"
_FLOOR_DB = 80.0  # quieter than this below the loudest point counts as silence


def read_wav(path: Path) -> tuple[int, NDArray[np.float32]]:
    """Sampling rate and samples in [-1, 1]."""
    content = read_bytes(path, limit=MAX_FILE)
    try:
        with wave.open(io.BytesIO(content)) as recording:
            rate = recording.getframerate()
            frames = recording.getnframes()
            kind = (recording.getnchannels(), recording.getsampwidth())
            samples = recording.readframes(frames)
    except (wave.Error, EOFError, ValueError, RuntimeError, OSError) as error:
        raise damaged(
            path, f"unreadable recording ({error or 'it ends too early'})", _EXPECTED
        ) from None
    if kind != (1, 2):
        raise damaged(path, f"{kind[0]} channels of {8 * kind[1]} bits", _EXPECTED)
    if not 1_000 <= rate <= 400_000:
        raise damaged(
            path, f"a sampling rate of {rate} Hz", "a rate between 1 and 400 kHz (officially 8 kHz)"
        )
    if frames == 0:
        raise damaged(path, "the recording is empty", "at least one sample")
    if len(samples) != 2 * frames:
        raise damaged(
            path, f"the recording ends after {len(samples) // 2} of {frames} samples", "all of them"
        )
    return rate, np.divide(np.frombuffer(samples, dtype="<i2"), 32768, dtype=np.float32)


def spectrogram(
    samples: NDArray[np.float32], rate: int, *, window_ms: float, hop_ms: float, size: int
) -> NDArray[np.float32]:
    """Log power by time (columns) and frequency (rows, low at the bottom): (size, size) in [0, 1].

    1 is the recording's loudest point, 0 is 80 dB below it: how far the speaker sat from the
    microphone drops out.

    >>> tone = np.sin(np.arange(800) * 2 * np.pi * 1000 / 8000).astype(np.float32)
    >>> picture = spectrogram(tone, 8000, window_ms=16, hop_ms=4, size=28)
    >>> picture.shape, int(picture.mean(axis=1).argmax())  # 1 kHz of 4 kHz: a quarter of the way up
    ((28, 28), 20)
    """
    window = max(2, round(rate * window_ms / 1000))
    hop = max(1, round(rate * hop_ms / 1000))
    samples = np.pad(samples, (0, max(0, window - len(samples))))
    frames = np.lib.stride_tricks.sliding_window_view(samples, window)[::hop]  # (time, window)
    power = np.abs(np.fft.rfft(frames * np.hanning(window), axis=1)) ** 2  # (time, frequency)
    loudest = max(float(power.max()), 1e-20)  # a recording of nothing but zeros stays all zero
    decibels = 10 * np.log10(np.maximum(power / loudest, 10 ** (-_FLOOR_DB / 10)))
    return resize((1 + decibels / _FLOOR_DB).T[::-1], size)
