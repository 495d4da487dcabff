"""Figure budget on a stand-in for Food1k: fifty tasks of twenty kanji, each in 71 fonts."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, Version, learners
from lifelong.experiments.catalogue.food1k_50x20 import GENERATED
from lifelong.experiments.catalogue.food1k_budget import budget_version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import FigureSpec, Part

# Narrow layers and pictures of 16×16, so that fifty tasks fit into an hour on one core.
_NARROW = {"width": 0.25, "recipe": {"epochs": 10, "batch_size": 32, "lr": 1e-3}}
_GLYPHS = {"like": "food1k-50x20", "folder": "glyphs", "size": 16}
_OTHERS = ("lwf", "single", "none", "model-zoo")


def _version(
    part: Part, budgets: tuple[int, ...], n_tasks: int, settings: Mapping[str, Any]
) -> Version:
    limited = budget_version(part, budgets, n_tasks, settings)
    together = (*limited.learners, *learners(_OTHERS, settings))
    return Version((part,), together, 1, settings)


_OVER = {"over": "encoders (the last point: no limit)"}

EXPERIMENT = Experiment(
    name="glyphs-budget",
    of_paper="figures budget and strip (Food1k), on a stand-in",
    question="Over fifty tasks, do few encoders keep the transfer, and who forgets?",
    full=_version(Part("kanji 50×20", "tree", _GLYPHS), (5, 10, 20, 30), 50, _NARROW),
    smoke=_version(Part("generated food", "generated", GENERATED), (1, 2), 3, TINY),
    figures=(
        FigureSpec("learner-curve", {"statistic": "transfer", **_OVER}),
        FigureSpec("learner-curve", {"statistic": "accuracy", **_OVER}),
        STRIP,
        MATRICES,
    ),
)
