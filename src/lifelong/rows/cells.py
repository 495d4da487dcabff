"""One value of a column: whether it is missing, and whether it is a number."""

from decimal import Decimal
from typing import Any

import numpy as np


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
