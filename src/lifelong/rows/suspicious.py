"""New columns that are likely not what they were meant to be: numbers and dates as text."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lifelong.exceptions import InputWarning
from lifelong.rows.cells import is_number
from lifelong.rows.columns import Columns
from lifelong.rows.dates import date_in
from lifelong.rows.table import Table, Texts, Values

FEW = 0.1
"""If no more of a column's different entries are not numbers, they are likely typing errors."""

ENOUGH = 10
"""Different entries that a column has before some may be called typing errors."""

MOST = 1000
"""Different entries that are looked at."""

_NO_NAMES = ("", "Unnamed: 0")

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FRACTION = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_WRITTEN = re.compile(
    r"[€$£]?\s?[+-]?(\d{1,3}([ .,'\u00a0\u202f]\d{3})+([.,]\d+)?|\d+([.,]\d+)?)\s?[%€$£]?"
)
_DATE = re.compile(
    r"(\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2}))"
    r"([ T]\d{1,2}:\d{2}(:\d{2})?)?"
)


def suspicions(table: Table, known: Columns, *, first: int = 0) -> list[str]:
    """A sentence for each new column that is likely misread, and what to do about it.

    Parameters
    ----------
    table : Table
        Without its task column.
    known : Columns
        Columns of before: what they hold is settled.
    first : int, default 0
        The number of the first row.

    Examples
    --------
    >>> from lifelong.rows import table_of
    >>> suspicions(table_of({"dose": ["1,5", "2,0", "2,5"]}), Columns())
    ["Column 'dose' holds numbers that are written as text, such as '1,5'. It is learnt as 3 \
categories. If they are numbers, turn them into numbers."]
    """
    found = []
    for name, values in table.columns.items():
        if name not in known.by_name:
            said = _suspicion(name, values, first)
            if said is not None:
                found.append(said)
    return found


def warn_of_suspicions(table: Table, known: Columns) -> None:
    """Warn of new columns that are likely misread.

    Parameters
    ----------
    table : Table
        Without its task column.
    known : Columns
        Columns of before.

    Warns
    -----
    InputWarning
        Once for each such column.
    """
    for said in suspicions(table, known):
        warnings.warn(said, InputWarning, stacklevel=2)


def _suspicion(name: str, values: Values, first: int) -> str | None:
    if not isinstance(values, Texts):
        return _row_numbers(name, values)
    if len(values.values) < 2:
        return None
    if len(values.values) > MOST:
        values = values[values.codes < MOST]
    n = len(values.values)
    learnt_as = f"It is learnt as {n} categories."
    is_plain = np.array([_is_plain(value) for value in values.values])
    n_others = int((~is_plain).sum())
    if n >= ENOUGH and 0 < n_others <= FEW * n:
        row = int(np.flatnonzero(np.append(~is_plain, False)[values.codes])[0])
        return (
            f"Column {name!r} holds numbers, but for {n_others} of {n} different entries: row"
            f" {row + first} has {_shown(values.at(row))}. {learnt_as} If it is a number, correct"
            " such entries or leave them empty."
        )
    if is_plain.all():
        if not _any(values, _FRACTION.fullmatch):
            return None  # whole numbers as text are names: somebody has made them text
        return _written(name, "numbers", values.values[0], learnt_as, "turn them into numbers")
    if _all(values, _DATE.fullmatch) and not _any(values, date_in):
        return _written(name, "dates", values.values[0], learnt_as, "write them as 2024-03-01")
    if _all(values, _WRITTEN.fullmatch):
        other = values.values[int(np.flatnonzero(~is_plain)[0])]
        return _written(name, "numbers", other, learnt_as, "turn them into numbers")
    return None


def _row_numbers(name: str, values: Any) -> str | None:
    """pandas writes the numbers of rows as a column without a name."""
    n = len(values)
    is_count = values.dtype.kind == "f" and n > 2 and bool((np.diff(values) == 1).all())
    if name.strip() not in _NO_NAMES or not is_count:
        return None
    return (
        f"Column {name!r} counts the rows, and is learnt as a number. If it is the index of a"
        " pandas frame, leave it out: to_csv(…, index=False)."
    )


def _written(name: str, what: str, value: Any, learnt_as: str, then: str) -> str:
    return (
        f"Column {name!r} holds {what} that are written as text, such as {_shown(value)}."
        f" {learnt_as} If they are {what}, {then}."
    )


def _shown(value: Any) -> str:
    return repr(str(value)[:60])


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return _PLAIN.fullmatch(value.strip()) is not None
    return is_number(value)


def _all(values: Texts, test: Callable[[str], Any]) -> bool:
    return all(isinstance(value, str) and test(value.strip()) for value in values.values)


def _any(values: Texts, test: Callable[[str], Any]) -> bool:
    return any(isinstance(value, str) and test(value.strip()) for value in values.values)
