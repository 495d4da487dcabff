"""Tasks that change after they were learnt: a task may be forgotten, or get another name."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

from lifelong.exceptions import InputError, InputTypeError, UnsupportedError
from lifelong.tasks.base import TaskName

Value = TypeVar("Value")


class Growing:
    """The part of a learner that forgets and renames tasks."""

    tasks_: dict[TaskName, Any]

    @abstractmethod
    def _known_task(self, task: TaskName | None) -> TaskName: ...

    @abstractmethod
    def _all_or_nothing(self) -> AbstractContextManager[None]: ...

    def forget(self, task: TaskName, *, encoder: bool = False) -> Self:
        """Forget a task: its classes, its channel, its stored rows and its densities.

        Its encoder stays, as it serves other tasks; with ``encoder=True`` it goes, too, from every other task's channel
        as well, and the learner is as if it had never learnt the task. (Only the unit in which rows are measured for
        :meth:`predict_task` and :meth:`novelty` stays that of the first task ever learnt.) A saved learner forgets
        when it is saved again.
        """
        name = self._known_task(check_given(task, "forget"))
        with self._all_or_nothing():
            self._forget_task(name, encoder=encoder)
            self.tasks_ = without(self.tasks_, name)
        return self

    def rename(self, old: TaskName, new: TaskName) -> Self:
        """Give a task another name; what was learnt does not change, nor does the order of tasks.

        A SiLLy learner goes on, bit for bit, as if the task had always had the new name and the old one's randomness:
        ``encoders_`` still calls its encoder by the name it was learnt under. Other learners draw the randomness of
        later rounds by the new name. Both are as reproducible as before.
        """
        name = self._known_task(check_given(old, "rename"))
        new = check_name(new)
        if new in self.tasks_:
            raise InputError(f"There is a task {new!r} already. Choose another name, or forget({new!r}) first.")
        with self._all_or_nothing():
            self._rename_task(name, new)
            self.tasks_ = renamed(self.tasks_, name, new)
        return self

    def _forget_task(self, task: TaskName, *, encoder: bool) -> None:  # noqa: ARG002
        raise UnsupportedError(
            f"{type(self).__name__} cannot forget task {task!r}: what it learnt from that task is mixed with what it "
            "learnt from others. SillyForest, SillyNetwork and rf can.",
            see="growing-tasks",
        )

    def _rename_task(self, old: TaskName, new: TaskName) -> None:
        """Whatever is kept by task is kept by its new name."""
        for attribute, value in list(vars(self).items()):
            if attribute.endswith("_") and attribute != "tasks_" and isinstance(value, Mapping) and old in value:
                setattr(self, attribute, renamed(value, old, new))


def without(by_task: Mapping[TaskName, Value], task: TaskName) -> dict[TaskName, Value]:
    """All entries but one."""
    return {name: value for name, value in by_task.items() if name != task}


def renamed(by_task: Mapping[TaskName, Value], old: TaskName, new: TaskName) -> dict[TaskName, Value]:
    """The same entries in the same order, one of them under another name."""
    return {new if name == old else name: value for name, value in by_task.items()}


def check_given(task: TaskName | None, what: str) -> TaskName:
    """Tasks are not forgotten or renamed by default."""
    if task is None:
        raise InputTypeError(f"Say which task to {what}: a name of tasks_.")
    return task


def check_name(task: Any) -> TaskName:
    """Text or a whole number; numpy's become Python's."""
    if hasattr(task, "item") and not isinstance(task, str) and isinstance(task.item(), int):
        task = task.item()
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise InputTypeError(f"task={task!r} cannot name a task. Use text or a whole number.")
    return task
