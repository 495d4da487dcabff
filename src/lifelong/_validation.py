"""Checks at the edge: users' rows, weights and parameters, or a clear error."""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from lifelong._words import did_you_mean, shown
from lifelong.exceptions import InputError, InputTypeError, ParameterError

Rows = NDArray[np.float32]  # (n, p) or (n, c, h, w)

LARGEST = 1e18
"""Numbers in rows go this far: their squares, and sums of many of those, still fit float32."""

HEAVIEST = 1e12
"""Weights go this far, and down to one over this: sums of both kinds keep digits in float64."""

MOST_COUNTED = 2**53
"""Counts go this far: JSON and float64 hold every whole number up to here."""

LONGEST_NUMBER = 1024
"""Bits of a whole number that names a task: Python writes no number of thousands of digits."""

MOST_TREES = 1_000_000
"""Trees of a forest, and repetitions of a measurement, go this far: more would take years."""

MOST_JOBS = 1024
"""No learner starts more threads: a file may have asked for them."""

DATES = {"M", "m"}  # numpy's kinds of dates and differences of dates
_DATE_TYPES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def check_rows(X: Any, *, in_shape: tuple[int, ...] | None = None, owner: str = "lifelong") -> Rows:
    """``X`` as contiguous float32 rows, flat or images.

    Parameters
    ----------
    X : array-like (n, p) or (n, c, h, w)
        numpy, pandas, polars, torch and lists are welcome.
    in_shape : tuple, optional
        The shape that rows must have.
    owner : str, default "lifelong"
        Who reads them, for messages.

    Returns
    -------
    array of float32
        ``X`` itself, where nothing has to be changed.

    Raises
    ------
    InputError
        If X does not hold finite numbers of reasonable size, in two or four dimensions.
    """
    if _is_sound(X, in_shape):
        return X  # type: ignore[no-any-return]
    check_kind(X)
    if hasattr(X, "detach"):  # a torch tensor, perhaps on another device or with gradients
        X = X.detach().cpu().numpy()
    if _holds_text(X):
        raise InputError(
            f"X holds text, and {owner} reads numbers only. LifelongClassifier and "
            "LifelongRegressor read text, categories, dates and missing values as they are.",
            see="my-data",
        )
    try:
        # What is too large for float32 becomes infinite and is refused as such.
        with np.errstate(over="ignore", invalid="ignore"):
            rows: Rows = check_array(
                X, dtype=np.float32, order="C", allow_nd=True, estimator=owner, input_name="X"
            )
    except TypeError as error:
        raise InputTypeError(str(error)) from None
    except ValueError as error:
        reason = str(error)
        if reason.startswith("Input X contains NaN"):
            reason = (
                f"Input X contains NaN: values are missing, and {owner} reads numbers only. "
                "LifelongClassifier and LifelongRegressor read missing values as they are."
            )
        raise InputError(reason, see="my-data") from None
    _check_dimensions(rows, owner)
    if in_shape is not None and rows.shape[1:] != in_shape:
        raise InputError(_shape_message(rows.shape[1:], in_shape, owner), see="my-data")
    if in_shape is None and _looks_like_channels_last(rows.shape):
        n, height, width, channels = rows.shape
        raise InputError(
            f"X has shape {rows.shape}, which looks like {n} images of {height}×{width} pixels with"
            f" {channels} channels at the end. Images must be (n, channels, height, width): try"
            " X.transpose(0, 3, 1, 2).",
            see="my-data",
        )
    if np.abs(rows).max() > LARGEST:
        raise InputError(
            f"X holds {float(rows.flat[np.abs(rows).argmax()]):.3g}. Numbers beyond {LARGEST:.0e}"
            " cannot be computed with, and often stand for a missing value. Replace them, or"
            " measure in another unit.",
            see="my-data",
        )
    return rows


