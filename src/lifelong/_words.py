"""Words that people type: which known one was meant."""

from collections.abc import Iterable
from difflib import get_close_matches


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
    near = get_close_matches(str(word), [str(option) for option in known], n=1)
    if not near:
        return ""
    return f" Did you mean {near[0]!r}?"
