"""The task of each row: a column of the table, or names beside it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows, check_task_name
from lifelong.exceptions import InputError, InputTypeError
from lifelong.rows import Texts, values_of
from lifelong.tasks.base import TaskName

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


class Asked(NamedTuple):
    """A table to be answered, and the task of each row."""

    X: Rows
    tasks: list[TaskName | None]  # those that occur; None: not known
    place: NDArray[np.intp]  # (n,) in ``tasks``


def by_task(asked: Asked) -> Iterator[tuple[TaskName | None, NDArray[np.intp]]]:
    """The rows of each task; tasks that are not known come together."""
    unseen = []
    for place, rows in rows_by_code(asked.place):
        name = asked.tasks[place]
        if name is None:
            unseen.append(rows)
        else:
            yield name, rows
    if unseen:
        yield None, np.concatenate(unseen)


def rows_by_code(codes: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each code that occurs, and its rows in their order.

    >>> [(code, rows.tolist()) for code, rows in rows_by_code(np.array([1, 0, 1]))]
    [(0, [1]), (1, [0, 2])]
    """
    order = np.argsort(codes, kind="stable")
    found, first = np.unique(codes[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first[1:]), strict=True)
