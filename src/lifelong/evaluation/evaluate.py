"""Teach a learner a stream, stage by stage, and measure everything the statistics need."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lifelong._parallel import parallel_stream
from lifelong._progress import progress
from lifelong._validation import check_count, classes_in
from lifelong.evaluation.errors import ErrorTable
from lifelong.learners.base import Learner
from lifelong.tasks.base import Task, TaskStream

MakeLearner = Callable[[int], Learner]
Stream = TaskStream | Callable[[int], TaskStream]


class Repetition(NamedTuple):
    """What one pass over the stream measured."""

    test_rows: list[int]
    errors: NDArray[np.float64]  # (T, T)
    single: list[float]
    references: dict[str, list[float]]
    train_seconds: list[float]
    predict_seconds: list[float]
    sizes: dict[str, int]


def evaluate(
    make_learner: MakeLearner,
    stream: Stream,
    repetitions: int = 5,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    name: str | None = None,
) -> ErrorTable:
    """Teach a fresh learner the stream, ``repetitions`` times, and measure its errors.

    Parameters
    ----------
    make_learner : function seed → learner
        Called for each repetition with its seed.
    stream : TaskStream, or function seed → TaskStream
        A function can give each repetition rows of its own.
    repetitions : int
    seed : int
        Repetition r uses ``seed + r``: two learners evaluated with the same seed meet the same rows.
    n_jobs : int, optional
        Repetitions in so many processes.
    name : str, optional
        What to call the learner in the table; its class name if left out.

    Examples
    --------
    >>> from lifelong import SillyForest, evaluate
    >>> from lifelong.tasks.simulations import xor_stream
    >>> table = evaluate(lambda seed: SillyForest(random_state=seed), lambda seed: xor_stream(random_state=seed), 2)
    >>> np.allclose(table.transfer, table.forward_transfer + table.backward_transfer)
    True
    """
    check_count(repetitions, "repetitions")
    stream_of = stream if callable(stream) else lambda _: stream
    title = name or type(make_learner(seed)).__name__
    tasks = stream_of(seed).names
    seeds = range(seed, seed + repetitions)
    with progress(repetitions * len(tasks), title) as bar:
        alone = n_jobs in (None, 1)  # then the bar can follow the tasks, otherwise whole repetitions

        def repeat(seed: int) -> Repetition:
            return _repetition(make_learner, stream_of(seed), seed, bar.advance if alone else lambda: None)

        def in_process(seed: int) -> Repetition:
            return _repetition(make_learner, stream_of(seed), seed, lambda: None)

        measured = []
        for repetition in parallel_stream(repeat if alone else in_process, seeds, n_jobs=n_jobs, prefer="processes"):
            measured.append(repetition)
            for _ in tasks if not alone else ():
                bar.advance()
    return _table(title, tasks, measured)


def _repetition(make_learner: MakeLearner, stream: TaskStream, seed: int, advance: Callable[[], None]) -> Repetition:
    learner = make_learner(seed)
    n_tasks = len(stream)
    errors = np.full((n_tasks, n_tasks), np.nan)
    single, train_seconds = [], []
    references: dict[str, list[float]] = {name: [] for name in learner.plain_models(n_tasks)}
    for stage, task in enumerate(stream):
        started = time.perf_counter()
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        train_seconds.append(time.perf_counter() - started)
        for t in range(stage + 1):
            errors[t, stage] = error_on(learner, stream[stream.names[t]])
        single.append(error_on(_single_task_learner(learner, make_learner, seed, task), task))
        for name, model in learner.plain_models(n_tasks).items():
            references[name].append(plain_error(clone(model), task))
        advance()
    predict_seconds = [_seconds_per_1000(learner, task) for task in stream]
    test_rows = [len(task.y_test) for task in stream]
    return Repetition(test_rows, errors, single, references, train_seconds, predict_seconds, learner.sizes())


def _single_task_learner(learner: Learner, make_learner: MakeLearner, seed: int, task: Task) -> Learner:
    return learner.alone(task.name) or make_learner(seed).partial_fit(task.X_train, task.y_train, task=task.name)


def error_on(learner: Learner, task: Task) -> float:
    """Share of the task's test rows that the learner gets wrong."""
    return 1.0 - learner.score(task.X_test, task.y_test, task=task.name)


def plain_error(model: Any, task: Task) -> float:
    """Error of a plain classifier trained on all training rows of the task; labels become numbers on the way."""
    code = {label: position for position, label in enumerate(classes_in(task.y_train))}
    y_train, y_test = ([code.get(label, -1) for label in y.tolist()] for y in (task.y_train, task.y_test))
    return float(np.mean(model.fit(task.X_train, y_train).predict(task.X_test) != y_test))


def _seconds_per_1000(learner: Learner, task: Task) -> float:
    started = time.perf_counter()
    learner.predict(task.X_test, task=task.name)
    return (time.perf_counter() - started) * 1000 / len(task.X_test)


def _table(name: str, tasks: list[Any], measured: list[Repetition]) -> ErrorTable:
    return ErrorTable(
        learner=name,
        tasks=tasks,
        test_rows=np.array(measured[0].test_rows),
        errors=np.stack([one.errors for one in measured]),
        single=np.array([one.single for one in measured]),
        references={kind: np.array([one.references[kind] for one in measured]) for kind in measured[0].references},
        train_seconds=np.array([one.train_seconds for one in measured]),
        predict_seconds=np.array([one.predict_seconds for one in measured]),
        sizes={part: float(np.mean([one.sizes[part] for one in measured])) for part in measured[0].sizes},
    )
