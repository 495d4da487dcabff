"""Not in the paper: how much is what was learnt, and how much is how it is read?"""

from collections.abc import Mapping, Sequence
from typing import Any

from lifelong.experiments.catalogue.entry import STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.settings import SHORT, TINY
from lifelong.experiments.registry import entry_of
from lifelong.experiments.spec import Part

_SMALL = {"n_tasks": 2, "rows_per_class": 4, "test_rows_per_class": 3}
_WANTED = ("single", "model-zoo", "total-replay", "prognn", "joint")
_REPRESENTATIONS = tuple(name for name in _WANTED if entry_of(name) is not None)


_FOUR = {"n_tasks": 4}
_PARTS = (
    Part("spoken digit, 4 speakers", "spoken-digit", _FOUR),
    Part("CIFAR, 4 tasks", "cifar-10x10", _FOUR),
)


def _version(parts: Sequence[Part], repetitions: int, settings: Mapping[str, Any]) -> Version:
    """Every representation, read by its softmax and by our ridge channel; ours, with and
    without networks that tasks share, has only the latter: the softmax of a task's own network
    is that of ``single``.
    """
    grid = [
        learner(name, settings, f"{name}, {readout}", readout=readout)
        for name in _REPRESENTATIONS
        for readout in ("softmax", "ridge")
    ]
    ours = learner("silly-n-best", settings, "ours, ridge")
    shared = learner("silly-n-shared", settings, "ours shared, ridge")
    return Version(tuple(parts), (ours, shared, *grid), repetitions, settings)


EXPERIMENT = Experiment(
    name="read-out",
    of_paper="none: our own learner",
    question="How much of an accuracy is what was learnt, and how much is how it is read?",
    full=_version(_PARTS, 5, SHORT),
    smoke=_version([Part("CIFAR 10×10", "cifar-10x10", _SMALL)], 1, TINY),
    figures=(STRIP,),
)
