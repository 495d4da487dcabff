"""Names of columns that were likely meant to be others."""

import re
import warnings
from typing import NamedTuple

from lifelong._words import nearest
from lifelong.exceptions import InputError, InputWarning
from lifelong.rows.columns import Columns
from lifelong.rows.table import PAGE, Table

_FEW = 5  # examples in an error message


class Suspect(NamedTuple):
    """A column that nobody knows, and the known one that the table lacks and it likely is."""

    name: str
    meant: str


def misspelt(table: Table, columns: Columns) -> list[Suspect]:
    """New columns whose names are close to that of a known column that the table does not have.

    A table that has both is not suspected: two columns may have similar names.

    Parameters
    ----------
    table : Table
        Without its task column.
    columns : Columns
        What is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from lifelong.rows import table_of
    >>> known = Columns().learnt(table_of(pd.DataFrame({"age": [63], "dose": [1.5]})))
    >>> misspelt(table_of(pd.DataFrame({"age": [48], "Dose": [2.5]})), known)
    [Suspect(name='Dose', meant='dose')]
    """
    missing = [name for name in columns.by_name if name not in table.columns]
    found = []
    for name in table.columns:
        if name in columns.by_name:
            continue
        meant = _nearest(name, missing)
        if meant is not None:
            found.append(Suspect(name, meant))
    return found


def check_spelling(table: Table, columns: Columns) -> None:
    """For questions: a column that is likely misspelt is an error.

    Nothing is lost by asking again, and an answer without the column would be a worse one.

    Parameters
    ----------
    table : Table
        Without its task column.
    columns : Columns
        What is known.

    Raises
    ------
    InputError
        For the first misspelt column, with the right one; or if the table has no known column.
    """
    known = columns.by_name
    if not any(name in known for name in table.columns):
        names = ", ".join(map(repr, list(known)[:_FEW]))
        if len(known) > _FEW:
            names += ", …"
        raise InputError(f"None of the known columns is in X: {names}.", see=PAGE)
    for suspect in misspelt(table, columns):
        raise InputError(
            f"Column {suspect.name!r} is not known. Did you mean {suspect.meant!r}?", see=PAGE
        )


def warn_of_misspelling(table: Table, columns: Columns) -> None:
    """For lessons: a column that is likely misspelt is a warning, as new columns are welcome.

    Parameters
    ----------
    table : Table
        Without its task column.
    columns : Columns
        What was known before.

    Warns
    -----
    InputWarning
        Once for all such columns, with the right names and what to do.
    """
    suspects = misspelt(table, columns)
    if suspects:
        warnings.warn(said(suspects), InputWarning, stacklevel=2)


def said(suspects: list[Suspect]) -> str:
    """What is wrong with these names, and what to do.

    >>> said([Suspect("doze", "dose")])
    "New columns beside missing ones of similar names: 'doze' (did you mean 'dose'?). They are \
learnt as columns of their own. If they are typing errors, rename them."
    """
    pairs = ", ".join(f"{name!r} (did you mean {meant!r}?)" for name, meant in suspects)
    return (
        f"New columns beside missing ones of similar names: {pairs}. They are learnt as columns of "
        "their own. If they are typing errors, rename them."
    )


def _nearest(name: str, options: list[str]) -> str | None:
    """The option that a name most likely misspells: upper and lower case are alike."""
    likely = [option for option in options if not _numbered(name, option)]
    by_folded = {option.casefold(): option for option in reversed(likely)}
    near = nearest(name.casefold(), by_folded)
    if near is None:
        return None
    return by_folded[near]


def _numbered(name: str, other: str) -> bool:
    """Whether two names differ in their numbers alone: sensor_1 is not sensor_12 misspelt."""
    if name.casefold() == other.casefold():
        return False
    return re.sub(r"\d+", "", name) == re.sub(r"\d+", "", other)
