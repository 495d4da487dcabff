"""Figure forest_voter: how many trees a channel needs."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.settings import PLAIN, TINY
from lifelong.experiments.spec import FigureSpec, Part


def _version(
    part: Part, counts: tuple[int, ...], repetitions: int, settings: Mapping[str, Any]
) -> Version:
    grown = [
        learner("silly-n", settings, f"silly-n, {n} trees", at=n, trees_per_channel=n)
        for n in counts
    ]
    return Version((part,), tuple(grown), repetitions, settings)


_OVER = {"over": "trees per channel"}

EXPERIMENT = Experiment(
    name="ablation-trees",
    of_paper="figure forest_voter",
    question="How many trees does a channel need?",
    full=_version(Part("CIFAR 10×10", "cifar-10x10"), (5, 10, 20, 40, 80), 3, PLAIN),
    smoke=_version(
        Part(
            "CIFAR 10×10",
            "cifar-10x10",
            {"n_tasks": 2, "rows_per_class": 5, "test_rows_per_class": 3},
        ),
        (2, 5),
        1,
        TINY,
    ),
    figures=(
        FigureSpec("learner-curve", {"statistic": "accuracy", **_OVER}),
        FigureSpec("learner-curve", {"statistic": "transfer", **_OVER}),
        STRIP,
        MATRICES,
    ),
)
