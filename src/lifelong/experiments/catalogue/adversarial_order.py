"""Figure cifar2, left: the same ten tasks in five orders."""

import numpy as np

from lifelong._random import generator
from lifelong.experiments.catalogue.entry import STAGES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import FigureSpec, Part


def _order(number: int, n_tasks: int = 10) -> list[int]:
    """The tasks 1 … 10 in the order of that number; the first is the usual one."""
    tasks = np.arange(1, n_tasks + 1)
    return tasks.tolist() if number == 1 else generator(0, "order", number).permutation(tasks).tolist()


def _parts(n_orders: int, n_tasks: int, **options: int) -> list[Part]:
    return [
        Part(f"order {number}", "cifar-10x10", {"order": _order(number), "n_tasks": n_tasks, **options}, at=number)
        for number in range(1, n_orders + 1)
    ]


EXPERIMENT = Experiment(
    name="adversarial-order",
    of_paper="figure cifar2, left",
    question="Does the order of tasks matter?",
    full=version(_parts(5, 10), ("silly-n", "silly-f", "lwf", "ewc", "none"), 3),
    smoke=version(_parts(2, 3, rows_per_class=4, test_rows_per_class=3), ("silly-n", "silly-f"), 1, TINY),
    figures=(
        FigureSpec("sweep", {"statistic": "transfer", "task": "all tasks", "over": "order"}),
        STRIP,
        STAGES,
    ),
)
