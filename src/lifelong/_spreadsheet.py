"""Cells of CSV files that spreadsheets open."""

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(value: Any) -> Any:
    """A value for a CSV file that no spreadsheet takes for a formula.

    Labels and names come from anywhere, and a spreadsheet runs a text such as ``=cmd()``. Such a
    text gets an apostrophe before it, which spreadsheets read as "this is text". Numbers stay as
    they are, also those that are written as text.

    Parameters
    ----------
    value : object
        Text, or whatever else a cell holds.

    Returns
    -------
    object
        The same value, or text with an apostrophe before it.

    Examples
    --------
    >>> safe_cell("=cmd()"), safe_cell("-1.5"), safe_cell(-1), safe_cell("yes")
    ("'=cmd()", '-1.5', -1, 'yes')
    """
    text = str(value)
    if not text.lstrip().startswith(_FORMULA) and not text.startswith(_FORMULA):
        return value
    if _is_number(text):
        return value
    return f"'{text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
