"""The columns of a table by name and kind: learnt when they are first seen, growing for life.

A table becomes rows of numbers (n, p), float32. Every column has places of its own among the p
numbers, for good: a number, true or false, and the code of a category take one, a date takes six.
Columns that come later get places behind the others. What is missing is NaN, and so is every place
of a column that a table does not have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.exceptions import InputError
from lifelong.rows.cells import CellError, is_number
from lifelong.rows.dates import DATE_PARTS, date_in, date_parts, dates_in
from lifelong.rows.table import PAGE, Table, Texts, Values, is_there
from lifelong.schema import FLAG, AnyOf, Number, Record, Several, Text, Whole, saved

Kind = Literal["number", "boolean", "category", "date"]
Category = str | int | float | bool

MAX_CATEGORIES = 1000
"""More different texts than this are free text or identifiers: nothing can be learnt from them."""

_KINDS = ("number", "boolean", "category", "date")
_ROWS_AT_ONCE = 4096
_LONG_TEXT = 40  # characters: sentences, if most entries are different and half are this long


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
        As the table has it.
    kind : "number", "boolean", "category" or "date"
        What its values are: decides how they become numbers.
    categories : tuple, default ()
        Of a category, in the order in which they were first seen: a category's place is its code.

    Examples
    --------
    >>> Column("pain", "category", ("typical",)).with_categories(["none"]).codes
    {'typical': 0, 'none': 1}

    See Also
    --------
    Columns : all columns of a table.
    """

    name: str = saved(Text())
    kind: Kind = saved(Text(_KINDS))
    categories: tuple[Category, ...] = saved(
        Several(AnyOf((Text(), FLAG, Whole(-(2**63)), Number()))), default=()
    )

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: categories that come twice, or more than there may be."""
        del lengths
        if len(self.codes) != len(self.categories) or len(self.categories) > MAX_CATEGORIES:
            return "has a category twice, or too many"
        if bool(self.categories) != (self.kind == "category"):
            return "has categories that do not fit its kind"
        return None

    @property
    def n_places(self) -> int:
        """How many numbers of a row are this column's."""
        if self.kind == "date":
            return len(DATE_PARTS)
        return 1

    @cached_property
    def codes(self) -> Mapping[Category, int]:
        """Category → code."""
        return {category: code for code, category in enumerate(self.categories)}

    def with_categories(self, values: list[Any]) -> "Column":
        """With whatever is new among these values."""
        new = [value for value in values if value not in self.codes]
        if not new:
            return self
        return replace(self, categories=(*self.categories, *new))


class Place(NamedTuple):
    """One of the numbers of a row: of which column, and which part of it."""

    column: str
    part: str  # of a date; empty for everything else
    n_categories: int  # 0 for numbers

    @property
    def name(self) -> str:
        """As a user would say it."""
        if self.part:
            return f"{self.column} ({self.part})"
        return self.column


