"""Figure ablation, bottom: which share of old rows must be kept."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.settings import PLAIN, TINY
from lifelong.experiments.spec import FigureSpec, Part


def _version(
    part: Part, shares: tuple[float, ...], repetitions: int, settings: Mapping[str, Any]
) -> Version:
    kept = [
        learner(name, settings, f"{name}, {share:.0%}", at=100 * share, replay=share)
        for name in ("silly-n", "silly-f")
        for share in shares
    ]
    return Version((part,), tuple(kept), repetitions, settings)


_OVER = {"over": "% of old rows kept"}

EXPERIMENT = Experiment(
    name="ablation-replay",
    of_paper="figure ablation, bottom",
    question="How many old rows must be kept for old tasks to profit from new ones?",
    full=_version(Part("CIFAR 10×10", "cifar-10x10"), (0.0, 0.4, 0.6, 0.8, 1.0), 3, PLAIN),
    smoke=_version(
        Part(
            "CIFAR 10×10",
            "cifar-10x10",
            {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 3},
        ),
        (0.4, 1.0),
        1,
        TINY,
    ),
    figures=(
        FigureSpec("learner-curve", {"statistic": "backward_transfer", **_OVER}),
        FigureSpec("learner-curve", {"statistic": "accuracy", **_OVER}),
        STRIP,
        MATRICES,
    ),
)
