"""Words that people type: which known one was meant, and how messages show what was given."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100  # letters of a value in a message


def shown(value: object) -> str:
    """A value in a message: its ``repr``, on one line and not too long.

    >>> shown("a word"), shown(10**5000)
    ("'a word'", 'an int')
    """
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes out
        return "an int"
    line = re.sub(r"\s*\n\s*", " ", text)
    if len(line) > _LONGEST:
        return f"{line[:_LONGEST]}…"
    return line


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """A sentence with the known word that is nearest, or nothing where none is near.

    It begins with a space, so that it can stand between two other sentences.

    Parameters
    ----------
    word : object
        What was typed.
    known : iterable
        What there is.

    Examples
    --------
    >>> f"There is no 'sily-n'.{did_you_mean('sily-n', ['silly-n', 'ewc'])} See the list."
    "There is no 'sily-n'. Did you mean 'silly-n'? See the list."
    >>> did_you_mean("mnist", ["silly-n", "ewc"])
    ''
    """
    near = nearest(str(word), [str(option) for option in known])
    if near is None:
        return ""
    return f" Did you mean {near!r}?"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that another most likely misspells; None where none is near.

    >>> nearest("sily-n", ["silly-n", "ewc"])
    'silly-n'
    """
    near = get_close_matches(word, list(known), n=1)
    if not near:
        return None
    return near[0]
