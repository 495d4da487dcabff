"""Notes on objects: what has been saved already, and what was found out about it.

Knowledge is replaced and never changed, so an object is saved once. Notes are kept by identity and
vanish with their object. Those of ``note`` say in which files a value is, whatever directory those
files are in; a writer still looks whether its own directory has them.
"""

import weakref
from typing import Any


class Notes:
    """One note per object, for as long as that lives."""

    def __init__(self) -> None:
        self._notes: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def __setitem__(self, value: Any, what: Any) -> None:
        """Remember something about an object (some, like tuples, are not remembered)."""
        if type(value).__weakrefoffset__ == 0:
            return
        key = id(value)
        notes = self._notes
        notes[key] = (weakref.ref(value, lambda _: notes.pop(key, None)), what)

    def get(self, value: Any) -> Any:
        """What was noted about this very object, or None."""
        found = self._notes.get(id(value))
        if found is None or found[0]() is not value:
            return None
        return found[1]


_SAVED = Notes()


def note(value: Any, what: Any) -> None:
    """Remember where an object is saved."""
    _SAVED[value] = what


def noted(value: Any) -> Any:
    """What was noted about this very object, or None."""
    return _SAVED.get(value)
