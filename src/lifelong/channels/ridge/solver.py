"""Ridge regression in its dual form, with the leave-one-out scores that come for free.

Centred and scaled features Φ (n, D) of the training rows matter only through their products
K = ΦΦᵀ (n, n). With K = V diag(g) Vᵀ everything follows for every penalty λ:

    α = V (g + λ)⁻¹ VᵀY,   F = Kα,   H_ii = Σ_j V_ij² g_j/(g_j + λ) + 1/n,
    L_i = Y_i − (Y_i − F_i) / (1 − H_ii)

Of many rows, only the products with m landmarks are taken (Nyström): Φ is replaced by its
projection onto the features of the landmarks, all rows still take part, and n³ becomes n m².

Where rows have weights w (of mean 1), means are weighted means, and Y and Φ are multiplied by √w.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from lifelong.channels.base import Weights
from lifelong.channels.ridge.settings import DEFAULT, PENALTIES
from lifelong.encoders.base import Mask, Representation, take_rows

Features = Any  # (n, D): a dense array, or a sparse one of leaf indicators
Products = NDArray[np.float64]  # (n, n), or (n, m) with landmarks
Positions = NDArray[np.intp]  # (m,): which of the n rows are landmarks
Scores = NDArray[np.float64]  # (n, K)


class Kernel(NamedTuple):
    """Products of centred features, divided by ``scale`` so that a row's length is 1 on average."""

    K: Products
    scale: float


class Solution(NamedTuple):
    """A ridge regression on rows that are known by their products alone."""

    alpha: Scores  # (n, K): score(x) = Σ_i k(x, x_i) α_i; 0 but for landmarks
    loo: Scores  # (n, K): leave-one-out scores L
    penalty: float
    r2: float  # of the leave-one-out scores, at least 0


class LinearMap(NamedTuple):
    """Features of one encoder → class scores; the mean of the training rows has score 0."""

    coefficients: NDArray[np.float32]  # (D, K)
    intercept: NDArray[np.float64]  # (K,)

    def scores(self, A: Features) -> Scores:
        """Scores (m, K) of rows with those features."""
        return np.asarray(A @ self.coefficients + self.intercept, dtype=np.float64)

    def times(self, factor: float) -> "LinearMap":
        """All scores multiplied."""
        return LinearMap(np.float32(factor) * self.coefficients, factor * self.intercept)


def features(Z: Representation, n_leaves: int) -> Features:
    """Dense representations as they are; leaves as indicators of length 1, without abstentions."""
    if not n_leaves:
        return np.asarray(Z, dtype=np.float32)
    asked = Z >= 0  # (n, B)
    n_asked = asked.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(n_asked)])
    values = np.repeat(1 / np.sqrt(np.maximum(n_asked, 1)), n_asked).astype(np.float32)
    return csr_array((values, Z[asked], ends), shape=(len(Z), n_leaves))


def kernel(
    A: Features, landmarks: Positions | None = None, weights: Weights | None = None
) -> Kernel:
    """K of the centred features, scaled to a mean squared length of 1; and that scale."""
    if weights is not None:
        return _weighted_kernel(A, landmarks, weights)
    if landmarks is not None:
        return _kernel_with(A, landmarks)
    K = _dense(A @ A.T)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    scale = float(np.trace(K)) / len(K) or 1.0
    return Kernel(K / scale, scale)


def _kernel_with(A: Features, landmarks: Positions) -> Kernel:
    mean = np.asarray(A.mean(axis=0))
    K = _dense(A @ A[landmarks].T)
    along = np.asarray(A @ mean, dtype=np.float64)
    K += float(mean @ mean) - along[:, None] - along[landmarks]
    scale = float((A**2).sum(dtype=np.float64)) / len(K) - float(mean @ mean)
    if not scale > 0:  # or not a number
        scale = 1.0
    K /= scale
    return Kernel(K, scale)


def _weighted_kernel(A: Features, landmarks: Positions | None, weights: Weights) -> Kernel:
    """The same around the weighted mean."""
    normalised = weights / weights.sum()
    mean = np.asarray(A.T @ normalised.astype(np.float32), dtype=np.float64)  # (D,)
    if landmarks is None:
        landmarks = np.arange(len(weights))
    K = _dense(A @ A[landmarks].T)
    along = np.asarray(A @ mean, dtype=np.float64)
    K += float(mean @ mean) - along[:, None] - along[landmarks]
    lengths = np.asarray((A**2).sum(axis=1), dtype=np.float64).ravel()
    scale = float(normalised @ lengths) - float(mean @ mean)
    if not scale > 0:  # or not a number
        scale = 1.0
    return Kernel(K / scale, scale)


def _dense(raw: Any) -> Products:
    if isinstance(raw, csr_array):
        raw = raw.toarray()
    return np.asarray(raw, dtype=np.float64)


