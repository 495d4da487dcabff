"""Not in the paper: what each part of our most accurate forests brings, one part at a time."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.spec import LearnerSpec, Part


def _ladder(n_trees: int, best: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    """From an ordinary forest to our best one."""
    return (
        learner("rf", {}, n_estimators=10 * n_trees),  # as many as silly-f-best has in ten tasks
        learner("silly-f", {}, "the paper"),
        learner("silly-f", {}, "100 trees", n_estimators=n_trees),
        learner("silly-f-best", best, "ridge channel"),
        learner("silly-f-best", best, "ridge, equal weights", ridge_weights="equal"),
        learner("silly-f-best", best, "ridge, none judges", max_samples=1.0),
        learner("silly-f-best", {}, "ridge, 10 trees", n_estimators=10),
        learner("silly-f-best", best, "ridge, first 4 encoders", budget=4),
        learner("silly-f-best", best, "ridge, 4 most useful", budget=4, keep="useful"),
    )


EXPERIMENT = Experiment(
    name="ablation-best-forest",
    of_paper="none: our own learner",
    question="What does each part of our most accurate forests bring?",
    full=Version((Part("tabular CIFAR", "tabular-cifar"),), _ladder(100, {}), 5),
    smoke=Version(
        (
            Part(
                "tabular CIFAR",
                "tabular-cifar",
                {"n_tasks": 2, "rows_per_class": 4, "test_rows_per_class": 3},
            ),
        ),
        _ladder(20, {"n_estimators": 20}),
        1,
    ),
    figures=(STRIP, MATRICES),
)
