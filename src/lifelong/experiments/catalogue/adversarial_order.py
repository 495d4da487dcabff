"""Figure cifar2, left: the same ten tasks in five orders."""

import numpy as np

from lifelong._random import generator
from lifelong.experiments.catalogue.entry import STAGES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import OWN, PLAIN, TINY
from lifelong.experiments.spec import FigureSpec, Part


def _parts(n_orders: int, **options: int) -> list[Part]:
    """The usual order, and random ones."""
    parts = [Part("order 1", "cifar-10x10", options, at=1)]
    for number in range(2, n_orders + 1):
        order = generator(0, "order", number).permutation(np.arange(1, 11)).tolist()
        parts.append(Part(f"order {number}", "cifar-10x10", {"order": order, **options}, at=number))
    return parts


EXPERIMENT = Experiment(
    name="adversarial-order",
    of_paper="figure cifar2, left",
    question="Does the order of tasks matter?",
    full=version(_parts(5), ("silly-n", "silly-f", "lwf", "ewc", "none"), 3, PLAIN, OWN),
    smoke=version(
        _parts(2, n_tasks=3, rows_per_class=4, test_rows_per_class=3),
        ("silly-n", "silly-f"),
        1,
        TINY,
    ),
    figures=(
        FigureSpec("sweep", {"statistic": "transfer", "task": "all tasks", "over": "order"}),
        STRIP,
        STAGES,
    ),
)
