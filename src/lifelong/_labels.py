"""Checks of labels at the edge: one per row, hashable, none missing; their classes and codes."""

import unicodedata
import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d

from lifelong._validation import DATES, check_unmasked
from lifelong._words import shown
from lifelong.exceptions import InputError, InputTypeError, InputWarning

Labels = NDArray[Any]  # (n,) of anything hashable
Codes = NDArray[np.intp]  # (n,) of 0 … K-1


def check_labels(y: Any, *, n_rows: int | None = None, name: str = "y") -> Labels:
    """``y`` as a 1-d array of labels.

    Parameters
    ----------
    y : array-like (n,)
        Labels of any hashable kind.
    n_rows : int, optional
        How many there must be.
    name : str, default "y"
        What to call them in messages.

    Returns
    -------
    array (n,)

    Raises
    ------
    InputError
        If a label is missing, or labels are fractions, dates or of a wrong number.
    """
    if y is None:
        raise InputError(
            f"requires {name} to be passed, but the target {name} is None: a task needs one label"
            " per row."
        )
    check_unmasked(y, name)
    in_a_table = hasattr(y, "isna") or hasattr(y, "is_null")  # pandas, polars
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    if _is_nullable(y) and not y.isna().any():
        y = y.to_numpy()  # as they are: scikit-learn would make fractions of them
    try:
        if isinstance(y, list | tuple) and not _is_plain(y):
            labels = _objects(y)
        else:
            labels = column_or_1d(y, warn=True)
        if labels.dtype.kind in "fc":
            assert_all_finite(labels, input_name=name)
    except ValueError as error:
        raise InputError(str(error).splitlines()[0]) from None
    if n_rows is not None and len(labels) != n_rows:
        raise InputError(
            f"X has {n_rows} rows and {name} has {len(labels)} labels. Give one label per row."
        )
    if labels.dtype.kind in DATES:
        raise InputError(
            f"Unknown label type: {name} holds dates or times. If they are names of classes, pass"
            f" them as text: {name}.astype(str).",
            see="my-data",
        )
    if labels.dtype.kind == "c" or (
        labels.dtype.kind == "f" and (labels != np.floor(labels)).any()
    ):
        raise InputError(
            f"Unknown label type: {name} holds fractions (continuous), which look like a regression"
            " target. If they are names of classes, pass them as text.",
            see="my-data",
        )
    if labels.dtype.kind == "O":
        _check_each(labels, name, none_is_missing=in_a_table)
    elif isinstance(y, list | tuple) and labels.dtype.kind in "US":
        _check_ends(y, name)
    return labels


def _is_nullable(y: Any) -> bool:
    """Whole numbers, or true and false, of a kind of pandas' own that may have missing ones."""
    dtype = getattr(y, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype) or not hasattr(y, "isna"):
        return False
    return getattr(dtype, "kind", "") in "iub" and not hasattr(dtype, "categories")


def _check_each(labels: Labels, name: str, *, none_is_missing: bool) -> None:
    """Objects may hide what arrays of one kind cannot: missing values, fractions."""
    missing = [
        row
        for row, label in enumerate(labels.tolist())
        if _is_missing(label) or (none_is_missing and label is None)
    ]
    if missing:
        raise InputError(
            f"Input {name} contains NaN: {len(missing)} of {len(labels)} labels are missing, the"
            f" first in row {missing[0]}. Leave such rows out, or give their class a name.",
            see="my-data",
        )
    _check_ends(labels.tolist(), name)


def _is_missing(label: Any) -> bool:
    """NaN and its relatives differ from themselves, or do not know."""
    if isinstance(label, str | int | tuple) or label is None:
        return False
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA
        return True
    except ValueError:  # an array, which is refused as it cannot be hashed
        return False


def _check_ends(labels: Sequence[Any], name: str) -> None:
    """numpy drops NULs at the end of texts: 'a' and 'a\\0' would be one class."""
    for row, label in enumerate(labels):
        if isinstance(label, str | bytes) and label[-1:] in ("\0", b"\0"):
            raise InputError(
                f"{name} holds {label!r} in row {row}, which ends in a NUL character. Strip it."
            )


def check_classes(classes: Any) -> list[Hashable]:
    """The classes that a user declares, in their order, each of them once.

    >>> check_classes(["no", "not sure"])
    ['no', 'not sure']
    """
    no_list = isinstance(classes, str | bytes | Mapping | Set) or not hasattr(classes, "__iter__")
    if no_list or getattr(classes, "ndim", 1) != 1:
        raise InputTypeError(
            f"classes={shown(classes)} is no list of labels. Give them in order, as a list or"
            " array."
        )
    if not hasattr(classes, "dtype"):
        classes = list(classes)
    if not len(classes):
        return []
    declared: list[Hashable] = check_labels(classes, name="classes").tolist()
    try:
        counts = Counter(declared)
    except TypeError:
        raise InputTypeError("A label in classes is not hashable.") from None
    twice = [label for label, count in counts.items() if count > 1]
    if twice:
        raise InputError(f"classes holds {twice[0]!r} more than once. Give each class once.")
    return declared


def warn_of_similar(classes: Sequence[Hashable], new: Collection[Hashable]) -> None:
    """Warn of labels that differ only in case, spaces or the way letters are written.

    Parameters
    ----------
    classes : sequence of labels
        All classes of a task.
    new : collection of labels
        Those that have just come: nobody is warned of the same labels twice.
    """
    alike: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            alike.setdefault(folded(label), []).append(label)
    for labels in alike.values():
        if len(labels) > 1 and not set(labels).isdisjoint(new):
            names = ", ".join(map(repr, labels[:5]))
            warnings.warn(
                f"The labels {names} are different classes, though they differ in case or spaces"
                " alone. If they mean the same, write them alike.",
                InputWarning,
                stacklevel=2,
            )


def folded(label: str) -> str:
    """A text without case, and with one space between its words.

    >>> folded(" Oslo  West"), folded("OSLO WEST ")
    ('oslo west', 'oslo west')
    """
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def check_same_index(X: Any, y: Any, name: str = "y") -> None:
    """Refuse pandas labels whose index is not that of the rows.

    Rows and labels are matched by position, so that another order would teach wrong labels.
    """
    if not (hasattr(X, "iloc") and hasattr(y, "iloc")) or len(X) != len(y):
        return
    if not X.index.equals(y.index):
        raise InputError(
            f"X and {name} have different indexes, and rows are matched by position. Give"
            f" {name}.loc[X.index] if {name} has the labels of these rows in another order, or"
            f" {name}.to_numpy() if the order is right.",
            see="my-data",
        )


def _is_plain(y: Sequence[Any]) -> bool:
    """All numbers or all text: numpy builds the array without merging kinds or tuples."""
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
    """``known`` classes and ``new`` ones: the user's own labels, whatever their length.

    They have the kind of ``like`` where that holds them all, and are objects otherwise.
    """
    everything = [*known.tolist(), *new]
    if like.dtype.kind != "O" and (not len(known) or known.dtype.kind == like.dtype.kind):
        for dtype in (like.dtype, None):  # as they are, or wide enough for the new ones
            joined = _joined(known, new, dtype)
            if joined.dtype.kind == like.dtype.kind and joined.tolist() == everything:
                return joined
    return _objects(everything)


def _joined(known: Labels, new: Sequence[Hashable], dtype: Any) -> Labels:
    try:
        fresh = np.array(new, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        fresh = _objects(new)
    if fresh.ndim != 1:
        fresh = _objects(new)
    if not len(known):
        return fresh
    return np.concatenate([known, fresh])
