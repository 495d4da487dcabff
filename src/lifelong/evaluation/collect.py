"""Measurements → one error table."""

from collections.abc import Mapping, Sequence

import numpy as np

from lifelong.evaluation.errors import ERROR_RATE, ErrorKind, ErrorTable
from lifelong.evaluation.measure import REFERENCE, SINGLE, STAGE, Measurement
from lifelong.tasks.base import TaskName

Repetition = Sequence[Measurement]
Found = dict[tuple[str, TaskName, int], Measurement]


def table_from(
    learner: str,
    tasks: list[TaskName],
    repetitions: Sequence[Repetition],
    references: Mapping[str, Sequence[Repetition]] | None = None,
    kind: ErrorKind = ERROR_RATE,
) -> ErrorTable:
    """The table of one learner's complete repetitions, and of the plain models compared with it."""
    stages = list(enumerate(tasks))
    last = len(tasks) - 1
    found = [_index(repetition) for repetition in repetitions]
    sizes = [repetition[STAGE, tasks[-1], last].sizes for repetition in found]
    return ErrorTable(
        learner=learner,
        tasks=tasks,
        test_rows=np.array([found[0][STAGE, task, t].test_rows for t, task in stages]),
        errors=np.stack([_errors(tasks, repetition) for repetition in repetitions]),
        single=np.array(
            [[repetition[SINGLE, task, t].error for t, task in stages] for repetition in found]
        ),
        references={
            name: np.array(
                [
                    [_index(repetition)[REFERENCE, task, t].error for t, task in stages]
                    for repetition in measured
                ]
            )
            for name, measured in (references or {}).items()
        },
        train_seconds=np.array(
            [
                [repetition[STAGE, task, t].train_seconds for t, task in stages]
                for repetition in found
            ]
        ),
        predict_seconds=np.array(
            [
                [repetition[STAGE, task, last].predict_seconds for task in tasks]
                for repetition in found
            ]
        ),
        sizes={
            content: float(np.mean([repetition[content] for repetition in sizes]))
            for content in sizes[0]
        },
        kind=kind,
    )


def _index(rows: Repetition) -> Found:
    return {(row.kind, row.task, row.stage): row for row in rows}


def _errors(tasks: list[TaskName], rows: Repetition) -> np.ndarray:
    errors = np.full((len(tasks), len(tasks)), np.nan)  # (T, T)
    position = {task: t for t, task in enumerate(tasks)}
    for row in rows:
        if row.kind == STAGE:
            errors[position[row.task], row.stage] = row.error
    return errors
