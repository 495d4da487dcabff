"""SiLLy-N trained as its authors' code trains it: which of it explains the published levels?"""

from collections.abc import Mapping, Sequence
from typing import Any

from lifelong.experiments.catalogue.adversarial_labels import SHUFFLED
from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.settings import PLAIN, TINY
from lifelong.experiments.spec import Part

# Keras' batch norm has momentum .99 and eps 1e-3; a third of the in-bag rows stops the training.
_NORM = {"batch_norm": "keras"}
_STOPPING = {"patience": 5}
_ARMS: Mapping[str, Mapping[str, Any]] = {
    "silly-n": {},
    "silly-n, Keras' batch norm": _NORM,
    "silly-n, early stopping": _STOPPING,
    "silly-n, both": {**_NORM, **_STOPPING},
}
_SMALL = {"n_tasks": 2, "rows_per_class": 6, "test_rows_per_class": 3}


def _version(parts: Sequence[Part], repetitions: int, settings: Mapping[str, Any]) -> Version:
    arms = [
        learner("silly-n", settings, label, recipe={**settings["recipe"], **changed})
        for label, changed in _ARMS.items()
    ]
    return Version(tuple(parts), tuple(arms), repetitions, settings)


EXPERIMENT = Experiment(
    name="as-its-authors-train",
    of_paper="figures strip and cifar2, middle: the level of SiLLy-N",
    question="Does the authors' way of training explain the published levels of SiLLy-N?",
    full=_version(
        [
            Part("CIFAR 10×10", "cifar-10x10"),
            Part("spoken digit", "spoken-digit"),
            SHUFFLED,
        ],
        3,
        PLAIN,
    ),
    smoke=_version([Part("CIFAR 10×10", "cifar-10x10", _SMALL)], 1, TINY),
    figures=(STRIP, MATRICES),
)