def check_kind(X: Any) -> None:
    """Refuse what is no table of numbers, or would become numbers without a word.

    Raises
    ------
    InputError
        If X is sparse, masked, a dataset or loader, or holds dates.
    """
    if issparse(X):
        raise InputTypeError(
            "X is a sparse matrix, which no encoder here can read. Sparse input is not supported:"
            " pass X.toarray().",
            see="my-data",
        )
    check_unmasked(X, "X")
    check_no_loader(X)
    if _holds_dates(X):
        raise InputTypeError(
            "X holds dates or times, which are no numbers. Turn them into numbers first, for"
            " example days since a date.",
            see="my-data",
        )


def check_no_loader(X: Any) -> None:
    """Refuse what gives its rows one after another, with the way to get arrays from it."""
    if _is_no_table(X):
        raise InputTypeError(
            f"X is a {type(X).__name__}, not rows. Give arrays: X, y ="
            " lifelong.tasks.sources.rows_of(dataset) reads a dataset of pairs, such as"
            " loader.dataset.",
            see="my-data",
        )


def check_unmasked(values: Any, name: str) -> None:
    """Refuse an array that masks some of its values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(
            f"{name} is a masked array, and what is masked would be taken for values. Fill or leave"
            f" out the masked rows: {name}.filled(...)."
        )


def _holds_dates(X: Any) -> bool:
    kinds = [X.dtype] if hasattr(X, "dtype") else list(getattr(X, "dtypes", []))
    for kind in kinds:
        temporal = getattr(kind, "is_temporal", None)  # of polars
        if getattr(kind, "kind", "") in DATES or (temporal is not None and temporal()):
            return True
    if not kinds or any(getattr(kind, "kind", "") == "O" for kind in kinds):
        values = np.asarray(X)
        if values.dtype.kind == "O":
            return any(isinstance(value, _DATE_TYPES) for value in values.flat)
        return values.dtype.kind in DATES
    return False


def _is_no_table(X: Any) -> bool:
    """Whether X gives its rows one after another, by name or in pairs: a loader, a dataset."""
    if any(hasattr(X, name) for name in ("__array__", "__array_interface__", "__dataframe__")):
        return False
    if isinstance(X, list | tuple):
        return False
    return hasattr(X, "__iter__") or hasattr(X, "__getitem__")


def _check_dimensions(rows: Rows, owner: str) -> None:
    if rows.ndim == 3:
        raise InputError(
            f"Images must be (n, channels, height, width); X has shape {rows.shape}. Try X[:,"
            " None].",
            see="my-data",
        )
    if rows.ndim > 4:
        raise InputError(
            f"X has {rows.ndim} dimensions, shape {rows.shape}. Rows are (n, columns) or images"
            " (n, channels, height, width): reshape X.",
            see="my-data",
        )
    if 0 in rows.shape:
        raise InputError(
            f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required"
            f" by {owner}."
        )


def _looks_like_channels_last(shape: tuple[int, ...]) -> bool:
    """Whether an image would be 1, 3 or 4 pixels wide and have as many channels as another side.

    A single channel counts only where the image would be a square: signals of many sensors are
    (sensors, times, 1).
    """
    if len(shape) != 4:
        return False
    _, height, width, channels = shape
    if height <= 4 or width <= 4:
        return False
    return channels in (3, 4) or (channels == 1 and height == width)


def _is_sound(X: Any, in_shape: tuple[int, ...] | None) -> bool:
    """Whether X is an array as we want it already.

    Looking closer takes longer than predicting a few rows.
    """
    if type(X) is not np.ndarray or X.dtype != np.float32 or X.ndim not in (2, 4) or 0 in X.shape:
        return False
    if not X.flags.c_contiguous or not X.dtype.isnative:
        return False
    if in_shape is None:
        if _looks_like_channels_last(X.shape):
            return False
    elif X.shape[1:] != in_shape:
        return False
    # One pass over memory: a small sum of squares has finite and small terms only (if it is large,
    # look closer).
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.dot(X.ravel(), X.ravel()) <= LARGEST**2)


def _holds_text(X: Any) -> bool:
    values = X
    if not hasattr(X, "dtype"):
        values = np.asarray(X)
    kind = getattr(values.dtype, "kind", "")
    return kind in {"U", "S"} or (
        kind == "O" and any(isinstance(value, str) for value in np.ravel(values))
    )


def _shape_message(got: tuple[int, ...], known: tuple[int, ...], owner: str) -> str:
    if len(got) == len(known) == 1:
        return (
            f"X has {got[0]} features, but {owner} is expecting {known[0]} features as input, as in"
            " its first task."
        )
    return (
        f"X has rows of shape {got}, but {owner} is expecting {known}, as in its first task."
        " Reshape or resize X."
    )


def plain_name(task: Any) -> Any:
    """A name as Python's own text or whole number: numpy's, enumerations' and the like are not."""
    if isinstance(task, str):
        return str.__str__(task)
    if isinstance(task, int | np.integer) and not isinstance(task, bool):
        return int(task)
    return task


