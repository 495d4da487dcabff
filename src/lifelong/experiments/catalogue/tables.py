"""Real tables with text, dates and holes: classes, and in a second experiment numbers."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import STAGES, Experiment, Version
from lifelong.experiments.spec import FigureSpec, LearnerSpec, Part

_FIFTY = {"rows_per_task": 50, "test_rows_per_task": 200}
_FEW = {"rows_per_task": 24, "test_rows_per_task": 30, "n_tasks": 2}
_MORE = {"rows_per_task": 300, "test_rows_per_task": 100, "n_tasks": 2}  # else R² is below 0
_SMALL = {"n_estimators": 10}
_NUMBER = {"target": "number"}
_TREES = {"n_estimators": 300}  # of forests that lifelong is compared with
_LOSS = ("clipped log loss",)
_LOSS_AND_AUC = (*_LOSS, "roc_auc")  # with two classes
_FIGURES = (FigureSpec("race", {"ours": "lifelong"}), STAGES)


def _rivals(forests: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    """A model per task, and one of all rows."""
    return (
        LearnerSpec("rf", "table-rf", {**forests, **target}),
        LearnerSpec("pooled-rf", "pooled-rf", {**forests, **target}),
        LearnerSpec("lightgbm", "table-lightgbm", target),
        LearnerSpec("pooled-lightgbm", "pooled-lightgbm", target),
        LearnerSpec("pooled-catboost", "pooled-catboost", target),
    )


def _quick(ours: str, target: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    """What needs no more than is always installed."""
    return (LearnerSpec("lifelong", ours, _SMALL), *_rivals(_SMALL, target)[:2])


_BEST = LearnerSpec("silly-f-best", "table-silly-f-best")
_CLASSES = (
    Part("heart", "tables-heart", _FIFTY, others=_LOSS_AND_AUC),
    Part("adult", "tables-adult", _FIFTY, others=_LOSS_AND_AUC),
    Part("beijing", "tables-beijing", _FIFTY, others=_LOSS),
    Part("beijing by time", "tables-beijing", {**_FIFTY, "split": "time"}, others=_LOSS),
    Part("vowel", "tables-vowel", _FIFTY, others=_LOSS),
    Part("amazon", "tables-amazon", _FIFTY, others=_LOSS_AND_AUC),
)
_NUMBERS = (
    # Every task is measured after every stage: 139 schools would take hours.
    Part("school", "tables-school", {**_FIFTY, "n_tasks": 30}, scoring="r2"),
    Part("beijing", "tables-beijing", {**_FIFTY, **_NUMBER}, scoring="r2"),
    Part("beijing by time", "tables-beijing", {**_FIFTY, **_NUMBER, "split": "time"}, scoring="r2"),
)

EXPERIMENTS = (
    Experiment(
        name="tables",
        of_paper="none: real tables",
        question="With 50 rows per task, who beats a model per task and one model of all?",
        full=Version(_CLASSES, (LearnerSpec("lifelong"), *_rivals(_TREES, {}), _BEST), 5),
        smoke=Version(
            (
                Part("heart", "tables-heart", _FEW, others=_LOSS_AND_AUC),
                Part("vowel", "tables-vowel", _FEW, others=_LOSS),
            ),
            (*_quick("lifelong", {}), LearnerSpec("silly-f-best", "table-silly-f-best", _SMALL)),
            1,
        ),
        figures=_FIGURES,
    ),
    Experiment(
        name="tables-number",
        of_paper="none: real tables",
        question="The same where a number is predicted: errors are 1 − R².",
        full=Version(
            _NUMBERS, (LearnerSpec("lifelong", "lifelong-number"), *_rivals(_TREES, _NUMBER)), 5
        ),
        smoke=Version(
            (Part("beijing", "tables-beijing", {**_MORE, **_NUMBER}, scoring="r2"),),
            _quick("lifelong-number", _NUMBER),
            1,
        ),
        figures=_FIGURES,
    ),
)
