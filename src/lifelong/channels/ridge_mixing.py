"""How much each opinion counts, learnt from scores of rows whose labels it has not seen."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.channels.ridge_solver import Scores, loudness
from lifelong.channels.ridge_views import Opinion

_SHARES = np.linspace(0, 1, 11)
_TEMPERATURES = np.geomspace(1, 100, 25)
_DEFAULT_TEMPERATURE = 5.0  # without any honest score


class Mixing(NamedTuple):
    """How much each opinion counts, all together 1; what makes scores as loud as the own ones; the temperature."""

    own: float
    cross: list[float]
    gain: float  # of the other opinions
    temperature: float


def mix(own: Opinion | None, cross: Sequence[Opinion], priors: Scores, *, equal: bool) -> Mixing:
    """Other tasks' opinions share their part by skill; how large that part is, honest scores of common rows decide."""
    skill = np.array([float(len(one.maps)) if equal else one.skill for one in cross])
    within = skill / skill.sum() if skill.any() else np.full(len(cross), 1 / max(len(cross), 1))
    opinions = [*([own] if own else []), *cross]
    rows, y = _common_rows(opinions)
    nothing = np.zeros((len(rows), len(priors)))
    said = _at(own, rows) if own else nothing
    heard = sum((weight * _at(one, rows) for weight, one in zip(within, cross, strict=True)), nothing)
    gain = loudness(said) / loudness(heard) if own and len(rows) and heard.any() else 1.0
    if not own or not cross:
        share = float(own is None)
    elif equal or not len(rows):
        n_cross = sum(len(one.maps) for one in cross)
        share = n_cross / (n_cross + 1)
    else:
        # Listening to others is one more parameter than not to: ½ log n nats (as in BIC), less what they have told
        # about the labels of rows that cannot judge the own encoder.
        told = max(_told(one, priors, besides=rows) for one in cross)
        share = learnt_share(said + priors, gain * heard + priors, y, cost=max(0.0, 0.5 * np.log(len(y)) - told))
    losses = _losses((1 - share) * said + share * gain * heard + priors, y) if len(rows) else None
    temperature = _DEFAULT_TEMPERATURE if losses is None else float(_TEMPERATURES[np.argmin(losses)])
    return Mixing(1 - share, (share * within).tolist(), gain, temperature)


def learnt_share(one: Scores, other: Scores, y: Codes, cost: float = 0.0) -> float:
    """Posterior mean of the other's share of the score; its prior falls by ``cost`` nats from a share of 0 to 1."""
    fit = np.array([_losses((1 - share) * one + share * other, y).min() for share in _SHARES])
    evidence = -len(y) * fit - cost * _SHARES
    posterior = np.exp(evidence - evidence.max())
    return float(posterior @ _SHARES / posterior.sum())


def _told(opinion: Opinion, priors: Scores, besides: NDArray[np.intp]) -> float:
    """By how many nats honest scores of all rows but these know the labels better than the class shares do."""
    others = ~np.isin(opinion.rows, besides)
    if not others.any():
        return 0.0
    y = opinion.y[others]
    shares_alone = -np.log(priors[y]).mean()
    return len(y) * max(0.0, float(shares_alone - _losses(opinion.honest[others] + priors, y).min()))


def _losses(scores: Scores, y: Codes) -> NDArray[np.float64]:
    """Mean negative log-likelihood at each temperature, of the rows and of one more whose label may be any.

    Without that one, a few rows that are all right would ask for an endless temperature.
    """
    logits = _TEMPERATURES[:, None, None] * (scores - scores.max(axis=1, keepdims=True))  # (temperatures, n, K)
    normaliser = np.log(np.exp(logits).sum(axis=2))
    truth = np.take_along_axis(logits, y[None, :, None], axis=2)[:, :, 0]
    of_rows, of_any = (normaliser - truth).sum(axis=1), (normaliser - logits.mean(axis=2)).mean(axis=1)
    return np.asarray((of_rows + of_any) / (len(y) + 1))


def _common_rows(opinions: Sequence[Opinion]) -> tuple[NDArray[np.intp], Codes]:
    rows = opinions[0].rows
    for one in opinions[1:]:
        rows = np.intersect1d(rows, one.rows)
    return rows, opinions[0].y[_positions(opinions[0], rows)]


def _at(opinion: Opinion, rows: NDArray[np.intp]) -> Scores:
    return opinion.honest[_positions(opinion, rows)]


def _positions(opinion: Opinion, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    order = np.argsort(opinion.rows)
    return np.asarray(order[np.searchsorted(opinion.rows, rows, sorter=order)])
