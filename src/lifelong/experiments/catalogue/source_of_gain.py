"""Not in the paper: is it other tasks that help, or merely more encoders?"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.settings import SHORT, TINY
from lifelong.experiments.spec import LearnerSpec, Part

ARMS = {
    "alone": "own alone",
    "untrained": "own + untrained",
    "shuffled": "own + shuffled labels",
    "own": "own ensemble",
    "tasks": "own + other tasks",
    "shared": "own + shared",
}
"""Arms of :class:`~lifelong.references.companions.Companions`, and what tables call them."""

# In the arm "shared" the number of networks that are trained grows with the cube of the tasks.
_FOUR = {"n_tasks": 4}
_SMALL = {"n_tasks": 2, "rows_per_class": 4, "test_rows_per_class": 3}
_SMALL_TABLES = {"n_tasks": 2, "rows_per_task": 24, "test_rows_per_task": 30}
_FIFTY = {"rows_per_task": 50, "test_rows_per_task": 200}  # as in the experiment "tables"

_IMAGES = (
    Part("spoken digit, 4 speakers", "spoken-digit"),
    Part("CIFAR, 4 tasks", "cifar-10x10"),
)
_TABLES = (
    Part("vowels, 4 speakers", "tables-vowel", _FIFTY),
    Part("reviews, 4 kinds of goods", "tables-amazon", _FIFTY),
    Part("tabular CIFAR, 4 tasks", "tabular-cifar"),
)


def _arms(kind: str, name: str, settings: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    return tuple(learner(name, settings, f"{kind}: {what}", arm=arm) for arm, what in ARMS.items())


def _part(part: Part, options: Mapping[str, Any], without: tuple[LearnerSpec, ...]) -> Part:
    labels = tuple(spec.label for spec in without)
    return replace(part, options={**part.options, **options}, without=labels)


def _full() -> Version:
    """Networks on images and sound, forests on tables."""
    networks = _arms("networks", "companions-n", SHORT)
    forests = _arms("forests", "companions-f", {})
    images = [_part(part, _FOUR, forests) for part in _IMAGES]
    tables = [_part(part, _FOUR, networks) for part in _TABLES]
    return Version((*images, *tables), (*networks, *forests), 5, SHORT)


def _smoke() -> Version:
    networks = _arms("networks", "companions-n", TINY)
    forests = _arms("forests", "companions-f", {})
    parts = (
        _part(_IMAGES[0], _SMALL, forests),
        _part(_IMAGES[1], _SMALL, forests),
        _part(_TABLES[0], _SMALL_TABLES, networks),
        _part(_TABLES[2], _SMALL, networks),
    )
    return Version(parts, (*networks, *forests), 1, TINY)


EXPERIMENT = Experiment(
    name="source-of-gain",
    of_paper="none: our own learner",
    question="Is it other tasks that help, or merely more encoders?",
    full=_full(),
    smoke=_smoke(),
    figures=(STRIP, MATRICES),
)
