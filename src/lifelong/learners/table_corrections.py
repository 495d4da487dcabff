"""What a task's own rows add to the answers of others, where no row is shared.

The others' forests and linear models are mixed by the weights of a task that is not known. A linear
model of the task's rows is added to these log-odds (numbers): a level, and slopes by which the task
differs. Their answer to a training row is that of a model which has not seen it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.channels import stacking
from lifelong.encoders.answers import Aim, Answers
from lifelong.encoders.correcting import added_by, corrected, fit_correction
from lifelong.learners.table_knowledge import TablesKnown, TaskMix, in_all_columns
from lifelong.learners.table_others import mean_of_linears, mean_of_others, tell_nothing
from lifelong.rows.views import coded_places
from lifelong.tasks.base import TaskName

LEAST_ROWS = 5
"""Rows below which a task corrects nothing, and has no linear model that others could ask."""


def opinions_of_others(
    known: TablesKnown, X: Rows, others: Sequence[TaskName], mix: TaskMix | None
) -> list[Answers]:
    """What others' forests answer, and their linear models if these are asked (n, K).

    ``mix`` is the channel of the task that asks; without one all others count alike.
    """
    shares = None
    linear_shares = None
    if mix is not None:
        shares = mix.shares
        linear_shares = mix.linear_shares
    opinions = [mean_of_others(known, X, others, shares)]
    if known.asks_linear:
        linear = mean_of_linears(known, X, others, linear_shares)
        if np.isnan(linear).any():  # others are too small to have one
            linear = opinions[0]
        opinions.append(linear)
    return opinions


def corrected_opinion(
    known: TablesKnown, X: Rows, mix: TaskMix, opinions: Sequence[Answers], aim: Aim
) -> Answers:
    """The others' opinions mixed, and what the task's rows add to them (n, K)."""
    if not mix.others:
        return np.full((len(X), known.n_answers), np.nan)
    offset = mixed_opinions(known, opinions, aim)
    added = np.zeros(offset.shape)
    if mix.correction is not None:
        added = in_all_columns(added_by(mix.correction, X), known)
    return corrected(offset, added, aim)


def mixed_opinions(
    known: TablesKnown, opinions: Sequence[Answers], aim: Aim
) -> NDArray[np.float64]:
    """The mix of the others' opinions: log-probabilities up to a constant, or numbers (n, K)."""
    total = np.zeros(opinions[0].shape)
    for weight, found in zip(known.unseen, opinions, strict=True):
        if aim == "classes":
            found = stacking.log_opinion(found)
        total += weight * found
    return total


def with_corrections(known: TablesKnown, tasks: Sequence[TaskName], aim: Aim) -> TablesKnown:
    """With what some tasks' rows add to the others' answers, fitted anew."""
    channels = dict(known.channels)
    for task in tasks:
        channels[task] = _with_correction(known, task, aim)
    return replace(known, channels=channels)


def _with_correction(known: TablesKnown, task: TaskName, aim: Aim) -> TaskMix:
    mix = known.channels[task]
    rows = known.memory[task]
    own, *of_others = (in_all_columns(found, known) for found in mix.held_out[:3])
    correction = None
    if not mix.others:
        answers = np.full(own.shape, np.nan)
    else:
        offset = mixed_opinions(known, [found.astype(np.float64) for found in of_others], aim)
        added = np.zeros(offset.shape)
        if len(rows.targets) >= LEAST_ROWS and not tell_nothing(rows.targets):
            expected = offset
            if aim == "classes":  # what the mix will take into account anyhow
                expected = offset + np.log(known.label_shares(task))
            fit = fit_correction(
                rows.wide(known.columns.n_places),
                rows.targets,
                expected,
                aim=aim,
                rng=generator(known.seed, task, "correction", len(rows.targets)),
                categories=coded_places(known.columns),
                weights=rows.weights,
            )
            correction = fit.model
            added = fit.held_out
        answers = corrected(offset, added, aim)
    held_out = np.stack([own, *of_others, answers]).astype(np.float32)
    return replace(mix, correction=correction, held_out=held_out)
