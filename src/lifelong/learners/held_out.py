"""What a model of tables answers to its own rows, by opinions that have not learnt from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong.encoders.answers import Aim, Answers, Targets
from lifelong.learners.table_answering import mix_of
from lifelong.learners.table_knowledge import TablesKnown, in_all_columns
from lifelong.learners.table_weights import evidence_of
from lifelong.tasks.base import TaskName

OTHERS_WORTH = 20.0
"""Rows' worth of all tasks' errors in a task's own scale of errors: a task of few rows has not
seen how far off it can be."""


class HeldOut(NamedTuple):
    """Answers to a task's rows: probabilities (n, K) of ``known.labels``, or numbers (n, 1).

    Rows that an opinion does not answer are left out: every tree has learnt from them.
    """

    mix: Answers
    alone: Answers  # of the task's own forest
    targets: Targets


def held_out_answers(known: TablesKnown, task: TaskName, aim: Aim) -> HeldOut:
    """The answers of a task's mix, and of its own forest, to the task's own rows."""
    channel = known.channels[task]
    answers = channel.held_out.astype(np.float64)
    there = ~np.isnan(answers[:, :, 0]).any(axis=0)
    opinions = np.stack([in_all_columns(found, known) for found in answers[:, there]])
    only_own = np.zeros(len(opinions))
    only_own[0] = 1
    return HeldOut(
        mix_of(known, opinions, channel.weights, task, aim),
        mix_of(known, opinions, only_own, task, aim),
        known.memory[task].targets[there],
    )


def held_out_errors(known: TablesKnown, task: TaskName) -> NDArray[np.float64]:
    """What the mix is off by on a task's rows, by opinions that have not seen them (n,)."""
    opinions, targets, _ = evidence_of(known, task, "number")
    return np.asarray(targets - np.tensordot(known.channels[task].weights, opinions, axes=1))


@dataclass(frozen=True, eq=False)
class IntervalWidths:
    """How wide an interval has to be: a quantile of all tasks' errors, in the unit of the task.

    Attributes
    ----------
    scales : by task
        Root mean square of a task's held-out errors, and of :data:`OTHERS_WORTH` rows' worth of all
        tasks' errors.
    overall : float
        The scale of all errors, for a task that is not known.
    errors : (n,)
        Sizes of all held-out errors, in units of their tasks' scales.
    """

    scales: Mapping[TaskName, float]
    overall: float
    errors: NDArray[np.float64]

    def quantile(self, share: float) -> float:
        """The size, in units, which such a share of errors does not exceed."""
        if not len(self.errors):
            return np.inf
        level = min(1.0, share * (1 + 1 / len(self.errors)))
        return float(np.quantile(self.errors, level))

    def scale(self, task: TaskName | None) -> float:
        """The unit of a task; None is a task that is not known."""
        if task is None:
            return self.overall
        return self.scales[task]


def interval_widths(known: TablesKnown) -> IntervalWidths:
    """From the held-out errors of all tasks."""
    errors = {name: held_out_errors(known, name) for name in known.tasks}
    together = np.concatenate(list(errors.values()))
    if not len(together):
        return IntervalWidths(dict.fromkeys(known.tasks, 1.0), 1.0, together)
    overall = float(np.mean(together**2))
    if overall == 0:  # nothing is ever off: the numbers are all one
        return IntervalWidths(dict.fromkeys(known.tasks, 0.0), 0.0, together)
    scales = {}
    for name, found in errors.items():
        total = found @ found + OTHERS_WORTH * overall
        scales[name] = float(np.sqrt(total / (len(found) + OTHERS_WORTH)))
    in_units = np.concatenate([np.abs(errors[name]) / scales[name] for name in errors])
    return IntervalWidths(scales, float(np.sqrt(overall)), in_units)
