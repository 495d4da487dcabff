"""What every learner has in common, ours and the references: tasks by name, labels of any kind, all or nothing."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import (
    Codes,
    Labels,
    Rows,
    check_labels,
    check_rows,
    check_weights,
    classes_in,
    encode_labels,
    join_classes,
)
from lifelong.exceptions import InputError, NotLearntError, UnknownTaskError, UnsupportedError
from lifelong.learners.decisions import abstaining, with_priors
from lifelong.learners.growing import Growing, check_name
from lifelong.learners.unknown_task import UnknownTask
from lifelong.tasks.base import TaskName

DEFAULT_TASK = "task"


@dataclass(frozen=True, eq=False)
class TaskRecord:
    """What a learner knows of a task besides what it learnt: its classes, and how many rows of each it has seen."""

    classes: Labels  # (K,), in the order of predict_proba's columns
    class_counts: NDArray[np.int64]  # (K,)
    class_weights: NDArray[np.float64] | None = None  # (K,): their sample weights, if any row ever had one

    @property
    def n_rows(self) -> int:
        """Training rows seen so far."""
        return int(self.class_counts.sum())

    @property
    def class_shares(self) -> NDArray[np.float64]:
        """The shares (K,) of the classes among the rows, or among their weights."""
        mass = self.class_counts if self.class_weights is None else self.class_weights
        return np.asarray(mass / mass.sum())


class Lesson(NamedTuple):
    """Checked rows of one task, ready to be learnt."""

    task: TaskName
    X: Rows
    y: Codes
    record: TaskRecord  # of the task, these rows included
    weights: NDArray[np.float64] | None = None  # (n,)
    in_bag: NDArray[np.bool_] | None = None  # (n,) or (n, B): which rows an encoder has trained on


class Learner(UnknownTask, Growing, ClassifierMixin, BaseEstimator, ABC):
    """Learns tasks one after another and predicts for any of them.

    A subclass says how a new task is learnt, how more rows of a known one are taken in, and what the posteriors are.
    It *replaces* its attributes and never changes them in place: that makes :meth:`partial_fit` all or nothing.
    """

    _takes_weights: ClassVar[bool] = False
    random_state: RandomState
    tasks_: dict[TaskName, TaskRecord]
    seed_: int
    in_shape_: tuple[int, ...]

    @abstractmethod
    def _start(self) -> None:
        """Check the parameters and set the empty state, before the first task."""

    @abstractmethod
    def _learn(self, lesson: Lesson) -> None:
        """Learn a new task."""

    @abstractmethod
    def _extend(self, lesson: Lesson) -> None:
        """Take in more rows of a known task."""

    @abstractmethod
    def _posteriors(self, X: Rows, task: TaskName) -> NDArray[np.float64]:
        """Posteriors (n, K) of a known task."""

    @abstractmethod
    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """Plain single-task models of the same family, by name, unfitted; the one of the same total size comes last."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""

    def alone(self, task: TaskName) -> "Learner | None":  # noqa: ARG002
        """The learner this one would be had it learnt ``task`` only, if that can be had without training again."""
        return None

    def partial_fit(
        self,
        X: Any,
        y: Any,
        task: TaskName | None = None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn a new task, or take in more rows of a known one.

        A new name is a new task: it gets an encoder of its own (while the budget lasts) and channels. For a known name
        the rows go to the task's channels only; **its encoder stays as it is**. New labels become new classes.
        If anything fails, the learner is as it was before the call.

        Parameters
        ----------
        X : rows (n, p) or images (n, c, h, w), of the shape of the first task's
        y : labels of any hashable kind
        task : str or int
            May be left out while at most one task is known.
        classes : labels, optional
            All classes of the task, where ``y`` does not show them all yet.
        sample_weight : (n,), optional
            How much each row counts, for encoders and channels; a row of weight 0 is not there.
        """
        with self._all_or_nothing():
            lesson = self._prepare(X, y, task, classes, sample_weight)
            self._take(lesson)
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and learn one task (scikit-learn's contract)."""
        with self._all_or_nothing():
            self._forget()
            self._take(self._prepare(X, y, DEFAULT_TASK))
        return self

    def predict_proba(
        self, X: Any, task: TaskName | None = None, *, priors: Mapping[Any, float] | None = None
    ) -> NDArray[np.float64]:
        """Posteriors (n, K), columns in the order of :meth:`classes_of`.

        ``priors`` are the shares of the task's classes where the rows come from, by label, if they differ from those
        among the training rows: posteriors are re-weighted by new over old shares.
        """
        name = self._known_task(task)
        posteriors = self._posteriors(self._check_rows(X, first=False), name)
        if priors is None:
            return posteriors
        return with_priors(posteriors, priors, self.tasks_[name].classes, self.tasks_[name].class_shares)

    def predict(
        self,
        X: Any,
        task: TaskName | None = None,
        *,
        same_task: bool = False,
        priors: Mapping[Any, float] | None = None,
        abstain_below: float | None = None,
        abstain_label: Hashable = None,
    ) -> Labels:
        """The most probable label of each row: the decoder of the paper is the argmax of the posteriors.

        Parameters
        ----------
        X : rows
        task : str or int, optional
            If left out while several tasks are known, each row's task is inferred, as :meth:`predict_task` tells.
        same_task : bool
            Whether all rows are from one task, where that is to be inferred.
        priors : dict, optional
            Class shares to be expected, by label: see :meth:`predict_proba`. Only with a task.
        abstain_below : float, optional
            Rows whose label is less probable than this get ``abstain_label`` instead. Where the task is inferred, it
            is the probability that task and label are both right.
        abstain_label : label, optional
            None by default; the labels are then objects.
        """
        if task is None and len(getattr(self, "tasks_", {})) > 1:
            if priors is not None:
                raise InputError("Class shares belong to one task. Say which one: predict(X, task=..., priors=...).")
            labels, confidence = self._predict_pairs(self._check_rows(X, first=False), same_task=same_task)
        else:
            posteriors = self.predict_proba(X, task, priors=priors)
            labels, confidence = self.classes_of(task)[posteriors.argmax(axis=1)], posteriors.max(axis=1)
        return labels if abstain_below is None else abstaining(labels, confidence, abstain_below, abstain_label)

    def score(self, X: Any, y: Any, task: TaskName | None = None, sample_weight: Any = None) -> float:
        """Share of rows (or of ``sample_weight``) whose label is predicted, by :meth:`predict`."""
        predicted = self.predict(X, task).tolist()
        truth = check_labels(y, n_rows=len(predicted)).tolist()
        hits = [one == true for one, true in zip(predicted, truth, strict=True)]
        return float(np.average(hits, weights=sample_weight))

    def classes_of(self, task: TaskName | None = None) -> Labels:
        """The classes of a task, in the order of :meth:`predict_proba`'s columns."""
        return self.tasks_[self._known_task(task)].classes

    @property
    def classes_(self) -> Labels:
        """scikit-learn's name for the classes of the only task."""
        if len(getattr(self, "tasks_", {})) != 1:
            raise AttributeError("classes_ is for learners of one task. Use classes_of(task).")
        return self.classes_of()

    def __sklearn_is_fitted__(self) -> bool:
        return bool(getattr(self, "tasks_", {}))

    def _rng(self, *purpose: Hashable) -> np.random.Generator:
        return generator(self.seed_, *purpose)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put everything back if the block fails; attributes are replaced and never changed in place."""
        before = dict(self.__dict__)
        try:
            with self._kept():
                yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _kept(self) -> AbstractContextManager[None]:
        """What is learnt inside is stored before the block ends, if the learner has a store."""
        return nullcontext()

    def _forget(self) -> None:
        for learnt in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, learnt)

    def _prepare(
        self,
        X: Any,
        y: Any,
        task: TaskName | None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Lesson:
        """Check the rows and labels; a fresh learner gets its empty state."""
        first = not hasattr(self, "tasks_")
        if first:
            self._begin()
        name = self._known_task(None) if task is None and self.tasks_ else _check_name(task)
        rows = self._check_rows(X, first=first)
        labels = check_labels(y, n_rows=len(rows))
        rows, labels, weights = self._weighted(rows, labels, sample_weight)
        known = self.tasks_.get(name, TaskRecord(labels[:0], np.zeros(0, dtype=np.int64)))
        present = set(known.classes.tolist())
        declared = list(classes) if classes is not None else []
        new = [label for label in dict.fromkeys([*declared, *classes_in(labels)]) if label not in present]
        joined = join_classes(known.classes, new, like=labels)
        codes = encode_labels(labels, joined.tolist())
        counts = np.bincount(codes, minlength=len(joined))
        mass = _class_weights(known, codes, weights, len(joined))
        counts[: len(known.classes)] += known.class_counts
        return Lesson(name, rows, codes, TaskRecord(joined, counts, mass), weights)

    def _begin(self) -> None:
        self.seed_ = seed_from(self.random_state)
        self._start()
        self.tasks_ = {}

    def _weighted(
        self, rows: Rows, labels: Labels, sample_weight: Any
    ) -> tuple[Rows, Labels, NDArray[np.float64] | None]:
        """The rows that count at all, and how much."""
        weights = None if sample_weight is None else check_weights(sample_weight, n_rows=len(rows))
        if weights is None or (weights == 1).all():
            return rows, labels, None
        if not self._takes_weights:
            raise UnsupportedError(
                f"{type(self).__name__} takes no sample_weight. SillyForest and SillyNetwork do.", see="growing-tasks"
            )
        there = weights > 0
        return rows[there], labels[there], weights[there]

    def _take(self, lesson: Lesson) -> None:
        if lesson.task in self.tasks_:
            self._extend(lesson)
        else:
            self._learn(lesson)
        self._record(lesson)

    def _record(self, lesson: Lesson) -> None:
        self.tasks_ = {**self.tasks_, lesson.task: lesson.record}

    def _check_rows(self, X: Any, *, first: bool) -> Rows:
        if first or hasattr(self, "feature_names_in_") or type(X) is not np.ndarray:
            self._check_column_names(X, first=first)
        rows = check_rows(X, in_shape=None if first else self.in_shape_, owner=type(self).__name__)
        if first:
            self.in_shape_ = rows.shape[1:]
            self.n_features_in_ = rows.shape[1]
        return rows

    def _check_column_names(self, X: Any, *, first: bool) -> None:
        """Column names, where X has any, must be those of the first task."""
        try:
            validate_data(self, X, reset=first or not getattr(self, "tasks_", {}), skip_check_array=True)
        except ValueError as error:
            if "feature names" in str(error):
                raise InputError(str(error), see="my-data") from None

    def _known_task(self, task: TaskName | None) -> TaskName:
        known: dict[TaskName, TaskRecord] = getattr(self, "tasks_", {})
        if not known:
            raise NotLearntError(
                f"This {type(self).__name__} has not learnt any task yet. "
                "Call partial_fit(X, y, task=...) or fit(X, y) first.",
                see="quickstart",
            )
        names = ", ".join(map(repr, known))
        if task is None:
            if len(known) > 1:
                raise UnknownTaskError(
                    f"Several tasks are known: {names}. Say which one: task={next(iter(known))!r}.", see="unknown-task"
                )
            return next(iter(known))
        if task not in known:
            raise UnknownTaskError(
                f"Unknown task {task!r}. Known tasks: {names}. Call partial_fit(X, y, task={task!r}) first.",
                see="quickstart",
            )
        return task


def _check_name(task: Any) -> TaskName:
    return DEFAULT_TASK if task is None else check_name(task)


def _class_weights(
    known: TaskRecord, codes: Codes, weights: NDArray[np.float64] | None, n_classes: int
) -> NDArray[np.float64] | None:
    """The classes' weights with these rows; rows without a weight count 1."""
    if weights is None and known.class_weights is None:
        return None
    mass = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    mass[: len(known.classes)] += known.class_counts if known.class_weights is None else known.class_weights
    return mass
