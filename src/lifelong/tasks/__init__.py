"""Tasks, streams of tasks, how to split data into them, simulations and datasets."""

from lifelong.tasks.base import Task, TaskName, TaskStream

__all__ = ["Task", "TaskName", "TaskStream"]
