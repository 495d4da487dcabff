"""The front door: one table with a task per row, classes or numbers."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.utils import compute_sample_weight

from lifelong._labels import (
    Labels,
    check_classes,
    check_labels,
    check_same_index,
    classes_in,
    encode_labels,
    join_classes,
    warn_of_similar,
)
from lifelong._random import RandomState
from lifelong._validation import HEAVIEST, check_share, check_weights
from lifelong._words import shown
from lifelong.encoders.answers import Aim
from lifelong.exceptions import InputError, ParameterError
from lifelong.learners.front_base import LifelongModel, TaskPerRow
from lifelong.learners.front_images import TablesOrImages
from lifelong.learners.held_out import interval_widths
from lifelong.learners.knowledge import TaskRecord
from lifelong.learners.table_knowledge import TablesKnown
from lifelong.learners.table_learning import Settings
from lifelong.learners.task_names import by_task
from lifelong.rows.targets import check_no_holes, check_numbers
from lifelong.tasks.base import TaskName


class LifelongClassifier(TablesOrImages):
    """Classes of many related tasks in one table, each better than alone and than pooled.

    Each task grows a forest of its own, and has a linear model of its own where held-out rows say
    that these help. All tasks share a forest, boosted trees and a linear model
    on all rows, which may also read how far a number is from its task's mean. A task's answer mixes
    them by weights that held-out rows have chosen. Images (n, c, h, w) are learnt by networks
    that tasks share, as by ``SillyNetwork.best(shared=2)``; that needs torch.

    Parameters
    ----------
    task_column : str or int, optional
        The column of ``X`` that says which task a row is from (an index, if X is an array). Without
        it, ``fit`` and ``predict`` take ``task=``; without either, all rows are one task.
    n_estimators : int, default 100
        Trees of each task's forest; the shared one has three times as many.
    max_depth : int, optional
        Deepest level of a tree; by default trees grow until their leaves are pure.
    max_features : "sqrt", "log2", int, float or None, default "sqrt"
        Columns that a split looks at, as in scikit-learn's forests.
    min_samples_leaf : int or float, default 1
        Rows that a leaf has at least.
    shared : bool or None, default True
        Whether rows of several tasks may train one encoder. With None no row is shared, but a task
        asks the forests and linear models of up to 320 other tasks that know some of its labels
        (all trees of up to 32, some trees of more), and corrects their answers by its own rows;
        those that answer its rows well count more. With False each task has its own forest alone.
    class_weight : dict, "balanced" or None, default None
        How much rows of each class count, as in scikit-learn.
    on_unseen : "pooled" or "raise", default "pooled"
        What ``predict`` does with a row of a task that it does not know: answer with what all tasks
        have in common, or raise.
    n_jobs : int, optional
        Threads for growing trees. The model does not depend on it.
    random_state : int, Generator or None, default None
        Where randomness comes from. The same number gives the same model.

    Attributes
    ----------
    classes_ : (K,)
        All labels of all tasks; the columns of ``predict_proba``, whatever the task.
    tasks_ : mapping
        By name, in order of arrival: classes, and how many rows of each.
    columns_ : Columns
        Names, kinds and categories of the table's columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"site": ["a", "b"] * 20, "dose": range(40), "sex": ["f", "m"] * 20})
    >>> ill = ["yes" if dose > 20 else "no" for dose in frame.dose]
    >>> model = LifelongClassifier(task_column="site", random_state=0).fit(frame, ill)
    >>> model.predict(frame.iloc[[0, 39]])
    array(['no', 'yes'], dtype='<U3')

    See Also
    --------
    LifelongRegressor : numbers instead of classes.
    SillyForest, SillyNetwork : the learners of the paper, which share no rows between tasks.
    """

    aim: ClassVar[Aim] = "classes"

    def __init__(
        self,
        task_column: str | int | None = None,
        *,
        n_estimators: int = 100,
        max_depth: int | None = None,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        shared: bool | None = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        on_unseen: Literal["pooled", "raise"] = "pooled",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.task_column = task_column
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.shared = shared
        self.class_weight = class_weight
        self.on_unseen = on_unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def classes_(self) -> Labels:
        """All labels of all tasks, in the order of ``predict_proba``'s columns."""
        labels: Labels = self._learnt("classes_").labels
        return labels[_order(labels)]

    def classes_of(self, task: TaskName | None = None) -> Labels:
        """The labels that a task has shown so far."""
        known = self._known()
        record = known.tasks[self._known_task(known, task)]
        return record.classes[record.class_counts > 0]  # type: ignore[no-any-return]

    def labels_of_proba(self, task: TaskName | None = None) -> Labels:
        """The label of each column of ``predict_proba``: ``classes_``, whatever the task."""
        del task
        return self.classes_

    def predict(self, X: Any, task: TaskPerRow = None) -> Labels:  # type: ignore[override]
        """The most probable label of each row.

        Parameters
        ----------
        X : frame or array
            With the task column, if there is one.
        task : name, or (n,) names, optional
            See :meth:`fit`.
        """

        def labels(known: TablesKnown) -> Labels:
            order = _order(known.labels)
            best = self._answers(known, X, task)[:, order].argmax(axis=1)
            found: Labels = known.labels[order][best]
            return found

        return self._ask(labels)

    def predict_proba(  # type: ignore[override]
        self, X: Any, task: TaskPerRow = None
    ) -> NDArray[np.float64]:
        """Probabilities (n, K), one column for each label of ``classes_``, whatever the task."""

        def probabilities(known: TablesKnown) -> NDArray[np.float64]:
            return self._answers(known, X, task)[:, _order(known.labels)]

        return self._ask(probabilities)

    def score(self, X: Any, y: Any, task: TaskPerRow = None, sample_weight: Any = None) -> float:
        """The share of rows (or of ``sample_weight``) whose label is predicted."""
        check_same_index(X, y)
        predicted = self.predict(X, task).tolist()
        truth = check_labels(y, n_rows=len(predicted)).tolist()
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, n_rows=len(predicted))
        hits = [label == true for label, true in zip(predicted, truth, strict=True)]
        return float(np.average(hits, weights=sample_weight))

    def _targets(self, y: Any, n_rows: int) -> Labels:
        check_no_holes(y)
        return check_labels(y, n_rows=n_rows)

    def _with_targets(
        self, known: TablesKnown, targets: Labels, classes: Sequence[Hashable] | None
    ) -> tuple[TablesKnown, NDArray[Any]]:
        seen = set(known.labels.tolist())
        new = [label for label in classes_in(targets) if label not in seen]
        declared: list[Hashable] = []
        if classes is not None:
            declared = check_classes(classes)
        new += [label for label in declared if label not in seen and label not in new]
        joined = join_classes(known.labels, new, targets)
        warn_of_similar(joined.tolist(), new)
        codes = encode_labels(targets, joined.tolist())
        return replace(known, labels=joined), codes.astype(np.int64)

    def _record(self, known: TablesKnown, task: TaskName, targets: NDArray[Any]) -> TaskRecord:
        counts = np.bincount(targets, minlength=known.n_answers)
        before = known.tasks.get(task)
        if before is not None:
            counts[: len(before.class_counts)] += before.class_counts
        return TaskRecord(known.labels, counts)

    def _balanced(
        self, targets: Labels, weights: NDArray[np.float64] | None, known: Any
    ) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return weights
        labels = known.labels.tolist()
        if isinstance(self.class_weight, dict):
            balance = _weights_of_labels(self.class_weight, targets.tolist(), labels)
        else:  # by codes: labels of several kinds cannot be sorted
            balance = compute_sample_weight("balanced", encode_labels(targets, labels))
        if weights is not None:
            balance = balance * weights
        try:
            return check_weights(balance, n_rows=len(targets))
        except InputError as error:
            raise ParameterError(f"class_weight gives weights that do not fit: {error}") from None

    def _settings(self) -> Settings:
        _check_class_weight(self.class_weight)
        return super()._settings()

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """An ordinary random forest of one task."""
        del n_tasks
        return {"rf": RandomForestClassifier(self.n_estimators, random_state=self.random_state)}


