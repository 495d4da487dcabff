"""Streams from tables: pandas or polars frames, CSV or Parquet files; a column names the task."""

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._random import RandomState, seed_from
from lifelong._words import did_you_mean
from lifelong.exceptions import DatasetError, InputError, MissingExtraError
from lifelong.tasks.base import Task, TaskName, TaskStream

_DATES = {"M", "m"}  # numpy's kinds of dates and differences of dates


def from_frame(
    frame: Any,
    *,
    task_column: str,
    label_column: str,
    feature_columns: Sequence[str] | None = None,
    test_column: str | None = None,
    test_share: float = 0.25,
    random_state: RandomState = 0,
) -> TaskStream:
    """A stream with one task per value of ``task_column``, in order of appearance.

    Parameters
    ----------
    frame : pandas or polars DataFrame, or a dict of columns
    task_column : str
        The column that says which task a row is from.
    label_column : str
        The column with the label.
    feature_columns : sequence of str, optional
        The numbers to learn from; all other columns by default.
    test_column : str, optional
        Rows where it is true (or 1) are for testing. Without it, ``test_share`` of each class of
        each task are.
    test_share : float, default 0.25
        The share of rows for testing, where there is no ``test_column``.
    random_state : int, Generator or None, default 0
        Decides which rows are for testing.

    Returns
    -------
    TaskStream

    Raises
    ------
    InputError
        If a column is missing or does not hold numbers, or a task has no rows for testing.

    Examples
    --------
    >>> frame = {"site": ["a", "a", "b", "b"], "ill": [0, 1, 0, 1]}
    >>> frame |= {"x": [1.0, 2.0, 3.0, 4.0], "held": [0, 1, 0, 1]}
    >>> from_frame(frame, task_column="site", label_column="ill", test_column="held")
    TaskStream(2 tasks: 'a', 'b')
    """
    names = list(getattr(frame, "columns", frame))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"There is more than one column {twice[0]!r}. Rename all but one.")
    chosen = {task_column, label_column, test_column}
    if feature_columns is not None:
        features = list(feature_columns)
    else:
        features = [name for name in names if name not in chosen]
    for name in (*features, task_column, label_column, *([test_column] if test_column else [])):
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(f"No column {name!r}.{hint} Columns: {', '.join(map(repr, names))}.")
    if not features:
        raise InputError(
            f"No columns are left to learn from besides {', '.join(map(repr, names))}."
        )
    X = np.column_stack([_numbers(frame[name], name) for name in features])
    tasks = _values(frame[task_column])
    if tasks.dtype.kind in _DATES:
        raise InputError(f"Column {task_column!r} holds dates, which name no tasks. Give text.")
    labels = _values(frame[label_column])
    if test_column:
        testing = _numbers(frame[test_column], test_column).astype(bool)
    else:
        testing = None
    seed = seed_from(random_state)
    stream: list[Task] = []
    for name in dict.fromkeys(tasks.tolist()):
        rows = np.flatnonzero(tasks == name)
        stream.append(
            _task(
                name,
                X[rows],
                labels[rows],
                None if testing is None else testing[rows],
                test_share,
                seed,
            )
        )
    return TaskStream(stream)


def _task(
    name: TaskName,
    X: NDArray[Any],
    y: NDArray[Any],
    testing: NDArray[np.bool_] | None,
    share: float,
    seed: int,
) -> Task:
    if testing is None:
        return Task.from_arrays(name, X, y, test_share=share, random_state=seed)
    if testing.all() or not testing.any():
        raise InputError(
            f"Task {name!r} has no rows {'to learn from' if testing.all() else 'for testing'}."
        )
    return Task(name, X[~testing], y[~testing], X[testing], y[testing])


def from_table(
    path: str | Path, *, task_column: str, label_column: str, **options: Any
) -> TaskStream:
    """A stream from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        ``.csv`` (UTF-8, with a header line) or ``.parquet`` (which needs polars, or pandas with
        pyarrow).
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
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise DatasetError(
            f"{path}: unknown kind of table {path.suffix!r}. Give a .csv or .parquet file."
        )
    if path.suffix.lower() == ".csv":
        frame = read_csv(path)
    else:
        frame = _read_parquet(path)
    try:
        return from_frame(frame, task_column=task_column, label_column=label_column, **options)
    except InputError as error:
        raise DatasetError(f"{path}: {error}") from None


def read_csv(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file with a header line, as text."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise DatasetError(
            f"{path}: not a readable CSV file ({error}). Expected UTF-8 text with a header line."
        ) from None
    if len(rows) < 2 or len(set(rows[0])) < len(rows[0]):
        raise DatasetError(
            f"{path}: expected a header line with distinct names and at least one row."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DatasetError(
                f"{path}: row {number} has {len(row)} fields. Expected {len(rows[0])}, as in the"
                " header."
            )
    return {
        name: list(column)
        for name, column in zip(rows[0], zip(*rows[1:], strict=True), strict=True)
    }


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


def _values(column: Any) -> NDArray[Any]:
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _numbers(column: Any, name: str | None) -> NDArray[np.float64]:
    values = _values(column)
    if values.dtype.kind in _DATES:
        raise InputError(
            f"Column {name!r} holds dates or times, which are no numbers. Name others in"
            " feature_columns."
        )
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Column {name!r} does not hold numbers only ({error}). Name others in feature_columns."
        ) from None