def check_task_name(task: Any) -> str | int:
    """Text or a whole number, of whatever class: it becomes Python's own.

    >>> import numpy as np
    >>> [check_task_name(name) for name in np.unique(["Lyon", "Paris"])]
    ['Lyon', 'Paris']
    """
    task = plain_name(task)
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise InputTypeError(f"task={shown(task)} cannot name a task. Use text or a whole number.")
    if isinstance(task, int) and task.bit_length() > LONGEST_NUMBER:
        raise InputError("task= is a number of too many digits to name a task. Use text.")
    if isinstance(task, str) and (not task.strip() or task.endswith("\0")):
        raise InputError(
            f"task={shown(task)} cannot name a task. Use text that is not empty, or a whole number."
        )
    return task


def check_weights(sample_weight: Any, *, n_rows: int) -> NDArray[np.float64]:
    """One number of at least 0 per row, not all of them 0."""
    check_unmasked(sample_weight, "sample_weight")
    try:
        if np.asarray(sample_weight).dtype.kind in {*DATES, "c"}:
            raise TypeError
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(
            "sample_weight is not numbers. Give one number of at least 0 per row."
        ) from None
    if weights.shape != (n_rows,):
        raise InputError(
            f"X has {n_rows} rows and sample_weight has shape {weights.shape}. Give one number per"
            " row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
        raise InputError("sample_weight must be finite, at least 0, and not zero for all rows.")
    counts = weights[weights > 0]
    if counts.max() > HEAVIEST or counts.min() < 1 / HEAVIEST:
        raise InputError(
            f"sample_weight goes from {counts.min():.3g} to {counts.max():.3g}. Weights beyond"
            f" {HEAVIEST:.0e}, or below {1 / HEAVIEST:.0e} and not 0, cannot be computed with."
            " Divide them by their mean, or leave such rows out."
        )
    return weights


def check_share(value: float, name: str) -> float:
    """A number in [0, 1]."""
    if (
        not isinstance(value, int | float | np.integer | np.floating)
        or isinstance(value, bool)
        or not 0 <= value <= 1
    ):
        raise ParameterError(f"{name}={shown(value)} is not a share. Give a number from 0 to 1.")
    return float(value)


def check_count(
    value: int | None, name: str, *, optional: bool = False, most: int = MOST_COUNTED
) -> int | None:
    """A whole number of at least one (or None where that means no limit)."""
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        choice = ", or None for no limit" if optional else ""
        raise ParameterError(
            f"{name}={shown(value)} is too small or no whole number. Give at least 1{choice}."
        )
    if value > most:
        raise ParameterError(f"{name}={shown(value)} is too large. Give at most {most}.")
    return int(value)


def check_jobs(n_jobs: Any) -> int | None:
    """How many threads or processes: None for one, −1 for one per core, −2 for one core less, …"""
    if n_jobs is None:
        return None
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not whole or not 1 <= abs(int(n_jobs)) <= MOST_JOBS:
        raise ParameterError(
            f"n_jobs={shown(n_jobs)} is no number of threads. Give a whole number from 1 to"
            f" {MOST_JOBS}, or -1 for all cores."
        )
    return int(n_jobs)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        raise ParameterError(f"{name}={shown(value)} is unknown.{hint} Choose one of: {known}.")
    return str(value)
