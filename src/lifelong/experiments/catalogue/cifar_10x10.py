"""Figures strip, strip_IQR, strip_overall: every learner on ten tasks of ten CIFAR-100 classes."""

from lifelong.experiments.catalogue.entry import (
    EVERYONE,
    MATRICES,
    STAGES,
    STRIP,
    STRIP_VENIAT,
    Experiment,
    version,
)
from lifelong.experiments.catalogue.settings import OWN, PLAIN, TINY
from lifelong.experiments.spec import Part

_SMALL = {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 5}
_COLUMNS = ("accuracy", "single_accuracy", "forward_transfer", "backward_transfer", "transfer")
_PUBLISHED = {
    "silly-n": (0.397, 0.271, 0.146, 0.046, 0.192),
    "silly-f": (0.407, 0.325, 0.094, 0.036, 0.131),
    "model-zoo": (0.458, 0.408, 0.013, 0.076, 0.089),
    "coscl": (0.435, 0.473, 0.008, -0.072, -0.065),
    "lwf": (0.421, 0.447, -0.052, 0.007, -0.045),
    "prognn": (0.391, 0.324, 0.107, 0.0, 0.107),
    "partial-replay": (0.372, 0.447, -0.116, -0.012, -0.128),
    "o-ewc": (0.363, 0.447, -0.137, -0.007, -0.143),
    "total-replay": (0.361, 0.447, -0.110, -0.036, -0.146),
    "ewc": (0.358, 0.447, -0.141, -0.010, -0.151),
    "si": (0.355, 0.447, -0.146, -0.009, -0.155),
    "er": (0.316, 0.402, 0.049, -0.175, -0.126),
    "none": (0.292, 0.447, -0.049, -0.193, -0.241),
    "lmc": (0.278, 0.316, -0.009, -0.045, -0.054),
    "a-gem": (0.274, 0.405, 0.044, -0.232, -0.188),
    "df-cnn": (0.166, 0.254, -0.003, -0.105, -0.108),
    "tag": (0.154, 0.382, -0.254, -0.062, -0.316),
    "randumb": (0.132, 0.132, 0.0, 0.0, 0.0),
}

EXPERIMENT = Experiment(
    name="cifar-10x10",
    of_paper="figures strip, strip_IQR, strip_overall",
    question="Who profits from other tasks when each task has 500 images?",
    full=version([Part("CIFAR 10×10", "cifar-10x10")], EVERYONE, 3, PLAIN, OWN),
    smoke=version(
        [Part("CIFAR 10×10", "cifar-10x10", _SMALL)], ("silly-n", "silly-f", "lwf", "rf"), 1, TINY
    ),
    figures=(STRIP, STRIP_VENIAT, STAGES, MATRICES),
    published={
        name: dict(zip(_COLUMNS, values, strict=True)) for name, values in _PUBLISHED.items()
    },
)
