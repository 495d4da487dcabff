"""Prediction when nobody says which task a row is from."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Labels, Rows, check_labels
from lifelong.exceptions import UnsupportedError
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]
_TINY = 1e-300


class Inferred(NamedTuple):
    """What a learner makes of rows whose task it was not told."""

    tasks: Array  # (n, T): P(t | x)
    labels: NDArray[np.intp]  # (n, T): the most probable class within each task
    within: Array  # (n, T): how probable that class is within the task


class UnknownTask:
    """The part of a learner that finds out which task a row is from."""

    tasks_: dict[TaskName, Any]

    @abstractmethod
    def _check_rows(self, X: Any, *, first: bool) -> Rows: ...

    @abstractmethod
    def _known_task(self, task: TaskName | None) -> TaskName: ...

    def _joint_posteriors(self, X: Rows) -> dict[TaskName, Array]:  # noqa: ARG002
        """P(t, k | x) of every task's classes (n, K), up to a factor per row. By default a learner cannot tell."""
        self._known_task(None)  # raises: several tasks are known, say which one
        raise AssertionError

    def predict_task(self, X: Any, *, same_task: bool = False) -> Labels:
        """The task that each row is from, as far as the learner can tell: names (n,).

        ``predict(X)`` without a task gives the labels of these tasks. With ``same_task`` all rows are from one task,
        whichever it is: the more rows, the surer.
        """
        best = self.predict_task_proba(X, same_task=same_task).argmax(axis=1)
        found: Labels = check_labels(list(self.tasks_))[best]
        return found

    def predict_task_proba(self, X: Any, *, same_task: bool = False) -> Array:
        """How probable each known task is, for each row: (n, T), columns in the order of ``tasks_``.

        It takes for granted that the row is from *some* known task; :meth:`novelty` does not.
        """
        tasks, rows = self._all_tasks(), self._check_rows(X, first=False)
        return np.ones((len(rows), 1)) if len(tasks) == 1 else self._infer(rows, same_task=same_task).tasks

    def novelty(self, X: Any) -> Array:
        """How little each row is like any known task's: (n,), from 0 to 1.

        Calibrated: of rows of known tasks, about 5 % are above 0.95, 1 % above 0.99, and so on. If many more are, a
        new task has begun.
        """
        self._all_tasks()
        return self._novelty(self._check_rows(X, first=False))

    def _novelty(self, X: Rows) -> Array:  # noqa: ARG002
        raise UnsupportedError(
            f"{type(self).__name__} keeps no densities of its tasks, so it cannot tell what is new. "
            "SillyForest and SillyNetwork can.",
            see="unknown-task",
        )

    def _all_tasks(self) -> dict[TaskName, Any]:
        """The known tasks; at least one, or there is nothing to be asked."""
        if len(getattr(self, "tasks_", {})) == 0:
            self._known_task(None)  # raises: nothing has been learnt
        return self.tasks_

    def _infer(self, rows: Rows, *, same_task: bool) -> Inferred:
        joint = self._joint_posteriors(rows).values()
        best = np.stack([one.max(axis=1) for one in joint], axis=1)  # (n, T)
        total = np.stack([one.sum(axis=1) for one in joint], axis=1)
        logs = np.log(np.maximum(best, _TINY))
        if same_task:
            logs = np.broadcast_to(logs.sum(axis=0), logs.shape)
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        return Inferred(
            tasks=powers / powers.sum(axis=1, keepdims=True),
            labels=np.stack([one.argmax(axis=1) for one in joint], axis=1),
            within=best / np.maximum(total, _TINY),
        )

    def _predict_pairs(self, rows: Rows, *, same_task: bool) -> tuple[Labels, Array]:
        """The label of each row in the task that it seems to be from, and how probable the two are together."""
        found = self._infer(rows, same_task=same_task)
        task, each = found.tasks.argmax(axis=1), np.arange(len(rows))
        classes = [record.classes for record in self.tasks_.values()]
        if len({one.dtype.kind for one in classes}) > 1:
            classes = [one.astype(object) for one in classes]
        first = np.concatenate([[0], np.cumsum([len(one) for one in classes])[:-1]])
        labels: Labels = np.concatenate(classes)[first[task] + found.labels[each, task]]
        return labels, found.tasks[each, task] * found.within[each, task]
