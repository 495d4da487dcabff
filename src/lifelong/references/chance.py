"""The control chance: what guessing gives, with the task known or unknown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import Rows
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import Lesson, TasksKnown
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]


class Chance(Learner):
    """Any class of any task, all alike.

    Parameters
    ----------
    random_state : int, Generator or None, default None
        Decides on the guesses.
    """

    def __init__(self, *, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> TasksKnown:
        return TasksKnown(seed, in_shape, names)

    def _learn(self, known: TasksKnown, lesson: Lesson) -> TasksKnown:
        return known.recorded(lesson)

    def _posteriors(self, known: TasksKnown, X: Rows, task: TaskName) -> Array:
        rng = generator(known.seed, task, "chance", len(X))
        drawn = rng.random((len(X), len(known.tasks[task].classes)))
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))

    def _joint_posteriors(self, known: TasksKnown, X: Rows) -> dict[TaskName, Array]:
        drawn = {}
        for task, record in known.tasks.items():
            rng = generator(known.seed, task, "any task", len(X))
            drawn[task] = rng.random((len(X), len(record.classes)))
        return drawn

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """The same for one task."""
        del n_tasks
        seed = seed_from(self.random_state) % 2**31
        return {"chance": DummyClassifier(strategy="uniform", random_state=seed)}

    def sizes(self) -> dict[str, int]:
        """Nothing."""
        return {"parameters": 0, "encoders": 0, "channels": 0, "rows": 0}
