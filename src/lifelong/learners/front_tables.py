"""Tables as the front door takes them: the task column, and arrays without names of columns."""

import warnings
from collections.abc import Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import MOST_COUNTED, Rows
from lifelong._words import did_you_mean, shown
from lifelong.exceptions import InputError, ParameterError, UnknownTaskError
from lifelong.learners.table_knowledge import TableRows
from lifelong.rows import Columns, Table, is_frame
from lifelong.tasks.base import TaskName

PAGE = "my-data"
_FEW = 5  # examples in an error message


class HasTaskColumn(Protocol):
    """A model that may find each row's task in a column."""

    task_column: str | int | None


def column_of_tasks(column: str | int | None, X: Any, table: Table) -> str | None:
    """The name of the task column; None if there is none."""
    if column is None or isinstance(column, str):
        return column
    if not isinstance(column, int | np.integer) or isinstance(column, bool):
        raise ParameterError(f"task_column={shown(column)} is neither a name nor a position.")
    if not 0 <= column <= MOST_COUNTED:
        raise ParameterError(f"task_column={shown(column)} is no position: they count from 0.")
    if not is_frame(X):
        return f"x{column}"
    if str(column) in table.columns:  # a frame whose columns are called 0, 1, 2, …
        return str(column)
    raise ParameterError(
        f"task_column={shown(column)} is a number, and X is a frame. Give the name of the column."
    )


def by_position(table: Table, known: Columns, model: HasTaskColumn) -> Table:
    """An array as a table: without names it must have the columns of before, in their order."""
    names = list(known.by_name)
    owner = type(model).__name__
    if len(table.columns) != len(names):
        task_column = int(model.task_column is not None)
        raise InputError(
            f"X has {len(table.columns) + task_column} features, but {owner} is expecting "
            f"{len(names) + task_column} features as input.",
            see=PAGE,
        )
    if list(table.columns) == names:
        return table
    warnings.warn(
        f"X does not have valid feature names, but {owner} was fitted with feature names: its "
        "columns are taken in their order.",
        UserWarning,
        stacklevel=3,
    )
    new_name = dict(zip(table.columns, names, strict=True))
    columns = {new_name[name]: values for name, values in table.columns.items()}
    booleans = frozenset(new_name[name] for name in table.booleans)
    return Table(columns, booleans, len(table))


def unknown_task(task: TaskName, known: Collection[TaskName]) -> UnknownTaskError:
    """The error for a task that is not known, where that is not allowed."""
    hint = did_you_mean(task, known)
    names = ", ".join(map(repr, list(known)[:_FEW]))
    return UnknownTaskError(
        f"Unknown task {task!r}.{hint} Known are {len(known)} tasks, such as {names}. "
        'With on_unseen="pooled" it would be answered by what all tasks have in common.',
        see=PAGE,
    )


def which_task(known: Collection[TaskName]) -> UnknownTaskError:
    """The error for rows of which nobody has said the task."""
    names = ", ".join(map(repr, list(known)[:_FEW]))
    if len(known) > _FEW:
        names += ", …"
    return UnknownTaskError(
        f"Several tasks are known: {names}. Say which one: task= one name for all rows, or one per"
        " row. Or let a column of X say it (task_column): scikit-learn passes no task= to predict,"
        " so that its scorers need the column.",
        see=PAGE,
    )


def rows_that_count(
    X: Rows,
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    of_task: NDArray[np.intp],
) -> TableRows | None:
    """The rows of one task whose weight is above 0; None if there are none."""
    own = None
    if weights is not None:
        of_task = of_task[weights[of_task] > 0]
        own = weights[of_task]
        if (own == 1).all():
            own = None
    if not len(of_task):
        return None
    return TableRows(X[of_task], targets[of_task], own)
