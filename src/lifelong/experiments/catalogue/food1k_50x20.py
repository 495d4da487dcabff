"""Figure strip: fifty tasks of twenty kinds of food."""

from lifelong.experiments.catalogue.entry import Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import Part

GENERATED = {"like": "food1k-50x20", "classes_per_task": 4, "rows_per_class": 6, "size": 12}

EXPERIMENT = Experiment(
    name="food1k-50x20",
    of_paper="figure strip",
    question="Does transfer go on over fifty tasks?",
    full=version(
        [Part("Food1k 50×20", "food1k-50x20")],
        ("silly-n", "silly-f", "model-zoo", "lwf", "none", "single", "rf"),
        1,
    ),
    smoke=version(
        [Part("generated food", "generated", GENERATED)], ("silly-n", "silly-f", "lwf"), 1, TINY
    ),
    published={
        "silly-n": {"accuracy": 0.447, "transfer": 0.309},
        "model-zoo": {"accuracy": 0.416, "transfer": 0.131},
        "lwf": {"accuracy": 0.434, "transfer": -0.058},
    },
)