class LifelongRegressor(RegressorMixin, LifelongModel):
    """A number for each row of many related tasks in one table.

    As :class:`LifelongClassifier`, with means in the place of class shares, ridge regression in the
    place of logistic regression, and weights that sum to one.

    Parameters
    ----------
    task_column : str or int, optional
        The column of ``X`` that says which task a row is from.
    n_estimators : int, default 100
        Trees of each task's forest; the shared one has three times as many.
    max_depth : int, optional
        Deepest level of a tree.
    max_features : "sqrt", "log2", int, float or None, default 1/3
        Columns that a split looks at. For numbers a third is better than the square root.
    min_samples_leaf : int or float, default 2
        Rows that a leaf has at least.
    shared : bool or None, default True
        Whether rows of several tasks may train one encoder; None and False as for classes.
    on_unseen : "pooled" or "raise", default "pooled"
        What ``predict`` does with a row of a task that it does not know.
    n_jobs : int, optional
        Threads for growing trees.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    tasks_ : mapping
        By name, in order of arrival.
    columns_ : Columns
        Names, kinds and categories of the table's columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"school": ["a", "b"] * 20, "age": range(40)})
    >>> model = LifelongRegressor(task_column="school", random_state=0).fit(frame, 2 * frame.age)
    >>> model.predict(frame.iloc[[10]]).round(-1)
    array([20.])
    >>> model.predict(frame.iloc[[10]], interval=0.9).shape
    (1, 3)

    See Also
    --------
    LifelongClassifier : classes instead of numbers.
    """

    aim: ClassVar[Aim] = "number"
    _estimator_type = "regressor"

    def __init__(
        self,
        task_column: str | int | None = None,
        *,
        n_estimators: int = 100,
        max_depth: int | None = None,
        max_features: Any = 1 / 3,
        min_samples_leaf: int = 2,
        shared: bool | None = True,
        on_unseen: Literal["pooled", "raise"] = "pooled",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.task_column = task_column
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.shared = shared
        self.on_unseen = on_unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(  # type: ignore[override]
        self, X: Any, task: TaskPerRow = None, interval: float | None = None
    ) -> NDArray[np.float64]:
        """The expected number of each row (n,).

        Parameters
        ----------
        X : frame or array
            With the task column, if there is one.
        task : name, or (n,) names, optional
            See :meth:`fit`.
        interval : float, optional
            A share, such as 0.9: then (n, 3), with the lower and upper end of an interval that
            holds about so many of the rows' numbers. Its width comes from held-out errors.
        """
        if interval is not None:
            share = check_share(interval, "interval")
            if share in (0, 1):
                raise ParameterError(f"interval={shown(interval)} is not a share between 0 and 1.")

        def numbers(known: TablesKnown) -> NDArray[np.float64]:
            mean = self._answers(known, X, task)[:, 0]
            if interval is None:
                return mean
            half = self._half_widths(known, X, task, interval)
            return np.stack([mean, mean - half, mean + half], axis=1)

        return self._ask(numbers)

    def _half_widths(
        self, known: TablesKnown, X: Any, task: TaskPerRow, interval: float
    ) -> NDArray[np.float64]:
        """Half the width of each row's interval (n,)."""
        widths = interval_widths(known)
        quantile = widths.quantile(interval)
        asked = self._asked(known, X, task)
        half = np.empty(len(asked.X))
        for name, rows in by_task(asked):
            half[rows] = quantile * widths.scale(name)
        return half

    @property
    def predict_proba(self) -> Any:
        """Numbers have no classes."""
        raise AttributeError("LifelongRegressor predicts numbers; it has no predict_proba.")

    def score(self, X: Any, y: Any, task: TaskPerRow = None, sample_weight: Any = None) -> float:
        """R²: the share of the variance that is explained."""
        check_same_index(X, y)
        predicted = self.predict(X, task)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, n_rows=len(predicted))
        truth = self._targets(y, len(predicted))
        return float(r2_score(truth, predicted, sample_weight=sample_weight))

    def _targets(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        check_no_holes(y)
        return check_numbers(y, n_rows)

    def _with_targets(
        self, known: TablesKnown, targets: NDArray[Any], classes: Sequence[Hashable] | None
    ) -> tuple[TablesKnown, NDArray[Any]]:
        if classes is not None:
            raise InputError("classes= is for LifelongClassifier: numbers have none.")
        return replace(known, labels=np.array(["number"])), targets

    def _record(self, known: TablesKnown, task: TaskName, targets: NDArray[Any]) -> TaskRecord:
        n_rows = len(targets)
        before = known.tasks.get(task)
        if before is not None:
            n_rows += before.n_rows
        return TaskRecord(known.labels, np.array([n_rows]))

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """An ordinary random forest of one task."""
        del n_tasks
        return {"rf": RandomForestRegressor(self.n_estimators, random_state=self.random_state)}


def _check_class_weight(class_weight: Any) -> None:
    """None, a word, or a number for each label."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ParameterError(
            f"class_weight={shown(class_weight)} does not fit. Give a dict of labels and their "
            "weights, 'balanced' or None."
        )
    for label, weight in class_weight.items():
        is_number = isinstance(weight, int | float | np.integer | np.floating)
        if not is_number or isinstance(weight, bool) or not 0 <= weight <= HEAVIEST:
            raise ParameterError(
                f"class_weight has {shown(weight)} for the label {shown(label)}. Give a number "
                f"from 0 to {HEAVIEST:.0e}."
            )


def _weights_of_labels(
    class_weight: dict[Any, Any], targets: Sequence[Hashable], known: Sequence[Hashable]
) -> NDArray[np.float64]:
    """The weight of each row's label (n,); a label that is not there weighs 1.

    As in scikit-learn, that is refused where another label is there that nobody knows.
    """
    without = [label for label in dict.fromkeys(targets) if label not in class_weight]
    there = set(known)
    unknown = [label for label in class_weight if label not in there]
    if without and unknown:
        raise ParameterError(
            f"class_weight has no weight for the label {shown(without[0])}, and one for "
            f"{shown(unknown[0])}, which no row has had. Declare labels that come later: "
            "classes=."
        )
    return np.array([class_weight.get(label, 1.0) for label in targets], dtype=np.float64)


def _order(labels: Labels) -> NDArray[np.intp]:
    """The places of labels in the order of ``classes_``: sorted where they can be compared."""
    place = {label: number for number, label in enumerate(labels.tolist())}
    return np.array([place[label] for label in classes_in(labels)], dtype=np.intp)
