"""Frames of any kind (pandas, polars, pyarrow, …) and arrays, as named columns of numpy arrays."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lifelong._words import did_you_mean
from lifelong.exceptions import InputError, InputTypeError

PAGE = "my-data"
"""The page of the documentation about one's own data."""

_MOMENTS = "datetime64[us]"  # nanoseconds end in the year 2262, and 9999-12-31 means "never"


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


class _Column(NamedTuple):
    values: Values
    is_boolean: bool = False


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


def is_frame(X: Any) -> bool:
    """Whether X is a frame: something with named columns that narwhals knows.

    Parameters
    ----------
    X : anything

    Examples
    --------
    >>> is_frame(np.zeros((2, 2)))
    False

    See Also
    --------
    table_of : a frame or an array as a table.
    """
    return isinstance(X, Table) or nw.dependencies.is_into_dataframe(X)


def table_of(X: Any) -> Table:
    """A frame or an array (n, p) as a table; columns of an array are called ``x0``, ``x1``, ….

    Parameters
    ----------
    X : frame or (n, p)
        A frame of pandas, polars, pyarrow or whatever narwhals knows; else an array, a tensor or
        nested lists.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        For a table without rows or columns, a frame with two columns of one name, or an array that
        has not two dimensions.
    InputTypeError
        For complex numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table_of(pd.DataFrame({"age": [63, None]})).column("age")
    array([63., nan])

    See Also
    --------
    Columns : a table as rows of numbers.
    """
    if isinstance(X, Table):
        return X
    if is_frame(X):
        return _from_frame(X)
    return _from_array(X)


def _from_frame(X: Any) -> Table:
    _check_names(X)
    frame = nw.from_native(X, eager_only=True)
    if len(frame) == 0 or not frame.columns:
        raise InputError(
            f"The table has {len(frame)} rows and {len(frame.columns)} columns.", see=PAGE
        )
    columns: dict[str, Values] = {}
    booleans = set()
    for name in frame.columns:
        series = frame.get_column(name)  # frame[0] would be a row
        found = _column(series, str(name))
        columns[str(name)] = found.values
        if found.is_boolean:
            booleans.add(str(name))
    return Table(columns, frozenset(booleans), len(frame))


def values_of(column: Any, name: str) -> Values:
    """One column by itself: a series of any library, an array or a list.

    >>> values_of(["a", None, "b"], "site").values
    ['a', 'b']
    """
    if nw.dependencies.is_into_series(column):
        return _column(nw.from_native(column, series_only=True), name).values
    if isinstance(column, np.ndarray):
        column = column.tolist()
    return _from_objects(list(column), name).values


def _check_names(X: Any) -> None:
    """Two columns of one name would be two columns of which one is lost."""
    names = _names_of(X)
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise InputError(
                f"The table has two columns called {name!r}. Rename one of them.", see=PAGE
            )
        seen.add(name)


def _names_of(X: Any) -> Sequence[Any]:
    for attribute in ("column_names", "columns"):  # pyarrow has the first, all others the second
        names = getattr(X, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    return []


def _column(series: Any, name: str) -> _Column:
    """One column as numpy: missing entries are NaN, NaT or None."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return _Column(_numbers(series.cast(nw.Float64)), is_boolean=True)
    if dtype.is_numeric():
        return _Column(_numbers(series))
    if dtype in (nw.Datetime, nw.Date):
        return _Column(_dates(series))
    if dtype in (nw.Duration, nw.Time):
        raise InputError(
            f"Column {name!r} holds durations or times of day, which have no meaning here. Turn "
            "them into numbers, such as seconds.",
            see=PAGE,
        )
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _Column(_texts(series))
    return _from_objects(series.to_list(), name)


def _numbers(series: Any) -> Values:
    # Decimals and nullable integers become floats; what is missing becomes NaN.
    return np.asarray(series.cast(nw.Float64).fill_null(float("nan")).to_numpy(), dtype=np.float64)


def _dates(series: Any) -> Values:
    if series.dtype == nw.Datetime and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = series.cast(nw.Datetime("us"))
    return np.asarray(values.to_numpy(), dtype=_MOMENTS)


def _texts(series: Any) -> Texts:
    """Each different text once, and codes; by the frame's own means, which are fast."""
    native = series.to_native()
    if nw.get_native_namespace(series).__name__ == "pandas":
        # Categories may be whole numbers: as text before anything missing makes fractions of them.
        codes, values = native.factorize()
        return Texts(codes.astype(np.int32), [str(value) for value in values])
    series = series.cast(nw.String)
    values = series.drop_nulls().unique(maintain_order=True).to_list()
    codes = np.full(len(series), -1, dtype=np.int32)
    if values:
        numbers = series.replace_strict(values, list(range(len(values))), return_dtype=nw.Float64)
        found = numbers.fill_null(-1.0).to_numpy()
        codes = np.nan_to_num(np.asarray(found, dtype=np.float64), nan=-1.0).astype(np.int32)
    return Texts(codes, values)


def _from_objects(values: list[Any], name: str) -> _Column:
    """A column of objects: numbers if all are, dates if all are, else text and the like."""
    there = [value for value in values if not is_missing(value)]
    is_boolean = bool(there) and all(isinstance(value, bool | np.bool_) for value in there)
    if is_boolean or (there and all(is_number(value) for value in there)):
        numbers = np.array([_or_missing(value, float, np.nan) for value in values])
        return _Column(numbers, is_boolean)
    if there and all(isinstance(value, date | np.datetime64) for value in there):
        never = np.datetime64("NaT")
        dates = [_or_missing(value, _moment, never) for value in values]
        return _Column(np.array(dates, dtype=_MOMENTS))
    code: dict[Any, int] = {}
    codes = np.full(len(values), -1, dtype=np.int32)
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        if not isinstance(value, str | int | float | bool | np.number | np.bool_):
            raise InputError(
                f"Column {name!r} holds a {type(value).__name__}, which is neither a number, a "
                f"date nor text (row {row}).",
                see=PAGE,
            )
        codes[row] = code.setdefault(_plain(value), len(code))
    return _Column(Texts(codes, list(code)))


def _or_missing(value: Any, convert: Callable[[Any], Any], missing: Any) -> Any:
    """The value, converted; or what stands for one that is missing."""
    if is_missing(value):
        return missing
    return convert(value)


def _plain(value: Any) -> Any:
    """Python's own number or text in the place of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def is_number(value: Any) -> bool:
    """A real number; true and false are none."""
    if isinstance(value, bool | complex | np.complexfloating):
        return False
    return isinstance(value, int | float | Decimal | np.number)


def _moment(value: Any) -> np.datetime64:
    """A date or a time; one that knows its time zone in UTC."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and value != value


_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?"
)


