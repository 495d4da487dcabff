"""What an error is: the share of mistakes, a squared error, or what a scikit-learn scorer says.

Every statistic of the paper is a ratio of errors, so a score has to become an error first. A loss
(``neg_log_loss``, ``neg_mean_absolute_error``) is one as soon as its sign is turned. Any other
score of scikit-learn is 1 at best (``roc_auc``, ``r2``, ``balanced_accuracy``): its error is
1 − score. Of ``r2`` that is the share of the variance which is not explained.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names

from lifelong._labels import Labels, classes_in
from lifelong._words import did_you_mean
from lifelong.evaluation.errors import ERROR_RATE, ErrorKind
from lifelong.exceptions import ParameterError
from lifelong.learners.base import Learner
from lifelong.rows import Columns, Table
from lifelong.rows.views import TreeView
from lifelong.tasks.base import Target, Task

SQUARED_ERROR = ErrorKind("squared error", is_share=False)
ABSOLUTE_ERROR = ErrorKind("absolute error", is_share=False)
LOG_LOSS = ErrorKind("log loss", is_share=False)

_SAME = {  # other names of what we call otherwise
    "accuracy": "error rate",
    "neg_mean_squared_error": "squared error",
    "neg_mean_absolute_error": "absolute error",
    "neg_log_loss": "log loss",
}
_SMALLEST = float(np.finfo(np.float64).eps)  # of a probability, as in scikit-learn's log_loss
LEAST = 1e-3
"""A probability below counts as this in the clipped log loss: a forest that never saw a class in a
leaf says 0, and one such row would outweigh all others."""
CLIPPED_LOG_LOSS = ErrorKind("clipped log loss", is_share=False)


class Model(Protocol):
    """What a scorer asks: answers to rows of one task, labels as numbers 0 … K−1."""

    def predict(self, X: Any) -> Any: ...


Error = Callable[[Model, Any, NDArray[Any]], float]
"""Of a model, rows and their labels as numbers (or numbers as they are)."""


@dataclass(frozen=True)
class Scoring:
    """An error, and what to call it.

    Attributes
    ----------
    kind : ErrorKind
        What tables say about it.
    error : function (model, X, y) → float
        Of a model with scikit-learn's methods. Labels are numbers 0 … K−1, in sorted order: of two,
        the second is the positive one.

    See Also
    --------
    find_scoring : by name.
    """

    kind: ErrorKind
    error: Error

    def of_learner(self, learner: Learner, task: Task) -> float:
        """The learner's error on the test rows of a task."""
        if self.kind == ERROR_RATE:
            return 1.0 - learner.score(task.X_test, task.y_test, task=task.name)
        if task.target == "number":
            return self._measured(_Numbers(learner, task), task.X_test, task.y_test, task)
        asked = _Classes(learner, task)
        return self._measured(asked, task.X_test, asked.codes(task.y_test), task)

    def of_plain(self, model: Any, task: Task) -> float:
        """The error of a plain model that is trained on all training rows of the task."""
        X_train, X_test = plain_rows(task)
        if task.target == "number":
            fitted = model.fit(X_train, task.y_train)
            return self._measured(fitted, X_test, task.y_test, task)
        code = {label: position for position, label in enumerate(classes_in(task.y_train))}
        y_train, y_test = (
            [code.get(label, -1) for label in y.tolist()] for y in (task.y_train, task.y_test)
        )
        fitted = model.fit(X_train, y_train)
        return self._measured(fitted, X_test, np.array(y_test), task)

    def _measured(self, model: Any, X: Any, y: NDArray[Any], task: Task) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UndefinedMetricWarning)
                error = self.error(model, X, y)
        except (ValueError, AttributeError, UndefinedMetricWarning) as reason:
            raise self._impossible(task, reason) from None
        if not error >= 0:
            raise self._impossible(task, f"it is {error:.6g}, and errors are not negative")
        return error

    def _impossible(self, task: Task, reason: object) -> ParameterError:
        return ParameterError(
            f"The error {self.kind.name!r} cannot be measured on task {task.name!r}: {reason}. "
            "Give another scoring."
        )


