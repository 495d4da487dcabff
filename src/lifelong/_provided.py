"""What a lower layer needs of a higher one, handed down by the package.

``lifelong/__init__.py`` knows every room and says here where a thing is found. A lower layer asks
for it by what it is for, never by where it lives: imports go one way.
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}


def provide(purpose: str, home: str) -> None:
    """Say where the thing for a purpose is: ``"module:name"``. It is imported when it is needed."""
    _HOMES[purpose] = home


def provided(purpose: str) -> Any:
    """The thing for a purpose."""
    return found_at(_HOMES[purpose])


def found_at(home: str) -> Any:
    """The thing at ``"module:name"``, imported when it is needed; the text is always our own."""
    module, name = home.split(":")
    return getattr(import_module(module), name)
