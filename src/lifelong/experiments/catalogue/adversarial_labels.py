"""Figure cifar2, middle: from task 2 on, labels are dealt out at random; what happens to task 1?"""

from lifelong.experiments.catalogue.entry import MATRICES, STAGES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import OWN, PLAIN, TINY
from lifelong.experiments.spec import FigureSpec, Part

_SMALL = {"shuffle_labels": [2, 3], "n_tasks": 3, "rows_per_class": 5, "test_rows_per_class": 3}
_LEARNERS = ("silly-n", "silly-f", "model-zoo", "lwf", "ewc", "o-ewc", "si", "total-replay", "none")

SHUFFLED = Part(
    "labels of tasks 2–10 shuffled", "cifar-10x10", {"shuffle_labels": list(range(2, 11))}
)

EXPERIMENT = Experiment(
    name="adversarial-labels",
    of_paper="figure cifar2, middle",
    question="Do tasks with meaningless labels harm the first one?",
    full=version([SHUFFLED], _LEARNERS, 3, PLAIN, OWN),
    smoke=version(
        [Part("labels of tasks 2–3 shuffled", "cifar-10x10", _SMALL)],
        ("silly-n", "silly-f"),
        1,
        TINY,
    ),
    figures=(FigureSpec("first-task"), STRIP, STAGES, MATRICES),
)
