"""Names of columns that were likely meant to be others."""

import re

from lifelong._words import did_you_mean
from lifelong.exceptions import InputError
from lifelong.rows.columns import Columns
from lifelong.rows.frames import PAGE, Table

_FEW = 5  # examples in an error message


def check_spelling(table: Table, columns: Columns) -> None:
    """A column that nobody knows beside a known one that is missing is likely a typing error."""
    known = columns.by_name
    missing = [name for name in known if name not in table.columns]
    if len(missing) == len(known):
        names = ", ".join(map(repr, list(known)[:_FEW]))
        raise InputError(f"None of the known columns is in X: {names}, ….", see=PAGE)
    for name in table.columns:
        if name not in known:
            hint = did_you_mean(name, [other for other in missing if not _numbered(name, other)])
            if hint:
                raise InputError(f"Column {name!r} is not known.{hint}", see=PAGE)


def _numbered(name: str, other: str) -> bool:
    """Whether two names differ in their numbers alone: sensor_1 is not sensor_12 misspelt."""
    return re.sub(r"\d+", "", name) == re.sub(r"\d+", "", other)
