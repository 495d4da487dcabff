"""Streams from tables: pandas or polars frames, CSV or Parquet files; a column names the task."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._random import RandomState, seed_from
from lifelong._words import did_you_mean
from lifelong.exceptions import DatasetError, InputError, MissingExtraError
from lifelong.rows import Table, Texts, table_of
from lifelong.rows.cells import is_missing
from lifelong.rows.files import labels_of, read_content, read_table
from lifelong.rows.table import Values
from lifelong.tasks.base import Target, Task, TaskName, TaskStream

_DATES = {"M", "m"}  # numpy's kinds of dates and differences of dates


def from_frame(
    frame: Any,
    *,
    task_column: str,
    label_column: str,
    feature_columns: Sequence[str] | None = None,
    test_column: str | None = None,
    test_share: float = 0.25,
    target: Target = "class",
    random_state: RandomState = 0,
) -> TaskStream:
    """A stream with one task per value of ``task_column``, in order of appearance.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or a dict of columns
        Where all features are numbers, tasks have rows of numbers. With text, categories, dates or
        missing values among them, tasks have tables, which LifelongClassifier and
        LifelongRegressor read.
    task_column : str
        The column that says which task a row is from.
    label_column : str
        The column with the label, or the number.
    feature_columns : sequence of str, optional
        The columns to learn from; all others by default.
    test_column : str, optional
        Rows where it is true (or 1) are for testing. Without it, ``test_share`` of each class of
        each task are.
    test_share : float, default 0.25
        The share of rows for testing, where there is no ``test_column``.
    target : "class" or "number", default "class"
        What the label column holds.
    random_state : int, Generator or None, default 0
        Decides which rows are for testing.

    Returns
    -------
    TaskStream

    Raises
    ------
    InputError
        If a column, or the name of a row's task, is missing, or a task has no rows for testing.

    Examples
    --------
    >>> frame = {"site": ["a", "a", "b", "b"], "ill": [0, 1, 0, 1]}
    >>> frame |= {"x": [1.0, 2.0, 3.0, 4.0], "held": [0, 1, 0, 1]}
    >>> from_frame(frame, task_column="site", label_column="ill", test_column="held")
    TaskStream(2 tasks: 'a', 'b')
    """
    table = table_of(frame)
    chosen = [task_column, label_column]
    if test_column is not None:
        chosen.append(test_column)
    rows = _features(table, feature_columns, chosen)
    tasks = _complete(frame, task_column, "task column")
    if tasks.dtype.kind in _DATES:
        raise InputError(f"Column {task_column!r} holds dates, which name no tasks. Give text.")
    labels = _complete(frame, label_column, "label column")
    testing = None
    if test_column is not None:
        testing = _flags(table.column(test_column), test_column)
    split = _Split(testing, test_share, seed_from(random_state))
    return TaskStream(
        [
            _task(name, np.flatnonzero(tasks == name), rows, labels, split, target)
            for name in dict.fromkeys(tasks.tolist())
        ]
    )


class _Split(NamedTuple):
    """Which rows are for testing: those that say so, else a share drawn at random."""

    testing: NDArray[np.bool_] | None
    share: float
    seed: int


def _features(table: Table, wanted: Sequence[str] | None, chosen: list[str]) -> Any:
    """The rows to learn from: an array if all columns are numbers, else a table."""
    names = list(table)
    if wanted is not None:
        features = list(wanted)
    else:
        features = [name for name in names if name not in chosen]
    for name in (*features, *chosen):
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(f"No column {name!r}.{hint} Columns: {', '.join(map(repr, names))}.")
    if not features:
        raise InputError(
            f"No columns are left to learn from besides {', '.join(map(repr, names))}."
        )
    rows = table.only(features)
    numbers = rows.as_numbers()
    if numbers is None:
        return rows
    return numbers


def _task(
    name: TaskName,
    of_task: NDArray[np.intp],
    rows: Any,
    labels: NDArray[Any],
    split: _Split,
    target: Target,
) -> Task:
    X = rows[of_task]
    y = labels[of_task]
    if split.testing is None:
        return Task.from_arrays(
            name, X, y, test_share=split.share, target=target, random_state=split.seed
        )
    testing = split.testing[of_task]
    if testing.all():
        raise InputError(f"Task {name!r} has no rows to learn from.")
    if not testing.any():
        raise InputError(f"Task {name!r} has no rows for testing.")
    return Task(name, X[~testing], y[~testing], X[testing], y[testing], target)


def from_table(
    path: str | Path, *, task_column: str, label_column: str, **options: Any
) -> TaskStream:
    """A stream from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        CSV with a header line (UTF-8; ``,`` ``;`` or tab; ``.csv`` or ``.csv.gz``), or ``.parquet``
        (which needs polars, or pandas with pyarrow).
    task_column, label_column : str
        As for :func:`from_frame`.
    **options
        The other parameters of :func:`from_frame`.

    Returns
    -------
    TaskStream

    Raises
    ------
    DatasetError
        If the file cannot be read or lacks a column; the message names the file.
    MissingExtraError
        If nothing is installed that reads Parquet.
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetError(f"{path} is not a file. Give a .csv or .parquet file.")
    kind = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else path.suffix
    if kind.lower() not in {".csv", ".tsv", ".parquet"}:
        raise DatasetError(f"{path}: unknown kind of table {kind!r}. Give a .csv or .parquet file.")
    if kind.lower() == ".parquet":
        frame = _read_parquet(path)
    else:
        frame = read_table(path, read_content(path))
    try:
        return from_frame(frame, task_column=task_column, label_column=label_column, **options)
    except InputError as error:
        raise DatasetError(f"{path}: {error}") from None


def _read_parquet(path: Path) -> Any:
    """With polars, else pandas, whichever is installed."""
    try:
        if find_spec("polars"):
            import polars

            return polars.read_parquet(path)
        if find_spec("pandas"):
            import pandas

            return pandas.read_parquet(path)
    except (
        BaseException
    ) as error:  # their readers raise kinds of their own, polars' Rust panics among them
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise DatasetError(
            f"{path}: not a readable Parquet file ({error}). Write it again, or give a .csv file."
        ) from None
    raise MissingExtraError(
        "Reading Parquet needs polars or pandas with pyarrow. Run: pip install polars"
    )


def _values(frame: Any, name: str) -> NDArray[Any]:
    """A column as it is in the frame: labels and names of tasks keep their kind."""
    if isinstance(frame, Table):
        labels = labels_of(frame.column(name))
        if any(isinstance(label, str) or label is None for label in labels):
            return np.array(labels, dtype=object)
        return np.array(labels)
    column = frame[name]
    if isinstance(column, list | tuple) and any(map(is_missing, column)):
        return np.array(column, dtype=object)
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _complete(frame: Any, name: str, what: str) -> NDArray[Any]:
    """A column in which nothing may be missing."""
    values = _values(frame, name)
    missing = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
    if missing:
        raise InputError(
            f"The {what} {name!r} is empty in {len(missing)} rows, such as row {missing[0]}. "
            "Fill it in, or leave these rows out.",
            see="my-data",
        )
    return values


def _flags(column: Values, name: str) -> NDArray[np.bool_]:
    """Which rows are for testing (n,)."""
    if isinstance(column, Texts) or not np.isin(column, [0, 1]).all():
        raise InputError(f"Column {name!r} is not true or false (1 or 0) in every row.")
    return column.astype(bool)
