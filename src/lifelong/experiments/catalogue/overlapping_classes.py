"""Figure overlapping: twenty tasks that share classes, which are drawn with replacement."""

from lifelong.experiments.catalogue.entry import MATRICES, STAGES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import FigureSpec, Part

_SMALL = {
    "overlapping_tasks": 4,
    "classes_per_task": 5,
    "rows_per_class": 5,
    "test_rows_per_class": 3,
}

EXPERIMENT = Experiment(
    name="overlapping-classes",
    of_paper="figure overlapping",
    question="Does transfer grow when tasks share classes?",
    full=version(
        [Part("20 overlapping tasks", "cifar-10x10", {"overlapping_tasks": 20})],
        ("silly-n", "silly-f", "single", "rf"),
        3,
    ),
    smoke=version(
        [Part("4 overlapping tasks", "cifar-10x10", _SMALL)], ("silly-n", "silly-f"), 1, TINY
    ),
    figures=(FigureSpec("first-task"), STRIP, STAGES, MATRICES),
)
