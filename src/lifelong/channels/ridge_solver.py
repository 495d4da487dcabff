"""Ridge regression in closed form, with the leave-one-out scores that come for free.

Features A (n, D) are dense vectors or leaf indicators. With P (n, r) an orthogonal basis of the centred features,
scaled to a mean squared length of 1, and g the squared lengths of its columns, everything follows for every penalty λ:

    F = P (g + λ)⁻¹ PᵀY,   H_ii = P_i (g + λ)⁻¹ P_iᵀ + 1/n,   leave-one-out scores  L_i = Y_i − (Y_i − F_i) / (1 − H_ii)
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lifelong.encoders.base import Representation

Features = Any  # (n, D): a dense array, or a sparse one of leaf indicators
Scores = NDArray[np.float64]  # (n, K)

MAX_ROWS = 2000  # up to here the dual form is exact; beyond, a Nyström form
LANDMARKS = 1000
_PENALTIES = 10.0 ** np.arange(-4, 2.51, 0.25)
_DEFAULT_PENALTY = 0.3  # where no honest score can choose


@dataclass(frozen=True, eq=False)
class Solution:
    """A linear map from features to class scores."""

    coefficients: NDArray[np.float32]  # (D, K)
    intercept: NDArray[np.float64]  # (K,)
    penalty: float
    skill: float  # leave-one-out R², at least 0

    def scores(self, A: Features) -> Scores:
        """Scores (m, K) of rows with those features; a row like the average of the training rows has 0."""
        return np.asarray(A @ self.coefficients + self.intercept, dtype=np.float64)

    def plus(self, other: "Solution") -> "Solution":
        """The sum of two maps."""
        return replace(
            self,
            coefficients=self.coefficients + other.coefficients,
            intercept=self.intercept + other.intercept,
        )

    def times(self, factor: float) -> "Solution":
        """The map, scaled."""
        return replace(self, coefficients=np.float32(factor) * self.coefficients, intercept=factor * self.intercept)

    @property
    def nbytes(self) -> int:
        """Bytes of the map."""
        return self.coefficients.nbytes + self.intercept.nbytes


class Basis(NamedTuple):
    """The centred features of the training rows in orthogonal coordinates."""

    P: NDArray[np.float64]  # (n, r)
    g: NDArray[np.float64]  # (r,): PᵀP = diag(g)
    back: NDArray[np.float64]  # (m, r): coefficients = A[landmarks]ᵀ back β
    landmarks: NDArray[np.intp]  # (m,)


def features(Z: Representation, n_leaves: int) -> Features:
    """Dense representations as they are; leaves as indicators of length 1, abstentions (-1) left out."""
    if not n_leaves:
        return Z
    asked = Z >= 0  # (n, B)
    n_asked = asked.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(n_asked)])
    values = np.repeat(1 / np.sqrt(np.maximum(n_asked, 1)), n_asked).astype(np.float32)
    return csr_array((values, Z[asked], ends), shape=(len(Z), n_leaves))


def solve(
    A: Features,
    Y: Scores,
    *,
    rng: np.random.Generator,
    unseen: NDArray[np.bool_] | None = None,
    penalty: float | None = None,
    shrink: float = 1.0,
) -> tuple[Solution, Scores]:
    """The ridge solution and its leave-one-out scores.

    The penalty is the one with the smallest leave-one-out error on ``unseen`` rows (all, if left out), times
    ``shrink``; or ``penalty``, or a default where there is no unseen row.
    """
    Y = Y - Y.mean(axis=0)
    basis = _basis(A, rng)
    judges = np.ones(len(Y), dtype=bool) if unseen is None else unseen
    skill = 0.0
    if penalty is None and judges.any():
        errors = [float(np.mean((_leave_one_out(basis, Y, one) - Y)[judges] ** 2)) for one in _PENALTIES]
        spread = float(np.mean(Y[judges] ** 2))
        skill = max(0.0, 1 - min(errors) / spread) if spread > 0 else 0.0
        penalty = shrink * float(_PENALTIES[int(np.argmin(errors))])
    penalty = _DEFAULT_PENALTY if penalty is None else penalty
    beta = (basis.P.T @ Y) / (basis.g + penalty)[:, None]
    coefficients = np.asarray(A[basis.landmarks].T @ (basis.back @ beta).astype(np.float32))
    intercept = -np.asarray(A @ coefficients, dtype=np.float64).mean(axis=0)
    return Solution(coefficients, intercept, penalty, skill), _leave_one_out(basis, Y, penalty)


def _leave_one_out(basis: Basis, Y: Scores, penalty: float) -> Scores:
    shrunk = 1 / (basis.g + penalty)
    F = basis.P @ (shrunk[:, None] * (basis.P.T @ Y))
    leverage = basis.P**2 @ shrunk + 1 / len(Y)
    return np.asarray(Y - (Y - F) / np.maximum(1 - leverage, 1e-6)[:, None])


def _basis(A: Features, rng: np.random.Generator) -> Basis:
    n = A.shape[0]
    if n > MAX_ROWS:
        return _nystroem(A, np.sort(rng.permutation(n)[:LANDMARKS]))
    K = _products(A, A)
    mean = K.mean(axis=0)
    K = K - mean - mean[:, None] + mean.mean()
    scale = np.trace(K) / n or 1.0
    g, U = _eigen(K / scale)
    return Basis(U * np.sqrt(g), g, U / np.sqrt(g) / scale, np.arange(n))


def _nystroem(A: Features, landmarks: NDArray[np.intp]) -> Basis:
    """Features seen through their products with a sample of rows: n·m numbers instead of n²."""
    w, V = _eigen(_products(A[landmarks], A[landmarks]))
    map_back = V / np.sqrt(w)
    seen = _products(A, A[landmarks]) @ map_back  # (n, r)
    seen -= seen.mean(axis=0)
    scale = np.sqrt(np.mean(np.sum(seen**2, axis=1))) or 1.0
    g, Q = _eigen(seen.T @ seen / scale**2)
    return Basis(seen @ Q / scale, g, map_back @ Q / scale, landmarks)


def _products(A: Features, B: Features) -> NDArray[np.float64]:
    K: Any = A @ B.T
    return np.asarray(K.toarray() if hasattr(K, "toarray") else K, dtype=np.float64)


def _eigen(K: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues above rounding error, and their vectors."""
    g, U = np.linalg.eigh(K)
    kept = g > 1e-6 * max(g[-1], 1e-12)
    return g[kept], U[:, kept]
