"""What every learner has in common, ours and the references: tasks by name, labels of any kind, all or nothing."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

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
    classes_in,
    encode_labels,
    join_classes,
)
from lifelong.exceptions import InputError, InputTypeError, NotLearntError, UnknownTaskError
from lifelong.tasks.base import TaskName

DEFAULT_TASK = "task"


@dataclass(frozen=True, eq=False)
class TaskRecord:
    """What a learner knows of a task besides what it learnt: its classes, and how many rows of each it has seen."""

    classes: Labels  # (K,), in the order of predict_proba's columns
    class_counts: NDArray[np.int64]  # (K,)

    @property
    def n_rows(self) -> int:
        """Training rows seen so far."""
        return int(self.class_counts.sum())


class Lesson(NamedTuple):
    """Checked rows of one task, ready to be learnt."""

    task: TaskName
    X: Rows
    y: Codes
    record: TaskRecord  # of the task, these rows included


class Learner(ClassifierMixin, BaseEstimator, ABC):
    """Learns tasks one after another and predicts for any of them.

    A subclass says how a new task is learnt, how more rows of a known one are taken in, and what the posteriors are.
    It *replaces* its attributes and never changes them in place: that makes :meth:`partial_fit` all or nothing.
    """

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
        self, X: Any, y: Any, task: TaskName | None = None, classes: Sequence[Hashable] | None = None
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
        """
        with self._all_or_nothing():
            lesson = self._prepare(X, y, task, classes)
            self._take(lesson)
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and learn one task (scikit-learn's contract)."""
        with self._all_or_nothing():
            self._forget()
            self._take(self._prepare(X, y, DEFAULT_TASK))
        return self

    def predict_proba(self, X: Any, task: TaskName | None = None) -> NDArray[np.float64]:
        """Posteriors (n, K), columns in the order of :meth:`classes_of`."""
        name = self._known_task(task)
        return self._posteriors(self._check_rows(X, first=False), name)

    def predict(self, X: Any, task: TaskName | None = None) -> Labels:
        """The most probable label of each row: the decoder of the paper is the argmax of the posteriors."""
        posteriors = self.predict_proba(X, task)
        labels: Labels = self.classes_of(task)[posteriors.argmax(axis=1)]
        return labels

    def score(self, X: Any, y: Any, task: TaskName | None = None, sample_weight: Any = None) -> float:
        """Share of rows (or of ``sample_weight``) whose label is predicted."""
        hits = self.predict_proba(X, task).argmax(axis=1)
        code = {label: position for position, label in enumerate(self.classes_of(task).tolist())}
        truth = [code.get(label, -1) for label in check_labels(y, n_rows=len(hits)).tolist()]
        return float(np.average(hits == truth, weights=sample_weight))

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
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _forget(self) -> None:
        for learnt in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, learnt)

    def _prepare(self, X: Any, y: Any, task: TaskName | None, classes: Sequence[Hashable] | None = None) -> Lesson:
        """Check the rows and labels; a fresh learner gets its empty state."""
        first = not hasattr(self, "tasks_")
        if first:
            self.seed_ = seed_from(self.random_state)
            self._start()
            self.tasks_ = {}
        name = self._known_task(None) if task is None and self.tasks_ else _check_name(task)
        rows = self._check_rows(X, first=first)
        labels = check_labels(y, n_rows=len(rows))
        known = self.tasks_.get(name, TaskRecord(labels[:0], np.zeros(0, dtype=np.int64)))
        present = set(known.classes.tolist())
        declared = list(classes) if classes is not None else []
        new = [label for label in dict.fromkeys([*declared, *classes_in(labels)]) if label not in present]
        joined = join_classes(known.classes, new, like=labels)
        codes = encode_labels(labels, joined.tolist())
        counts = np.bincount(codes, minlength=len(joined))
        counts[: len(known.classes)] += known.class_counts
        return Lesson(name, rows, codes, TaskRecord(joined, counts))

    def _take(self, lesson: Lesson) -> None:
        if lesson.task in self.tasks_:
            self._extend(lesson)
        else:
            self._learn(lesson)
        self._record(lesson)

    def _record(self, lesson: Lesson) -> None:
        self.tasks_ = {**self.tasks_, lesson.task: lesson.record}

    def _check_rows(self, X: Any, *, first: bool) -> Rows:
        owner = type(self).__name__
        try:  # column names, where X has any, must be those of the first task
            validate_data(self, X, reset=first, skip_check_array=True)
        except ValueError as error:
            if "feature names" in str(error):
                raise InputError(str(error)) from None
        rows = check_rows(X, in_shape=None if first else self.in_shape_, owner=owner)
        if first:
            self.in_shape_ = rows.shape[1:]
            self.n_features_in_ = rows.shape[1]
        return rows

    def _known_task(self, task: TaskName | None) -> TaskName:
        known: dict[TaskName, TaskRecord] = getattr(self, "tasks_", {})
        if not known:
            raise NotLearntError(
                f"This {type(self).__name__} has not learnt any task yet. "
                "Call partial_fit(X, y, task=...) or fit(X, y) first."
            )
        names = ", ".join(map(repr, known))
        if task is None:
            if len(known) > 1:
                raise UnknownTaskError(f"Several tasks are known: {names}. Say which one: task={next(iter(known))!r}.")
            return next(iter(known))
        if task not in known:
            raise UnknownTaskError(
                f"Unknown task {task!r}. Known tasks: {names}. Call partial_fit(X, y, task={task!r}) first."
            )
        return task


def _check_name(task: Any) -> TaskName:
    if task is None:
        return DEFAULT_TASK
    if isinstance(task, np.integer):
        return int(task)
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise InputTypeError(f"task={task!r} cannot name a task. Use text or a whole number.")
    return task
