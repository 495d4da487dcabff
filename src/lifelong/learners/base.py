"""What every learner has in common, ours and the references: tasks by name, labels of any kind."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import Parameter, signature
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import (
    Codes,
    Labels,
    Rows,
    check_classes,
    check_kind,
    check_labels,
    check_rows,
    check_same_index,
    check_task_name,
    check_weights,
    classes_in,
    encode_labels,
    join_classes,
    plain_name,
    warn_of_similar,
)
from lifelong._words import did_you_mean
from lifelong.channels.base import Weights
from lifelong.exceptions import (
    InputError,
    InputTypeError,
    NotLearntError,
    ParameterTypeError,
    UnknownTaskError,
    UnsupportedError,
)
from lifelong.learners.decisions import abstaining, with_priors
from lifelong.learners.knowledge import Lesson, TaskRecord, TasksKnown, renamed
from lifelong.learners.task_inference import infer
from lifelong.rows import Table
from lifelong.tasks.base import TaskName

DEFAULT_TASK = "task"
Answer = TypeVar("Answer")


class Learner(ClassifierMixin, BaseEstimator, ABC):
    """Learns tasks one after another and predicts for any of them.

    What it has learnt is one frozen value, ``knowledge_``. A subclass says what it knows before the
    first task (:meth:`_start`), what it knows after a lesson (:meth:`_learn`), and what follows
    from that (:meth:`_posteriors`). A lesson replaces the value in one assignment: it is learnt as
    a whole or not at all, and another thread sees the value of before or the one of after.

    Attributes
    ----------
    knowledge_ : TasksKnown
        Everything that was learnt.
    tasks_ : mapping
        By name, in order of arrival: classes, and how many rows of each.
    seed_ : int
        The number that everything random derives from.
    in_shape_ : tuple
        The shape of a row.

    Examples
    --------
    >>> from lifelong import SillyForest
    >>> isinstance(SillyForest(), Learner)
    True

    See Also
    --------
    lifelong.SillyForest, lifelong.SillyNetwork, lifelong.Silly : ours.
    lifelong.testing.check_learner : tests one of your own.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025.
    """

    _takes_weights: ClassVar[bool] = False
    knowledge_class: ClassVar[type[TasksKnown]] = TasksKnown
    random_state: RandomState

    def __new__(cls, *_arguments: Any, **parameters: Any) -> Self:
        """Refuse a parameter that does not exist, with the one that was perhaps meant."""
        check_parameters(cls, parameters)
        made: Self = super().__new__(cls)
        return made

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name, as scikit-learn's estimators do.

        Parameters
        ----------
        **parameters
            Those of the constructor; ``channel__strength=1`` changes one of a part's.

        Returns
        -------
        self

        Raises
        ------
        ParameterTypeError
            If there is no such parameter; the message says which one was perhaps meant.
        """
        check_parameters(type(self), (name.partition("__")[0] for name in parameters))
        changed: Self = super().set_params(**parameters)
        return changed

    # What a subclass brings

    @abstractmethod
    def _start(self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None) -> Any:
        """Check the parameters; what is known before the first task."""

    @abstractmethod
    def _learn(self, known: Any, lesson: Lesson) -> Any:
        """What is known after a lesson: a new task, or more rows of a known one."""

    @abstractmethod
    def _posteriors(self, known: Any, X: Rows, task: TaskName) -> NDArray[np.float64]:
        """Posteriors (n, K) of a known task."""

    @abstractmethod
    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """Plain single-task models of the same family, by name, unfitted.

        The one of the same total size comes last.

        Parameters
        ----------
        n_tasks : int
            How many tasks the learner will have learnt: says what its total size is.
        """

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""

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

    def _forget(self, known: Any, task: TaskName, *, encoder: bool) -> Any:
        """What is known without a task."""
        del known, encoder
        raise UnsupportedError(
            f"{type(self).__name__} cannot forget task {task!r}: what it learnt from that task is "
            "mixed with what it learnt from others. SillyForest, SillyNetwork and rf can.",
            see="growing-tasks",
        )

    def _rename(self, known: Any, old: TaskName, new: TaskName) -> Any:
        """What is known with another name for a task: in every map by task."""
        maps = {}
        for field in fields(known):
            value = getattr(known, field.name)
            if isinstance(value, Mapping) and old in value:
                maps[field.name] = renamed(value, old, new)
        return replace(known, **maps)

    def alone(self, task: TaskName) -> "Learner | None":
        """The learner this one would be had it learnt ``task`` only.

        None if that cannot be had without training again.

        Parameters
        ----------
        task : str or int
            A name of ``tasks_``.
        """
        del task
        return None

    # Learning

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        task: TaskName | None = None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn a new task, or take in more rows of a known one.

        A new name is a new task: it gets an encoder of its own (while the budget lasts) and
        channels. For a known name the rows go to the task's channels only; **its encoder stays as
        it is**. New labels become new classes. If anything fails, the learner is as it was.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images, of the shape of the first task's.
        y : (n,)
            Labels of any hashable kind.
        task : str or int, optional
            May be left out while at most one task is known: it is then that one, or ``"task"``.
        classes : labels, optional
            All classes of the task, where ``y`` does not show them all yet.
        sample_weight : (n,), optional
            How much each row counts, for encoders and channels; a row of weight 0 is not there.

        Returns
        -------
        self
        """

        def learnt(known: Any) -> Any:
            known, rows = self._rows_to_learn(known, X)
            check_same_index(X, y)
            check_same_index(X, sample_weight, "sample_weight")
            name = self._task_to_learn(known, task)
            return self._learn(known, self._lesson(known, rows, y, name, classes, sample_weight))

        return self._update(learnt)

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and learn one task (scikit-learn's contract).

        Parameters
        ----------
        X : (n, p) or (n, c, h, w)
            Rows or images.
        y : (n,)
            Labels of any hashable kind.

        Returns
        -------
        self
        """

        def learnt(_: Any) -> Any:
            known, rows = self._rows_to_learn(None, X)
            check_same_index(X, y)
            return self._learn(known, self._lesson(known, rows, y, DEFAULT_TASK))

        return self._update(learnt)

    def forget(self, task: TaskName, *, encoder: bool = False) -> Self:
        """Forget a task: its classes, its channel, its stored rows and its densities.

        A saved learner forgets when it is saved again.

        Parameters
        ----------
        task : str or int
            A name of ``tasks_``.
        encoder : bool, default False
            Its encoder stays by default, as it serves other tasks. With True it goes, too, from
            every other task's channel as well, and the learner is as if it had never learnt the
            task. (Only the unit in which rows are measured for :meth:`predict_task` and
            :meth:`novelty` stays that of the first task ever learnt.)
        """

        def forgotten(known: Any) -> Any:
            name = self._known_task(known, check_given(task, "forget"))
            return self._forget(known, name, encoder=encoder)

        return self._update(forgotten)

    def rename(self, old: TaskName, new: TaskName) -> Self:
        """Give a task another name; what was learnt does not change, nor does the order of tasks.

        A SiLLy learner goes on, bit for bit, as if the task had always had the new name and the old
        one's randomness: ``encoders_`` still calls its encoder by the name it was learnt under.
        Other learners draw the randomness of later rounds by the new name. Both are as reproducible
        as before.

        Parameters
        ----------
        old : str or int
            A name of ``tasks_``.
        new : str or int
            No name of ``tasks_``.

        Returns
        -------
        self
        """

        def with_new_name(known: Any) -> Any:
            name = self._known_task(known, check_given(old, "rename"))
            wanted = check_task_name(new)
            if wanted in known.tasks:
                raise InputError(
                    f"There is a task {wanted!r} already. Choose another name, or "
                    f"forget({wanted!r}) first."
                )
            return self._rename(known, name, wanted)

        return self._update(with_new_name)

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

    # Input

    def _rows_to_learn(self, known: Any, X: Any) -> tuple[Any, Rows]:
        """Checked rows, and what is known: the shape and names of rows before the first lesson."""
        owner = type(self).__name__
        _check_no_table(X, owner)
        if known is not None and known.tasks:
            return known, self._rows_to_ask(known, X)
        names = check_column_names(X, None, owner)
        if known is not None:  # encoders from elsewhere have come first, or all tasks have gone
            rows = check_rows(X, in_shape=known.in_shape, owner=owner)
            return replace(known, feature_names=names), rows
        rows = check_rows(X, owner=owner)
        return self._start(seed_from(self.random_state), rows.shape[1:], names), rows

    def _rows_to_ask(self, known: Any, X: Any) -> Rows:
        """Checked rows of the shape and names of the first task's."""
        owner = type(self).__name__
        _check_no_table(X, owner)
        if known.feature_names is not None or type(X) is not np.ndarray:
            check_column_names(X, known, owner)
        return check_rows(X, in_shape=known.in_shape, owner=owner)

    def _task_to_learn(self, known: Any, task: Any) -> TaskName:
        if task is not None:
            return check_task_name(task)
        if known.tasks:
            return self._known_task(known, None)
        return DEFAULT_TASK

    def _lesson(
        self,
        known: TasksKnown,
        rows: Rows,
        y: Any,
        task: TaskName,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Lesson:
        """Check the labels and weights; their classes join those that the task had."""
        labels = check_labels(y, n_rows=len(rows))
        rows, labels, weights = self._weighted(rows, labels, sample_weight)
        nothing = TaskRecord(labels[:0], np.zeros(0, dtype=np.int64))
        record = known.tasks.get(task, nothing)
        joined = _joined_classes(record, labels, classes)
        codes = encode_labels(labels, joined.tolist())
        counts = np.bincount(codes, minlength=len(joined))
        mass = _class_weights(record, codes, weights, len(joined))
        counts[: len(record.classes)] += record.class_counts
        return Lesson(task, rows, codes, TaskRecord(joined, counts, mass), weights)

    def _weighted(
        self, rows: Rows, labels: Labels, sample_weight: Any
    ) -> tuple[Rows, Labels, Weights | None]:
        """The rows that count at all, and how much."""
        if sample_weight is None:
            return rows, labels, None
        weights = check_weights(sample_weight, n_rows=len(rows))
        if (weights == 1).all():
            return rows, labels, None
        if not self._takes_weights:
            raise UnsupportedError(
                f"{type(self).__name__} takes no sample_weight. SillyForest and SillyNetwork do.",
                see="growing-tasks",
            )
        counts = weights > 0
        if (weights[counts] == 1).all():
            return rows[counts], labels[counts], None
        return rows[counts], labels[counts], weights[counts]

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
                f"task={task!r} is not the name of a task. Give one name: text or a whole number."
            )
        task = plain_name(task)
        if task not in known.tasks:
            names = ", ".join(map(repr, known.tasks))
            raise UnknownTaskError(
                f"Unknown task {task!r}. Known tasks: {names}. "
                f"Call partial_fit(X, y, task={task!r}) first.",
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

    >>> class Counting(Learner):
    ...     counts_ = learnt("counts")
    """
    return property(lambda learner: getattr(learner._learnt(f"{field}_"), field))


def check_parameters(owner: type, parameters: Iterable[str]) -> None:
    """Refuse names that are no parameters of a constructor.

    >>> class Small:
    ...     def __init__(self, channel="leaf"): ...
    >>> check_parameters(Small, {"chanel": "ridge"})
    Traceback (most recent call last):
    lifelong.exceptions.ParameterTypeError: Small has no parameter 'chanel'. Did you mean 'channel'?
    Its parameters: channel.
    """
    known = signature(owner.__init__).parameters  # type: ignore[misc]
    if any(parameter.kind == Parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in parameters:
        if name not in known:
            there = [other for other in known if other != "self"]
            raise ParameterTypeError(
                f"{owner.__name__} has no parameter {name!r}.{did_you_mean(name, there)}"
                f" Its parameters: {', '.join(there)}."
            )


def _check_no_table(X: Any, owner: str) -> None:
    """A table of a task has more than numbers in it: text, dates or missing values."""
    if isinstance(X, Table):
        raise InputTypeError(
            f"{owner} reads rows of numbers, and this is a table with text, dates or missing "
            "values. LifelongClassifier and LifelongRegressor read it as it is.",
            see="my-data",
        )


def check_column_names(X: Any, known: TasksKnown | None, owner: str) -> NDArray[Any] | None:
    """Column names, where X has any; once something is ``known`` they must be those of before.

    scikit-learn looks at them, on an estimator that exists for the time of the question.
    """
    check_kind(X)
    estimator: Any = type(owner, (BaseEstimator,), {})()
    if known is not None:
        estimator.n_features_in_ = known.in_shape[0]
        if known.feature_names is not None:
            estimator.feature_names_in_ = known.feature_names
    try:
        validate_data(estimator, X, reset=known is None, skip_check_array=True)
    except TypeError as error:
        if "eature names" in str(error):  # some are text and some are not
            raise InputTypeError(str(error), see="my-data") from None
    except ValueError as error:
        if "feature names" in str(error):
            raise InputError(str(error), see="my-data") from None
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"X has more than one column {twice!r}. Rename them.", see="my-data")
    return names


def _joined_classes(
    record: TaskRecord, labels: Labels, declared: Sequence[Hashable] | None
) -> Labels:
    """The classes that were known, those that are declared, and those that the labels show."""
    present = set(record.classes.tolist())
    shown: Iterable[Hashable] = classes_in(labels)
    if declared is not None:
        shown = [*check_classes(declared), *shown]
    new = [label for label in dict.fromkeys(shown) if label not in present]
    joined = join_classes(record.classes, new, like=labels)
    warn_of_similar(joined.tolist(), new)
    return joined


def _class_weights(
    known: TaskRecord, codes: Codes, weights: Weights | None, n_classes: int
) -> Weights | None:
    """The classes' weights with these rows; rows without a weight count 1."""
    if weights is None and known.class_weights is None:
        return None
    mass = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    if known.class_weights is None:
        mass[: len(known.classes)] += known.class_counts
    else:
        mass[: len(known.classes)] += known.class_weights
    return mass


def check_given(task: TaskName | None, what: str) -> TaskName:
    """Tasks are not forgotten or renamed by default."""
    if task is None:
        raise InputTypeError(f"Say which task to {what}: a name of tasks_.")
    return task
