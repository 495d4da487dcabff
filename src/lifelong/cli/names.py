"""Labels and tasks in a file: the same word is the same name in every file and in every batch.

A file does not say whether ``1`` is a number or text. Beside ``2`` and ``3b`` it would be text, and
in the next file, beside ``2`` alone, a number: another class, or another task. So these columns are
read as text, and words become names here: those that the model knows first.
"""

import re
from collections.abc import Collection, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifelong._words import did_you_mean
from lifelong.exceptions import DatasetError, InputError
from lifelong.rows import Texts
from lifelong.rows.files import labels_of
from lifelong.rows.table import is_there
from lifelong.rows.written import TRUTH

if TYPE_CHECKING:
    from lifelong.rows import Table

_SHOWN = 30
_FEW = 5
_WHOLE = re.compile(r"([+-]?(?:0|[1-9]\d*))(?:\.0*)?")


def column_of(table: "Table", name: str, what: str, file: Path) -> Any:
    """A column of a file, or an error that says which there are."""
    try:
        return table.column(name, what)
    except InputError:
        hint = did_you_mean(name, table.columns)
        names = ", ".join(map(repr, list(table.columns)[:_SHOWN]))
        raise DatasetError(f"{file} has no {what} {name!r}.{hint} Columns: {names}.") from None


def check_filled(values: Any, what_is: str, file: Path, first: int = 1) -> None:
    """Refuse missing entries; say how many there are, and where.

    Parameters
    ----------
    values : column of a table
    what_is : str
        What the message says before the number of rows, such as "task column 'site' is empty".
    file : Path
    first : int, default 1
        The number of the first row.
    """
    missing = np.flatnonzero(~is_there(values)) + first
    if not len(missing):
        return
    some = ", ".join(map(str, missing[:_FEW].tolist()))
    if len(missing) > _FEW:
        some += ", …"
    raise DatasetError(
        f"{file}: the {what_is} in {len(missing)} rows ({some}). Fill it in, or leave"
        " these rows out."
    )


def names_of(
    values: Any, known: Collection[Hashable], *, is_boolean: bool = False, truths: bool = False
) -> Texts:
    """The names that a column of words means.

    Parameters
    ----------
    values : column of a table
        From CSV as text; other files say themselves what is a number.
    known : collection
        The names that the model knows. A word that means one of them is that one.
    is_boolean : bool, default False
        Whether the numbers in it are true and false.
    truths : bool, default False
        Whether names may be true and false; tasks may not.

    Examples
    --------
    >>> words = Texts(np.array([0, 1], np.int32), ["1", "2"])
    >>> names_of(words, []).values, names_of(words, ["1", "3b"]).values
    ([1, 2], ['1', '2'])
    """
    words = _words_of(values, is_boolean)
    by_word = {_word_of(name): name for name in known}
    meant = {word: _known_name(word, by_word) for word in words.values}
    new = [word for word in words.values if meant[word] is None]
    meant.update(zip(new, _new_names(new, known, truths=truths), strict=True))
    code: dict[Any, int] = {}
    place = [code.setdefault(meant[word], len(code)) for word in words.values]
    return Texts(np.array([*place, -1], dtype=np.int32)[words.codes], list(code))


def check_no_fractions(names: Texts, known: Collection[Hashable], what: str, file: Path) -> None:
    """Refuse labels that are measurements: every number would be a class."""
    new = [name for name in names.values if name not in known]
    numbers = [_fraction(name) for name in new]
    if None in numbers or all(number == int(number) for number in numbers):  # type: ignore
        return
    some = next(name for name in new if _fraction(name) != int(float(name)))
    raise DatasetError(
        f"{file}: the {what} holds fractions, such as {some}. To predict numbers: --target number."
    )


def _words_of(values: Any, is_boolean: bool) -> Texts:
    if isinstance(values, Texts):
        return Texts(values.codes, [str(value) for value in values.values])
    labels = labels_of(values)
    if is_boolean:
        labels = [None if label is None else bool(label) for label in labels]
    code: dict[str, int] = {}
    codes = [-1 if label is None else code.setdefault(str(label), len(code)) for label in labels]
    return Texts(np.array(codes, dtype=np.int32), list(code))


def _word_of(name: Any) -> str:
    if isinstance(name, float) and name.is_integer():
        return str(int(name))
    return str(name)


def _known_name(word: str, by_word: dict[str, Any]) -> Any:
    """The known name that a word means; None if there is none."""
    if word in by_word:
        return by_word[word]
    if word in TRUTH:
        return by_word.get(str(TRUTH[word]))
    whole = _whole(word)
    if whole is None:
        return None
    return by_word.get(str(whole))


def _new_names(words: list[str], known: Collection[Hashable], *, truths: bool) -> list[Any]:
    """What new words are: numbers beside numbers, text beside text."""
    if any(isinstance(name, str) for name in known):
        return list(words)
    numbers = [_whole(word) for word in words]
    if truths and not known and all(word in TRUTH for word in words):
        return [TRUTH[word] for word in words]
    if not known and None in numbers:
        return list(words)
    return [word if number is None else number for word, number in zip(words, numbers, strict=True)]


def _whole(word: str) -> int | None:
    """The whole number that a word is; ``007`` is none, as its zeros mean something."""
    found = _WHOLE.fullmatch(word.strip())
    if found is None:
        return None
    return int(found[1])


def _fraction(name: Any) -> float | None:
    """A finite number; None if it is none."""
    try:
        number = float(name)
    except ValueError:
        return None
    if not np.isfinite(number):
        return None
    return number
