"""A table: named columns of numpy arrays, all of one length; texts as codes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._words import did_you_mean
from lifelong.exceptions import InputError

PAGE = "my-data"
"""The page of the documentation about one's own data."""


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts and the like, each different one once.

    Parameters
    ----------
    codes : (n,)
        Places in ``values``; −1 is missing.
    values : list
        In the order in which they were first seen.
    """

    codes: NDArray[np.int32]
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "Texts":
        """Some of the rows; values that none of them has are gone."""
        return Texts(self.codes[rows], self.values).compact()

    def at(self, row: int) -> Any:
        """The value of one row; None if it is missing."""
        code = int(self.codes[row])
        if code < 0:
            return None
        return self.values[code]

    def compact(self) -> "Texts":
        """Without values that no row has, and those that stay in the order of their rows."""
        n = len(self.codes)
        first = np.full(len(self.values) + 1, n)  # the row of each value; missing ones come last
        first[self.codes[::-1]] = np.arange(n - 1, -1, -1)
        used = np.flatnonzero(first[:-1] < n)
        order = used[np.argsort(first[used])]
        if np.array_equal(order, np.arange(len(self.values))):
            return self
        place = np.full(len(self.values) + 1, -1, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return Texts(place[self.codes], [self.values[code] for code in order.tolist()])

    def objects(self) -> NDArray[Any]:
        """As an array of objects (n,), with None for missing."""
        values = np.empty(len(self.values) + 1, dtype=object)
        values[:-1] = self.values
        return values[self.codes]


Values = NDArray[Any] | Texts
"""One column: floats with NaN, datetime64 with NaT, or texts."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, in order, all of one length.

    Parameters
    ----------
    columns : name → values (n,)
        Numbers are float64 with NaN for missing; booleans are 0 and 1; dates are datetime64[us]
        with NaT, in UTC; everything else is :class:`Texts`.
    booleans : frozenset of str
        Names of columns that hold nothing but true and false.
    n_rows : int
        The length of every column.

    Examples
    --------
    >>> from lifelong.rows import table_of
    >>> table = table_of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> list(table), len(table)
    (['x0', 'x1'], 2)

    See Also
    --------
    table_of : a frame or an array as a table.
    """

    columns: Mapping[str, Values]
    booleans: frozenset[str]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, rows: Any) -> "Table":
        """Some of the rows, as :meth:`take` gives them."""
        return self.take(rows)

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows: {', '.join(map(repr, self.columns))})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers, dates and codes; the texts themselves are not counted."""
        arrays = [
            values.codes if isinstance(values, Texts) else values
            for values in self.columns.values()
        ]
        return sum(array.nbytes for array in arrays)

    def column(self, name: str, what: str = "column") -> Values:
        """The values of one column.

        Parameters
        ----------
        name : str
            Of the column.
        what : str, default "column"
            What the error calls it.

        Raises
        ------
        InputError
            If there is none of that name, with the nearest that there is.
        """
        if name in self.columns:
            return self.columns[name]
        hint = did_you_mean(name, self.columns)
        known = ", ".join(map(repr, self.columns))
        raise InputError(f"There is no {what} {name!r}.{hint} Columns: {known}.", see=PAGE)

    def without(self, name: str) -> "Table":
        """All columns but one."""
        return self.only([key for key in self.columns if key != name])

    def with_column(self, name: str, values: Values) -> "Table":
        """With other values in one column."""
        return Table({**self.columns, name: values}, self.booleans - {name}, self.n_rows)

    def only(self, names: Sequence[str]) -> "Table":
        """Some of the columns, in the order of ``names``."""
        columns = {name: self.column(name) for name in names}
        return Table(columns, self.booleans & set(names), self.n_rows)

    def measured(self) -> list[str]:
        """The columns that have a value in some row."""
        return [name for name, values in self.columns.items() if is_there(values).any()]

    def as_numbers(self) -> NDArray[np.float64] | None:
        """All columns as numbers (n, p); None if there is text, a date or a missing value."""
        numbers = []
        for values in self.columns.values():
            if isinstance(values, Texts) or values.dtype.kind == "M" or not is_there(values).all():
                return None
            numbers.append(values)
        return np.column_stack(numbers)

    def take(self, rows: Any) -> "Table":
        """Some of the rows: positions, a mask or a slice."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        n_rows = len(np.arange(self.n_rows)[rows])
        return Table(columns, self.booleans, n_rows)


def is_there(values: Values) -> NDArray[np.bool_]:
    """Which values of a column are not missing (n,)."""
    if isinstance(values, Texts):
        return np.asarray(values.codes >= 0)
    if values.dtype.kind == "M":
        return np.asarray(~np.isnat(values))
    return np.asarray(~np.isnan(values))
