"""What every learner has in common, ours and the references: tasks by name, labels of any kind."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels, check_labels, check_same_index, encode_labels
from lifelong._random import RandomState, seed_from
from lifelong._validation import Rows, check_rows, check_task_name, check_weights
from lifelong.channels.base import Weights
from lifelong.exceptions import InputError, UnsupportedError
from lifelong.learners.answering import Answer, Answering, learnt
from lifelong.learners.knowledge import Lesson, TaskRecord, TasksKnown, renamed
from lifelong.learners.lessons import (
    check_column_names,
    check_given,
    check_no_table,
    check_parameters,
    class_weights,
    joined_classes,
)
from lifelong.tasks.base import TaskName

__all__ = ["DEFAULT_TASK", "Answer", "Learner", "learnt"]

DEFAULT_TASK = "task"


class Learner(Answering):
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

    def knowledge_for(self, in_shape: tuple[int, ...]) -> type[TasksKnown]:
        """What it knows after rows of that shape: the same for all, if a learner says no more."""
        del in_shape
        return self.knowledge_class

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

    # Input

    def _rows_to_learn(self, known: Any, X: Any) -> tuple[Any, Rows]:
        """Checked rows, and what is known: the shape and names of rows before the first lesson."""
        owner = type(self).__name__
        check_no_table(X, owner)
        if known is not None and known.tasks:
            return known, self._rows_to_ask(known, X)
        names = check_column_names(X, None, owner)
        if known is not None:  # encoders from elsewhere have come first, or all tasks have gone
            rows = check_rows(X, in_shape=known.in_shape, owner=owner)
            return replace(known, feature_names=names), rows
        rows = check_rows(X, owner=owner)
        return self._start(seed_from(self.random_state), rows.shape[1:], names), rows

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
        joined = joined_classes(record, labels, classes)
        codes = encode_labels(labels, joined.tolist())
        counts = np.bincount(codes, minlength=len(joined))
        mass = class_weights(record, codes, weights, len(joined))
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
