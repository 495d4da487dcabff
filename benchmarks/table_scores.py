"""Scores of answers on tables of tasks: per task, then averaged over tasks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.table_data import Draw
from lifelong.evaluation.scoring import LEAST

HIGHER_IS_BETTER = {"accuracy": True, "log_loss": False, "auc": True, "relative_rmse": False}


def classification_scores(draw: Draw, answers: NDArray[np.float64]) -> dict[str, Any]:
    """Accuracy, log-loss and, with two classes, AUC of probabilities (n, K).

    Returns
    -------
    dict
        The means over tasks, and under ``tasks`` the three of each task. A task whose test rows are
        all of one class has no AUC.
    """
    if answers.shape != (len(draw.test), draw.table.n_classes) or not np.isfinite(answers).all():
        raise ValueError("a learner has not answered every row with numbers")
    truth = draw.table.y[draw.test]
    by_task = {}
    for task in np.unique(draw.test_tasks):
        rows = draw.test_tasks == task
        by_task[task] = _scores_of_task(truth[rows], answers[rows])
    return {**_means(by_task), "tasks": by_task}


def _scores_of_task(
    truth: NDArray[np.int64], answers: NDArray[np.float64]
) -> dict[str, float | None]:
    of_truth = answers[np.arange(len(truth)), truth]
    auc = None
    if answers.shape[1] == 2 and len(np.unique(truth)) == 2:
        auc = round(float(roc_auc_score(truth, answers[:, 1])), 5)
    return {
        "accuracy": round(float((answers.argmax(axis=1) == truth).mean()), 5),
        "log_loss": round(float(-np.log(np.clip(of_truth, LEAST, 1)).mean()), 5),
        "auc": auc,
    }


def regression_scores(draw: Draw, answers: NDArray[np.float64]) -> dict[str, Any]:
    """RMSE of numbers (n,), relative to that of the mean of the task's training rows."""
    if answers.shape != (len(draw.test),) or not np.isfinite(answers).all():
        raise ValueError("a learner has not answered every row with a number")
    truth = draw.table.y[draw.test]
    by_task = {}
    for task in np.unique(draw.test_tasks):
        rows = draw.test_tasks == task
        mean = draw.y[draw.train_tasks == task].mean()
        of_mean = np.sqrt(np.mean((truth[rows] - mean) ** 2))
        of_answers = np.sqrt(np.mean((truth[rows] - answers[rows]) ** 2))
        by_task[task] = {"relative_rmse": round(float(of_answers / of_mean), 5)}
    return {**_means(by_task), "tasks": by_task}


def _means(by_task: dict[str, dict[str, Any]]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for metric in next(iter(by_task.values())):
        values = [scores[metric] for scores in by_task.values() if scores[metric] is not None]
        means[metric] = None
        if values:
            means[metric] = round(float(np.mean(values)), 5)
    return means
