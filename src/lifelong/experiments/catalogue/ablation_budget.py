"""Figure ablation, top: four encoders, layers four times narrower, and references of constant size.

The references are those of cifar-10x10, to the last setting: ``--reuse`` takes their rows over.
"""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import Experiment, Version, learner, learners
from lifelong.experiments.catalogue.settings import OWN, PLAIN, TINY
from lifelong.experiments.spec import Part

_CONSTANT = (
    "none",
    "ewc",
    "o-ewc",
    "si",
    "lwf",
    "total-replay",
    "partial-replay",
    "er",
    "a-gem",
    "tag",
    "coscl",
)


def _version(
    part: Part,
    names: tuple[str, ...],
    repetitions: int,
    settings: Mapping[str, Any],
    own: Mapping[str, Mapping[str, Any]],
) -> Version:
    narrow = learner("silly-n-4", settings, width=0.25)
    return Version((part,), (narrow, *learners(names, settings, own)), repetitions, settings, own)


EXPERIMENT = Experiment(
    name="ablation-budget",
    of_paper="figure ablation, top",
    question="Does SiLLy-N still transfer with no more parameters than learners of constant size?",
    full=_version(Part("CIFAR 10×10", "cifar-10x10"), (*_CONSTANT, "single"), 3, PLAIN, OWN),
    smoke=_version(
        Part(
            "CIFAR 10×10",
            "cifar-10x10",
            {"n_tasks": 5, "rows_per_class": 4, "test_rows_per_class": 3},
        ),
        ("none", "lwf"),
        1,
        TINY,
        {},
    ),
    published={
        "silly-n-4": {"accuracy": 0.283, "forward_transfer": 0.046, "backward_transfer": 0.011}
    },
)
