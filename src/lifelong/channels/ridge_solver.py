"""Ridge regression in its dual form, with the leave-one-out scores that come for free.

Centred and scaled features Φ (n, D) of the training rows matter only through their products K = ΦΦᵀ (n, n). With
K = V diag(g) Vᵀ everything follows for every penalty λ:

    α = V (g + λ)⁻¹ VᵀY,   F = Kα,   H_ii = Σ_j V_ij² g_j/(g_j + λ) + 1/n,   L_i = Y_i − (Y_i − F_i) / (1 − H_ii)
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from lifelong.encoders.base import Mask, Representation

Features = Any  # (n, D): a dense array, or a sparse one of leaf indicators
Products = NDArray[np.float64]  # (n, n)
Scores = NDArray[np.float64]  # (n, K)

_PENALTIES = 10.0 ** np.arange(-4, 2.51, 0.25)
_DEFAULT_PENALTY = 0.3  # where no honest score can choose


class Solution(NamedTuple):
    """A ridge regression on rows that are known by their products alone."""

    alpha: Scores  # (n, K): score(x) = Σ_i k(x, x_i) α_i
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


def products(A: Features) -> tuple[Products, float]:
    """K (n, n) of the centred features, scaled to a mean squared length of 1; and that scale."""
    raw: Any = A @ A.T
    K = np.asarray(raw.toarray() if hasattr(raw, "toarray") else raw, dtype=np.float64)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    scale = float(np.trace(K)) / len(K) or 1.0
    return K / scale, scale


def solve(K: Products, Y: Scores, *, judges: Mask | None = None, penalty: float | None = None) -> Solution:
    """The solution for centred class indicators Y; λ has the smallest leave-one-out error on the judges (None: all)."""
    g, V = eigh(K, check_finite=False, driver="evd")
    g, VtY, squares = np.maximum(g, 0.0), V.T @ Y, V**2

    def leave_one_out(penalty: float) -> Scores:
        kept = g / (g + penalty)
        F = V @ (kept[:, None] * VtY)
        return np.asarray(Y - (Y - F) / np.maximum(1 - squares @ kept - 1 / len(Y), 1e-6)[:, None])

    judges = np.ones(len(Y), dtype=bool) if judges is None else judges
    skill = 0.0
    if penalty is None and judges.any():
        errors = [float(np.mean((leave_one_out(one) - Y)[judges] ** 2)) for one in _PENALTIES]
        spread = float(np.mean(Y[judges] ** 2))
        skill = max(0.0, 1 - min(errors) / spread) if spread > 0 else 0.0
        penalty = float(_PENALTIES[int(np.argmin(errors))])
    penalty = _DEFAULT_PENALTY if penalty is None else penalty
    return Solution(V @ (VtY / (g + penalty)[:, None]), leave_one_out(penalty), penalty, skill)


def loudness(scores: Scores) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(scores**2)))


def linear_map(A: Features, alpha: Scores, scale: float) -> LinearMap:
    """Φᵀα: what the solution means for one encoder's features A of the training rows."""
    centred = (alpha - alpha.mean(axis=0)) / scale
    coefficients = np.asarray(A.T @ centred.astype(np.float32))
    return LinearMap(coefficients, -np.asarray(A @ coefficients, dtype=np.float64).mean(axis=0))
