"""A linear correction of what others answer, fitted to the rows of one task.

Others answer with log-odds (or a number) u(x). The correction adds a linear model of the task's
rows: u(x) + b + B z(x), with z the standardised columns. It is shrunk to nothing, so a task of few
rows changes little.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.optimize import minimize
from scipy.special import softmax

from lifelong._validation import Rows
from lifelong.encoders.answers import Aim, Answers, Targets
from lifelong.encoders.linear import FOLDS, FittedLinear, LinearFit
from lifelong.rows.views import DenseView

MAX_ROWS = 1000
"""Rows that a correction is fitted to at most: the others' answers say the most."""

SPREAD = 3.0
"""How far all columns together move log-odds (numbers: in units of the noise) before any row is
seen: the standard deviation for a row of unit length. Together with :data:`SPREAD_OF_LEVEL` chosen
by ``python -m benchmarks.choosing_tables``."""

SPREAD_OF_LEVEL = 1.0
"""The same for the level b."""

_ITERATIONS = 100


def fit_correction(
    X: Rows,
    targets: Targets,
    offset: NDArray[np.float64],
    *,
    aim: Aim,
    rng: np.random.Generator,
    categories: tuple[tuple[int, int], ...] = (),
    weights: NDArray[np.float64] | None = None,
) -> LinearFit:
    """What is to be added to others' answers, and what models like it add to rows held out.

    Parameters
    ----------
    X : (n, p)
        A task's rows.
    targets : (n,)
        Codes of classes, or numbers.
    offset : (n, K)
        The others' log-probabilities, or numbers.
    aim : "classes" or "number"
    rng : Generator
    categories : tuple of (place, number of categories)
        Places of X that hold codes.
    weights : (n,), optional
        Of the rows.

    Returns
    -------
    LinearFit
        Its ``held_out`` (n, K) is added to log-odds or numbers, as the scores of its ``model`` are.
    """
    view = DenseView.of(X, categories)
    n = len(X)
    chosen = np.arange(n)
    if n > MAX_ROWS:
        chosen = np.sort(rng.choice(n, MAX_ROWS, replace=False))
    Z = _scaled(view(X[chosen]))
    times = np.ones(len(chosen))
    if weights is not None:
        times = weights[chosen] / weights[chosen].mean()
    slopes = _fitted(Z, targets[chosen], offset[chosen], times, aim)
    held_out = _scaled(view(X)) @ slopes  # rows that were not chosen are held out as they are
    fold = rng.permutation(len(chosen)) % FOLDS
    for number in range(FOLDS):
        inside = fold == number
        some = chosen[~inside]
        of_fold = _fitted(Z[~inside], targets[some], offset[some], times[~inside], aim)
        held_out[chosen[inside]] = Z[inside] @ of_fold
    scale = _scaled(np.ones((1, Z.shape[1] - 1), dtype=np.float32))[0]
    of_columns = (slopes * scale[:, None]).T  # (K, 1 + q), for columns that are not scaled
    model = FittedLinear(
        view,
        of_columns[:, 1:].astype(np.float32),
        of_columns[:, 0].astype(np.float32),
        aim == "classes",
    )
    return LinearFit(model, held_out)


def added_by(correction: FittedLinear, X: Rows) -> NDArray[np.float64]:
    """What a correction adds to log-odds or numbers (n, K).

    A sum over columns, row by row: a product of matrices would depend, in the last bits, on how
    many rows are asked.
    """
    rows = X[:, : correction.view.n_places]
    Z = np.ascontiguousarray(correction.view(rows), dtype=np.float64)
    of_each = [(Z * slopes).sum(axis=1) for slopes in correction.slopes.astype(np.float64)]
    return np.asarray(np.stack(of_each, axis=1) + correction.intercepts)


def corrected(offset: NDArray[np.float64], added: NDArray[np.float64], aim: Aim) -> Answers:
    """Probabilities (n, K) or numbers (n, 1): the others' answers, and what is added to them."""
    if aim == "number":
        return offset + added
    answers: Answers = softmax(offset + added, axis=1)
    return answers


def _scaled(Z: Rows) -> NDArray[np.float64]:
    """Columns (n, 1 + q) with slopes of unit spread: the level first."""
    width = max(Z.shape[1], 1)
    level = np.full((len(Z), 1), SPREAD_OF_LEVEL)
    return np.hstack([level, Z.astype(np.float64) * (SPREAD / np.sqrt(width))])


def _fitted(
    Z: NDArray[np.float64],
    targets: Targets,
    offset: NDArray[np.float64],
    times: NDArray[np.float64],
    aim: Aim,
) -> NDArray[np.float64]:
    """Slopes (q, K) of columns (n, q): the likeliest, each with a normal prior of variance 1."""
    n, width = Z.shape
    if aim == "number":
        rest = targets[:, None] - offset
        if width <= n:
            gram = (Z * times[:, None]).T @ Z + np.eye(width)
            return np.asarray(solve(gram, Z.T @ (times[:, None] * rest), assume_a="pos"))
        kernel = Z @ Z.T + np.diag(1 / times)
        return np.asarray(Z.T @ solve(kernel, rest, assume_a="pos"))
    if width <= n:
        return _most_likely(Z, targets, offset, times)
    values, vectors = np.linalg.eigh(Z @ Z.T)  # more columns than rows: only their span counts
    there = values > 1e-9 * values[-1]
    lengths = np.sqrt(values[there])
    span = vectors[:, there]
    return np.asarray(
        (Z.T @ (span / lengths)) @ _most_likely(span * lengths, targets, offset, times)
    )


def _most_likely(
    Z: NDArray[np.float64],
    targets: Targets,
    offset: NDArray[np.float64],
    times: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The same for classes: logistic regression with an offset."""
    shape = (Z.shape[1], offset.shape[1])
    row = np.arange(len(targets))

    def cost(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slopes = flat.reshape(shape)
        scores = offset + Z @ slopes
        scores -= scores.max(axis=1, keepdims=True)
        powers = np.exp(scores)
        total = powers.sum(axis=1)
        value = float(times @ (np.log(total) - scores[row, targets]) + flat @ flat / 2)
        away = powers / total[:, None]
        away[row, targets] -= 1
        return value, (Z.T @ (times[:, None] * away) + slopes).ravel()

    start = np.zeros(shape[0] * shape[1])
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    slopes: NDArray[np.float64] = found.x.reshape(shape)
    return slopes
