"""Images at the front door: arrays (n, c, h, w) are learnt by networks that tasks share.

A table and images are two kinds of knowledge of one classifier; what it has learnt first decides.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._extras import require
from lifelong._labels import Labels, check_classes, classes_in, join_classes, warn_of_similar
from lifelong._random import seed_from
from lifelong._validation import (
    Rows,
    check_choice,
    check_jobs,
    check_rows,
    check_task_name,
    check_weights,
)
from lifelong._words import shown
from lifelong.encoders.answers import Answers
from lifelong.exceptions import InputError, ParameterError, UnsupportedError
from lifelong.learners import algorithms, shared_networks
from lifelong.learners.algorithms import Parts
from lifelong.learners.front_base import ON_UNSEEN, LifelongModel, TaskPerRow
from lifelong.learners.front_tables import PAGE, unknown_task
from lifelong.learners.knowledge import Knowledge, TasksKnown
from lifelong.learners.presets import SillyNetwork
from lifelong.learners.task_names import Asked, by_task, names_per_row, rows_by_code
from lifelong.rows import Texts, is_frame
from lifelong.schema import Custom, InManifest, saved
from lifelong.tasks.base import TaskName

SHARED_NETWORKS = 2
"""What ``shared`` is, see :class:`~lifelong.SillyNetwork`: an own network, two shared ones, and
patches."""


@dataclass(frozen=True, eq=False)
class ImagesKnown(Knowledge):
    """Everything that was learnt from images of related tasks.

    Attributes
    ----------
    labels : (K,)
        All labels of all tasks, in the order in which they came.
    """

    labels: Labels = saved(
        InManifest(Custom("labels")), default_factory=lambda: np.zeros(0, dtype=object)
    )

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What files have wrong that do not fit together."""
        del lengths
        every = set(self.labels.tolist())
        for task, record in self.tasks.items():
            if not every.issuperset(record.classes.tolist()):
                return f"has labels of task {task!r} that are not there"
        return None

    @property
    def n_answers(self) -> int:
        """How many columns an answer has."""
        return len(self.labels)

    def columns_of(self, task: TaskName) -> list[int]:
        """The columns of a task's classes among all labels."""
        place = {label: column for column, label in enumerate(self.labels.tolist())}
        return [place[label] for label in self.tasks[task].classes.tolist()]


def is_images(X: Any) -> bool:
    """Whether rows are images: an array, or a tensor, of four axes.

    >>> is_images(np.zeros((5, 3, 32, 32))), is_images(np.zeros((5, 3)))
    (True, False)
    """
    return not is_frame(X) and len(getattr(X, "shape", ())) == 4


