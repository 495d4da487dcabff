"""Notes on objects: what has been saved already, and what was found out about it.

Knowledge is replaced and never changed, so an object is saved once. Notes are kept by identity and
vanish with their object. Those of ``note`` say in which files a value is, whatever directory those
files are in; a writer still looks whether its own directory has them.
"""

import weakref
from typing import Any


class _Noted(weakref.ref[Any]):
    """An object that there is a note on; smaller than a function for each that knows its key."""

    __slots__ = ("key", "what")
    key: int
    what: Any


class Notes:
    """One note per object, for as long as that lives."""

    def __init__(self) -> None:
        self._notes: dict[int, _Noted] = {}
        self._gone = self._drop  # one bound method for all

    def __setitem__(self, value: Any, what: Any) -> None:
        """Remember something about an object (some, like tuples, are not remembered)."""
        if type(value).__weakrefoffset__ == 0:
            return
        reference = _Noted(value, self._gone)
        reference.key = id(value)
        reference.what = what
        self._notes[reference.key] = reference

    def get(self, value: Any) -> Any:
        """What was noted about this very object, or None."""
        found = self._notes.get(id(value))
        if found is None or found() is not value:
            return None
        return found.what

    def _drop(self, gone: weakref.ref[Any]) -> None:
        key = getattr(gone, "key", 0)
        if self._notes.get(key) is gone:  # else another object has the number by now
            del self._notes[key]


_SAVED = Notes()


def note(value: Any, what: Any) -> None:
    """Remember where an object is saved."""
    _SAVED[value] = what


def noted(value: Any) -> Any:
    """What was noted about this very object, or None."""
    return _SAVED.get(value)
