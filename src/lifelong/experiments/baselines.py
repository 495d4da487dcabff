"""Two learners that any other has to beat when nobody says which task a row is from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lifelong._random import RandomState, seed_from
from lifelong._validation import Rows
from lifelong.encoders.forest import flatten
from lifelong.learners.base import Learner, Lesson
from lifelong.learners.density import Scaling
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]


class NearestMean(Learner):
    """A row belongs to the class with the nearest mean; columns are in units of the first task's."""

    scaling_: Scaling
    means_: dict[TaskName, Array]  # (K, p), NaN for a class without rows

    def __init__(self, *, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def _start(self) -> None:
        self.means_ = {}

    def _learn(self, lesson: Lesson) -> None:
        if not hasattr(self, "scaling_"):
            self.scaling_ = Scaling.of(lesson.X)
        self._take_in(lesson)

    def _extend(self, lesson: Lesson) -> None:
        self._take_in(lesson)

    def _take_in(self, lesson: Lesson) -> None:
        rows, n_classes = self._scaled(lesson.X), len(lesson.record.classes)
        sums = np.zeros((n_classes, rows.shape[1]))
        np.add.at(sums, lesson.y, rows)
        known = self.means_.get(lesson.task)
        if known is not None:
            sums[: len(known)] += np.nan_to_num(known) * self.tasks_[lesson.task].class_counts[:, None]
        with np.errstate(invalid="ignore"):
            self.means_ = {**self.means_, lesson.task: sums / lesson.record.class_counts[:, None]}

    def _scaled(self, X: Rows) -> Array:
        return np.asarray((flatten(X) - self.scaling_.mean) / self.scaling_.scale, dtype=np.float64)

    def _scores(self, X: Rows, task: TaskName) -> Array:
        """−½ ‖x − μ_k‖² (n, K), up to a term that all classes share."""
        means = self.means_[task]
        scores = self._scaled(X) @ means.T - (means**2).sum(axis=1) / 2
        return np.where(np.isnan(scores), -np.inf, scores)

    def _posteriors(self, X: Rows, task: TaskName) -> Array:
        return np.asarray(softmax(self._scores(X, task), axis=1))

    def _joint_posteriors(self, X: Rows) -> dict[TaskName, Array]:
        scores = {task: self._scores(X, task) for task in self.tasks_}
        highest = np.max([one.max(axis=1) for one in scores.values()], axis=0)[:, None]
        return {task: np.exp(one - highest) for task, one in scores.items()}

    def plain_models(self, n_tasks: int) -> dict[str, Any]:  # noqa: ARG002
        """Class means of one task."""
        return {"nearest-mean": make_pipeline(FunctionTransformer(flatten), StandardScaler(), NearestCentroid())}

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""
        means = self.means_.values()
        n = sum(one.size for one in means)
        return {"parameters": n, "encoders": 0, "channels": sum(one.nbytes for one in means), "rows": 0}


class Chance(Learner):
    """Any class of any task, all alike."""

    def __init__(self, *, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def _start(self) -> None:
        pass

    def _learn(self, lesson: Lesson) -> None:
        pass

    def _extend(self, lesson: Lesson) -> None:
        pass

    def _posteriors(self, X: Rows, task: TaskName) -> Array:
        drawn = self._rng(task, "chance", len(X)).random((len(X), len(self.tasks_[task].classes)))
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))

    def _joint_posteriors(self, X: Rows) -> dict[TaskName, Array]:
        return {
            task: self._rng(task, "any task", len(X)).random((len(X), len(record.classes)))
            for task, record in self.tasks_.items()
        }

    def plain_models(self, n_tasks: int) -> dict[str, Any]:  # noqa: ARG002
        """The same for one task."""
        return {"chance": DummyClassifier(strategy="uniform", random_state=seed_from(self.random_state) % 2**31)}

    def sizes(self) -> dict[str, int]:
        """Nothing."""
        return {"parameters": 0, "encoders": 0, "channels": 0, "rows": 0}
