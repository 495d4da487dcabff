"""Figure vision: twenty tasks of five ImageNet classes."""

from lifelong.experiments.catalogue.entry import Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import Part

_SMALL = {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 3, "size": 16}
_LEARNERS = ("silly-n", "silly-f", "model-zoo", "lwf", "ewc", "none", "single", "rf")

EXPERIMENT = Experiment(
    name="mini-imagenet-20x5",
    of_paper="figure vision",
    question="Who profits from other tasks on natural pictures of 84×84?",
    full=version([Part("Mini-ImageNet 20×5", "mini-imagenet-20x5")], _LEARNERS, 3),
    smoke=version(
        [Part("Mini-ImageNet 20×5", "mini-imagenet-20x5", _SMALL)], ("silly-n", "silly-f"), 1, TINY
    ),
    published={
        "silly-n": {"accuracy": 0.590, "transfer": 0.023},
        "model-zoo": {"accuracy": 0.627, "transfer": 0.234},
    },
)
