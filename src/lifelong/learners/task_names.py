"""The task of each row: a column of the table, or names beside it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import check_task_name
from lifelong.exceptions import InputError, InputTypeError
from lifelong.rows import Texts
from lifelong.tasks.base import TaskName

PAGE = "my-data"
_FEW = 5  # examples in an error message


def names_in(values: Any, column: str) -> Texts:
    """A column of task names: text, or whole numbers."""
    if isinstance(values, Texts):
        missing = np.flatnonzero(values.codes < 0)
        found = values
    elif values.dtype.kind == "M":
        raise InputError(
            f"The task column {column!r} holds dates. Tasks have names: text or whole numbers.",
            see=PAGE,
        )
    else:
        missing = np.flatnonzero(np.isnan(values))
        found = _numbers_as_names(values, column, missing)
    if len(missing):
        some = ", ".join(map(str, missing[:_FEW].tolist()))
        raise InputError(
            f"The task column {column!r} is empty in {len(missing)} rows ({some}, …). Fill it in, "
            "or leave these rows out.",
            see=PAGE,
        )
    return Texts(found.codes, [check_task_name(name) for name in found.values])


def _numbers_as_names(values: NDArray[Any], column: str, missing: NDArray[np.intp]) -> Texts:
    there = np.delete(values, missing)
    if (there != np.floor(there)).any():
        raise InputError(
            f"The task column {column!r} holds fractions. Tasks have names: text or whole numbers.",
            see=PAGE,
        )
    names, codes = np.unique(np.nan_to_num(values), return_inverse=True)
    return Texts(codes.astype(np.int32), [int(name) for name in names.tolist()])


def names_per_row(task: Any, n_rows: int) -> Texts:
    try:
        names = list(task.tolist() if hasattr(task, "tolist") else task)
    except TypeError:
        raise InputTypeError(
            f"task={task!r} is neither a name nor one name per row.", see=PAGE
        ) from None
    if len(names) != n_rows:
        raise InputError(
            f"X has {n_rows} rows and task has {len(names)} names. Give one name per row, or one "
            "for all.",
            see=PAGE,
        )
    code: dict[TaskName, int] = {}
    codes = np.empty(n_rows, dtype=np.int32)
    for row, name in enumerate(names):
        codes[row] = code.setdefault(check_task_name(name), len(code))
    return Texts(codes, list(code))
