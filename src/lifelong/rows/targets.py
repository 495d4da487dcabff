"""Targets: one label or one number per row, none missing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from lifelong._validation import DATES, check_unmasked
from lifelong.exceptions import InputError, InputTypeError
from lifelong.rows.cells import CellError, is_missing
from lifelong.rows.table import PAGE

LARGEST = 1e30
"""No target is larger: sums of them must fit into float32."""

_FEW = 5  # examples in an error message


def check_no_holes(y: Any) -> None:
    """Refuse missing targets; say how many there are, and where."""
    if y is None:
        return
    if hasattr(y, "detach"):  # a torch tensor
        y = y.detach().cpu().numpy()
    values: Any = y
    if not isinstance(y, list | tuple):
        values = np.asarray(y)
        if values.ndim == 0:
            raise InputTypeError(
                f"y is a {type(y).__name__}. Give one label or number per row, in their order: a"
                " column, an array or a list.",
                see=PAGE,
            )
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        missing = []
        if values.dtype.kind in "fM":
            missing = np.flatnonzero(values != values).tolist()
    else:
        missing = [row for row, value in enumerate(values) if is_missing(value)]
    if missing:
        some = ", ".join(map(str, missing[:_FEW]))
        if len(missing) > _FEW:
            some += ", …"
        raise InputError(
            f"Input y contains NaN: the target is missing in {len(missing)} rows ({some}). "
            "Leave these rows out.",
            see=PAGE,
        )


def check_numbers(y: Any, n_rows: int) -> NDArray[np.float64]:
    """One finite number per row."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None.")
    check_unmasked(y, "y")
    if np.asarray(y).dtype.kind in {*DATES, "c"}:
        raise InputTypeError(
            "y holds dates, durations or complex numbers. Turn them into numbers, for example days"
            " since a date.",
            see=PAGE,
        )
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(
            "y holds something that is no number. For classes use LifelongClassifier.", see=PAGE
        ) from None
    try:
        numbers = column_or_1d(numbers, warn=True)
    except ValueError as error:
        raise InputError(f"y must be one number per row: {error}", see=PAGE) from None
    if len(numbers) != n_rows:
        raise InputError(f"X has {n_rows} rows and y has {len(numbers)} numbers.", see=PAGE)
    sound = np.abs(numbers) < LARGEST
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        raise CellError(
            "Input y contains infinity, NaN or a number too large:", row, f" has {numbers[row]}."
        )
    return np.asarray(numbers)
