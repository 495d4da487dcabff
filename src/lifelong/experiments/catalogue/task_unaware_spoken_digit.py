"""Who speaks, and which digit: six speakers are six tasks, and nobody says who is speaking."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import Experiment, Version, learner, learners
from lifelong.experiments.catalogue.settings import OWN, TINY
from lifelong.experiments.spec import Part

_SHORT = {"recipe": {"epochs": 10, "batch_size": 32, "lr": 1e-3}}
_SMALL = {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 5}
_FEW = {"n_features": 200}
_OTHERS = ("er", "lwf", "randumb", "ranpac", "nearest-mean", "chance")


def version_of(
    part: Part, repetitions: int, *, memory: int, width: float = 0.5, smoke: bool = False
) -> Version:
    """Ours, both channels, four references, two controls; ER has ``memory`` rows, 1 per class."""
    settings: Mapping[str, Any] = {"width": width, **_SHORT}
    own: dict[str, Mapping[str, Any]] = {
        "lwf": OWN["lwf"],
        "er": {**OWN["er"], "capacity": memory},
    }
    if smoke:
        settings = TINY
        own = {"er": {"capacity": memory}, "randumb": _FEW, "ranpac": _FEW}
    ridge = learner("silly-n", settings, "silly-n+ridge", channel="ridge")
    ours = (*learners(("silly-n", "silly-f"), settings), ridge)
    return Version((part,), (*ours, *learners(_OTHERS, settings, own)), repetitions, settings, own)


EXPERIMENT = Experiment(
    name="task-unaware-spoken-digit",
    of_paper="future work",
    question="Who speaks, and which digit, if nobody says whose recordings to compare with?",
    full=version_of(Part("spoken digit", "spoken-digit", unaware=True), 3, memory=60),
    smoke=version_of(
        Part("spoken digit", "spoken-digit", _SMALL, unaware=True), 1, memory=15, smoke=True
    ),
)
