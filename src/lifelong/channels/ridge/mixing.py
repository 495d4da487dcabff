"""How much each opinion counts, learnt from scores of rows whose labels it has not seen."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes
from lifelong.channels.base import Weights
from lifelong.channels.ridge.settings import STACKING_WEIGHTS, TEMPERATURES
from lifelong.channels.ridge.solver import LinearMap, Scores, rms
from lifelong.encoders.base import take_rows
from lifelong.tasks.base import TaskName


class Opinion(NamedTuple):
    """What one or several encoders say together: a map per encoder, and held-out scores."""

    maps: Mapping[TaskName, LinearMap]
    parts: Mapping[TaskName, float]  # how much of the opinion is each encoder's, together 1
    rows: NDArray[np.intp]  # (n,): rows with a held-out score
    y: Codes  # (n,)
    held_out: Scores  # (n, K)
    r2: float
    weights: Weights | None = None  # (n,)


class Mixing(NamedTuple):
    """How much each opinion counts, all together 1, and the temperature."""

    own: float
    cross: list[float]
    rescale: float  # what makes the other opinions' scores as large as the own ones
    temperature: float


def mix(
    own: Opinion | None,
    cross: Sequence[Opinion],
    priors: Scores,
    *,
    equal: bool,
    default_temperature: float,
) -> Mixing:
    """Other tasks' opinions divide their part by R²; held-out scores decide how large it is."""
    within = _within(cross, equal=equal)
    opinions = list(cross)
    if own:
        opinions = [own, *cross]
    rows = _common_rows(opinions)
    first = opinions[0]
    there = _positions(first, rows)
    y = first.y[there]
    weights = take_rows(first.weights, there)
    nothing = np.zeros((len(rows), len(priors)))
    own_scores = nothing
    if own:
        own_scores = _at(own, rows)
    weighed = zip(within, cross, strict=True)
    cross_scores = sum((weight * _at(opinion, rows) for weight, opinion in weighed), nothing)
    rescale = 1.0
    if own and len(rows) and cross_scores.any():
        rescale = rms(own_scores) / rms(cross_scores)
    if not own or not cross:
        weight = float(own is None)
    elif equal or not len(rows):
        n_cross = sum(len(opinion.maps) for opinion in cross)
        weight = n_cross / (n_cross + 1)
    else:
        # To use other tasks is one more parameter than not to: ½ log n nats (as in BIC), less what
        # they are known to tell about labels of rows that cannot test the own encoder.
        evidence = max(_evidence(opinion, priors, besides=rows) for opinion in cross)
        weight = stacking_weight(
            own_scores + priors,
            rescale * cross_scores + priors,
            y,
            cost=max(0.0, 0.5 * np.log(len(y)) - evidence),
            weights=weights,
        )
    temperature = default_temperature
    if len(rows):
        mixed = (1 - weight) * own_scores + weight * rescale * cross_scores + priors
        temperature = float(TEMPERATURES[np.argmin(log_losses(mixed, y, weights))])
    return Mixing(1 - weight, (weight * within).tolist(), rescale, temperature)


def _within(cross: Sequence[Opinion], *, equal: bool) -> NDArray[np.float64]:
    """How other tasks' opinions divide what is theirs."""
    if equal:
        size = np.array([float(len(opinion.maps)) for opinion in cross])
    else:
        size = np.array([opinion.r2 for opinion in cross])
    if size.any():
        return np.asarray(size / size.sum())
    return np.full(len(cross), 1 / max(len(cross), 1))


def stacking_weight(
    first: Scores, second: Scores, y: Codes, cost: float = 0.0, weights: Weights | None = None
) -> float:
    """Posterior mean of the second's weight; its prior falls by ``cost`` nats from 0 to 1."""
    fit = np.array(
        [log_losses((1 - w) * first + w * second, y, weights).min() for w in STACKING_WEIGHTS]
    )
    evidence = -len(y) * fit - cost * STACKING_WEIGHTS
    posterior = np.exp(evidence - evidence.max())
    return float(posterior @ STACKING_WEIGHTS / posterior.sum())


def _evidence(opinion: Opinion, priors: Scores, besides: NDArray[np.intp]) -> float:
    """Nats by which held-out scores of all rows but these beat the class shares."""
    others = ~np.isin(opinion.rows, besides)
    if not others.any():
        return 0.0
    y = opinion.y[others]
    weights = take_rows(opinion.weights, others)
    losses = -np.log(priors[y])  # (n,): of the class shares
    if weights is None:
        loss_of_priors = losses.mean()
    else:
        loss_of_priors = np.average(losses, weights=weights)
    gained = loss_of_priors - log_losses(opinion.held_out[others] + priors, y, weights).min()
    return len(y) * max(0.0, float(gained))


def log_losses(scores: Scores, y: Codes, weights: Weights | None = None) -> NDArray[np.float64]:
    """Mean log-loss at each temperature, of the rows and of one more whose label may be any.

    Without that one, a few rows that are all right would ask for an endless temperature.
    """
    centred = scores - scores.max(axis=1, keepdims=True)
    logits = TEMPERATURES[:, None, None] * centred  # (temperatures, n, K)
    normaliser = np.log(np.exp(logits).sum(axis=2))
    truth = np.take_along_axis(logits, y[None, :, None], axis=2)[:, :, 0]
    of_any = normaliser - logits.mean(axis=2)
    if weights is None:
        of_rows = (normaliser - truth).sum(axis=1)
        of_one_more = of_any.mean(axis=1)
    else:
        normalised = weights / weights.sum()
        of_rows = len(y) * ((normaliser - truth) @ normalised)
        of_one_more = of_any @ normalised
    return np.asarray((of_rows + of_one_more) / (len(y) + 1))


def _common_rows(opinions: Sequence[Opinion]) -> NDArray[np.intp]:
    rows = opinions[0].rows
    for opinion in opinions[1:]:
        rows = np.intersect1d(rows, opinion.rows)
    return rows


def _at(opinion: Opinion, rows: NDArray[np.intp]) -> Scores:
    return opinion.held_out[_positions(opinion, rows)]


def _positions(opinion: Opinion, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    order = np.argsort(opinion.rows)
    return np.asarray(order[np.searchsorted(opinion.rows, rows, sorter=order)])
