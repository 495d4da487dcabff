"""Cells as they are written in files: which numbers, truths and texts they mean."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.rows.table import Texts, Values

MISSING = frozenset(
    ["", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "n/a", "NaT"]
)
"""Cells that hold no value."""

TRUTH = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}
"""Cells that are true or false."""

_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


def values_of(
    cells: Sequence[str],
    *,
    is_text: bool = False,
    is_number: bool = False,
    decimal_comma: bool = False,
) -> tuple[Values, bool]:
    """The values of a column of cells, and whether they are true and false.

    Parameters
    ----------
    cells : sequence of str
    is_text : bool, default False
        Whether they are text, whatever they look like.
    is_number : bool, default False
        Whether they should be numbers: then those that are stay numbers beside those that are not,
        so that whoever refuses the others can say which.
    decimal_comma : bool, default False
        Whether ``1,5`` is a number: where cells are not separated by commas, and no cell of the
        column has a point.

    Examples
    --------
    >>> values_of(["1", "", "2.5"])[0]
    array([1. , nan, 2.5])
    >>> values_of(["f", "m", "f"])[0].values
    ['f', 'm']
    >>> values_of(["1,5", "2"], decimal_comma=True)[0]
    array([1.5, 2. ])
    """
    if is_text:
        return _texts(cells, {}), False
    numbers = _numbers(cells)
    if numbers is None and decimal_comma and not any("." in cell for cell in cells):
        numbers = _numbers([_with_point(cell) for cell in cells])
    if numbers is not None:
        return numbers, False
    distinct = set(cells) - MISSING
    if distinct <= set(TRUTH):
        return np.array([TRUTH.get(cell, np.nan) for cell in cells], dtype=np.float64), True
    known: dict[str, Any] = {}
    if is_number:
        if decimal_comma:
            cells = [_with_point(cell) for cell in cells]
        known = {cell: _number_or_text(cell) for cell in set(cells) - MISSING}
    return _texts(cells, known), False


def _numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """The cells as numbers; None if one is none."""
    try:
        return np.array([_number(cell) for cell in cells])
    except ValueError:
        return None


def _number(cell: str) -> float:
    if cell in MISSING:
        return np.nan
    if "_" in cell:  # Python would take 1_000 for a number
        raise ValueError(cell)
    return float(cell)


def _with_point(cell: str) -> str:
    if _WITH_COMMA.fullmatch(cell.strip()):
        return cell.replace(",", ".")
    return cell


def _number_or_text(cell: str) -> Any:
    if cell in TRUTH:
        return float(TRUTH[cell])
    try:
        return _number(cell)
    except ValueError:
        return cell


def _texts(cells: Sequence[str], values: dict[str, Any]) -> Texts:
    """Each different cell once, as what ``values`` has for it, or as it is."""
    code: dict[Any, int] = {}
    codes = [
        -1 if cell in MISSING else code.setdefault(values.get(cell, cell), len(code))
        for cell in cells
    ]
    return Texts(np.array(codes, dtype=np.int32), list(code))
