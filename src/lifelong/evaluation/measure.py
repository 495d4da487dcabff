"""One pass of a learner over a stream, measured step by step: each error is handed out as soon as
it is known.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lifelong._once import saved_seconds
from lifelong.evaluation.calibration import curve_on
from lifelong.evaluation.scoring import find_scoring
from lifelong.exceptions import ParameterError, UnsupportedError
from lifelong.learners.base import Learner
from lifelong.tasks.base import Task, TaskName, TaskStream

MakeLearner = Callable[[int], Learner]
Curve = dict[str, list[float | None]]
STAGE = "stage"
SINGLE = "single"
REFERENCE = "reference"


@dataclass(frozen=True)
class Training:
    """What comes next: the learner is taught this task."""

    task: TaskName
    stage: int


@dataclass(frozen=True)
class Measurement:
    """One measured error.

    Attributes
    ----------
    kind : "stage", "single" or "reference"
        After tasks 0…``stage``; of the learner taught this task alone; of a plain model taught this
        task alone.
    train_seconds : float
        To add the stage's task (of a control or a plain model: to train it).
    predict_seconds : float
        Per 1000 test rows.
    sizes : dict
        After the stage: number of parameters, bytes of encoders, channels and stored rows.
    others : dict
        Other errors of the same answers by name, where some were asked for and can be measured.
    reliability : dict
        Where other errors were asked for: the reliability curve of the probabilities, as
        :meth:`~lifelong.evaluation.calibration.ReliabilityCurve.to_json` writes it.
    """

    kind: str
    task: TaskName
    stage: int
    error: float
    test_rows: int
    train_seconds: float
    predict_seconds: float
    sizes: dict[str, int] = field(default_factory=dict)
    others: dict[str, float] = field(default_factory=dict)
    reliability: Curve = field(default_factory=dict)


Wanted = Callable[[str, TaskName, int], bool]
ErrorOn = Callable[[Learner, Task], float]
PlainErrorOn = Callable[[Any, Task], float]
Others = Mapping[str, ErrorOn]


def _all(kind: str, task: TaskName, stage: int) -> bool:  # noqa: ARG001
    return True


def error_on(learner: Learner, task: Task) -> float:
    """Share of the task's test rows that the learner gets wrong; of numbers, the squared error."""
    return find_scoring(None, task.target).of_learner(learner, task)


def measurements(
    make_learner: MakeLearner,
    stream: TaskStream,
    seed: int,
    wanted: Wanted = _all,
    error: ErrorOn = error_on,
    others: Others | None = None,
) -> Iterator[Training | Measurement]:
    """Teach a learner the stream; after each task, measure all so far, and this one taught alone.

    Only what is ``wanted`` is measured; training stops after the last stage with anything wanted.
    ``error`` may be another one, such as :func:`~lifelong.evaluation.unaware.unaware_error`;
    ``others`` are errors that are measured beside it, after the last task.
    """
    learner = make_learner(seed)
    names = stream.names
    learner.plain_models(
        len(names)
    )  # whatever is imported late is imported now, before the clock runs
    pending = _pending_stages(names, wanted)
    for stage, name in enumerate(names):
        if stage > max(pending, default=-1):
            return
        yield Training(name, stage)
        task = stream.named(name)
        seconds = _seconds(partial(learner.partial_fit, task.X_train, task.y_train, task=task.name))
        sizes = learner.sizes()
        for known in names[: stage + 1]:
            if wanted(STAGE, known, stage):
                if known == name:
                    asked = task
                else:
                    asked = stream.named(known)
                found = _measured(STAGE, learner, asked, stage, seconds, sizes, error)
                if others and stage == len(names) - 1:
                    found = replace(
                        found,
                        others=_other_errors(learner, asked, others),
                        reliability=_reliability(learner, asked),
                    )
                yield found
        if wanted(SINGLE, name, stage):
            yield _alone(learner, make_learner, seed, task, stage, seconds, error)


def _pending_stages(names: list[TaskName], wanted: Wanted) -> list[int]:
    return [
        stage
        for stage, name in enumerate(names)
        if wanted(SINGLE, name, stage)
        or any(wanted(STAGE, known, stage) for known in names[: stage + 1])
    ]


def _alone(
    learner: Learner,
    make_learner: MakeLearner,
    seed: int,
    task: Task,
    stage: int,
    seconds: float,
    error: ErrorOn,
) -> Measurement:
    """The control: the learner as it would be had it met this task only."""
    # After its first task a learner *is* that control; later ones may be had without training
    # again.
    single: Learner | None = learner
    if stage > 0:
        single = learner.alone(task.name)
    if single is None:
        fresh = single = make_learner(seed)
        seconds = _seconds(lambda: fresh.partial_fit(task.X_train, task.y_train, task=task.name))
    return _measured(SINGLE, single, task, stage, seconds, single.sizes(), error)


def _measured(
    kind: str,
    learner: Learner,
    task: Task,
    stage: int,
    seconds: float,
    sizes: dict[str, int],
    error: ErrorOn,
) -> Measurement:
    started = _clock()
    share = error(learner, task)
    per_1000 = (_clock() - started) * 1000 / len(task.y_test)
    return Measurement(kind, task.name, stage, share, len(task.y_test), seconds, per_1000, sizes)


def _other_errors(learner: Learner, task: Task, others: Others) -> dict[str, float]:
    """Errors by name; what the task's rows cannot show, such as AUC of one class, is left out."""
    found = {}
    for name, error in others.items():
        with suppress(ParameterError):
            found[name] = round(error(learner, task), 6)
    return found


def _reliability(learner: Learner, task: Task) -> Curve:
    """The reliability curve of a learner's probabilities; nothing where it has none."""
    with suppress(ParameterError, UnsupportedError):
        return curve_on(learner, task).to_json()
    return {}


def plain_measurements(
    model: Callable[[], Any],
    stream: TaskStream,
    wanted: Wanted = _all,
    error_of: PlainErrorOn | None = None,
) -> Iterator[Measurement]:
    """A fresh plain model for each task, taught all its rows."""
    error_of = error_of or plain_error
    for stage, name in enumerate(stream.names):
        if wanted(REFERENCE, name, stage):
            task = stream.named(name)
            started = _clock()
            error = error_of(model(), task)
            yield Measurement(
                REFERENCE, name, stage, error, len(task.y_test), _clock() - started, 0.0
            )


def plain_error(model: Any, task: Task) -> float:
    """Error of a plain model trained on all training rows of the task; labels become numbers on the
    way.
    """
    return find_scoring(None, task.target).of_plain(model, task)


def _seconds(work: Callable[[], Any]) -> float:
    started = _clock()
    work()
    return _clock() - started


def _clock() -> float:
    # What was shared with others counts as if it had been done here.
    return time.perf_counter() + saved_seconds()
