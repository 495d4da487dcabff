"""Frames of any kind (pandas, polars, pyarrow, …), dicts and arrays, as tables."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from lifelong.exceptions import InputError
from lifelong.rows.arrays import from_array
from lifelong.rows.records import from_columns, from_records, is_columns, is_records
from lifelong.rows.series import column_of
from lifelong.rows.table import PAGE, Table, Values


def is_frame(X: Any) -> bool:
    """Whether X has named columns: a frame that narwhals knows, a dict, or a list of dicts.

    Parameters
    ----------
    X : anything

    Examples
    --------
    >>> import numpy as np
    >>> is_frame(np.zeros((2, 2)))
    False

    See Also
    --------
    table_of : a frame or an array as a table.
    """
    if isinstance(X, Table) or is_columns(X) or is_records(X):
        return True
    return nw.dependencies.is_into_dataframe(X)


def table_of(X: Any) -> Table:
    """A frame or an array (n, p) as a table; columns of an array are called ``x0``, ``x1``, ….

    Parameters
    ----------
    X : frame, dict, list of dicts or (n, p)
        A frame of pandas, polars, pyarrow or whatever narwhals knows; a dict of columns; a dict for
        each row, in which what is not there is missing; else an array, a tensor or nested lists.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        For a table without rows or columns, a frame with two columns of one name, or an array that
        has not two dimensions.
    InputTypeError
        For complex numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table_of(pd.DataFrame({"age": [63, None]})).column("age")
    array([63., nan])

    See Also
    --------
    Columns : a table as rows of numbers.
    """
    if isinstance(X, Table):
        return X
    if is_columns(X):
        return from_columns(X)
    if is_records(X):
        return from_records(X)
    if nw.dependencies.is_into_dataframe(X):
        return _from_frame(X)
    return from_array(X)


def _from_frame(X: Any) -> Table:
    _check_names(X)
    frame = nw.from_native(X, eager_only=True)
    if len(frame) == 0 or not frame.columns:
        raise InputError(
            f"The table has {len(frame)} rows and {len(frame.columns)} columns.", see=PAGE
        )
    columns: dict[str, Values] = {}
    booleans = set()
    for name in frame.columns:
        series = frame.get_column(name)  # frame[0] would be a row
        found = column_of(series, str(name))
        columns[str(name)] = found.values
        if found.is_boolean:
            booleans.add(str(name))
    return Table(columns, frozenset(booleans), len(frame))


def _check_names(X: Any) -> None:
    """Two columns of one name would be two columns of which one is lost."""
    names = _names_of(X)
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise InputError(
                f"The table has two columns called {name!r}. Rename one of them.", see=PAGE
            )
        seen.add(name)


def _names_of(X: Any) -> Sequence[Any]:
    for attribute in ("column_names", "columns"):  # pyarrow has the first, all others the second
        names = getattr(X, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    return []
