"""Dates: read from text, and as the numbers that matter."""

import re
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.rows.table import Texts

MOMENTS = "datetime64[us]"
"""Of all dates: nanoseconds end in the year 2262, and 9999-12-31 means "never"."""

DATE_PARTS = ("year", "month", "day", "weekday", "hour", "elapsed")
"""What becomes of a date; ``elapsed`` are days since 1970."""

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?"
)


def moment(value: Any) -> np.datetime64:
    """A date or a time; one that knows its time zone in UTC."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def dates_in(texts: Texts) -> NDArray[Any] | None:
    """The dates (n,) that texts hold, if all of them are written as ISO 8601 has it; else None.

    >>> texts = Texts(np.array([0, -1], np.int32), ["2013-03-01 06:00:00"])
    >>> dates_in(texts).astype("datetime64[h]")
    array(['2013-03-01T06', 'NaT'], dtype='datetime64[h]')
    """
    if not texts.values:
        return None
    parsed = np.full(len(texts.values) + 1, np.datetime64("NaT"), dtype=MOMENTS)
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
        return moment(datetime.fromisoformat(text))
    except (ValueError, OverflowError):  # the first and the last day of all, in another time zone
        return None


def date_parts(dates: NDArray[Any]) -> NDArray[np.float32]:
    """Year, month, day, weekday (0: Monday), hour with its fraction, days since 1970: (n, 6).

    >>> date_parts(np.array(["1970-01-02T12:00", "NaT"], "datetime64[us]")).tolist()
    [[1970.0, 1.0, 2.0, 4.0, 12.0, 1.5], [nan, nan, nan, nan, nan, nan]]
    """
    years = dates.astype("datetime64[Y]")
    months = dates.astype("datetime64[M]")
    days = dates.astype("datetime64[D]")
    microseconds = (dates.astype("datetime64[us]") - days).astype(np.float64)
    elapsed = days.astype(np.float64)
    parts = np.stack(
        [
            years.astype(np.float64) + 1970,
            (months - years).astype(np.float64) + 1,
            (days - months).astype(np.float64) + 1,
            (elapsed + 3) % 7,  # the first of January 1970 was a Thursday
            microseconds / 3.6e9,
            elapsed + microseconds / 8.64e10,
        ],
        axis=1,
    )
    parts[np.isnat(dates)] = np.nan
    return parts.astype(np.float32)
