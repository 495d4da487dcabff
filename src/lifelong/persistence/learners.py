"""Which learners can be saved: the one table between names in a file and classes."""

from collections.abc import Mapping

from lifelong.learners import (
    Learner,
    LifelongClassifier,
    LifelongRegressor,
    Silly,
    SillyForest,
    SillyNetwork,
)
from lifelong.persistence.text import Json, Unfit
from lifelong.references import BOUNDS, CONTROLS, REFERENCES

_REFERENCES = {
    entry.learner: entry for table in (REFERENCES, CONTROLS, BOUNDS) for entry in table.values()
}
_OURS: Mapping[str, type[Learner]] = {
    "Silly": Silly,
    "SillyForest": SillyForest,
    "SillyNetwork": SillyNetwork,
    "LifelongClassifier": LifelongClassifier,
    "LifelongRegressor": LifelongRegressor,
}


def learner_class(name: Json) -> type[Learner]:
    """The class that a manifest means."""
    if isinstance(name, str) and name in _OURS:
        return _OURS[name]
    if isinstance(name, str) and name in _REFERENCES:
        found: type[Learner] = _REFERENCES[name].learner_class()
        return found
    known = ", ".join([*_OURS, *_REFERENCES])
    raise Unfit(f"there is no learner called {str(name)[:40]!r}; known: {known}")


def name_of(learner: Learner) -> str:
    """The name of a learner's class in a manifest."""
    name = type(learner).__name__
    known = name in _OURS or name in _REFERENCES
    if not known or learner_class(name) is not type(learner):
        raise Unfit(f"only the library's own learners can be saved, and {name} is yours")
    return name
