"""Figure vision: five datasets that have little in common.

The paper uses all rows; here 200 per class.
"""

from lifelong.experiments.catalogue.entry import Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import Part

_ROWS = {"rows_per_class": 200}
_SMALL = {"n_tasks": 3, "rows_per_class": 4, "test_rows_per_class": 4}
_LEARNERS = ("silly-n", "silly-f", "model-zoo", "lwf", "ewc", "none", "single", "rf")

EXPERIMENT = Experiment(
    name="five-datasets",
    of_paper="figure vision",
    question="Can tasks help each other that have little in common?",
    full=version([Part("5-dataset", "five-datasets", _ROWS)], _LEARNERS, 3),
    smoke=version([Part("5-dataset", "five-datasets", _SMALL)], ("silly-n", "silly-f"), 1, TINY),
    published={
        "silly-n": {"accuracy": 0.794, "transfer": -0.275},
        "model-zoo": {"accuracy": 0.891, "transfer": 0.236},
    },
)
