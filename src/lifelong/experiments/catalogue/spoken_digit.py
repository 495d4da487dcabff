"""Figures strip and language: six speakers, ten digits each."""

from lifelong.experiments.catalogue.entry import EVERYONE, Experiment, version
from lifelong.experiments.catalogue.settings import OWN, PLAIN, TINY
from lifelong.experiments.spec import Part

_SMALL = {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 5}
_OWN = {**OWN, "er": {**OWN["er"], "capacity": 60}}  # one row per class
_ACCURACY = {
    "model-zoo": 0.985,
    "total-replay": 0.941,
    "partial-replay": 0.940,
    "si": 0.806,
    "ewc": 0.790,
    "lwf": 0.788,
    "o-ewc": 0.788,
    "none": 0.773,
}

EXPERIMENT = Experiment(
    name="spoken-digit",
    of_paper="figures strip, language, spectrogram",
    question="Does a model of one speaker's digits profit from other speakers?",
    full=version([Part("spoken digit", "spoken-digit")], EVERYONE, 3, PLAIN, _OWN),
    smoke=version(
        [Part("spoken digit", "spoken-digit", _SMALL)], ("silly-n", "silly-f", "single"), 1, TINY
    ),
    published={
        "silly-n": {"accuracy": 0.916, "transfer": 1.20},
        "silly-f": {"accuracy": 0.908, "transfer": 0.37},
        **{name: {"accuracy": accuracy} for name, accuracy in _ACCURACY.items()},
    },
)
