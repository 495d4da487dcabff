"""Figure size, table tax: how size, training and inference time grow with the number of tasks."""

from lifelong.experiments.catalogue.entry import STAGES, Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import FigureSpec, Part

_FEW_TEST_ROWS = {"test_rows_per_class": 20}
# A fifth of the usual epochs: how costs grow is the question, and neither their level nor accuracy.
_SHORT = {"recipe": {"epochs": 4, "batch_size": 32, "lr": 3e-4}}
_SMALL = {"n_tasks": 4, "rows_per_class": 4, "test_rows_per_class": 3}
_LEARNERS = (
    *(
        "silly-n",
        "silly-f",
        "silly-n-4",
        "silly-f-4",
        "o-ewc",
        "si",
        "lwf",
        "ewc",
        "total-replay",
        "prognn",
        "df-cnn",
    ),
    *("model-zoo", "lmc"),
)

EXPERIMENT = Experiment(
    name="resources",
    of_paper="figure size, table tax",
    question="How do size and time grow with the number of tasks?",
    full=version([Part("CIFAR 10×10", "cifar-10x10", _FEW_TEST_ROWS)], _LEARNERS, 3, _SHORT),
    smoke=version(
        [Part("CIFAR 10×10", "cifar-10x10", _SMALL)],
        ("silly-n", "silly-f", "silly-f-2", "ewc"),
        1,
        TINY,
    ),
    figures=(FigureSpec("growth"), STAGES),
)
