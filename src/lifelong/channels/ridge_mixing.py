"""How much each encoder may say, learnt from scores of rows whose labels it has not seen."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.channels.ridge_solver import Scores, Solution
from lifelong.tasks.base import TaskName

_SHARES = np.linspace(0, 1, 11)  # of the cross-task encoders
_PRIOR = 5.0  # nats against giving them all the weight
_TEMPERATURES = np.geomspace(1, 100, 25)
_DEFAULT_TEMPERATURE = 5.0  # without any honest score


class View(NamedTuple):
    """What one encoder means for the task: its solution, and honest scores of some of the task's rows."""

    solution: Solution
    n_leaves: int  # 0 for dense representations
    rows: NDArray[np.intp]  # (n,): which rows of the task
    y: Codes  # (n,)
    honest: NDArray[np.float32]  # (n, K)


class Mixing(NamedTuple):
    """The weight of each encoder (they sum to 1), and the temperature of the posteriors."""

    weights: Mapping[TaskName, float]
    temperature: float


def mix(own: Mapping[TaskName, View], cross: Mapping[TaskName, View], priors: Scores, *, equal: bool) -> Mixing:
    """Cross-task encoders share their part by skill; how large that part is, honest scores of common rows decide."""
    skill = {name: 1.0 if equal else view.solution.skill for name, view in cross.items()}
    total = sum(skill.values())
    within = {name: one / total if total else 1 / len(skill) for name, one in skill.items()}
    rows, y = _common_rows([*own.values(), *cross.values()])
    nothing = np.zeros((len(rows), len(priors)))
    said = sum((_at(view, rows) for view in own.values()), nothing)
    heard = sum((within[name] * _at(view, rows) for name, view in cross.items()), nothing)
    if not own or not cross:
        share = float(not own)
    elif equal or not len(rows):
        share = len(cross) / (len(cross) + 1)
    else:
        share = _learnt_share(said + priors, heard + priors, y)
    weights = {**dict.fromkeys(own, 1 - share), **{name: share * one for name, one in within.items()}}
    losses = _losses((1 - share) * said + share * heard + priors, y) if len(rows) else None
    temperature = _DEFAULT_TEMPERATURE if losses is None else float(_TEMPERATURES[np.argmin(losses)])
    return Mixing(weights, temperature)


def _learnt_share(own: Scores, cross: Scores, y: Codes) -> float:
    """Posterior mean of the cross-task encoders' share of the score."""
    fit = np.array([_losses((1 - share) * own + share * cross, y).min() for share in _SHARES])
    evidence = -len(y) * fit - _PRIOR * _SHARES
    posterior = np.exp(evidence - evidence.max())
    return float(posterior @ _SHARES / posterior.sum())


def _losses(scores: Scores, y: Codes) -> NDArray[np.float64]:
    """Mean negative log-likelihood at each temperature."""
    logits = _TEMPERATURES[:, None, None] * (scores - scores.max(axis=1, keepdims=True))  # (temperatures, n, K)
    truth = np.take_along_axis(logits, y[None, :, None], axis=2)[:, :, 0]
    return np.asarray((np.log(np.exp(logits).sum(axis=2)) - truth).mean(axis=1))


def _common_rows(views: list[View]) -> tuple[NDArray[np.intp], Codes]:
    rows = views[0].rows
    for view in views[1:]:
        rows = np.intersect1d(rows, view.rows)
    return rows, views[0].y[_positions(views[0], rows)]


def _at(view: View, rows: NDArray[np.intp]) -> Scores:
    return view.honest[_positions(view, rows)].astype(np.float64)


def _positions(view: View, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    order = np.argsort(view.rows)
    return np.asarray(order[np.searchsorted(view.rows, rows, sorter=order)])
