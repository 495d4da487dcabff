"""Networks that all tasks share.

Shared networks go on with every task: each begins where the one before has ended, which it
replaces, and trains on the stored rows of all tasks. With ``shared=1`` there are two, which differ
by their random numbers: two that train half as long tell more than one. From ``shared=2`` on each
task also has a network of its own, which no other task reads and which stays as it is: a task with
little in common with others loses nothing. The rest is for shared networks, two for each further
unit. Rows that a task holds out are held out by all of its networks, so that they can test all.

Of images, a task also reads patches that those of all tasks are made of
(:mod:`lifelong.encoders.patches`); new ones are found whenever tasks have doubled. A task reads at
most :data:`MOST_READ` encoders.

Row passes: ``shared`` times as many as the new rows alone would take with the same recipe, one of
them in the task's own network if it has one, the others over all rows and divided among the shared
networks. All together that is ``shared`` times what a network per task would take.

From :data:`GROWTH` on, new shared networks come only when there are a tenth more tasks; else every
task would have to read every one. A task in between that would have no network of its own trains
one that begins at a shared one, and serves until the next. Patches take no passes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from lifelong._random import generator
from lifelong.channels.base import no_counts
from lifelong.encoders.base import FittedEncoder, Mask, RemembersRows
from lifelong.encoders.several_tasks import RowsOfTask
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
    from lifelong.encoders.shared_network import SharedNetwork

MOST_READ = 4
"""Encoders that a task reads, and a prediction takes."""

NETWORKS_PER_UNIT = 2
"""Shared networks for each unit of ``shared``: chosen on held-out training rows of CIFAR-100, where
two of half the passes were more accurate than one of all of them."""

KEPT_FROM = 2
"""From this ``shared`` on, one unit is for a network of each task's own."""

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
    if keeps_own(parts) or not is_due(known, n_new=1):
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


def keeps_own(parts: Parts) -> bool:
    """Whether each task has a network of its own for good."""
    assert parts.shared is not None
    return parts.shared >= KEPT_FROM


def train_own(known: Knowledge, lesson: Lesson, parts: Parts) -> Trained:
    """Algorithm 1; a network that serves until the next shared ones begins at one of them."""
    from lifelong.encoders.shared_network import shortened
    from lifelong.nets.training import Start

    rng = generator(known.seed, known.free_address(lesson.task), "encoder")
    encoder = cast("NetworkEncoder", parts.encoder)
    in_bag = encoder.split(lesson.y, rng=rng)
    recipe = encoder.recipe
    start = None
    if not keeps_own(parts):
        recipe = shortened(recipe, OWN_PASSES, int(in_bag.sum()))
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

    They take the place of the shared networks that there are, and of tasks' own that were to serve
    until now. So do patches, if it is time for new ones.
    """
    kept = keeps_own(parts)
    of_tasks = [rows_of(known, task) for task in known.memory]
    made = train_shared(known, of_tasks, parts)
    patches = patches_of(known)
    gone = [name for name in known.encoders if name not in patches]
    if kept:
        gone = [name for name in gone if name in known.shared]
    if are_images(known) and is_time_for_patches(known, len(of_tasks)):
        gone += patches
        patches = ()
        made |= find_patches(known, of_tasks, parts)
    for name in gone:
        known = known.without_encoder(name)
    views = {}
    for task, rows in known.memory.items():
        view = TaskView(known.channels[task], known.densities.get(task))
        for name, encoder in made.items():
            view = see(view, rows, name, encoder, known, task, parts)
        views[task] = view
    known = with_views(known, views)
    return replace(known, encoders=merged(known.encoders, made), shared=(*made, *patches))


def train_shared(
    known: Knowledge, of_tasks: Sequence[RowsOfTask], parts: Parts
) -> dict[TaskName, FittedEncoder]:
    """New shared networks by name; each goes on where one before has ended."""
    from lifelong.encoders.shared_network import fit_shared_network, shortened

    assert parts.shared is not None
    encoder = cast("NetworkEncoder", parts.encoder)
    n_rows = sum(int(rows.in_bag.sum()) for rows in of_tasks)
    kept = keeps_own(parts)
    units = parts.shared - kept
    n_networks = min(MOST_READ - kept - are_images(known), NETWORKS_PER_UNIT * units)
    passes = new_share(known, of_tasks, kept) * units / n_networks
    recipe = shortened(encoder.recipe, passes, n_rows, len(of_tasks))
    encoder = replace(encoder, recipe=recipe)
    n_before = len(known.shared) - len(patches_of(known))
    made: dict[TaskName, FittedEncoder] = {}
    for number in range(n_networks):
        previous = None
        if number < n_before:
            previous = shared_network(known, number)
        name = known.free_address(f"shared by {_number(of_tasks)}", list(made))
        rng = generator(known.seed, name, "encoder")
        made[name] = fit_shared_network(of_tasks, encoder, rng=rng, previous=previous)
    return made


def are_images(known: Knowledge) -> bool:
    """Whether rows are images (c, h, w)."""
    return len(known.in_shape) == 3


def patches_of(known: Knowledge) -> tuple[TaskName, ...]:
    """The name of the patches that all tasks read; none before the first."""
    from lifelong.encoders.patches import FittedPatches

    return tuple(n for n in known.shared if isinstance(known.encoders[n], FittedPatches))


def is_time_for_patches(known: Knowledge, n_tasks: int) -> bool:
    """Whether there are none, or tasks have doubled since."""
    for name in patches_of(known):
        return n_tasks >= 2 * len(cast(RemembersRows, known.encoders[name]).tasks)
    return True


def find_patches(
    known: Knowledge, of_tasks: Sequence[RowsOfTask], parts: Parts
) -> dict[TaskName, FittedEncoder]:
    """New patches by name, from the stored rows of all tasks."""
    from lifelong.encoders.patches import fit_patches

    name = known.free_address(f"patches of {_number(of_tasks)}")
    rng = generator(known.seed, name, "encoder")
    device = cast("NetworkEncoder", parts.encoder).device
    return {name: fit_patches(of_tasks, rng=rng, device=device)}


def _number(of_tasks: Sequence[RowsOfTask]) -> str:
    if len(of_tasks) == 1:
        return "1 task"
    return f"{len(of_tasks)} tasks"


def new_share(known: Knowledge, of_tasks: Sequence[RowsOfTask], kept: bool) -> float:
    """Of all rows to train on, those that shared networks have not trained on.

    Less the passes that went into own networks that are not kept.
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
        elif rows.task in known.encoders and not kept:
            n_new += (1 - OWN_PASSES) * len(numbers)
        else:
            n_new += len(numbers)
    return n_new / n_rows


def rows_of(known: Knowledge, task: TaskName) -> RowsOfTask:
    """A task's stored rows, and which of them networks may train on."""
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
        if name in known.shared or name == address or not keeps_own(parts):
            known = known.without_encoder(name)
    if not known.memory:
        return known
    return share(known, parts)
