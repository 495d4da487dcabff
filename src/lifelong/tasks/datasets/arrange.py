"""What experiments do to any stream: another order of tasks, shuffled labels, turned images."""

from collections.abc import Collection, Mapping, Sequence

from lifelong._random import RandomState, seed_from
from lifelong._words import did_you_mean
from lifelong.exceptions import ParameterError
from lifelong.tasks import splits
from lifelong.tasks.base import Task, TaskName, TaskStream


def arrange(
    stream: TaskStream,
    *,
    order: Sequence[TaskName] | str | None = None,
    shuffle_labels: Collection[TaskName] = (),
    rotate: Mapping[TaskName, float] | float | None = None,
    random_state: RandomState = 0,
) -> TaskStream:
    """The stream, changed lazily.

    Parameters
    ----------
    order : sequence of task names, or "random"
        The order in which tasks arrive.
    shuffle_labels : task names
        Tasks whose training labels are dealt out at random: adversaries from which nothing can be
        learnt.
    rotate : degrees, or {task name: degrees}
        Tasks whose images are turned; a number turns all of them.

    Examples
    --------
    >>> from lifelong.tasks.datasets import load
    >>> arrange(load("digits"), order="random", shuffle_labels=["30°"], random_state=1).names
    ['0°', '150°', '90°', '120°', '60°', '30°']
    """
    seed = seed_from(random_state)
    if isinstance(rotate, int | float):
        angles = dict.fromkeys(stream.names, rotate)
    else:
        angles = dict(rotate or {})
    unknown = [name for name in (*shuffle_labels, *angles) if name not in stream.names]
    if unknown:
        hint = did_you_mean(unknown[0], stream.names)
        there = ", ".join(map(repr, stream.names))
        raise ParameterError(f"No task {unknown[0]!r} in this stream.{hint} Its tasks: {there}.")

    def change(task: Task) -> Task:
        if task.name in shuffle_labels:
            task = splits.shuffle_labels(task, random_state=seed)
        angle = angles.get(task.name)
        if angle:
            return splits.rotate(task, angle)
        return task

    if shuffle_labels or angles:
        changed = stream.map(change)
    else:
        changed = stream
    if isinstance(order, str):
        if order != "random":
            raise ParameterError(
                f"order={order!r} is unknown. Give 'random' or the tasks' names in their new order."
            )
        return splits.shuffle_order(changed, random_state=seed)
    if order is None:
        return changed
    return splits.reorder(changed, order)
