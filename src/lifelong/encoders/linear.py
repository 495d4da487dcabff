"""Linear models as encoders: for dense columns, where trees are the wrong shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression, RidgeCV

from lifelong._validation import Rows
from lifelong.encoders.answers import Aim, Answers, Targets
from lifelong.rows.views import DENSE_VIEW, DenseView
from lifelong.schema import FLAG, Array, saved

MAX_ROWS = 20_000
"""Rows that a linear model trains on at most; more change its few numbers very little."""

FOLDS = 5
"""Parts of the rows, each held out once, that a logistic model answers without having seen them."""

_PENALTIES = tuple(10.0 ** np.arange(-1, 5))  # of ridge regression on standardised columns
_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class FittedLinear:
    """A linear model that was fitted: the representation is its standardised columns.

    Attributes
    ----------
    view : DenseView
        What it reads of a row.
    slopes : (K, q)
        For every class, or for the number.
    intercepts : (K,)
    is_classifier : bool
    """

    view: DenseView = saved(DENSE_VIEW)
    slopes: NDArray[np.float32] = saved(Array("float32", ("K_linear", None)))
    intercepts: NDArray[np.float32] = saved(Array("float32", ("K_linear",)))
    is_classifier: bool = saved(FLAG)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: slopes of other columns."""
        del lengths
        if self.slopes.shape[1] != len(self.view.kept):
            return "has slopes of other columns"
        return None

    def encode(self, X: Rows) -> Rows:
        """Standardised columns (n, q)."""
        return self.view(X)

    def scores(self, X: Rows) -> NDArray[np.float64]:
        """Slopes times standardised columns, with the intercepts (n, K)."""
        return np.asarray(self.view(X).astype(np.float64) @ self.slopes.T + self.intercepts)

    def answers(self, X: Rows) -> Answers:
        """Class probabilities (n, K), or numbers (n, 1)."""
        scores = self.scores(X)
        if not self.is_classifier:
            return scores
        probabilities: Answers = softmax(scores, axis=1)
        return probabilities

    @cached_property
    def packed(self) -> NDArray[np.float32]:
        """All its numbers in a row, for :class:`lifelong.encoders.asking_linear.ManyLinear`."""
        kept = self.view.kept_of_all
        width = self.view.width_of_all
        mean = np.zeros(width, dtype=np.float32)
        scale = np.ones(width, dtype=np.float32)
        slopes = np.zeros((len(self.intercepts), width), dtype=np.float32)
        mean[kept] = self.view.mean
        scale[kept] = self.view.scale
        slopes[:, kept] = self.slopes
        every = [self.view.fill_of_all, mean, scale, slopes.ravel(), self.intercepts]
        return np.concatenate(every)

    @property
    def n_answers(self) -> int:
        """Classes that it knows; 1 for numbers."""
        return len(self.intercepts)

    @property
    def n_parameters(self) -> int:
        """Slopes and intercepts."""
        return self.slopes.size + self.intercepts.size

    @property
    def nbytes(self) -> int:
        """Bytes of slopes, intercepts and the view."""
        view = self.view
        arrays = (self.slopes, self.intercepts, view.fill, view.kept, view.mean, view.scale)
        return sum(array.nbytes for array in arrays)


class LinearFit(NamedTuple):
    """A fitted model, and what models like it answer to rows that they have not seen."""

    model: FittedLinear
    held_out: Answers  # (n, K) of the training rows; NaN for rows that were left out


