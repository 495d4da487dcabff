"""Figure budget: how many encoders are enough for fifty tasks."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learner
from lifelong.experiments.catalogue.food1k_50x20 import GENERATED
from lifelong.experiments.catalogue.settings import PLAIN, TINY
from lifelong.experiments.spec import FigureSpec, Part


def budget_version(
    part: Part, budgets: tuple[int, ...], n_tasks: int, settings: Mapping[str, Any]
) -> Version:
    """SiLLy-N with so many encoders at most, and without a limit."""
    limited = [
        learner("silly-n", settings, f"silly-n, {m} encoders", at=m, budget=m) for m in budgets
    ]
    unlimited = learner("silly-n", settings, "silly-n, no limit", at=n_tasks)
    return Version((part,), (*limited, unlimited), 1, settings)


_OVER = {"over": "encoders (the last point: no limit)"}

EXPERIMENT = Experiment(
    name="food1k-budget",
    of_paper="figure budget",
    question="How many encoders are enough for fifty tasks?",
    full=budget_version(Part("Food1k 50×20", "food1k-50x20"), (5, 10, 20, 30), 50, PLAIN),
    smoke=budget_version(Part("generated food", "generated", GENERATED), (1, 2), 3, TINY),
    figures=(
        FigureSpec("learner-curve", {"statistic": "transfer", **_OVER}),
        FigureSpec("learner-curve", {"statistic": "accuracy", **_OVER}),
        STRIP,
        MATRICES,
    ),
    published={
        "silly-n, 5 encoders": {"transfer": 0.176},
        "silly-n, 10 encoders": {"transfer": 0.256},
        "silly-n, 20 encoders": {"transfer": 0.278},
        "silly-n, 30 encoders": {"transfer": 0.299},
        "silly-n, no limit": {"accuracy": 0.447, "transfer": 0.309},
    },
)
