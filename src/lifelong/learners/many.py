"""Many new tasks at once: their encoders train in parallel, on this machine or on a cluster."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import repeat

from lifelong._parallel import parallel_map, place
from lifelong.encoders.base import FittedEncoder, Mask, ThreadedEncoder
from lifelong.engines import current
from lifelong.learners.algorithms import (
    Parts,
    TaskView,
    Trained,
    learn,
    learn_with,
    remember,
    train_encoder,
    update_old_channels,
    with_views,
)
from lifelong.learners.density import Scaling
from lifelong.learners.knowledge import Knowledge, Lesson, merged
from lifelong.tasks.base import TaskName


def learn_many(known: Knowledge, lessons: list[Lesson], parts: Parts) -> Knowledge:
    """New tasks one after another, bit for bit; their encoders train in parallel."""
    n_trained = parts.places_left(known)
    trained = train_encoders(known, lessons[:n_trained], parts)
    for position, lesson in enumerate(lessons):
        if position < len(trained):
            known = learn_with(known, lesson, trained[position], parts)
        else:
            known = learn(known, lesson, parts)
    return known


def train_encoders(known: Knowledge, lessons: list[Lesson], parts: Parts) -> list[Trained]:
    """Algorithm 1 for many tasks, on threads (forests), processes (networks) or a cluster."""
    train = partial(train_encoder, parts.encoder, known.seed)
    addresses = addresses_of(known, lessons)
    threads = current() is None and isinstance(parts.encoder, ThreadedEncoder)
    if threads:
        return parallel_map(train, addresses, lessons, n_jobs=parts.n_jobs, prefer="threads")
    return parallel_map(train, addresses, lessons, n_jobs=parts.n_jobs, prefer="processes")


def addresses_of(known: Knowledge, lessons: Iterable[Lesson]) -> list[TaskName]:
    """By which names the encoders of new tasks will go."""
    addresses: list[TaskName] = []
    for lesson in lessons:
        addresses.append(known.free_address(lesson.task, addresses))
    return addresses


def are_independent(known: Knowledge, n_new: int, parts: Parts) -> bool:
    """Whether what each task's channel learns depends on no other task's channel or rows."""
    chooses = (
        parts.keep == "useful"
        and parts.budget is not None
        and len(known.encoders) + n_new > parts.budget
    )
    forgets_rows = parts.replay == 0 and bool(known.memory)
    return not chooses and not forgets_rows


def learn_on_cluster(known: Knowledge, lessons: list[Lesson], parts: Parts) -> Knowledge:
    """Two rounds: every encoder from its task's rows, then every task's channel from all encoders.

    Rows are sent once and serve both; encoders come back to be kept, and are sent once, together.
    """
    rows = [place(lesson) for lesson in lessons]
    addresses = addresses_of(known, lessons)
    for lesson, address in zip(lessons, addresses, strict=True):
        known = known.claimed(lesson.task, address)
    n_trained = parts.places_left(known)
    train = partial(train_encoder, parts.encoder, known.seed)
    trained = parallel_map(
        train, addresses[:n_trained], rows[:n_trained], n_jobs=None, prefer="processes"
    )
    in_bag: list[Mask | None] = [each.in_bag for each in trained]
    in_bag += [None] * (len(lessons) - len(trained))
    new = {address: each.encoder for address, each in zip(addresses, trained, strict=False)}

    if parts.densities:
        known = replace(known, scaling=known.scaling or Scaling.of(lessons[0].X))
    old_tasks = list(known.memory)
    new_tasks = [lesson.task for lesson in lessons]
    known_by_task = [known.part_of(task) for task in old_tasks + new_tasks]
    nothing: list[None] = [None] * len(old_tasks)
    learnt = parallel_map(
        partial(learn_from_all, parts=replace(parts, n_jobs=None)),
        known_by_task,
        [*nothing, *rows],
        [*nothing, *in_bag],
        repeat(place((dict(known.encoders), new)), len(known_by_task)),
        n_jobs=None,
        prefer="processes",
    )

    known = with_views(known, dict(zip(old_tasks + new_tasks, learnt, strict=True)))
    known = replace(known, encoders=merged(known.encoders, new))
    for lesson, mask in zip(lessons, in_bag, strict=True):
        if mask is not None:
            known = remember(known, lesson, parts, mask)
        known = known.recorded(lesson)
    return known


def learn_from_all(
    known: Knowledge,
    lesson: Lesson | None,
    in_bag: Mask | None,
    encoders: tuple[dict[TaskName, FittedEncoder], dict[TaskName, FittedEncoder]],
    *,
    parts: Parts,
) -> TaskView:
    """One task's channel and density from all new encoders, in the order in which they came.

    ``known`` is what belongs to the task alone. Without a lesson it is an old task, which learns
    from its stored rows.
    """
    old, new = encoders
    known = replace(known, encoders=old)
    own = None
    if lesson is not None and in_bag is not None:
        own = known.address(lesson.task)
    for address, encoder in new.items():
        if lesson is not None and in_bag is not None and address == own:
            known = learn_with(known, lesson, Trained(encoder, in_bag), parts)
        else:
            known = update_old_channels(known, address, encoder, parts)
    if lesson is not None and in_bag is None:  # the budget is spent: a channel alone
        known = learn(known, lesson, parts)
    (task,) = known.channels
    return TaskView(known.channels[task], known.densities.get(task))