def dates_in(texts: Texts) -> NDArray[Any] | None:
    """The dates (n,) that texts hold, if all of them are written as ISO 8601 has it; else None.

    >>> texts = Texts(np.array([0, -1], np.int32), ["2013-03-01 06:00:00"])
    >>> dates_in(texts).astype("datetime64[h]")
    array(['2013-03-01T06', 'NaT'], dtype='datetime64[h]')
    """
    if not texts.values:
        return None
    parsed = np.full(len(texts.values) + 1, np.datetime64("NaT"), dtype=_MOMENTS)
    for place, text in enumerate(texts.values):
        moment = date_in(text)
        if moment is None:
            return None
        parsed[place] = moment
    return parsed[texts.codes]


def date_in(text: Any) -> np.datetime64 | None:
    """The date that a text is, as ISO 8601 has it; None if it is none.

    >>> date_in("2013-03-01"), date_in("tomorrow")
    (np.datetime64('2013-03-01T00:00:00.000000'), None)
    """
    if not isinstance(text, str) or not _ISO_DATE.fullmatch(text):
        return None
    try:
        return _moment(datetime.fromisoformat(text))
    except (ValueError, OverflowError):  # the first and the last day of all, in another time zone
        return None


def names_of_array(n_columns: int) -> list[str]:
    """What the columns of an array are called.

    >>> names_of_array(2)
    ['x0', 'x1']
    """
    return [f"x{number}" for number in range(n_columns)]


def _from_array(X: Any) -> Table:
    if issparse(X):
        raise InputTypeError(
            "X is a sparse matrix. Sparse input is not supported: pass X.toarray().", see=PAGE
        )
    if hasattr(X, "detach"):  # a torch tensor
        X = X.detach().cpu().numpy()
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError("X is not a table: its rows have different lengths.", see=PAGE) from None
    if array.ndim != 2:
        raise InputError(
            f"A table has rows and columns; X has shape {array.shape}. "
            "Reshape your data: one row is X.reshape(1, -1), one column is X.reshape(-1, 1).",
            see=PAGE,
        )
    if array.shape[0] == 0:
        raise InputError("The table has no rows (0 sample(s)).", see=PAGE)
    if array.shape[1] == 0:
        raise InputError(
            f"The table has no columns: 0 feature(s) (shape={array.shape}) while a minimum of 1 is"
            " required.",
            see=PAGE,
        )
    if array.dtype.kind == "c":
        raise InputTypeError("Complex data not supported: X holds complex numbers.", see=PAGE)
    names = names_of_array(array.shape[1])
    booleans: frozenset[str] = frozenset()
    if array.dtype.kind == "b":
        booleans = frozenset(names)
    if array.dtype.kind in "biuf":
        numbers = array.astype(np.float64)
        return Table({name: numbers[:, at] for at, name in enumerate(names)}, booleans, len(array))
    if array.dtype.kind == "M":
        dates = array.astype(_MOMENTS)
        return Table({name: dates[:, at] for at, name in enumerate(names)}, booleans, len(array))
    objects = array.astype(object)
    found = {name: _from_objects(objects[:, at].tolist(), name) for at, name in enumerate(names)}
    booleans = frozenset(name for name in names if found[name].is_boolean)
    return Table({name: found[name].values for name in names}, booleans, len(array))