@dataclass(frozen=True)
class LinearEncoder:
    """How to fit a linear encoder.

    Parameters
    ----------
    strength : float, default 0.3
        Inverse of the penalty of logistic regression, on standardised columns. Ridge regression
        chooses its penalty by leave-one-out errors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)).astype(np.float32)
    >>> fit = LinearEncoder().fit(X, (X[:, 0] > 0).astype(int), n_answers=2, aim="classes", rng=rng)
    >>> fit.model.answers(X[:3]).shape, fit.held_out.shape
    ((3, 2), (60, 2))

    See Also
    --------
    lifelong.ForestEncoder : trees, which need no standardisation and find interactions.
    """

    strength: float = 0.3

    def fit(
        self,
        X: Rows,
        targets: Targets,
        *,
        n_answers: int,
        aim: Aim,
        rng: np.random.Generator,
        categories: tuple[tuple[int, int], ...] = (),
        weights: NDArray[np.float64] | None = None,
        holds_out: bool = True,
    ) -> LinearFit:
        """Fit all rows (at most :data:`MAX_ROWS`), and answer each without having seen it.

        Without ``holds_out`` the answers for classes are NaN: they take most of the time.
        """
        view = DenseView.of(X, categories)
        n = len(X)
        chosen = np.arange(n)
        if n > MAX_ROWS:
            chosen = np.sort(rng.choice(n, MAX_ROWS, replace=False))
        Z = view(X[chosen])
        y = targets[chosen]
        w = None
        if weights is not None:
            w = weights[chosen] / weights[chosen].mean()  # so that their unit does not matter
        held_out = np.full((n, n_answers), np.nan)
        if aim == "number":
            slopes, intercepts, held_out[chosen] = _ridge(Z, y, w)
        else:
            slopes, intercepts = self._logistic(Z, y, n_answers, w)
            if holds_out:
                held_out[chosen] = self._by_folds(Z, y, n_answers, w, rng)
        model = FittedLinear(
            view, slopes.astype(np.float32), intercepts.astype(np.float32), aim == "classes"
        )
        return LinearFit(model, held_out)

    def _logistic(
        self, Z: Rows, y: Targets, n_answers: int, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Slopes (K, q) and intercepts (K,); classes without rows are never the answer."""
        slopes = np.zeros((n_answers, Z.shape[1]))
        intercepts = np.full(n_answers, -np.inf)
        seen = np.unique(y)
        if len(seen) == 1 or Z.shape[1] == 0:
            mass = np.bincount(y, weights=weights, minlength=n_answers)
            intercepts[seen] = np.log(np.maximum(mass[seen], 1e-9))
            return slopes, _finite(intercepts)
        model = LogisticRegression(C=self.strength, max_iter=_ITERATIONS, tol=1e-3)
        model.fit(Z, y, sample_weight=weights)
        if len(seen) == 2:
            slopes[seen] = np.vstack([-model.coef_ / 2, model.coef_ / 2])
            intercepts[seen] = np.concatenate([-model.intercept_ / 2, model.intercept_ / 2])
        else:
            slopes[seen] = model.coef_
            intercepts[seen] = model.intercept_
        return slopes, _finite(intercepts)

    def _by_folds(
        self,
        Z: Rows,
        y: Targets,
        n_answers: int,
        weights: NDArray[np.float64] | None,
        rng: np.random.Generator,
    ) -> Answers:
        """Probabilities (n, K) of each row by a model of the other folds; NaN if there are none."""
        held_out = np.full((len(y), n_answers), np.nan)
        n_folds = min(FOLDS, len(y) // 2)
        if n_folds < 2:
            return held_out
        fold = rng.permutation(len(y)) % n_folds
        for number in range(n_folds):
            inside = fold == number
            others = None
            if weights is not None:
                others = weights[~inside]
            slopes, intercepts = self._logistic(Z[~inside], y[~inside], n_answers, others)
            held_out[inside] = softmax(Z[inside] @ slopes.T + intercepts, axis=1)
        return held_out


def _finite(intercepts: NDArray[np.float64]) -> NDArray[np.float64]:
    """A class without rows is very improbable, and a file can hold its number."""
    return np.asarray(np.maximum(intercepts, intercepts.max() - 30))


def _ridge(
    Z: Rows, y: Targets, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], Answers]:
    """Slopes (1, q), intercept (1,), and leave-one-out predictions (n, 1)."""
    if len(y) < 2 or Z.shape[1] == 0:
        mean = np.average(y, weights=weights)
        return np.zeros((1, Z.shape[1])), np.array([mean]), np.full((len(y), 1), np.nan)
    model = RidgeCV(alphas=_PENALTIES, store_cv_results=True)
    model.fit(Z.astype(np.float64), y, sample_weight=weights)
    best = int(np.argmin(np.abs(np.array(_PENALTIES) - model.alpha_)))
    # scikit-learn keeps squared errors: their roots, with the sign of the residuals of the fit.
    errors = np.sqrt(model.cv_results_[:, best])
    if weights is not None:
        errors = errors / np.sqrt(np.maximum(weights, 1e-12))
    residuals = y - model.predict(Z.astype(np.float64))
    left_out = y - np.sign(residuals) * errors
    return model.coef_[None], np.array([model.intercept_]), left_out[:, None]
