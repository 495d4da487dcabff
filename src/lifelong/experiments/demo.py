"""The demo: a table, two simulations and scikit-learn's digits, without download."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lifelong.evaluation import ErrorTable, evaluate
from lifelong.experiments.registry import make_learner, trains_networks
from lifelong.learners import Learner
from lifelong.nets import Recipe
from lifelong.tasks import Task, TaskStream
from lifelong.tasks.datasets.digits import digits
from lifelong.tasks.simulations import xor_stream


@dataclass(frozen=True)
class DemoPart:
    """One stream of the demo: what it shows, and how its networks are trained."""

    title: str
    shows: str
    stream: Callable[[int], TaskStream]
    repetitions: int
    network: tuple[int, ...] = ()  # hidden layers
    recipe: Recipe | None = None
    learners: tuple[str, ...] = ()  # instead of those that were asked for

    def parameters(self, learner: str) -> dict[str, Any]:
        """How that learner is set up for this stream."""
        if trains_networks(learner):
            return {"network": self.network, "recipe": self.recipe}
        return {}


def _xor(n: int, second: Any, seed: int) -> TaskStream:
    return xor_stream(n, second=second, random_state=seed)


def _digits(seed: int) -> TaskStream:
    return digits(rows_per_class=5, random_state=seed)


def _digits_table(seed: int) -> TaskStream:
    """The same as one table: a column for each pixel."""
    return TaskStream([_flat(task) for task in _digits(seed)])


def _flat(task: Task) -> Task:
    X_train = task.X_train.reshape(len(task.X_train), -1)
    X_test = task.X_test.reshape(len(task.X_test), -1)
    return Task(task.name, X_train, task.y_train, X_test, task.y_test)


TABLE = DemoPart(
    "one table",
    "digits from six viewpoints, 64 columns, 50 rows each",
    _digits_table,
    4,
    learners=("lifelong", "pooled-rf", "table-rf"),
)
"""``LifelongClassifier`` beside one forest of all tasks, told the task, and a forest per task."""

_SMALL = (10, 10), Recipe(epochs=30, lr=3e-3)  # the paper's network for simulations
PARTS = [
    DemoPart("XOR → XNOR", "same boundary, 750 rows each", partial(_xor, 750, "xnor"), 6, *_SMALL),
    DemoPart(
        "XOR → R-XOR",
        "turned by 45°: an adversary, 750 rows each",
        partial(_xor, 750, "r-xor"),
        6,
        *_SMALL,
    ),
    DemoPart("digits", "six viewpoints, 5 rows per digit", _digits, 4, (64, 64), Recipe(lr=1e-3)),
]
LEARNERS = ["silly-f", "silly-n", "rf", "single"]


def run_demo(
    learners: Sequence[str] = LEARNERS, repetitions: int | None = None, n_jobs: int | None = 2
) -> Iterator[tuple[DemoPart, list[ErrorTable]]]:
    """The parts one after another, each with a table per learner."""
    for part in (TABLE, *PARTS):
        asked = part.learners or learners
        makers = {name: partial(_make, name, part.parameters(name)) for name in asked}
        yield (
            part,
            [
                evaluate(
                    make, part.stream, repetitions or part.repetitions, n_jobs=n_jobs, name=name
                )
                for name, make in makers.items()
            ],
        )


def _make(name: str, parameters: dict[str, Any], seed: int) -> Learner:
    return make_learner(name, random_state=seed, **parameters)
