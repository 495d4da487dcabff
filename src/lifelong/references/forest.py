"""The control RF: an ordinary random forest per task."""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lifelong._random import RandomState, seed_from
from lifelong._validation import Rows, check_count
from lifelong.encoders.forest import flatten
from lifelong.learners.base import Learner, Lesson
from lifelong.learners.growing import without
from lifelong.learners.memory import StoredRows
from lifelong.tasks.base import TaskName


class Forest(Learner):
    """An ordinary random forest per task, on all its rows; more rows of a known task grow it anew, on all of them.

    Parameters
    ----------
    n_estimators : int
    random_state : int, Generator or None
    """

    forests_: dict[TaskName, Any]
    memory_: dict[TaskName, StoredRows]

    def __init__(self, n_estimators: int = 100, *, random_state: RandomState = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _start(self) -> None:
        check_count(self.n_estimators, "n_estimators")
        self.forests_, self.memory_ = {}, {}

    def _learn(self, lesson: Lesson) -> None:
        self._grow(lesson.task, StoredRows(lesson.X.copy(), lesson.y.copy()))

    def _extend(self, lesson: Lesson) -> None:
        self._grow(lesson.task, self.memory_[lesson.task].with_rows(StoredRows(lesson.X.copy(), lesson.y.copy())))

    def _grow(self, task: TaskName, rows: StoredRows) -> None:
        forest = self._forest(int(self._rng(task, "forest").integers(2**31 - 1))).fit(rows.X, rows.y)
        self.forests_ = {**self.forests_, task: forest}
        self.memory_ = {**self.memory_, task: rows}

    def alone(self, task: TaskName) -> "Forest":
        """A copy that knows ``task`` alone: nothing is shared."""
        single = copy(self)
        for state in ("tasks_", "forests_", "memory_"):
            setattr(single, state, {task: getattr(self, state)[task]})
        return single

    def _forget_task(self, task: TaskName, *, encoder: bool) -> None:  # noqa: ARG002 - it has none
        self.forests_, self.memory_ = without(self.forests_, task), without(self.memory_, task)

    def _forest(self, seed: int) -> Any:
        return make_pipeline(FunctionTransformer(flatten), RandomForestClassifier(self.n_estimators, random_state=seed))

    def _posteriors(self, X: Rows, task: TaskName) -> NDArray[np.float64]:
        posteriors = np.zeros((len(X), len(self.tasks_[task].classes)))
        posteriors[:, self.forests_[task].classes_] = self.forests_[task].predict_proba(X)
        return posteriors

    def plain_models(self, n_tasks: int) -> dict[str, Any]:  # noqa: ARG002
        """The same forest."""
        return {"rf": self._forest(seed_from(copy(self.random_state)))}

    def sizes(self) -> dict[str, int]:
        """``parameters`` (split nodes and leaf values), and bytes of ``encoders``, ``channels`` and ``rows``."""
        trees = [tree.tree_ for forest in self.forests_.values() for tree in forest[-1].estimators_]
        nodes = sum(tree.feature.nbytes + tree.threshold.nbytes + tree.children_left.nbytes * 2 for tree in trees)
        return {
            "parameters": sum(tree.node_count + tree.value.size for tree in trees),
            "encoders": nodes,
            "channels": sum(tree.value.nbytes for tree in trees),
            "rows": sum(rows.nbytes for rows in self.memory_.values()),
        }
