"""The references by name, for the command line and for experiments."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from lifelong._extras import require
from lifelong._random import RandomState
from lifelong.learners.base import Learner


@dataclass(frozen=True)
class Factory:
    """seed → learner, with the settings of its authors for 50 rows per class; torch is imported at the first call."""

    module: str
    learner: str
    needs_torch: bool = True

    def __call__(self, seed: RandomState = None, **parameters: Any) -> Learner:
        """A learner with that seed; ``parameters`` take the place of defaults."""
        learner: Learner = self.learner_class()(random_state=seed, **parameters)
        return learner

    def learner_class(self) -> Any:
        """The class itself."""
        if self.needs_torch:
            require("torch", extra="torch", for_what=self.learner)
        return getattr(import_module(f"lifelong.references.{self.module}"), self.learner)


REFERENCES: Mapping[str, Factory] = {
    "none": Factory("none", "NoneLearner"),
    "ewc": Factory("ewc", "EWC"),
    "o-ewc": Factory("o_ewc", "OnlineEWC"),
    "si": Factory("si", "SI"),
    "lwf": Factory("lwf", "LwF"),
    "total-replay": Factory("total_replay", "TotalReplay"),
    "partial-replay": Factory("partial_replay", "PartialReplay"),
    "er": Factory("er", "ER"),
    "a-gem": Factory("a_gem", "AGEM"),
    "tag": Factory("tag", "TAG"),
    "prognn": Factory("prognn", "ProgNN"),
    "df-cnn": Factory("df_cnn", "DFCNN"),
    "lmc": Factory("lmc", "LMC"),
    "model-zoo": Factory("model_zoo", "ModelZoo"),
    "coscl": Factory("coscl", "CoSCL"),
    "randumb": Factory("randumb", "RanDumb", needs_torch=False),
}
"""The sixteen reference algorithms."""

CONTROLS: Mapping[str, Factory] = {
    "single": Factory("single", "Single"),
    "rf": Factory("forest", "Forest", needs_torch=False),
}
"""A model of its own for every task."""