class _Spectrum(NamedTuple):
    """ΦΦᵀ = U diag(g) Uᵀ, and what turns coordinates in U into α."""

    g: NDArray[np.float64]  # (r,)
    U: Products  # (n, r)
    to_alpha: Products  # (n, r), or (m, r) with landmarks


def _spectrum(K: Products, landmarks: Positions | None, root: Weights | None) -> _Spectrum:
    """``root`` (n,) are the roots of the weights."""
    if landmarks is None:
        if root is not None:
            K = root[:, None] * K * root
        g, V = eigh(K, check_finite=False, driver="evd")
        to_alpha = V
        if root is not None:
            to_alpha = root[:, None] * V
        return _Spectrum(np.maximum(g, 0.0), V, to_alpha)
    lengths, directions = _positive(K[landmarks])
    whiten = directions / np.sqrt(lengths)
    Phi = K @ whiten  # the rows, projected: ΦΦᵀ = K K_mm⁻¹ Kᵀ
    if root is not None:
        Phi = root[:, None] * Phi
    g, V = _positive(Phi.T @ Phi)
    return _Spectrum(g, Phi @ (V / np.sqrt(g)), whiten @ (V * np.sqrt(g)))


def _positive(K: Products) -> tuple[NDArray[np.float64], Products]:
    """Eigenvalues and eigenvectors, without those that are 0 but for rounding (seven digits)."""
    g, V = eigh(K, check_finite=False, driver="evd")
    there = g > 1e-6 * max(float(g[-1]), 1e-12)
    return g[there], V[:, there]


def solve(
    K: Products,
    Y: Scores,
    *,
    landmarks: Positions | None = None,
    unseen: Mask | None = None,
    penalty: float | None = None,
    default_penalty: float = DEFAULT.default_penalty,
    weights: Weights | None = None,
) -> Solution:
    """The solution for centred class indicators Y.

    λ has the smallest leave-one-out error on the ``unseen`` rows, whose labels the encoder has not
    trained on (None: all rows).
    """
    root: Weights | None = None
    targets = Y
    of_intercept: Weights | float  # what the intercept adds to H_ii
    if weights is None:
        of_intercept = 1 / len(Y)
    else:
        root = np.sqrt(weights * (len(weights) / weights.sum()))
        targets = root[:, None] * Y
        of_intercept = root**2 / len(Y)
    g, U, to_alpha = _spectrum(K, landmarks, root)
    UtY = U.T @ targets
    squares = U**2

    def leave_one_out(penalty: float) -> Scores:
        shrinkage = g / (g + penalty)
        F = U @ (shrinkage[:, None] * UtY)
        left = np.maximum(1 - squares @ shrinkage - of_intercept, 1e-6)[:, None]
        residual = (targets - F) / left
        if root is not None:
            residual = residual / root[:, None]
        return np.asarray(Y - residual)

    if unseen is None:
        unseen = np.ones(len(Y), dtype=bool)
    of_unseen = take_rows(weights, unseen)
    if penalty is None:
        penalty = default_penalty
        if unseen.any():
            residuals = (leave_one_out(candidate) - Y for candidate in PENALTIES)
            errors = [mean_square(residual[unseen], of_unseen) for residual in residuals]
            penalty = float(PENALTIES[int(np.argmin(errors))])
    loo = leave_one_out(penalty)
    alpha = np.zeros_like(Y)
    solved = to_alpha @ (UtY / (g + penalty)[:, None])
    if landmarks is None:
        alpha[:] = solved
    else:
        alpha[landmarks] = solved
    return Solution(alpha, loo, penalty, r2_of(loo[unseen], Y[unseen], of_unseen))


def mean_square(scores: Scores, weights: Weights | None = None) -> float:
    """Over rows and classes."""
    if weights is None:
        return float(np.mean(scores**2))
    return float(np.average(np.mean(scores**2, axis=1), weights=weights))


def r2_of(scores: Scores, Y: Scores, weights: Weights | None = None) -> float:
    """R² of scores, at least 0."""
    if not len(Y):
        return 0.0
    spread = mean_square(Y, weights)
    if not spread:
        return 0.0
    return max(0.0, 1 - mean_square(scores - Y, weights) / spread)


def rms(scores: Scores) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(scores**2)))


def linear_map(
    A: Features, alpha: Scores, scale: float, weights: Weights | None = None
) -> LinearMap:
    """Φᵀα: what the solution means for one encoder's features A of the training rows."""
    if weights is None:
        centred = (alpha - alpha.mean(axis=0)) / scale
    else:
        normalised = weights / weights.sum()
        centred = (alpha - normalised[:, None] * alpha.sum(axis=0)) / scale
    coefficients = np.asarray(A.T @ centred.astype(np.float32))
    fitted = np.asarray(A @ coefficients, dtype=np.float64)
    if weights is None:
        return LinearMap(coefficients, -fitted.mean(axis=0))
    return LinearMap(coefficients, -(normalised @ fitted))
