"""Where the rows of each task lie: what a learner needs to find out which task a row is from."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.channels.leaf import LeafChannel
from lifelong.encoders.base import FittedEncoder, Mask, Representation
from lifelong.learners.base import Lesson
from lifelong.learners.density import Scaling
from lifelong.learners.memory import StoredRows
from lifelong.learners.parts import Parts, pieces
from lifelong.learners.task_inference import located, log_task_posteriors, novelty, viewed
from lifelong.tasks.base import TaskName


class Located(Parts):
    """The part of a SiLLy learner that knows densities."""

    scaling_: Scaling | None = None

    @abstractmethod
    def _represent(self, X: Rows) -> dict[TaskName, Representation]: ...

    def _locate(self, lesson: Lesson) -> None:
        """Take note of where the task's rows lie, whatever encoders make of them."""
        if lesson.task in self.tasks_ and lesson.task not in self.densities_:
            return  # it was saved without: its first rows are gone
        self.scaling_ = self.scaling_ or Scaling.of(lesson.X)
        rows = self.scaling_.project(lesson.X, self.seed_)
        n_classes = len(lesson.record.classes)
        density = located(self.densities_.get(lesson.task), rows, lesson.y, n_classes, lesson.weights)
        self.densities_ = self.densities_ | {lesson.task: density}

    def _view(
        self,
        task: TaskName,
        name: TaskName,
        encoder: FittedEncoder,
        Z: Representation,
        rows: StoredRows,
        in_bag: Mask | None,
    ) -> None:
        """Take note of where the task's rows lie in the eyes of an encoder; a leaf channel counts visits itself."""
        if task in self.densities_ and not isinstance(self.channels_[task], LeafChannel):
            seen = viewed(self.densities_[task], name, encoder, Z, rows, in_bag, self.seed_)
            self.densities_ = self.densities_ | {task: seen}

    def _joint_posteriors(self, X: Rows) -> dict[TaskName, NDArray[np.float64]]:
        if set(self.densities_) != set(self.tasks_):
            self._known_task(None)  # raises: say which task
        parts = [self._joint_posteriors_of(X[part]) for part in pieces(len(X))]
        return {task: np.concatenate([part[task] for part in parts]) for task in self.tasks_}

    def _joint_posteriors_of(self, X: Rows) -> dict[TaskName, NDArray[np.float64]]:
        assert self.scaling_ is not None
        channels, representations = self.channels_, self._represent(X)
        counting = {task: (channels[task], self.densities_[task].leaves) for task in self.tasks_}
        tables = {
            task: own.tables if isinstance(own, LeafChannel) else other.tables
            for task, (own, other) in counting.items()
        }
        densities = {task: self.densities_[task] for task in self.tasks_}
        rows = self.scaling_.project(X, self.seed_)
        weights = np.exp(log_task_posteriors(densities, tables, rows, representations, self.seed_))  # (n, T)
        return {
            task: weights[:, [t]] * channels[task].predict_proba(representations) for t, task in enumerate(self.tasks_)
        }

    def _novelty(self, X: Rows) -> NDArray[np.float64]:
        if not self.densities_ or self.scaling_ is None:
            return super()._novelty(X)
        return novelty(self.densities_, self.scaling_.project(X, self.seed_))
