"""The task of each row: a column of the table, or names beside it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import check_task_name
from lifelong.exceptions import InputError, InputTypeError
from lifelong.rows import Texts, values_of

PAGE = "my-data"
_FEW = 5  # examples in an error message


def names_in(values: Any, column: str) -> Texts:
    """A column of task names: text, or whole numbers; in the order in which they come."""
    return _names(values, f"The task column {column!r}")


def names_per_row(task: Any, n_rows: int) -> Texts:
    """Task names beside a table, one for each row: as if they were a column of it."""
    try:
        values = values_of(task, "task")
    except TypeError:
        raise InputTypeError(
            f"task={task!r} is neither a name nor one name per row.", see=PAGE
        ) from None
    if len(values) != n_rows:
        raise InputError(
            f"X has {n_rows} rows and task has {len(values)} names. Give one name per row, or one "
            "for all.",
            see=PAGE,
        )
    return _names(values, "task=")


def _names(values: Any, what: str) -> Texts:
    if isinstance(values, Texts):
        missing = np.flatnonzero(values.codes < 0)
        found = values
    elif values.dtype.kind == "M":
        raise InputError(f"{what} holds dates. Tasks have names: text or whole numbers.", see=PAGE)
    else:
        missing = np.flatnonzero(np.isnan(values))
        found = _numbers_as_names(values, what, missing)
    if len(missing):
        some = ", ".join(map(str, missing[:_FEW].tolist()))
        if len(missing) > _FEW:
            some += ", …"
        raise InputError(
            f"{what} is empty in {len(missing)} rows ({some}). Fill it in, or leave these rows "
            "out.",
            see=PAGE,
        )
    return Texts(found.codes, [check_task_name(name) for name in found.values])


def _numbers_as_names(values: NDArray[Any], what: str, missing: NDArray[np.intp]) -> Texts:
    there = np.delete(values, missing)
    if (there != np.floor(there)).any():
        raise InputError(
            f"{what} holds fractions. Tasks have names: text or whole numbers.", see=PAGE
        )
    if (np.abs(there) >= 2**53).any():
        raise InputError(
            f"{what} holds numbers of more than 15 digits, which cannot be told apart as numbers. "
            "Give them as text: .astype(str).",
            see=PAGE,
        )
    names, codes = np.unique(np.nan_to_num(values), return_inverse=True)
    return Texts(codes.astype(np.int32), [int(name) for name in names.tolist()]).compact()
