"""Whether probabilities mean what they say, and intervals hold as many rows as they promise.

Of all rows for which a model is 80 % sure of its label, 80 % should have that label. Rows are put
into bins by how sure the model is; a reliability curve has the share of right labels in each bin,
and the expected calibration error (ECE) is the mean distance between both, weighted by rows.

References
----------
Naeini, Cooper, Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian Binning, 2015.
Guo, Pleiss, Sun, Weinberger, On Calibration of Modern Neural Networks, 2017.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lifelong._labels import check_labels
from lifelong._validation import check_count
from lifelong.exceptions import InputError
from lifelong.learners.base import Learner
from lifelong.tasks.base import Task, TaskName, TaskStream

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """How sure a model is, and how often it is right.

    Attributes
    ----------
    confidence : (B,)
        The mean probability of the predicted label in each bin; NaN in an empty one.
    accuracy : (B,)
        The share of rows of each bin whose label is the predicted one; NaN in an empty bin.
    rows : (B,)
        How many rows each bin has.

    Examples
    --------
    >>> sure = np.array([[0.9, 0.1]] * 10)
    >>> curve = reliability_curve(sure, ["a"] * 8 + ["b"] * 2, ["a", "b"])
    >>> round(curve.calibration_error, 3)
    0.1
    """

    confidence: Array
    accuracy: Array
    rows: NDArray[np.int64]

    def to_json(self) -> dict[str, list[float | None]]:
        """Plain data: bins one after another; an empty bin has None."""
        return {
            "confidence": [_rounded(value) for value in self.confidence.tolist()],
            "accuracy": [_rounded(value) for value in self.accuracy.tolist()],
            "rows": self.rows.tolist(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Sequence[float | None]]) -> "ReliabilityCurve":
        """What :meth:`to_json` has written."""
        return cls(
            np.array(content["confidence"], dtype=np.float64),
            np.array(content["accuracy"], dtype=np.float64),
            np.array(content["rows"], dtype=np.int64),
        )

    @property
    def calibration_error(self) -> float:
        """ECE: the mean of the distance of accuracy from confidence over rows, bin by bin."""
        there = self.rows > 0
        off = np.abs(self.accuracy[there] - self.confidence[there])
        return float(np.average(off, weights=self.rows[there]))

    @property
    def chance_error(self) -> float:
        """The ECE to be expected of probabilities that are right: few rows are never exact.

        In a bin of n rows the share of right labels has standard deviation √(p (1 − p) / n), and
        is √(2 / π) of it away from p on average.
        """
        there = self.rows > 0
        p = self.confidence[there]
        n = self.rows[there]
        away = np.sqrt(2 / np.pi) * np.sqrt(p * (1 - p) / n)
        return float(np.average(away, weights=n))

    def joined(self, other: "ReliabilityCurve") -> "ReliabilityCurve":
        """The curve of the rows of both, which have the same bins."""
        rows = self.rows + other.rows
        sums = [
            np.nan_to_num(first) * self.rows + np.nan_to_num(second) * other.rows
            for first, second in (
                (self.confidence, other.confidence),
                (self.accuracy, other.accuracy),
            )
        ]
        confidence, accuracy = (_over(total, rows) for total in sums)
        return ReliabilityCurve(confidence, accuracy, rows)


def reliability_curve(
    probabilities: ArrayLike, y: Any, classes: Sequence[Any] | NDArray[Any], n_bins: int = 10
) -> ReliabilityCurve:
    """The reliability curve of answers to some rows.

    Parameters
    ----------
    probabilities : (n, K)
        Of each label.
    y : (n,)
        The right labels.
    classes : (K,)
        The labels of the columns.
    n_bins : int, default 10
        Bins of equal width from 0 to 1.

    Returns
    -------
    ReliabilityCurve
    """
    check_count(n_bins, "n_bins")
    answers = np.asarray(probabilities, dtype=np.float64)
    labels = list(np.asarray(classes, dtype=object))
    truth = check_labels(y, n_rows=len(answers)).tolist()
    if answers.ndim != 2 or answers.shape[1] != len(labels) or not len(answers):
        raise InputError(
            f"Probabilities have shape {answers.shape}, and there are {len(labels)} classes: give "
            "one column for each class, and at least one row."
        )
    if (answers < 0).any() or not np.allclose(answers.sum(axis=1), 1, atol=1e-4):
        raise InputError("Probabilities must not be negative and must sum to 1 in every row.")
    best = answers.argmax(axis=1)
    sure = answers[np.arange(len(answers)), best]
    right = np.array([labels[k] == label for k, label in zip(best, truth, strict=True)])
    # (0, 0.1], (0.1, 0.2], …: a model that is 100 % sure belongs to the last bin
    bins = np.clip(np.ceil(sure * n_bins).astype(int) - 1, 0, n_bins - 1)
    rows = np.bincount(bins, minlength=n_bins)
    confidence = _over(np.bincount(bins, weights=sure, minlength=n_bins), rows)
    accuracy = _over(np.bincount(bins, weights=right, minlength=n_bins), rows)
    return ReliabilityCurve(confidence, accuracy, rows)


def _rounded(value: float) -> float | None:
    if value != value:
        return None
    return round(value, 6)


def _over(sums: NDArray[Any], rows: NDArray[np.int64]) -> Array:
    """Means of bins; NaN in an empty one."""
    means: Array = np.divide(sums, rows, out=np.full(len(rows), np.nan), where=rows > 0)
    return means


def calibration(
    learner: Learner, stream: TaskStream, n_bins: int = 10
) -> dict[TaskName, ReliabilityCurve]:
    """The reliability curve of each task of a stream, on its test rows.

    Parameters
    ----------
    learner : Learner
        Which knows the tasks.
    stream : TaskStream
        Whose test rows the learner has not seen.
    n_bins : int, default 10
        See :func:`reliability_curve`.

    Examples
    --------
    >>> from lifelong import SillyForest
    >>> from lifelong.tasks.simulations import xor_stream
    >>> stream = xor_stream(random_state=0)[:1]
    >>> learner = SillyForest(random_state=0)
    >>> learner = learner.partial_fit(stream[0].X_train, stream[0].y_train, task="xor")
    >>> list(calibration(learner, stream))
    ['xor']
    """
    return {task.name: curve_on(learner, task, n_bins) for task in stream}


def curve_on(learner: Learner, task: Task, n_bins: int = 10) -> ReliabilityCurve:
    """The reliability curve of one task, on its test rows.

    Parameters
    ----------
    learner : Learner
        Which knows the task.
    task : Task
    n_bins : int, default 10
        See :func:`reliability_curve`.
    """
    probabilities = learner.predict_proba(task.X_test, task.name)
    labels = learner.labels_of_proba(task.name)
    return reliability_curve(probabilities, task.y_test, labels, n_bins)


def together(curves: Iterable[ReliabilityCurve]) -> ReliabilityCurve:
    """One curve of the rows of all tasks: with few rows per task, ECE is mostly noise."""
    first, *rest = curves
    for curve in rest:
        first = first.joined(curve)
    return first


def interval_coverage(intervals: ArrayLike, y: ArrayLike) -> float:
    """The share of numbers that lie in their interval.

    Parameters
    ----------
    intervals : (n, 3) or (n, 2)
        As ``LifelongRegressor.predict(X, interval=0.9)`` gives them: the last two columns are the
        lower and the upper end.
    y : (n,)
        The right numbers.

    Examples
    --------
    >>> interval_coverage([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]], [0.5, 3.0])
    0.5
    """
    ends = np.asarray(intervals, dtype=np.float64)
    numbers = np.asarray(y, dtype=np.float64)
    if ends.ndim != 2 or ends.shape[1] not in (2, 3) or len(ends) != len(numbers):
        raise InputError(
            f"Intervals have shape {ends.shape}, and there are {len(numbers)} numbers: give a lower"
            " and an upper end for each."
        )
    lower = ends[:, -2]
    upper = ends[:, -1]
    return float(np.mean((lower <= numbers) & (numbers <= upper)))
