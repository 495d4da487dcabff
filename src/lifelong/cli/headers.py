"""Whether the first line of a CSV file names its columns: decided once, from that line alone.

A wrong guess would shift every label by a row, or lose one, without a word. So nothing is guessed:
a line that could be either is an error that asks for ``--header yes`` or ``--header no``.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from lifelong.exceptions import DatasetError

_NO_NAMES = {"na", "n/a", "nan", "null", "none", "nil", "nat", "inf", "infinity", "true", "false"}
"""Words that stand for a value, most of them for a missing one: a row may begin with them."""


class Header(StrEnum):
    """What the user says about the first line."""

    YES = "yes"
    NO = "no"
    AUTO = "auto"


def read_header(
    first: Sequence[str], header: Header, known: Sequence[str] | None, path: Path
) -> list[str] | None:
    """The names in the first line of a file, or None if it is a row.

    Parameters
    ----------
    first : sequence of str
        The cells of the first line.
    header : Header
        With ``AUTO``, a line is a header if it has all names that the learner knows, or if every
        cell is a name of its own; it is a row if every cell is a number. Everything else is an
        error, and so is the line ``0,1,2,…``, which pandas writes over columns without names.
    known : sequence of str, optional
        The columns that the learner reads, where it knows their names.
    path : Path
        For messages.

    Returns
    -------
    list of str or None

    Raises
    ------
    DatasetError
        If the line could be either, or names a column twice.
    """
    if header == Header.NO:
        return None
    names = _names(first, known)
    if header == Header.YES or _has_all(names, known):
        return _distinct(names, path)
    if all(map(is_number, first)):
        if list(first) == [str(number) for number in range(len(first))]:
            raise DatasetError(
                f"{path} begins with {_shown(first)}, which may be a row or pandas' names of"
                " columns. Say which: --header yes or --header no."
            )
        return None
    odd = [cell for cell in first if not _is_name(cell)]
    if odd:
        raise DatasetError(
            f"{path} begins with a line that is neither a row of numbers nor a header:"
            f" {odd[0][:40]!r} is no name and not all cells are numbers. If it is a header, say"
            " --header yes; if it is a row, give a number in every cell."
        )
    return _distinct(names, path)


def is_number(cell: str) -> bool:
    """Whether a cell can be read as a number.

    >>> is_number("1e-3"), is_number("nan"), is_number("1,0"), is_number("")
    (True, True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_name(cell: str) -> bool:
    """Whether a cell can only be a name: it begins with a letter, and is no word for a value."""
    name = cell.strip()
    begins_well = name[:1].isalpha() or name[:1] == "_"
    return begins_well and name.isprintable() and name.casefold() not in _NO_NAMES


def _names(first: Sequence[str], known: Sequence[str] | None) -> list[str]:
    """The names without spaces around them, but where the learner knows such a name."""
    exact = set(known or ())
    return [cell if cell in exact else cell.strip() for cell in first]


def _has_all(names: Sequence[str], known: Sequence[str] | None) -> bool:
    return known is not None and set(known) <= set(names)


def _distinct(names: list[str], path: Path) -> list[str]:
    check_distinct(names, path)
    return names


def check_distinct(names: Sequence[str], path: Path) -> None:
    """Refuse a table that has two columns of one name: nobody knows which one is meant."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DatasetError(
            f"{path} has more than one column {twice[0]!r}. Rename or remove all but one."
        )


def _shown(first: Sequence[str]) -> str:
    return repr(",".join(first)[:40])