class TablesOrImages(LifelongModel):
    """A model of tables that takes images, too."""

    def knowledge_for(self, in_shape: tuple[int, ...]) -> type[TasksKnown]:
        """Rows of three axes are images."""
        if len(in_shape) == 3:
            return ImagesKnown
        return super().knowledge_for(in_shape)

    def _learnt_from(
        self,
        known: Any,
        X: Any,
        y: Any,
        task: TaskPerRow,
        classes: Sequence[Hashable] | None,
        sample_weight: Any,
    ) -> Any:
        if not self._are_images(known, X):
            return super()._learnt_from(known, X, y, task, classes, sample_weight)
        self._settings()  # what tables alone read is checked, too
        parts = self._network_parts()
        owner = type(self).__name__
        if known is None:
            rows = check_rows(X, owner=owner)
            known = ImagesKnown(seed_from(self.random_state), rows.shape[1:])
        else:
            rows = check_rows(X, in_shape=known.in_shape, owner=owner)
        names = self._tasks_of_images(len(rows), task, known)
        labels = self._targets(y, len(rows))
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, n_rows=len(rows))
        known = _with_labels(known, labels, classes)
        weights = self._balanced(labels, weights, known)
        for place, of_task in rows_by_code(names.codes):
            own = None
            if weights is not None:
                of_task = of_task[weights[of_task] > 0]
                own = weights[of_task]
            if not len(of_task):
                continue
            name = names.values[place]
            lesson = self._lesson(known, rows[of_task], labels[of_task], name, None, own)
            if parts.shared is None:
                known = algorithms.learn(known, lesson, parts)
            else:
                known = shared_networks.learn(known, lesson, parts)
        if not known.tasks:
            raise InputError("No row has a weight above 0, so there is nothing to learn from.")
        return known

    def _are_images(self, known: Any, X: Any) -> bool:
        """Whether X is images; a model does not mix them with tables."""
        images = is_images(X)
        if known is None or not known.tasks or images == isinstance(known, ImagesKnown):
            return images
        shape = getattr(X, "shape", "of a table")
        if images:
            raise InputError(
                f"X is images {shape}, and this model has learnt tables. Use another model.",
                see=PAGE,
            )
        raise InputError(
            f"X has shape {shape}, and this model has learnt images of shape {known.in_shape}: "
            "X must be an array (n, c, h, w).",
            see=PAGE,
        )

    def _network_parts(self) -> Parts:
        require("torch", extra="torch", for_what=f"{type(self).__name__} on images")
        if self.task_column is not None:
            raise ParameterError(
                f"task_column={shown(self.task_column)} is a column of a table, and images have "
                "none. Leave it out and give task=: one name for all images, or one for each."
            )
        shared = None
        if self.shared:
            shared = SHARED_NETWORKS
        model = SillyNetwork.best(shared=shared, n_jobs=self.n_jobs)
        return model.parts()

    def _tasks_of_images(self, n_rows: int, task: TaskPerRow, known: Any) -> Texts:
        if task is None:
            return self._only_task(n_rows, known)
        if isinstance(task, str | int | np.integer):
            return Texts(np.zeros(n_rows, dtype=np.int32), [check_task_name(task)])
        return names_per_row(task, n_rows)

    def _answers(self, known: Any, X: Any, task: TaskPerRow) -> Answers:
        if not self._are_images(known, X):
            return super()._answers(known, X, task)
        check_choice(self.on_unseen, "on_unseen", ON_UNSEEN)
        check_jobs(self.n_jobs)
        rows = check_rows(X, in_shape=known.in_shape, owner=type(self).__name__)
        names = self._tasks_of_images(len(rows), task, known)
        found: list[TaskName | None] = []
        for name in names.values:
            if name in known.tasks:
                found.append(name)
            elif self.on_unseen == "raise":
                raise unknown_task(name, known.tasks)
            else:
                found.append(None)
        answers = np.zeros((len(rows), known.n_answers))
        for name, some in by_task(Asked(rows, found, names.codes.astype(np.intp))):
            answers[some] = answers_to(known, rows[some], name, self.n_jobs)
        return answers

    # What every learner has

    def explain(self, *arguments: Any, **more: Any) -> Any:
        """Which columns matter: see :class:`~lifelong.learners.front_base.LifelongModel`."""
        if isinstance(self._learnt("explain"), ImagesKnown):
            raise UnsupportedError(
                "explain tells which columns of a table matter, and images have none. "
                "SillyNetwork.best() tells which networks help a task."
            )
        return super().explain(*arguments, **more)

    def _forget(self, known: Any, task: TaskName, *, encoder: bool) -> Any:
        if not isinstance(known, ImagesKnown):
            return super()._forget(known, task, encoder=encoder)
        address = known.address(task)
        left = known.without_task(task)
        return shared_networks.forget(left, address, self._network_parts())

    def sizes(self) -> dict[str, int]:
        """Parameters, and bytes of encoders, channels and stored rows."""
        known = self._learnt("sizes")
        if isinstance(known, ImagesKnown):
            return known.sizes()
        return super().sizes()

    @property
    def n_features_in_(self) -> int:
        """Columns of X, the task column included; of images, the numbers of one."""
        known = self._learnt("n_features_in_")
        if isinstance(known, ImagesKnown):
            return int(np.prod(known.in_shape))
        return super().n_features_in_


def answers_to(
    known: ImagesKnown, X: Rows, task: TaskName | None, n_jobs: int | None
) -> NDArray[np.float64]:
    """Probabilities (n, K) of all labels for images of a task.

    None is a task that nobody knows: then all tasks answer, each as much as the image looks like
    one of its own.
    """
    answers = np.zeros((len(X), known.n_answers))
    if task is not None:
        answers[:, known.columns_of(task)] = algorithms.posteriors(known, X, task, n_jobs)
        return answers
    for name, joint in algorithms.joint_posteriors(known, X, n_jobs).items():
        answers[:, known.columns_of(name)] += joint
    return np.asarray(answers / answers.sum(axis=1, keepdims=True))


def _with_labels(
    known: ImagesKnown, labels: Labels, classes: Sequence[Hashable] | None
) -> ImagesKnown:
    """With the labels of these rows, and those that may come later."""
    seen = set(known.labels.tolist())
    new = [label for label in classes_in(labels) if label not in seen]
    if classes is not None:
        declared = check_classes(classes)
        new += [label for label in declared if label not in seen and label not in new]
    joined = join_classes(known.labels, new, labels)
    warn_of_similar(joined.tolist(), new)
    return replace(known, labels=joined)
