"""CORe50: a hundred and ten tasks on a budget of twenty encoders."""

from lifelong.experiments.catalogue.entry import Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import Part

_GENERATED = {"like": "core50-110x5", "rows_per_class": 8, "size": 12}

EXPERIMENT = Experiment(
    name="core50-110x5",
    of_paper="figure strip (CORe50)",
    question="Are twenty encoders enough for a hundred and ten tasks?",
    full=version(
        [Part("CORe50 110×5", "core50-110x5")],
        ("silly-n-20", "silly-f-20", "lwf", "none", "single", "rf"),
        1,
    ),
    smoke=version(
        [Part("generated objects", "generated", _GENERATED)],
        ("silly-n-2", "silly-f-2", "lwf"),
        1,
        TINY,
    ),
)
