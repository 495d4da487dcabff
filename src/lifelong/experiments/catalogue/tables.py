"""Real tables with text, dates and holes: classes, and in a second experiment numbers."""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import Experiment, Version
from lifelong.experiments.spec import LearnerSpec, Part

_FIFTY = {"rows_per_task": 50, "test_rows_per_task": 200}
_FEW = {"rows_per_task": 24, "test_rows_per_task": 30, "n_tasks": 2}
_MORE = {"rows_per_task": 300, "test_rows_per_task": 100, "n_tasks": 2}  # else R² is below 0
_SMALL = {"n_estimators": 10}
_NUMBER = {"target": "number"}


def _of_classes(settings: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    return (
        LearnerSpec("lifelong", "lifelong", settings),
        LearnerSpec("rf", "table-rf", settings),
        LearnerSpec("pooled-rf", "pooled-rf", settings),
    )


def _of_numbers(settings: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    return (
        LearnerSpec("lifelong", "lifelong-number", settings),
        LearnerSpec("rf", "table-rf", {**settings, **_NUMBER}),
        LearnerSpec("pooled-rf", "pooled-rf", {**settings, **_NUMBER}),
    )


_CLASSES = (
    Part("heart", "tables-heart", _FIFTY),
    Part("adult", "tables-adult", _FIFTY),
    Part("beijing", "tables-beijing", _FIFTY),
    Part("beijing by time", "tables-beijing", {**_FIFTY, "split": "time"}),
    Part("vowel", "tables-vowel", _FIFTY),
    Part("amazon", "tables-amazon", _FIFTY),
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
        question="With 50 rows per task, who beats a forest per task and one forest of all?",
        full=Version(_CLASSES, _of_classes({}), 3),
        smoke=Version(
            (Part("heart", "tables-heart", _FEW), Part("vowel", "tables-vowel", _FEW)),
            _of_classes(_SMALL),
            1,
        ),
    ),
    Experiment(
        name="tables-number",
        of_paper="none: real tables",
        question="The same where a number is predicted: errors are 1 − R².",
        full=Version(_NUMBERS, _of_numbers({}), 3),
        smoke=Version(
            (Part("beijing", "tables-beijing", {**_MORE, **_NUMBER}, scoring="r2"),),
            _of_numbers(_SMALL),
            1,
        ),
    ),
)
