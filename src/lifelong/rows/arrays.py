"""Arrays, tensors and nested lists as tables: columns without names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lifelong._validation import check_no_loader, check_unmasked
from lifelong.exceptions import InputError, InputTypeError
from lifelong.rows.dates import MOMENTS
from lifelong.rows.series import from_objects
from lifelong.rows.table import PAGE, Table, Values


def names_of_array(n_columns: int) -> list[str]:
    """What the columns of an array are called.

    >>> names_of_array(2)
    ['x0', 'x1']
    """
    return [f"x{number}" for number in range(n_columns)]


def from_array(X: Any) -> Table:
    """An array (n, p), a tensor or nested lists as a table.

    Parameters
    ----------
    X : (n, p)
        Columns are called ``x0``, ``x1``, ….

    Examples
    --------
    >>> list(from_array([[1.0, "a"], [2.0, "b"]]).column("x1").values)
    ['a', 'b']
    """
    array = _checked(X)
    names = names_of_array(array.shape[1])
    if array.dtype.kind in "biuf":
        columns = _by_name(names, array.astype(np.float64))
        is_boolean = array.dtype.kind == "b"
        return Table(columns, frozenset(names) if is_boolean else frozenset(), len(array))
    if array.dtype.kind == "M":
        return Table(_by_name(names, array.astype(MOMENTS)), frozenset(), len(array))
    objects = array.astype(object)
    found = {name: from_objects(objects[:, at].tolist(), name) for at, name in enumerate(names)}
    booleans = frozenset(name for name in names if found[name].is_boolean)
    return Table({name: found[name].values for name in names}, booleans, len(array))


def _by_name(names: list[str], array: NDArray[Any]) -> dict[str, Values]:
    return {name: array[:, at] for at, name in enumerate(names)}


def _checked(X: Any) -> NDArray[Any]:
    """X as an array with at least one row and one column, of anything but complex numbers."""
    if issparse(X):
        raise InputTypeError(
            "X is a sparse matrix. Sparse input is not supported: pass X.toarray().", see=PAGE
        )
    check_unmasked(X, "X")
    check_no_loader(X)
    if hasattr(X, "detach"):  # a torch tensor
        X = X.detach().cpu().numpy()
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError("X is not a table: its rows have different lengths.", see=PAGE) from None
    if array.ndim == 0:
        way_out = ""
        if hasattr(X, "collect"):
            way_out = " Of a lazy frame, give X.collect()."
        raise InputError(
            f"X is a {type(X).__name__}, not a table: reshape your data. Give a frame, an array"
            f" with rows and columns, a dict of columns or a list of dicts.{way_out}",
            see=PAGE,
        )
    if array.ndim != 2:
        raise InputError(
            f"A table has rows and columns; X has shape {array.shape}. "
            "Reshape your data: one row is X.reshape(1, -1), one column is X.reshape(-1, 1); of a"
            " frame, one row is frame.iloc[[0]].",
            see=PAGE,
        )
    if array.shape[0] == 0:
        raise InputError("The table has no rows (0 sample(s)).", see=PAGE)
    if array.shape[1] == 0:
        raise InputError(
            f"The table has no columns: 0 feature(s) (shape={array.shape}) while a minimum of 1 is"
            " required.",
            see=PAGE,
        )
    if array.dtype.kind == "c":
        raise InputTypeError("Complex data not supported: X holds complex numbers.", see=PAGE)
    return array
