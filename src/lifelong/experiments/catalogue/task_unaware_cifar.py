"""Class-incremental CIFAR-100: ten tasks of ten classes; nobody tells the task of a picture."""

from lifelong.experiments.catalogue.entry import Experiment
from lifelong.experiments.catalogue.task_unaware_spoken_digit import version_of
from lifelong.experiments.spec import Part

_FEW_TEST_ROWS = {"test_rows_per_class": 20}
_SMALL = {"n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 5}

EXPERIMENT = Experiment(
    name="task-unaware-cifar",
    of_paper="future work",
    question="Which of a hundred classes is it, if nobody says which ten are in question?",
    full=version_of(
        Part("CIFAR 10×10", "cifar-10x10", _FEW_TEST_ROWS, unaware=True), 3, memory=100, width=0.25
    ),
    smoke=version_of(
        Part("CIFAR 10×10", "cifar-10x10", _SMALL, unaware=True), 1, memory=15, smoke=True
    ),
)
