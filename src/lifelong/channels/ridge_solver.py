"""Ridge regression in its dual form, with the leave-one-out scores that come for free.

Centred and scaled features Φ (n, D) of the training rows matter only through their products K = ΦΦᵀ (n, n). With
K = V diag(g) Vᵀ everything follows for every penalty λ:

    α = V (g + λ)⁻¹ VᵀY,   F = Kα,   H_ii = Σ_j V_ij² g_j/(g_j + λ) + 1/n,   L_i = Y_i − (Y_i − F_i) / (1 − H_ii)

Of many rows, only the products with m landmarks are taken (Nyström): Φ is replaced by its projection onto the features
of the landmarks, all rows still teach, and n³ becomes n m².
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from lifelong.encoders.base import Mask, Representation

Features = Any  # (n, D): a dense array, or a sparse one of leaf indicators
Products = NDArray[np.float64]  # (n, n), or (n, m) with landmarks
Places = NDArray[np.intp]  # (m,): which of the n rows are landmarks
Scores = NDArray[np.float64]  # (n, K)

_PENALTIES = 10.0 ** np.arange(-4, 2.51, 0.25)
_DEFAULT_PENALTY = 0.3  # where no honest score can choose


class Solution(NamedTuple):
    """A ridge regression on rows that are known by their products alone."""

    alpha: Scores  # (n, K): score(x) = Σ_i k(x, x_i) α_i; 0 but for landmarks
    honest: Scores  # (n, K): leave-one-out scores L
    penalty: float
    skill: float  # leave-one-out R², at least 0


class LinearMap(NamedTuple):
    """Features of one encoder → class scores; a row like the average of the training rows has score 0."""

    coefficients: NDArray[np.float32]  # (D, K)
    intercept: NDArray[np.float64]  # (K,)

    def scores(self, A: Features) -> Scores:
        """Scores (m, K) of rows with those features."""
        return np.asarray(A @ self.coefficients + self.intercept, dtype=np.float64)


def features(Z: Representation, n_leaves: int) -> Features:
    """Dense representations as they are; leaves as indicators of length 1, abstentions (-1) left out."""
    if not n_leaves:
        return np.asarray(Z, dtype=np.float32)
    asked = Z >= 0  # (n, B)
    n_asked = asked.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(n_asked)])
    values = np.repeat(1 / np.sqrt(np.maximum(n_asked, 1)), n_asked).astype(np.float32)
    return csr_array((values, Z[asked], ends), shape=(len(Z), n_leaves))


def products(A: Features, landmarks: Places | None = None) -> tuple[Products, float]:
    """K of the centred features, scaled to a mean squared length of 1; and that scale."""
    if landmarks is not None:
        return _products_with(A, landmarks)
    K = _dense(A @ A.T)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    scale = float(np.trace(K)) / len(K) or 1.0
    return K / scale, scale


def _products_with(A: Features, landmarks: Places) -> tuple[Products, float]:
    mean = np.asarray(A.mean(axis=0))
    K = _dense(A @ A[landmarks].T)
    along = np.asarray(A @ mean, dtype=np.float64)
    K += float(mean @ mean) - along[:, None] - along[landmarks]
    scale = float((A**2).sum(dtype=np.float64)) / len(K) - float(mean @ mean)
    scale = scale if scale > 0 else 1.0
    K /= scale
    return K, scale


def _dense(raw: Any) -> Products:
    return np.asarray(raw.toarray() if hasattr(raw, "toarray") else raw, dtype=np.float64)


class _Spectrum(NamedTuple):
    """ΦΦᵀ = U diag(g) Uᵀ, and what turns coordinates in U into α."""

    g: NDArray[np.float64]  # (r,)
    U: Products  # (n, r)
    to_alpha: Products  # (n, r), or (m, r) with landmarks


def _spectrum(K: Products, landmarks: Places | None) -> _Spectrum:
    if landmarks is None:
        g, V = eigh(K, check_finite=False, driver="evd")
        return _Spectrum(np.maximum(g, 0.0), V, V)
    lengths, directions = _positive(K[landmarks])
    root = directions / np.sqrt(lengths)
    Phi = K @ root  # the rows, projected: ΦΦᵀ = K K_mm⁻¹ Kᵀ
    g, V = _positive(Phi.T @ Phi)
    return _Spectrum(g, Phi @ (V / np.sqrt(g)), root @ (V * np.sqrt(g)))


def _positive(K: Products) -> tuple[NDArray[np.float64], Products]:
    """Eigenvalues and eigenvectors, without those that are 0 but for rounding (features have seven digits)."""
    g, V = eigh(K, check_finite=False, driver="evd")
    there = g > 1e-6 * max(float(g[-1]), 1e-12)
    return g[there], V[:, there]


def solve(
    K: Products,
    Y: Scores,
    *,
    landmarks: Places | None = None,
    judges: Mask | None = None,
    penalty: float | None = None,
) -> Solution:
    """The solution for centred class indicators Y; λ has the smallest leave-one-out error on the judges (None: all)."""
    g, U, to_alpha = _spectrum(K, landmarks)
    UtY, squares = U.T @ Y, U**2

    def leave_one_out(penalty: float) -> Scores:
        kept = g / (g + penalty)
        F = U @ (kept[:, None] * UtY)
        return np.asarray(Y - (Y - F) / np.maximum(1 - squares @ kept - 1 / len(Y), 1e-6)[:, None])

    judges = np.ones(len(Y), dtype=bool) if judges is None else judges
    if penalty is None:
        errors = [float(np.mean((leave_one_out(one) - Y)[judges] ** 2)) for one in _PENALTIES if judges.any()]
        penalty = float(_PENALTIES[int(np.argmin(errors))]) if errors else _DEFAULT_PENALTY
    honest = leave_one_out(penalty)
    alpha = np.zeros_like(Y)
    alpha[slice(None) if landmarks is None else landmarks] = to_alpha @ (UtY / (g + penalty)[:, None])
    return Solution(alpha, honest, penalty, skill_of(honest[judges], Y[judges]))


def skill_of(scores: Scores, Y: Scores) -> float:
    """R² of scores, at least 0."""
    spread = float(np.mean(Y**2)) if len(Y) else 0.0
    return max(0.0, 1 - float(np.mean((scores - Y) ** 2)) / spread) if spread else 0.0


def loudness(scores: Scores) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(scores**2)))


def linear_map(A: Features, alpha: Scores, scale: float) -> LinearMap:
    """Φᵀα: what the solution means for one encoder's features A of the training rows."""
    centred = (alpha - alpha.mean(axis=0)) / scale
    coefficients = np.asarray(A.T @ centred.astype(np.float32))
    return LinearMap(coefficients, -np.asarray(A @ coefficients, dtype=np.float64).mean(axis=0))
