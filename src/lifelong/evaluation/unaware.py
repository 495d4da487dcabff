"""Errors when nobody says which task a row is from: task and label must both be right."""

import numpy as np

from lifelong._labels import Labels, check_labels
from lifelong._validation import Rows
from lifelong.exceptions import UnknownTaskError
from lifelong.learners.base import Learner
from lifelong.tasks.base import Task


def unaware_error(learner: Learner, task: Task) -> float:
    """Share of the task's test rows whose task or label, or both, the learner gets wrong."""
    right = predicted_tasks(learner, task.X_test) == task.name
    if right.any():
        labels = learner.predict(task.X_test[right], task=task.name).tolist()
        right[right] = [
            label == true for label, true in zip(labels, task.y_test[right].tolist(), strict=True)
        ]
    return float(1 - np.mean(right))


def predicted_tasks(learner: Learner, X: Rows) -> Labels:
    """The tasks that a learner infers; one that cannot is taken at its heads' words: the surest one
    has the row.

    That is how multi-head learners are compared in class-incremental settings.
    """
    try:
        return learner.predict_task(X)
    except UnknownTaskError:
        sure = np.stack(
            [learner.predict_proba(X, task).max(axis=1) for task in learner.tasks_], axis=1
        )  # (n, T)
        names: Labels = check_labels(list(learner.tasks_))
        return np.asarray(names[sure.argmax(axis=1)])
