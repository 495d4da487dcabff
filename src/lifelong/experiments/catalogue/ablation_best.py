"""Not in the paper: what each part of our most accurate learner brings, one part at a time."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.settings import PLAIN, STRONG, TINY
from lifelong.experiments.spec import Part

# Batch norms see the rows, weights stay as they were drawn: what is left is the readout of random
# convolutions.
_UNTRAINED = {"recipe": {"iterations": 100, "batch_size": 64, "lr": 1e-9, "augment": True}}


def _version(
    part: Part, repetitions: int, settings: Mapping[str, Any], strong: Mapping[str, Any]
) -> Version:
    plainer = {**strong, "recipe": {**strong["recipe"], "augment": False}}
    ladder = (
        learner("single", settings),
        learner("silly-n", settings, "the paper"),
        learner("silly-n", settings, "ridge channel", channel="ridge"),
        learner("silly-n", settings, "ridge, 85 % of rows", channel="ridge", max_samples=0.85),
        learner("silly-n-best", settings, "middle layers"),
        learner("silly-n-best", settings, "middle layers, equal weights", ridge_weights="equal"),
        learner("silly-n-best", settings, "middle layers, none judges", max_samples=1.0),
        learner("silly-n-best", settings, "middle layers, two networks", n_networks=2),
        learner("silly-n-best", strong, "strong recipe"),
        learner("silly-n-best", plainer, "strong, no augmentation"),
        learner("silly-n-best", {**strong, **_UNTRAINED}, "strong, untrained"),
        learner("silly-n-best", strong, "strong, first 4 encoders", budget=4),
        learner("silly-n-best", strong, "strong, 4 most useful", budget=4, keep="useful"),
        learner("single", strong, "single, strong recipe"),
    )
    return Version((part,), ladder, repetitions, settings)


EXPERIMENT = Experiment(
    name="ablation-best",
    of_paper="none: our own learner",
    question="What does each part of our most accurate learner bring?",
    full=_version(Part("CIFAR 10×10", "cifar-10x10"), 3, PLAIN, STRONG),
    smoke=_version(
        Part(
            "CIFAR 10×10",
            "cifar-10x10",
            {"n_tasks": 2, "rows_per_class": 4, "test_rows_per_class": 3},
        ),
        1,
        TINY,
        TINY,
    ),
    figures=(STRIP, MATRICES),
)
