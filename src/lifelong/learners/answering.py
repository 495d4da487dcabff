"""What a learner knows is one frozen value; its answers: labels, posteriors, tasks, novelty."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from lifelong._labels import Labels, check_labels, check_same_index
from lifelong._random import generator
from lifelong._validation import Rows, check_rows, check_weights, plain_name
from lifelong._words import shown
from lifelong.exceptions import (
    InputError,
    InputTypeError,
    NotLearntError,
    UnknownTaskError,
    UnsupportedError,
)
from lifelong.learners.decisions import abstaining, with_priors
from lifelong.learners.knowledge import TaskRecord
from lifelong.learners.lessons import check_column_names, check_no_table
from lifelong.learners.task_inference import infer
from lifelong.tasks.base import TaskName

Answer = TypeVar("Answer")


class Answering(ClassifierMixin, BaseEstimator, ABC):
    """Holds one frozen value, ``knowledge_``, and answers from it.

    A subclass says what follows from the value for one task.
    """

    # What is known

    @property
    def knowledge_(self) -> Any:
        """Everything that was learnt, in one frozen value."""
        return self._learnt("knowledge_")

    @knowledge_.setter
    def knowledge_(self, known: Any) -> None:
        self._knowledge = known

    @property
    def tasks_(self) -> Mapping[TaskName, TaskRecord]:
        """What is known of each task, in order of arrival."""
        return self._learnt("tasks_").tasks  # type: ignore[no-any-return]

    @property
    def seed_(self) -> int:
        """The number that everything random derives from."""
        return int(self._learnt("seed_").seed)

    @property
    def in_shape_(self) -> tuple[int, ...]:
        """The shape of a row."""
        return tuple(self._learnt("in_shape_").in_shape)

    @property
    def n_features_in_(self) -> int:
        """scikit-learn's name for the number of columns."""
        return self._learnt("n_features_in_").in_shape[0]  # type: ignore[no-any-return]

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """scikit-learn's name for the names of the columns."""
        names = self._learnt("feature_names_in_").feature_names
        if names is None:
            raise AttributeError("The rows of the first task had no column names.")
        return names  # type: ignore[no-any-return]

    @property
    def classes_(self) -> Labels:
        """scikit-learn's name for the classes of the only task."""
        if len(self._tasks()) != 1:
            raise AttributeError("classes_ is for learners of one task. Use classes_of(task).")
        return self.classes_of()

    def classes_of(self, task: TaskName | None = None) -> Labels:
        """The classes of a task, in the order of :meth:`predict_proba`'s columns.

        Parameters
        ----------
        task : str or int, optional
            May be left out while one task is known.
        """
        known = self._known()
        return known.tasks[self._known_task(known, task)].classes  # type: ignore[no-any-return]

    def labels_of_proba(self, task: TaskName | None = None) -> Labels:
        """The label of each column of ``predict_proba(X, task)``.

        Parameters
        ----------
        task : str or int, optional
            May be left out while one task is known.
        """
        return self.classes_of(task)

    def known_task(self, task: TaskName | None = None) -> TaskName:
        """The name of a task that is known: the only one, if none is given.

        Parameters
        ----------
        task : str or int, optional
            A name to look up.

        Raises
        ------
        UnknownTaskError, NotLearntError
            Which say what is known, and what to do.
        """
        return self._known_task(self._known(), task)

    # What a subclass brings

    @abstractmethod
    def _posteriors(self, known: Any, X: Rows, task: TaskName) -> NDArray[np.float64]:
        """Posteriors (n, K) of a known task."""

    def _joint_posteriors(self, known: Any, X: Rows) -> Mapping[TaskName, NDArray[np.float64]]:
        """P(t, k | x) of every task's classes (n, K), up to a factor per row."""
        del known, X
        raise self._say_which_task()

    def _novelty(self, known: Any, X: Rows) -> NDArray[np.float64]:
        """See :meth:`novelty`."""
        del known, X
        raise UnsupportedError(
            f"{type(self).__name__} keeps no densities of its tasks, so it cannot tell what is "
            "new. SillyForest and SillyNetwork can.",
            see="unknown-task",
        )

    # Answers

    def predict_proba(
        self, X: Any, task: TaskName | None = None, *, priors: Mapping[Any, float] | None = None
    ) -> NDArray[np.float64]:
        """Posteriors (n, K), columns in the order of :meth:`classes_of`.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        task : str or int, optional
            May be left out while one task is known.
        priors : dict, optional
            The shares of the task's classes where the rows come from, by label, if they differ from
            those among the training rows: posteriors are re-weighted by new over old shares.
        """

        return self._ask(lambda known: self._posteriors_of(known, X, task, priors))

    def _posteriors_of(
        self, known: Any, X: Any, task: TaskName | None, priors: Mapping[Any, float] | None
    ) -> NDArray[np.float64]:
        name = self._known_task(known, task)
        posteriors = self._posteriors(known, self._rows_to_ask(known, X), name)
        if priors is None:
            return posteriors
        record = known.tasks[name]
        return with_priors(posteriors, priors, record.classes, record.class_shares)

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
        """The most probable label of each row: the paper's decoder is the argmax of the posteriors.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        task : str or int, optional
            If left out while several tasks are known, each row's task is inferred, as
            :meth:`predict_task` tells.
        same_task : bool, default False
            Whether all rows are from one task, where that is to be inferred: the more rows, the
            surer.
        priors : dict, optional
            Class shares to be expected, by label: see :meth:`predict_proba`. Only with a task.
        abstain_below : float, optional
            Rows whose label is less probable than this get ``abstain_label`` instead. Where the
            task is inferred, it is the probability that task and label are both right.
        abstain_label : label, optional
            None by default; the labels are then objects.
        """

        def answer(known: Any) -> tuple[Labels, NDArray[np.float64]]:
            if task is None and len(known.tasks) > 1:
                return self._predict_pairs(known, X, same_task=same_task, priors=priors)
            posteriors = self._posteriors_of(known, X, task, priors)
            classes = known.tasks[self._known_task(known, task)].classes
            return classes[posteriors.argmax(axis=1)], posteriors.max(axis=1)

        labels, confidence = self._ask(answer)
        if abstain_below is None:
            return labels
        return abstaining(labels, confidence, abstain_below, abstain_label)

    def _predict_pairs(
        self, known: Any, X: Any, *, same_task: bool, priors: Mapping[Any, float] | None
    ) -> tuple[Labels, NDArray[np.float64]]:
        """Each row's label in the task that it seems to be from, and how probable both are."""
        if priors is not None:
            raise InputError(
                "Class shares belong to one task. Say which one: predict(X, task=..., priors=...)."
            )
        rows = self._rows_to_ask(known, X)
        found = infer(self._joint_posteriors(known, rows), same_task=same_task)
        task = found.tasks.argmax(axis=1)
        row = np.arange(len(rows))
        classes = [record.classes for record in known.tasks.values()]
        if len({of_task.dtype.kind for of_task in classes}) > 1:
            classes = [of_task.astype(object) for of_task in classes]
        ends = np.cumsum([len(of_task) for of_task in classes])
        first = np.concatenate([[0], ends[:-1]])  # of each task's classes
        labels: Labels = np.concatenate(classes)[first[task] + found.labels[row, task]]
        return labels, found.tasks[row, task] * found.within[row, task]

    def score(
        self, X: Any, y: Any, task: TaskName | None = None, sample_weight: Any = None
    ) -> float:
        """Share of rows (or of ``sample_weight``) whose label is predicted, by :meth:`predict`.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        y : (n,)
            Their labels.
        task : str or int, optional
            If left out while several tasks are known, each row's task is inferred.
        sample_weight : (n,), optional
            How much each row counts; None, the default: all alike.
        """
        check_same_index(X, y)
        predicted = self.predict(X, task).tolist()
        truth = check_labels(y, n_rows=len(predicted)).tolist()
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, n_rows=len(predicted))
        hits = [label == true for label, true in zip(predicted, truth, strict=True)]
        return float(np.average(hits, weights=sample_weight))

    def predict_task(self, X: Any, *, same_task: bool = False) -> Labels:
        """The task that each row is from, as far as the learner can tell: names (n,).

        ``predict(X)`` without a task gives the labels of these tasks.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        same_task : bool, default False
            Whether all rows are from one task, whichever it is: the more rows, the surer.
        """

        def answer(known: Any) -> Labels:
            best = self._task_posteriors(known, X, same_task=same_task).argmax(axis=1)
            found: Labels = check_labels(list(known.tasks))[best]
            return found

        return self._ask(answer)

    def predict_task_proba(self, X: Any, *, same_task: bool = False) -> NDArray[np.float64]:
        """How probable each known task is, for each row: (n, T), in the order of ``tasks_``.

        It takes for granted that the row is from *some* known task; :meth:`novelty` does not.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        same_task : bool, default False
            Whether all rows are from one task, whichever it is: then all have the same answer.
        """
        return self._ask(lambda known: self._task_posteriors(known, X, same_task=same_task))

    def _task_posteriors(self, known: Any, X: Any, *, same_task: bool) -> NDArray[np.float64]:
        rows = self._rows_to_ask(known, X)
        if len(known.tasks) == 1:
            return np.ones((len(rows), 1))
        return infer(self._joint_posteriors(known, rows), same_task=same_task).tasks

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """How little each row is like any known task's: (n,), from 0 to 1.

        Calibrated: of rows of known tasks, about 5 % are above 0.95, 1 % above 0.99, and so on. If
        many more are, a new task has begun.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        """
        return self._ask(lambda known: self._novelty(known, self._rows_to_ask(known, X)))

    def _rows_to_ask(self, known: Any, X: Any) -> Rows:
        """Checked rows of the shape and names of the first task's."""
        owner = type(self).__name__
        check_no_table(X, owner)
        if known.feature_names is not None or type(X) is not np.ndarray:
            check_column_names(X, known, owner)
        return check_rows(X, in_shape=known.in_shape, owner=owner)

    # The value, and what is asked of it

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self._tasks())

    def _known(self) -> Any:
        """What is known; None before the first lesson."""
        return vars(self).get("_knowledge")

    def _tasks(self) -> Mapping[TaskName, TaskRecord]:
        """The known tasks; none before the first lesson."""
        known = self._known()
        if known is None:
            return {}
        return known.tasks  # type: ignore[no-any-return]

    def _learnt(self, attribute: str) -> Any:
        """What is known, for an attribute that is there once something is."""
        known = self._known()
        if known is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")
        return known

    def _update(self, change: Callable[[Any], Any]) -> Self:
        """Replace what is known by what is known after a change."""
        self.knowledge_ = change(self._known())
        return self

    def _ask(self, question: Callable[[Any], Answer]) -> Answer:
        """The answer to a question about what is known; something must be."""
        known = self._known()
        if known is None or not known.tasks:
            raise self._not_learnt()
        return question(known)

    def _rng(self, *purpose: Hashable) -> np.random.Generator:
        """The generator for one purpose."""
        return generator(self.seed_, *purpose)

    def _known_task(self, known: Any, task: TaskName | None) -> TaskName:
        """The name of a task that is known; the only one, if None."""
        if known is None or not known.tasks:
            raise self._not_learnt()
        if task is None:
            if len(known.tasks) > 1:
                raise self._say_which_task()
            return next(iter(known.tasks))  # type: ignore[no-any-return]
        if not isinstance(task, str | int | np.str_ | np.integer):
            raise InputTypeError(
                f"task={shown(task)} is not the name of a task. Give one name: text or a whole"
                " number."
            )
        task = plain_name(task)
        if task not in known.tasks:
            names = ", ".join(map(repr, known.tasks))
            raise UnknownTaskError(
                f"Unknown task {shown(task)}. Known tasks: {names}. "
                f"Call partial_fit(X, y, task={shown(task)}) first.",
                see="quickstart",
            )
        return task

    def _not_learnt(self) -> NotLearntError:
        return NotLearntError(
            f"This {type(self).__name__} has not learnt any task yet. "
            "Call partial_fit(X, y, task=...) or fit(X, y) first.",
            see="quickstart",
        )

    def _say_which_task(self) -> UnknownTaskError:
        tasks = self._tasks()
        names = ", ".join(map(repr, tasks))
        first = next(iter(tasks))
        return UnknownTaskError(
            f"Several tasks are known: {names}. Say which one: task={first!r}.", see="unknown-task"
        )


def learnt(field: str) -> Any:
    """A read-only attribute of a learner: one field of what it knows.

    >>> class Counting(Answering):
    ...     counts_ = learnt("counts")
    """
    return property(lambda learner: getattr(learner._learnt(f"{field}_"), field))