def find_scoring(scoring: "str | Scoring | None", target: Target) -> Scoring:
    """The error of that name.

    Parameters
    ----------
    scoring : str or Scoring, optional
        ``"error rate"``, ``"squared error"``, ``"absolute error"``, ``"log loss"``,
        ``"clipped log loss"`` (no probability counts as less than .001) or a name of
        :func:`sklearn.metrics.get_scorer_names`. None: the share of mistakes for classes, the
        squared error for numbers.
    target : "class" or "number"
        What is predicted.

    Examples
    --------
    >>> find_scoring(None, "number").kind.name
    'squared error'
    >>> find_scoring("roc_auc", "class").kind
    ErrorKind(name='1 − roc_auc', is_share=True)
    """
    if isinstance(scoring, Scoring):
        return scoring
    if scoring is None:
        if target == "number":
            return _OURS["squared error"]
        return _OURS["error rate"]
    name = _SAME.get(scoring, scoring)
    if name in _OURS:
        return _OURS[name]
    if name not in get_scorer_names():
        hint = did_you_mean(scoring, [*_OURS, *get_scorer_names()])
        raise ParameterError(
            f"Unknown scoring {scoring!r}.{hint} Known: {', '.join(_OURS)}, and the names of"
            " sklearn.metrics.get_scorer_names()."
        )
    scorer = get_scorer(name)
    if name.startswith("neg_"):
        kind = ErrorKind(name.removeprefix("neg_").replace("_", " "), is_share=False)
        return Scoring(kind, lambda model, X, y: -float(scorer(model, X, y)))
    kind = ErrorKind(f"1 − {name}")
    return Scoring(kind, lambda model, X, y: 1 - float(scorer(model, X, y)))


def _error_rate(model: Any, X: Any, y: NDArray[Any]) -> float:
    return float(np.mean(model.predict(X) != y))


def _squared_error(model: Any, X: Any, y: NDArray[Any]) -> float:
    return float(np.mean((model.predict(X) - y) ** 2))


def _absolute_error(model: Any, X: Any, y: NDArray[Any]) -> float:
    return float(np.mean(np.abs(model.predict(X) - y)))


def _log_loss(model: Any, X: Any, y: NDArray[Any], least: float = _SMALLEST) -> float:
    """Mean of −log p(label); a label that the model does not know has the smallest p there is."""
    probabilities = model.predict_proba(X)
    place = {int(code): column for column, code in enumerate(model.classes_)}
    columns = np.array([place.get(int(code), -1) for code in y])
    of_truth = probabilities[np.arange(len(y)), columns]
    of_truth = np.where(columns < 0, 0, of_truth)
    return float(-np.log(np.clip(of_truth, least, 1)).mean())


_OURS = {
    "error rate": Scoring(ERROR_RATE, _error_rate),
    "squared error": Scoring(SQUARED_ERROR, _squared_error),
    "absolute error": Scoring(ABSOLUTE_ERROR, _absolute_error),
    "log loss": Scoring(LOG_LOSS, _log_loss),
    "clipped log loss": Scoring(CLIPPED_LOG_LOSS, partial(_log_loss, least=LEAST)),
}


class _Numbers(RegressorMixin, BaseEstimator):
    """A learner of numbers that is asked about one task."""

    def __init__(self, learner: Any, task: Task) -> None:
        self.learner = learner
        self.task = task

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.learner.predict(X, task=self.task.name), dtype=np.float64)


class _Classes(ClassifierMixin, BaseEstimator):
    """A learner of classes that is asked about one task; labels are numbers in sorted order."""

    def __init__(self, learner: Learner, task: Task) -> None:
        self.learner = learner
        self.task = task
        labels = learner.labels_of_proba(task.name)
        place = {label: column for column, label in enumerate(labels.tolist())}
        in_order = classes_in(labels)
        self.columns = [place[label] for label in in_order]
        self.code = {label: code for code, label in enumerate(in_order)}
        self.classes_ = np.arange(len(in_order))

    def codes(self, y: Labels) -> NDArray[np.int64]:
        """Labels as numbers; one that the learner does not know is K."""
        return np.array([self.code.get(label, len(self.code)) for label in y.tolist()])

    def predict(self, X: Any) -> NDArray[np.int64]:
        return self.codes(self.learner.predict(X, task=self.task.name))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.learner.predict_proba(X, self.task.name)[:, self.columns]


def plain_rows(task: Task) -> tuple[Any, Any]:
    """Training and test rows as a plain model of one task reads them.

    A table becomes numbers: categories one by one where they are few, dates as their parts, what
    is missing or unknown NaN.
    """
    if not isinstance(task.X_train, Table):
        return task.X_train, task.X_test
    columns = Columns().learnt(task.X_train)
    view = TreeView.of(columns)
    return view(columns.rows(task.X_train)), view(columns.rows(task.X_test))
