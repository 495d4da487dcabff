"""A disk that fails at one chosen moment: every call that changes something on the disk
is counted.
"""

import errno
import os
from contextlib import contextmanager
from typing import Any

from lifelong import _files
from lifelong.persistence import directory

CHANGES = ("open", "write", "fsync", "replace", "unlink", "close")


PLACES = (directory, _files)  # who writes


class Patched:
    """``os``, but for the calls that a subclass has of its own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    @contextmanager
    def installed(self):
        """Inside the block, this is the disk."""
        for place in PLACES:
            place.os = self  # type: ignore[assignment, attr-defined]
        try:
            yield self
        finally:
            for place in PLACES:
                place.os = os  # type: ignore[attr-defined]


class FailingDisk(Patched):
    """``os``, whose call number ``position`` (of those that change something) fails; writes fail
    half way.
    """

    def __init__(self, position: int, code: int) -> None:
        self.position, self.code, self.calls, self.failed = position, code, 0, ""

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGES:
            return real

        def call(*arguments: Any, **keywords: Any) -> Any:
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY):
                return real(*arguments, **keywords)
            if name == "close":
                return real(*arguments, **keywords)
            self.calls += 1
            if self.calls - 1 == self.position:
                self.failed = name
                if name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise OSError(self.code, os.strerror(self.code))
            return real(*arguments, **keywords)

        return call


@contextmanager
def failing(position: int, code: int = errno.ENOSPC):
    """Inside the block, the disk fails once."""
    with FailingDisk(position, code).installed() as disk:
        yield disk
