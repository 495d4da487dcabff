"""One value of a column: whether it is missing, whether it is a number, and what is wrong in it."""

from decimal import Decimal
from typing import Any

import numpy as np

from lifelong.exceptions import InputError

PAGE = "my-data"


class CellError(InputError):
    """One value is wrong. It says in which row, for those who count rows in another way.

    Parameters
    ----------
    before : str
        What the message says before the row.
    row : int
        Counted from 0, as Python does.
    after : str
        What it says right after it.

    Examples
    --------
    >>> wrong = CellError("Column 'age' holds numbers, and", 7, " has text: 'old'.")
    >>> wrong.counted_from(1)
    "Column 'age' holds numbers, and row 8 has text: 'old'."
    """

    def __init__(self, before: str, row: int, after: str) -> None:
        self.before = before
        self.row = row
        self.after = after
        super().__init__(self.counted_from(0), see=PAGE)

    def __reduce__(self) -> Any:
        return type(self), (self.before, self.row, self.after)

    def counted_from(self, first: int) -> str:
        """The message, where the first row has another number than 0."""
        return f"{self.before} row {self.row + first}{self.after}"


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and value != value


def is_number(value: Any) -> bool:
    """A real number; true and false are none."""
    if isinstance(value, bool | complex | np.complexfloating):
        return False
    return isinstance(value, int | float | Decimal | np.number)
