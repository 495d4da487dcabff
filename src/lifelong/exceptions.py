"""Every error this library raises on purpose.

::

    LifelongError
    ├── InputError            (ValueError)      rows or labels that cannot be learnt from
    │   └── InputTypeError    (TypeError)       ... because of their type
    ├── ParameterError        (ValueError)      a constructor argument out of its range
    │   └── ParameterTypeError (TypeError)      ... or one that does not exist
    ├── DatasetError          (ValueError)      raw files missing, damaged or not as they should be
    ├── PersistenceError      (ValueError)      a save that fails, or is damaged, newer or hostile
    ├── UnknownTaskError      (LookupError)     a task nobody has taught the learner
    ├── NotLearntError        (NotFittedError)  asked before any task was learnt
    ├── UnsupportedError      (NotImplementedError)  what this learner or channel cannot do
    ├── EngineError           (RuntimeError)    a cluster unreachable, unlike this machine, or lost
    └── MissingExtraError     (ImportError)     an optional dependency is not installed

``InputWarning`` is a warning (``UserWarning``): the call goes on, and labels or rows may not be
what they were meant to be.

A message says what was wrong, what exists, and what to do; the errors that a new user meets also
link to the page that helps: ``InputError("…", see="my-data")`` ends in "See " and its address.
"""

from sklearn.exceptions import NotFittedError

DOCUMENTATION = "https://lifelong.readthedocs.io/en/latest"


class LifelongError(Exception):
    """Base of all errors of this library: catch this one to catch them all."""

    def __init__(self, message: str = "", *, see: str | None = None) -> None:
        if see is not None:
            # No full stop at the end: it would become a part of the address.
            message = f"{message.rstrip()} See {DOCUMENTATION}/{see}.html"
        super().__init__(message)


class InputError(LifelongError, ValueError):
    """Rows or labels that cannot be learnt from."""


class InputTypeError(InputError, TypeError):
    """Rows or labels of a type that cannot be learnt from."""


class ParameterError(LifelongError, ValueError):
    """A parameter out of its range."""


class ParameterTypeError(ParameterError, TypeError):
    """A parameter that does not exist, or is of a type that cannot be used."""


class InputWarning(UserWarning):
    """Rows or labels that can be learnt from, and may not be what they were meant to be."""


class DatasetError(LifelongError, ValueError):
    """Raw files of a dataset that are missing, damaged or not what they should be; the message
    names the file.
    """


class PersistenceError(LifelongError, ValueError):
    """A learner that cannot be saved or loaded: no space, damaged, too new, hostile, or in use."""


class UnknownTaskError(LifelongError, LookupError):
    """A task that the learner (or the stream) does not know."""


class NotLearntError(LifelongError, NotFittedError):
    """The learner was asked before it learnt its first task."""


class UnsupportedError(LifelongError, NotImplementedError):
    """Something this kind of learner, encoder or channel cannot do; the message says which can."""


class EngineError(LifelongError, RuntimeError):
    """A cluster that cannot be reached, has other versions than this machine, or was lost."""


class MissingExtraError(LifelongError, ImportError):
    """An optional dependency is not installed."""
