"""A learner from its spec: what JSON can hold becomes what constructors take."""

from collections.abc import Mapping
from typing import Any

from lifelong.channels import ForestChannel, RidgeChannel
from lifelong.experiments.models import pretrained_encoder
from lifelong.experiments.registry import make_learner
from lifelong.experiments.spec import LearnerSpec
from lifelong.learners import Learner
from lifelong.nets import Recipe


def build_learner(spec: LearnerSpec, seed: int) -> Learner:
    """The learner that a spec describes.

    >>> build_learner(LearnerSpec("ten trees", "silly-f", {"n_estimators": 10}), seed=0)
    SillyForest(random_state=0)
    """
    return make_learner(spec.name, random_state=seed, **_parameters(spec.parameters))


def _parameters(plain: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(plain)
    if isinstance(values.get("recipe"), Mapping):
        values["recipe"] = Recipe(**values["recipe"])
    if isinstance(values.get("network"), list):  # hidden sizes
        values["network"] = tuple(values["network"])
    if "trees_per_channel" in values:
        values["channel"] = ForestChannel(n_trees=values.pop("trees_per_channel"))
    if "ridge_weights" in values:
        values["channel"] = RidgeChannel(weights=values.pop("ridge_weights"))
    if "pretrained" in values:
        values["encoder"] = pretrained_encoder(**values.pop("pretrained"))
    return values
