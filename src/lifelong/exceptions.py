"""Every error this library raises on purpose.

::

    LifelongError
    ├── InputError            (ValueError)      rows or labels that cannot be learnt from
    │   └── InputTypeError    (TypeError)       ... because of their type
    ├── ParameterError        (ValueError)      a constructor argument out of its range
    ├── DatasetError          (ValueError)      raw files that are missing, damaged or not what they should be
    ├── UnknownTaskError      (LookupError)     a task nobody has taught the learner
    ├── NotLearntError        (NotFittedError)  asked before any task was learnt
    └── MissingExtraError     (ImportError)     an optional dependency is not installed

A message says what was wrong, what exists, and what to do.
"""

from sklearn.exceptions import NotFittedError


class LifelongError(Exception):
    """Base of all errors of this library: catch this one to catch them all."""


class InputError(LifelongError, ValueError):
    """Rows or labels that cannot be learnt from."""


class InputTypeError(InputError, TypeError):
    """Rows or labels of a type that cannot be learnt from."""


class ParameterError(LifelongError, ValueError):
    """A parameter out of its range."""


class DatasetError(LifelongError, ValueError):
    """Raw files of a dataset that are missing, damaged or not what they should be; the message names the file."""


class UnknownTaskError(LifelongError, LookupError):
    """A task that the learner (or the stream) does not know."""


class NotLearntError(LifelongError, NotFittedError):
    """The learner was asked before it learnt its first task."""


class MissingExtraError(LifelongError, ImportError):
    """An optional dependency is not installed."""
