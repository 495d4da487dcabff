"""Images of another size by matrix products: linear interpolation, averaging where they shrink."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def resize(images: NDArray[Any], size: int) -> NDArray[np.float32]:
    """Images (..., h, w) as (..., size, size).

    >>> resize(np.array([[0.0, 1.0], [0.0, 1.0]]), 1)
    array([[0.5]], dtype=float32)
    """
    rows, columns = (_weights(length, size) for length in images.shape[-2:])
    return np.asarray(rows @ images.astype(np.float32) @ columns.T, dtype=np.float32)


def _weights(n_in: int, n_out: int) -> NDArray[np.float32]:
    """(out, in): how much old pixels count for each new one, a triangle around its centre."""
    scale = n_in / n_out
    centres = (np.arange(n_out) + 0.5) * scale
    distance = np.abs(np.arange(n_in) + 0.5 - centres[:, None]) / max(
        scale, 1.0
    )  # wider when shrinking: no aliasing
    weights = np.maximum(0.0, 1.0 - distance)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)
