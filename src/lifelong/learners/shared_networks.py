"""Networks that all tasks share.

Shared networks go on with every task: each begins where the one before has ended, which it
replaces, and trains on the stored rows of all tasks. There are two for each unit of ``shared``, at
most :data:`MOST_READ`, which differ by their random numbers: two that train half as long tell more
than one. A task reads all of them. Rows that it holds out are held out by all, so that they can
test all.

Row passes: ``shared`` times as many as the new rows alone would take with the same recipe, but over
all rows, and divided among the networks. All together that is ``shared`` times what a network per
task would take.

From :data:`GROWTH` on, new shared networks come only when there are a tenth more tasks; else every
task would have to read every one. A task in between trains a network of its own, which begins at a
shared one, and serves until the next.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from lifelong._random import generator
from lifelong.channels.base import no_counts
from lifelong.encoders.base import FittedEncoder, Mask, RemembersRows
from lifelong.learners.algorithms import (
    Parts,
    TaskView,
    Trained,
    locate,
    remember,
    see,
    with_views,
)
from lifelong.learners.knowledge import Knowledge, Lesson, StoredRows, merged
from lifelong.tasks.base import TaskName

if TYPE_CHECKING:
    from lifelong.encoders.network import NetworkEncoder
    from lifelong.encoders.shared_network import RowsOfTask, SharedNetwork

MOST_READ = 4
"""Networks that a task reads, and a prediction takes."""

NETWORKS_PER_UNIT = 2
"""Shared networks for each unit of ``shared``: chosen on held-out training rows of CIFAR-100, where
two of half the passes were more accurate than one of all of them."""

OWN_PASSES = 0.2
"""Of the passes over a task's rows, for an own network that begins at a shared one."""

GROWTH = 1.1
"""Shared networks are made anew when there are so many times as many tasks: up to eleven tasks,
with every one of them. Over time a task's rows train 1 / (1 - 1 / 1.1) = 11 networks of a line."""

_GOLDEN_RATIO = 0.6180339887498949


def learn(known: Knowledge, lesson: Lesson, parts: Parts) -> Knowledge:
    """A new task, or more rows of a known one; then new shared networks, if it is time for them."""
    if lesson.task in known.tasks:
        return extend(known, lesson, parts)
    own = None
    if not is_due(known, n_new=1):
        own = train_own(known, lesson, parts)
    in_bag = split(known, lesson, parts)
    known = add_task(known, lesson, parts, own)
    known = remember(known, lesson, parts, in_bag).recorded(lesson)
    if is_due(known):
        return share(known, parts)
    return known


def split(known: Knowledge, lesson: Lesson, parts: Parts) -> Mask:
    """The rows that networks may train on: those that the task's own one does, or would."""
    rng = generator(known.seed, known.free_address(lesson.task), "encoder")
    return parts.encoder.split(lesson.y, rng=rng)


def train_own(known: Knowledge, lesson: Lesson, parts: Parts) -> Trained:
    """Algorithm 1 with a network that begins at a shared one."""
    from lifelong.encoders.shared_network import shortened
    from lifelong.nets.training import Start

    assert parts.shared is not None
    rng = generator(known.seed, known.free_address(lesson.task), "encoder")
    encoder = cast("NetworkEncoder", parts.encoder)
    in_bag = encoder.split(lesson.y, rng=rng)
    passes = min(1.0, OWN_PASSES * parts.shared)
    recipe = shortened(encoder.recipe, passes, int(in_bag.sum()))
    start = Start(shared_network(known, 0).body)
    fitted = replace(encoder, recipe=recipe).fit(
        lesson.X, lesson.y, in_bag=in_bag, rng=rng, weights=lesson.weights, start=start
    )
    return Trained(fitted, in_bag)


def add_task(known: Knowledge, lesson: Lesson, parts: Parts, own: Trained | None) -> Knowledge:
    """Algorithm 2 for a task that reads its own network, if it has one, and the shared ones."""
    known = locate(known.claimed(lesson.task), lesson, parts)
    channel = parts.channel.start(no_counts()).with_class_counts(lesson.record.class_counts)
    view = TaskView(channel, known.densities.get(lesson.task))
    rows = StoredRows(lesson.X, lesson.y, None, lesson.weights)
    read = known.shared
    if own is not None:
        read = read[: MOST_READ - 1]
    for name in read:
        encoder = known.encoders[name]
        view = see(view, rows, name, encoder, known, lesson.task, parts)
    if own is not None:
        name = known.address(lesson.task)
        view = see(view, rows, name, own.encoder, known, lesson.task, parts, own.in_bag)
        known = replace(known, encoders=merged(known.encoders, {name: own.encoder}))
    return with_views(known, {lesson.task: view})


