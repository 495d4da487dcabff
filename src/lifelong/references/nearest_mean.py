"""The control nearest-mean: to be beaten when nobody says which task a row is from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lifelong._random import RandomState
from lifelong._validation import Rows
from lifelong.encoders.forest import flatten
from lifelong.learners.base import Learner
from lifelong.learners.density import Scaling
from lifelong.learners.knowledge import Lesson, TasksKnown
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeansKnowledge(TasksKnown):
    """Class means, in units of the first task's columns."""

    scaling: Scaling | None = None
    means: Mapping[TaskName, Array] = field(default_factory=dict)  # (K, p), NaN: no rows

    def scaled(self, X: Rows) -> Array:
        """Rows (n, p) in these units."""
        assert self.scaling is not None
        rows = (flatten(X) - self.scaling.mean) / self.scaling.scale
        return np.asarray(rows, dtype=np.float64)


class NearestMean(Learner):
    """A row belongs to the class with the nearest mean; columns are in units of the first task.

    Parameters
    ----------
    random_state : int, Generator or None, default None
        Nothing here is random; it is there because every learner has one.
    """

    knowledge_class: ClassVar[type[MeansKnowledge]] = MeansKnowledge

    def __init__(self, *, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> MeansKnowledge:
        return MeansKnowledge(seed, in_shape, names)

    def _learn(self, known: MeansKnowledge, lesson: Lesson) -> MeansKnowledge:
        if known.scaling is None:
            known = replace(known, scaling=Scaling.of(lesson.X))
        rows = known.scaled(lesson.X)
        sums = np.zeros((len(lesson.record.classes), rows.shape[1]))
        np.add.at(sums, lesson.y, rows)
        before = known.means.get(lesson.task)
        if before is not None:
            counts = known.tasks[lesson.task].class_counts
            sums[: len(before)] += np.nan_to_num(before) * counts[:, None]
        with np.errstate(invalid="ignore"):
            means = sums / lesson.record.class_counts[:, None]
        return replace(known, means={**known.means, lesson.task: means}).recorded(lesson)

    def _scores(self, known: MeansKnowledge, X: Rows, task: TaskName) -> Array:
        """−½ ‖x − μ_k‖² (n, K), up to a term that all classes share."""
        means = known.means[task]
        scores = known.scaled(X) @ means.T - (means**2).sum(axis=1) / 2
        return np.where(np.isnan(scores), -np.inf, scores)

    def _posteriors(self, known: MeansKnowledge, X: Rows, task: TaskName) -> Array:
        return np.asarray(softmax(self._scores(known, X, task), axis=1))

    def _joint_posteriors(self, known: MeansKnowledge, X: Rows) -> dict[TaskName, Array]:
        scores = {task: self._scores(known, X, task) for task in known.tasks}
        highest = np.max([of_task.max(axis=1) for of_task in scores.values()], axis=0)[:, None]
        return {task: np.exp(of_task - highest) for task, of_task in scores.items()}

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """Class means of one task."""
        del n_tasks
        flat = FunctionTransformer(flatten)
        return {"nearest-mean": make_pipeline(flat, StandardScaler(), NearestCentroid())}

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""
        by_task = self._learnt("means_").means.values()
        count = sum(means.size for means in by_task)
        size = sum(means.nbytes for means in by_task)
        return {"parameters": count, "encoders": 0, "channels": size, "rows": 0}