@dataclass(frozen=True)
class Columns:
    """The columns that have been seen so far, in the order of their places.

    Parameters
    ----------
    columns : tuple of Column, default ()
        None yet, by default.

    Examples
    --------
    >>> import pandas as pd
    >>> from lifelong.rows import table_of
    >>> table = table_of(pd.DataFrame({"age": [63, None], "pain": ["typical", "none"]}))
    >>> columns = Columns().learnt(table)
    >>> [(column.name, column.kind) for column in columns]
    [('age', 'number'), ('pain', 'category')]
    >>> columns.rows(table)
    array([[63.,  0.],
           [nan,  1.]], dtype=float32)

    See Also
    --------
    table_of : a frame or an array as a table.
    """

    columns: tuple[Column, ...] = saved(Several(Record(Column)), default=())

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: two columns of one name."""
        del lengths
        if len(self.by_name) != len(self.columns):
            return "has two columns of one name"
        return None

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        """Columns by name."""
        return {column.name: column for column in self.columns}

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """What each number of a row is."""
        found = []
        for column in self.columns:
            if column.kind == "date":
                found += [Place(column.name, date_part, 0) for date_part in DATE_PARTS]
            else:
                found.append(Place(column.name, "", len(column.categories)))
        return tuple(found)

    @property
    def n_places(self) -> int:
        """How many numbers a row has."""
        return len(self.places)

    def learnt(self, table: Table) -> "Columns":
        """With new columns and new categories of a table; what does not fit is an error.

        Parameters
        ----------
        table : Table
            Its rows decide what kind a new column is.

        Raises
        ------
        InputError
            For text in a column of numbers and the like, a column of free text, or a new column
            without any value. The message names the column and the row.
        """
        columns = dict(self.by_name)
        for name, values in table.columns.items():
            known = columns.get(name)
            if known is None:
                columns[name] = _new_column(name, values, name in table.booleans)
            elif known.kind == "category":
                columns[name] = _check_cardinality(known.with_categories(_texts_of(known, values)))
            else:
                _numbers_of(known, values)
        return Columns(tuple(columns.values()))

    def rows(self, table: Table) -> Rows:
        """A table as rows of numbers (n, p).

        A column that the table does not have is missing; one that is not known is left out; a
        category that is not known is missing.

        Parameters
        ----------
        table : Table
            With some or all of these columns, in any order.
        """
        rows: Rows = np.empty((len(table), self.n_places), dtype=np.float32)
        encoded: list[NDArray[np.floating[Any]]] = []
        for column in self.columns:
            if column.name in table.columns:
                encoded.append(_encoded(column, table.columns[column.name]))
            else:
                encoded.append(np.full((column.n_places, 1), np.nan, dtype=np.float32))
        # A few rows at a time: a column alone would go through all of the memory.
        for start in range(0, len(table), _ROWS_AT_ONCE):
            piece = slice(start, start + _ROWS_AT_ONCE)
            first = 0
            for places in encoded:
                some = places
                if places.shape[1] > 1:  # else the same for all rows, or a table of one row
                    some = places[:, piece]
                rows[piece, first : first + len(places)] = some.T
                first += len(places)
        return rows


def _new_column(name: str, values: Values, boolean: bool) -> Column:
    """A column at first sight."""
    if isinstance(values, Texts):
        dates = dates_in(values)
        if dates is not None:
            return Column(name, "date")
        if not len(values.values):
            raise _nothing_in(name)
        _check_not_free_text(name, values)
        return _check_cardinality(Column(name, "category", tuple(values.values)))
    if not is_there(values).any():
        raise _nothing_in(name)
    if values.dtype.kind == "M":
        return Column(name, "date")
    column = Column(name, "boolean" if boolean else "number")
    _check_finite(column, values)
    return column


def _nothing_in(name: str) -> InputError:
    return InputError(
        f"Column {name!r} has no value in any row, so nobody can tell what it holds. Leave it out "
        "until there is one.",
        see=PAGE,
    )


def _check_not_free_text(name: str, values: Texts) -> None:
    n_there = int((values.codes >= 0).sum())
    different = len(values.values)
    if different <= 20 or different < n_there / 2:
        return
    lengths = [len(text) for text in values.values if isinstance(text, str)]
    if lengths and np.median(lengths) >= _LONG_TEXT:
        raise _free_text(name, different)


def _check_cardinality(column: Column) -> Column:
    if len(column.categories) > MAX_CATEGORIES:
        raise _free_text(column.name, len(column.categories))
    return column


def _free_text(name: str, different: int) -> InputError:
    return InputError(
        f"Column {name!r} holds {different} different texts: free text or identifiers, from which "
        "nothing can be learnt as they are. Leave the column out; or turn texts into numbers with "
        "a pretrained encoder (PretrainedEncoder.features).",
        see="pretrained",
    )


def _encoded(column: Column, values: Values) -> NDArray[np.floating[Any]]:
    """The values of a column, place by place (places, n).

    Numbers are not copied: they become float32 where they are put into rows.
    """
    if column.kind == "category":
        return _codes_of(column, values)[None]
    numbers = _numbers_of(column, values)
    if column.kind == "date":
        return date_parts(numbers).T
    return numbers[None]


def _texts_of(column: Column, values: Values) -> list[Any]:
    """The different values of a category column."""
    if isinstance(values, Texts):
        _check_all_text(column, values)
        return list(values.values)
    if values.dtype.kind == "M":
        raise _wrong(column, "a date", values, ~np.isnat(values))
    there = ~np.isnan(values)
    if there.any():
        raise _wrong(column, "a number", values, there)
    return []


def _check_all_text(column: Column, values: Texts) -> None:
    """A column of nothing but text stays one; one that began with both takes both."""
    if not all(isinstance(category, str) for category in column.categories):
        return
    is_text = [isinstance(value, str) for value in values.values]
    if not all(is_text):
        raise _wrong(column, "a number", values, _rows_with(values, np.logical_not(is_text)))


def _rows_with(values: Texts, chosen: Any) -> NDArray[np.bool_]:
    """Which rows (n,) have one of the values that are chosen, by a mask."""
    return np.append(np.asarray(chosen, dtype=bool), False)[values.codes]


def _codes_of(column: Column, values: Values) -> NDArray[np.float32]:
    """Codes of categories (n,); what is missing or unknown is NaN."""
    texts = _texts_of(column, values)
    if not isinstance(values, Texts):
        return np.full(len(values), np.nan, dtype=np.float32)
    known = np.array([column.codes.get(text, np.nan) for text in texts] + [np.nan], np.float32)
    return known[values.codes]  # −1, what is missing, finds the last


def _numbers_of(column: Column, values: Values) -> NDArray[Any]:
    """The numbers (or dates) of a column that is not a category."""
    if isinstance(values, Texts):
        if column.kind == "date":
            dates = dates_in(values)
            if dates is None:
                no_date = [date_in(value) is None for value in values.values]
                if not any(no_date):
                    return np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
                raise _wrong(column, "no date", values, _rows_with(values, no_date))
            return dates
        if len(values.values):
            is_text = [not is_number(value) for value in values.values]
            raise _wrong(column, "text", values, _rows_with(values, is_text))
        return np.full(len(values), np.nan)
    is_date = values.dtype.kind == "M"
    if is_date != (column.kind == "date"):
        there = is_there(values)
        if there.any():
            raise _wrong(column, "a date" if is_date else "a number", values, there)
        missing = np.full(len(values), np.nan)
        if column.kind == "date":
            return missing.astype("datetime64[us]")
        return missing
    if not is_date:
        _check_finite(column, values)
    if column.kind == "boolean":
        neither = (values != 0) & (values != 1) & ~np.isnan(values)
        if neither.any():
            raise _wrong(column, "a number", values, neither)
    return values


def _wrong(column: Column, what: str, values: Values, where: Any) -> InputError:
    row = int(np.flatnonzero(where)[0])
    if isinstance(values, Texts):
        value = values.at(row)
    else:
        value = values[row]
    kinds = {"number": "numbers", "boolean": "true and false", "category": "text", "date": "dates"}
    holds = f"Column {column.name!r} holds {kinds[column.kind]}, and"
    return CellError(holds, row, f" has {what}: {str(value)[:60]!r}.")


def _check_finite(column: Column, values: NDArray[np.float64]) -> None:
    too_large = np.abs(values) > np.finfo(np.float32).max
    if too_large.any():
        row = int(np.flatnonzero(too_large)[0])
        raise CellError(
            f"Column {column.name!r} has an infinite or too large number in",
            row,
            f": {values[row]}. Leave such entries empty, or correct them.",
        )
