"""Stored rows → error tables and ``summary.json``.

Needs no learner: a report can be made anywhere.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lifelong.evaluation.collect import table_from
from lifelong.evaluation.errors import ErrorKind, ErrorTable
from lifelong.evaluation.measure import REFERENCE, SINGLE, STAGE, Measurement
from lifelong.evaluation.scoring import find_scoring
from lifelong.experiments.rows import Row
from lifelong.experiments.spec import FINAL_STAGES, Part, Spec
from lifelong.tasks.base import TaskName

Passes = dict[int, list[Measurement]]  # repetition → what it measured


@dataclass(frozen=True)
class Results:
    """What a run has measured so far.

    Attributes
    ----------
    tables : (part, learner) → ErrorTable
        Of the repetitions that are complete.
    failures : rows that say why there is no number
    """

    spec: Spec
    tables: dict[tuple[str, str], ErrorTable]
    failures: list[Row]
    rows: list[Row]

    def of_part(self, part: str) -> list[ErrorTable]:
        """The tables of one stream, in the order of the spec."""
        labels = [learner.label for learner in self.spec.learners]
        return [self.tables[part, label] for label in labels if (part, label) in self.tables]

    def headline(self, label: str) -> list[ErrorTable]:
        """One learner's tables on all headline streams."""
        return [
            self.tables[part.name, label]
            for part in self.spec.headline
            if (part.name, label) in self.tables
        ]


def results_of(spec: Spec, rows: Iterable[Row]) -> Results:
    """The tables of a run, complete repetitions only."""
    rows = list(rows)
    passes: dict[tuple[str, str], Passes] = {}
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.done:
            passes.setdefault((row.part, row.learner), {}).setdefault(row.repetition, []).append(
                row.measurement()
            )
            first.setdefault((row.part, row.learner), row)
    tables: dict[tuple[str, str], ErrorTable] = {}
    for at in ((part.name, learner.label) for part in spec.parts for learner in spec.learners):
        if at in first:
            plain = {
                label: _alone(passes.get((at[0], label), {})) for label in first[at].references
            }
            kind = kind_of(spec.part(at[0]))
            n_tasks = first[at].n_tasks
            complete = {
                repetition: measured
                for repetition, measured in sorted(passes[at].items())
                if _is_complete(measured, n_tasks, spec.stages)
            }
            table = _table(at[1], n_tasks, complete, plain, kind)
            if table is not None:
                tables[at] = table
    return Results(spec, tables, [row for row in rows if not row.done], rows)


def kind_of(part: Part) -> ErrorKind:
    """What the errors of a part are."""
    return find_scoring(part.scoring or None, "class").kind


def _is_complete(measured: list[Measurement], n_tasks: int, stages: str) -> bool:
    """Whether every task was measured alone and at every stage from its arrival on, or, with
    ``stages="final"``, at its arrival and at the end.
    """
    if stages != FINAL_STAGES:
        return len(measured) == n_tasks + n_tasks * (n_tasks + 1) // 2
    arrived = {row.stage: row.task for row in measured if row.kind == SINGLE}
    found = {(row.task, row.stage) for row in measured if row.kind == STAGE}
    last = n_tasks - 1
    wanted = {(task, at) for stage, task in arrived.items() for at in (stage, last)}
    return len(arrived) == n_tasks and wanted <= found


def _table(
    label: str,
    n_tasks: int,
    passes: Passes,
    plain: dict[str, Passes],
    kind: ErrorKind,
) -> ErrorTable | None:
    complete = list(passes)
    if not complete:
        return None
    usable = {
        name.split("~")[0]: [found[r] for r in complete]
        for name, found in plain.items()
        if all(len(found.get(r, [])) == n_tasks for r in complete)
    }
    tasks = _tasks(passes[complete[0]])
    return table_from(label, tasks, [passes[r] for r in complete], usable, kind)


def _alone(passes: Passes) -> Passes:
    """What a plain model, or a learner that others are compared with, makes of each task alone."""
    return {
        repetition: [replace(row, kind=REFERENCE) for row in measured if row.kind != STAGE]
        for repetition, measured in passes.items()
    }


def _tasks(measured: list[Measurement]) -> list[TaskName]:
    """The tasks in order of arrival."""
    alone = [row for row in measured if row.kind == SINGLE]
    return [row.task for row in sorted(alone, key=lambda row: row.stage)]


def summary(results: Results) -> dict[str, dict[str, Any]]:
    """``summary.json``: for each learner, means over tasks (and over the headline streams)."""
    means = {}
    for learner in results.spec.learners:
        tables = results.headline(learner.label)
        if tables:
            each = [table.summary() for table in tables]
            means[learner.label] = {name: _mean([row[name] for row in each]) for name in each[0]}
    return means


def _mean(values: list[float]) -> float | None:
    mean = float(np.mean(values))
    return None if math.isnan(mean) else mean
