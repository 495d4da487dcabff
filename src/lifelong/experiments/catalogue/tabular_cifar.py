"""Figure tabular: CIFAR 10×10 as flat rows, where forests are at home."""

from lifelong.experiments.catalogue.entry import Experiment, version
from lifelong.experiments.catalogue.settings import TABULAR, TINY
from lifelong.experiments.spec import Part

_SMALL = {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 5}
_LEARNERS = ("silly-f", "silly-n", "model-zoo", "single", "rf")

EXPERIMENT = Experiment(
    name="tabular-cifar",
    of_paper="figure tabular",
    question="Who profits from other tasks on flat rows?",
    full=version([Part("tabular CIFAR", "tabular-cifar")], _LEARNERS, 3, TABULAR),
    smoke=version(
        [Part("tabular CIFAR", "tabular-cifar", _SMALL)], ("silly-f", "silly-n"), 1, TINY
    ),
    published={
        "silly-f": {"accuracy": 0.407, "transfer": 0.131},
        "silly-n": {"accuracy": 0.356, "transfer": 0.106},
        "model-zoo": {"accuracy": 0.438, "transfer": 0.048},
    },
)