def extend(known: Knowledge, lesson: Lesson, parts: Parts) -> Knowledge:
    """More rows of a known task: no network has seen them."""
    numbers = np.arange(lesson.first, lesson.record.n_rows)
    rows = StoredRows(lesson.X, lesson.y, numbers, lesson.weights)
    known = locate(known, lesson, parts)
    channel = known.channels[lesson.task].with_class_counts(lesson.record.class_counts)
    view = TaskView(channel, known.densities.get(lesson.task))
    for name, encoder in read_by(known, lesson.task).items():
        view = see(view, rows, name, encoder, known, lesson.task, parts)
    known = with_views(known, {lesson.task: view})
    max_samples = cast("NetworkEncoder", parts.encoder).max_samples
    in_bag = (numbers * _GOLDEN_RATIO) % 1 < max_samples  # for shared networks to come
    return remember(known, lesson, parts, in_bag).recorded(lesson)


def is_due(known: Knowledge, n_new: int = 0) -> bool:
    """Whether, with so many new tasks, there are enough that shared networks have not seen."""
    n_tasks = len(known.memory) + n_new
    if not known.shared:
        return n_tasks > 0
    n_seen = len(shared_network(known, 0).tasks)
    return n_tasks > n_seen and n_tasks >= GROWTH * n_seen


def share(known: Knowledge, parts: Parts) -> Knowledge:
    """Train networks on the stored rows of all tasks; every task learns to read them (Algorithm 3).

    They take the place of the shared networks that there are, and of tasks' own.
    """
    from lifelong.encoders.shared_network import fit_shared_network, shortened

    assert parts.shared is not None
    encoder = cast("NetworkEncoder", parts.encoder)
    of_tasks = [rows_of(known, task) for task in known.memory]
    n_rows = sum(int(rows.in_bag.sum()) for rows in of_tasks)
    n_networks = min(MOST_READ, NETWORKS_PER_UNIT * parts.shared)
    passes = new_share(known, of_tasks) * parts.shared / n_networks
    recipe = shortened(encoder.recipe, passes, n_rows, len(of_tasks))
    encoder = replace(encoder, recipe=recipe)
    made: dict[TaskName, FittedEncoder] = {}
    for number in range(n_networks):
        previous = None
        if number < len(known.shared):
            previous = shared_network(known, number)
        name = known.free_address(_name(len(of_tasks)), list(made))
        rng = generator(known.seed, name, "encoder")
        made[name] = fit_shared_network(of_tasks, encoder, rng=rng, previous=previous)
    for old in list(known.encoders):
        known = known.without_encoder(old)
    views = {}
    for task, rows in known.memory.items():
        view = TaskView(known.channels[task], known.densities.get(task))
        for name, network in made.items():
            view = see(view, rows, name, network, known, task, parts)
        views[task] = view
    known = with_views(known, views)
    return replace(known, encoders=made, shared=tuple(made))


def _name(n_tasks: int) -> TaskName:
    if n_tasks == 1:
        return "shared by 1 task"
    return f"shared by {n_tasks} tasks"


def new_share(known: Knowledge, of_tasks: Sequence["RowsOfTask"]) -> float:
    """Of all rows to train on, those that shared networks have not trained on.

    Less the passes that went into own networks of their tasks.
    """
    before = None
    if known.shared:
        before = shared_network(known, 0)
    n_rows = 0.0
    n_new = 0.0
    for rows in of_tasks:
        numbers = rows.rows[rows.in_bag]
        seen = None
        if before is not None:
            seen = before.seen(rows.task, numbers)
        n_rows += len(numbers)
        if seen is not None:
            n_new += float(np.sum(~seen))
        elif rows.task in known.encoders:
            n_new += (1 - OWN_PASSES) * len(numbers)
        else:
            n_new += len(numbers)
    return n_new / n_rows


def rows_of(known: Knowledge, task: TaskName) -> "RowsOfTask":
    """A task's stored rows, and which of them networks may train on."""
    from lifelong.encoders.shared_network import RowsOfTask

    stored = known.memory[task]
    assert stored.in_bag is not None
    return RowsOfTask(
        known.address(task),
        stored.X,
        stored.y,
        stored.numbers(),
        stored.in_bag,
        len(known.tasks[task].classes),
        stored.weights,
    )


def shared_network(known: Knowledge, number: int) -> "SharedNetwork":
    """One of the shared networks."""
    return cast("SharedNetwork", known.encoders[known.shared[number]])


def read_by(known: Knowledge, task: TaskName) -> dict[TaskName, FittedEncoder]:
    """The networks that a task reads: the shared ones and its own."""
    own = known.address(task)
    names = list(known.shared)
    if own in known.encoders:
        names.append(own)
    return {name: known.encoders[name] for name in names}


def forget(known: Knowledge, address: TaskName, parts: Parts) -> Knowledge:
    """Without any network that has to do with a task that is gone: others learn anew.

    Shared networks have trained on its rows, and own ones have begun at these. New shared networks
    begin at random, and so they take all passes of the recipe.
    """
    shared = cast("list[RemembersRows]", [known.encoders[name] for name in known.shared])
    if not any(address in network.tasks for network in shared):
        if address in known.encoders:
            return known.without_encoder(address)
        return known
    for name in list(known.encoders):
        known = known.without_encoder(name)
    if not known.memory:
        return known
    return share(known, parts)
