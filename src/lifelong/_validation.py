"""Checks at the edge: what users hand in becomes float32 rows and whole-number labels, or one clear
error.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_array, column_or_1d

from lifelong._words import did_you_mean
from lifelong.exceptions import InputError, InputTypeError, ParameterError

Rows = NDArray[np.float32]  # (n, p) or (n, c, h, w)
Labels = NDArray[Any]  # (n,) of anything hashable
Codes = NDArray[np.intp]  # (n,) of 0 … K-1


def check_rows(X: Any, *, in_shape: tuple[int, ...] | None = None, owner: str = "lifelong") -> Rows:
    """``X`` as contiguous float32 rows, flat or images; numpy, pandas, polars, torch and lists are
    welcome.
    """
    if _is_sound(X, in_shape):
        return X  # type: ignore[no-any-return]
    if issparse(X):
        raise InputTypeError(
            "X is a sparse matrix, which no encoder here can read. Sparse input is not supported:"
            " pass X.toarray().",
            see="my-data",
        )
    if hasattr(X, "detach"):  # a torch tensor, perhaps on another device or with gradients
        X = X.detach().cpu().numpy()
    if _holds_text(X):
        raise InputError(
            "X holds text. Turn it into numbers first, for example with sklearn's OrdinalEncoder.",
            see="my-data",
        )
    try:
        with np.errstate(
            over="ignore"
        ):  # what is too large for float32 becomes infinite and is refused as such
            rows: Rows = check_array(
                X, dtype=np.float32, order="C", allow_nd=True, estimator=owner, input_name="X"
            )
    except TypeError as error:
        raise InputTypeError(str(error)) from None
    except ValueError as error:
        raise InputError(str(error), see="my-data") from None
    if rows.ndim == 3:
        raise InputError(
            f"Images must be (n, channels, height, width); X has shape {rows.shape}. Try X[:,"
            " None].",
            see="my-data",
        )
    if rows.ndim > 4:
        raise InputError(
            f"Rows are flat, (n, p), or images, (n, channels, height, width); X has shape"
            f" {rows.shape}. Try X.reshape(len(X), -1).",
            see="my-data",
        )
    if 0 in rows.shape:
        raise InputError(
            f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required"
            f" by {owner}."
        )
    if in_shape is not None and rows.shape[1:] != in_shape:
        raise InputError(_shape_message(rows.shape[1:], in_shape, owner), see="my-data")
    return rows


def _is_sound(X: Any, in_shape: tuple[int, ...] | None) -> bool:
    """Whether X is an array as we want it already: looking closer takes longer than predicting a
    few rows.
    """
    if type(X) is not np.ndarray or X.dtype != np.float32 or X.ndim not in (2, 4) or 0 in X.shape:
        return False
    if (
        not X.flags.c_contiguous
        or not X.dtype.isnative
        or (in_shape is not None and X.shape[1:] != in_shape)
    ):
        return False
    # One pass over memory: a sum of squares is finite only if all numbers are (and not too large:
    # then look closer).
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(X.ravel(), X.ravel())))


def _holds_text(X: Any) -> bool:
    values = np.asarray(X) if not hasattr(X, "dtype") else X
    kind = getattr(values.dtype, "kind", "")
    return kind in "US" or (
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


def check_labels(y: Any, *, n_rows: int | None = None) -> Labels:
    """``y`` as a 1-d array of labels: any hashable kind, one per row."""
    if y is None:
        raise InputError(
            "requires y to be passed, but the target y is None: a task needs one label per row."
        )
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    try:
        labels = (
            _objects(y)
            if isinstance(y, list | tuple) and not _is_plain(y)
            else column_or_1d(y, warn=True)
        )
        if labels.dtype.kind in "fc":
            assert_all_finite(labels, input_name="y")
    except ValueError as error:
        raise InputError(str(error)) from None
    if n_rows is not None and len(labels) != n_rows:
        raise InputError(
            f"X has {n_rows} rows and y has {len(labels)} labels. Give one label per row."
        )
    if labels.dtype.kind == "c" or (
        labels.dtype.kind == "f" and (labels != np.floor(labels)).any()
    ):
        raise InputError(
            "Unknown label type: y holds fractions (continuous), which look like a regression"
            " target. If they are names of classes, pass them as text.",
            see="my-data",
        )
    return labels


def check_weights(sample_weight: Any, *, n_rows: int) -> NDArray[np.float64]:
    """One number of at least 0 per row, not all of them 0."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(
            "sample_weight is not numbers. Give one number of at least 0 per row."
        ) from None
    if weights.shape != (n_rows,):
        raise InputError(
            f"X has {n_rows} rows and sample_weight has shape {weights.shape}. Give one number per"
            " row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
        raise InputError(
            "sample_weight must be finite, at least 0, and above 0 for one row or more."
        )
    return weights


def _is_plain(y: Sequence[Any]) -> bool:
    """All numbers or all text: numpy may build the array without merging kinds or
    unpacking tuples.
    """
    kinds = {str if isinstance(label, str) else np.number for label in y if np.isscalar(label)}
    return all(np.isscalar(label) for label in y) and len(kinds) < 2


def _objects(y: Sequence[Hashable]) -> Labels:
    labels = np.empty(len(y), dtype=object)
    labels[:] = list(y)
    return labels


def classes_in(labels: Labels) -> list[Hashable]:
    """The distinct labels: sorted where they can be compared, else in order of appearance."""
    try:
        seen = list(dict.fromkeys(labels.tolist()))
    except TypeError:
        raise InputTypeError("A label in y is not hashable, so it cannot name a class.") from None
    try:
        return sorted(seen)
    except TypeError:
        return seen


def encode_labels(labels: Labels, classes: Sequence[Hashable]) -> Codes:
    """Each label's position in ``classes``."""
    code = {label: position for position, label in enumerate(classes)}
    return np.fromiter((code[label] for label in labels.tolist()), dtype=np.intp, count=len(labels))


def join_classes(known: Labels, new: Sequence[Hashable], like: Labels) -> Labels:
    """``known`` classes and ``new`` ones: the user's own labels, in the user's own dtype where one
    fits all.
    """
    if like.dtype.kind == "O" or (len(known) and known.dtype.kind != like.dtype.kind):
        return _objects([*known.tolist(), *new])
    wanted = [*known.tolist(), *new]
    narrow = like.dtype
    if len(known):
        narrow = np.result_type(known, like)
    for dtype in (narrow, None):  # None: as wide as declared classes need it
        try:
            joined = np.array(wanted, dtype=dtype)
        except (OverflowError, TypeError, ValueError):
            continue
        if joined.dtype.kind == like.dtype.kind and joined.tolist() == wanted:
            return joined
    return _objects(wanted)


def check_declared(classes: Any) -> list[Hashable]:
    """The classes that a user declares: labels like those in y, none of them twice."""
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise InputTypeError(
            f"classes={classes!r} is no list. Give all labels of the task, for example"
            " ['no', 'yes']."
        )
    if not isinstance(classes, np.ndarray):
        classes = list(classes)
    declared: list[Hashable] = check_labels(classes).tolist()
    distinct = set(classes_in(_objects(declared)))
    if len(distinct) < len(declared):
        twice = next(label for label in distinct if declared.count(label) > 1)
        raise InputError(f"classes= has {twice!r} twice. Give each label of the task once.")
    return declared


def check_share(value: float, name: str) -> float:
    """A number in [0, 1]."""
    if (
        not isinstance(value, int | float | np.number)
        or isinstance(value, bool)
        or not 0 <= value <= 1
    ):
        raise ParameterError(f"{name}={value!r} is not a share. Give a number from 0 to 1.")
    return float(value)


def check_count(value: int | None, name: str, *, optional: bool = False) -> int | None:
    """A whole number of at least one (or None where that means no limit)."""
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        choice = ", or None for no limit" if optional else ""
        raise ParameterError(
            f"{name}={value!r} is too small or no whole number. Give at least 1{choice}."
        )
    return int(value)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if value not in choices:
        known = ", ".join(map(repr, choices))
        hint = did_you_mean(value, choices)
        raise ParameterError(f"{name}={value!r} is unknown.{hint} Choose one of: {known}.")
    return str(value)
