"""The values that trials have chosen: the one table that experiments read them from.

``python -m benchmarks.tune`` gives every learner the same number of trials on a stream that no
table uses; ``docs/results/tune`` has all trials. What is adopted stands here.
"""

from collections.abc import Mapping
from typing import Any

TUNED: Mapping[str, Mapping[str, Any]] = {}
"""Settings by learner; ``recipe`` has only what differs from the learner's own recipe."""


def with_tuned(own: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Settings of learners, with the tuned values in their places.

    >>> with_tuned({"none": {"recipe": {"epochs": 3}}})["none"]["recipe"]["epochs"]
    3
    """
    merged = {name: dict(settings) for name, settings in own.items()}
    for name, tuned in TUNED.items():
        before = merged.get(name, {})
        settings = {**before, **tuned}
        if "recipe" in tuned:
            settings["recipe"] = {**before.get("recipe", {}), **tuned["recipe"]}
        merged[name] = settings
    return merged
