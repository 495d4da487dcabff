"""One column as it comes, from any library or as objects, as numbers, dates or texts."""

import math
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lifelong.exceptions import InputError
from lifelong.rows.cells import is_missing, is_number
from lifelong.rows.dates import MOMENTS, moment
from lifelong.rows.table import PAGE, Texts, Values


class SomeValues(NamedTuple):
    """The values of a column, and whether they are nothing but true and false."""

    values: Values
    is_boolean: bool = False


def values_of(column: Any, name: str) -> Values:
    """One column by itself: a series of any library, an array or a list.

    >>> values_of(["a", None, "b"], "site").values
    ['a', 'b']
    """
    return values_and_kind(column, name).values


def values_and_kind(column: Any, name: str) -> SomeValues:
    """One column by itself, and whether it holds nothing but true and false."""
    if nw.dependencies.is_into_series(column):
        return column_of(nw.from_native(column, series_only=True), name)
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        return SomeValues(column.astype(MOMENTS))
    if isinstance(column, np.ndarray):
        column = column.tolist()
    return from_objects(list(column), name)


def column_of(series: Any, name: str) -> SomeValues:
    """One column as numpy: missing entries are NaN, NaT or None."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return SomeValues(_numbers(series.cast(nw.Float64)), is_boolean=True)
    if dtype.is_numeric():
        return SomeValues(_numbers(series))
    if dtype in (nw.Datetime, nw.Date):
        return SomeValues(_dates(series))
    if dtype in (nw.Duration, nw.Time):
        raise InputError(
            f"Column {name!r} holds durations or times of day, which have no meaning here. Turn "
            "them into numbers, such as seconds.",
            see=PAGE,
        )
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return SomeValues(_texts(series))
    return from_objects(series.to_list(), name)


def _numbers(series: Any) -> Values:
    # Decimals and nullable integers become floats; what is missing becomes NaN.
    return np.asarray(series.cast(nw.Float64).fill_null(float("nan")).to_numpy(), dtype=np.float64)


def _dates(series: Any) -> Values:
    if series.dtype == nw.Datetime and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = series.cast(nw.Datetime("us"))
    return np.asarray(values.to_numpy(), dtype=MOMENTS)


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


def from_objects(values: list[Any], name: str) -> SomeValues:
    """A column of objects: numbers if all are, dates if all are, else text and the like."""
    there = [value for value in values if not is_missing(value)]
    is_boolean = bool(there) and all(isinstance(value, bool | np.bool_) for value in there)
    if is_boolean or (there and all(is_number(value) for value in there)):
        numbers = np.array([_or_missing(value, _float, np.nan) for value in values])
        return SomeValues(numbers, is_boolean)
    if there and all(isinstance(value, date | np.datetime64) for value in there):
        never = np.datetime64("NaT")
        dates = [_or_missing(value, moment, never) for value in values]
        return SomeValues(np.array(dates, dtype=MOMENTS))
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
    return SomeValues(Texts(codes, list(code)))


def _or_missing(value: Any, convert: Callable[[Any], Any], missing: Any) -> Any:
    """The value, converted; or what stands for one that is missing."""
    if is_missing(value):
        return missing
    return convert(value)


def _float(value: Any) -> float:
    """A number; a whole one that is too large is infinite, which is refused by column and row."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _plain(value: Any) -> Any:
    """Python's own number or text in the place of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    return value
