"""What has been saved already: knowledge is replaced and never changed, so an object is saved once.

Notes are kept by identity and vanish with their object. They say in which files a value is,
whatever directory those files are in; a writer still looks whether its own directory has them.
"""

import weakref
from typing import Any

_NOTES: dict[int, tuple["weakref.ref[Any]", Any]] = {}


def note(value: Any, what: Any) -> None:
    """Remember something about an object, for as long as it lives (some, like tuples, are not)."""
    if type(value).__weakrefoffset__ == 0:
        return
    key = id(value)
    _NOTES[key] = (weakref.ref(value, lambda _: _NOTES.pop(key, None)), what)


def noted(value: Any) -> Any:
    """What was noted about this very object, or None."""
    found = _NOTES.get(id(value))
    if found is None or found[0]() is not value:
        return None
    return found[1]
