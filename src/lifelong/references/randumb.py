"""RanDumb (Prabhu et al., NeurIPS 2024): random features, nearest class means, no training."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist
from scipy.special import softmax
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lifelong._labels import Codes
from lifelong._random import RandomState, generator
from lifelong._validation import Rows, check_count
from lifelong.encoders.forest import flatten
from lifelong.exceptions import ParameterError
from lifelong.learners.base import Learner, learnt
from lifelong.learners.knowledge import Lesson, TasksKnown
from lifelong.schema import Array as Numbers
from lifelong.schema import Custom, Each, InFile, Record, saved
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]


def _n_features(lengths: Mapping[str, Any]) -> int:
    return int(lengths["learner"].n_features)


@dataclass(frozen=True, eq=False)
class FourierFeatures:
    """z(x) = √(2/D) cos(W x̃ + b), x̃ standardised: inner products ≈ exp(−‖x̃ − x̃'‖² / 2σ²)."""

    mean: Array = saved(Numbers("float64", ("p",)))
    scale: Array = saved(Numbers("float64", ("p",)))
    W: Array = saved(Numbers("float64", (_n_features, "p")))
    b: Array = saved(Numbers("float64", (_n_features,)))

    @classmethod
    def for_rows(
        cls, X: Rows, n_features: int, sigma: float | None = None, *, rng: np.random.Generator
    ) -> "FourierFeatures":
        """σ, unless given, is the median distance of standardised rows; fixed here for good."""
        rows = flatten(X).astype(np.float64)
        mean = rows.mean(axis=0)
        std = rows.std(axis=0)
        scale = np.where(std > 0, std, 1.0)
        if sigma is None:
            sigma = _median_distance((rows - mean) / scale, rng=rng)
        W = rng.normal(scale=1 / (sigma or 1.0), size=(n_features, rows.shape[1]))
        return cls(mean, scale, W, rng.uniform(0, 2 * np.pi, size=n_features))

    def __call__(self, X: Rows) -> Array:
        """Features (n, D)."""
        rows = (flatten(X) - self.mean) / self.scale
        return np.asarray(np.sqrt(2 / len(self.b)) * np.cos(rows @ self.W.T + self.b))


def _median_distance(rows: Array, *, rng: np.random.Generator) -> float:
    """Of at most 500 rows; 1 for a single row."""
    sample = rows[rng.permutation(len(rows))[:500]]
    if len(sample) == 1:
        return 1.0
    return float(np.median(pdist(sample)))


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """Means and counts of a task's classes."""

    means: Array = saved(Numbers("float64", ("K", _n_features)))
    counts: NDArray[np.int64] = saved(Numbers("int64", ("K",)))

    def updated(self, Z: Array, y: Codes, n_classes: int) -> tuple["ClassMeans", Array]:
        """The means with these rows, and what they add to the scatter in classes (D, D), exactly.

        For n rows with mean μ and m more with mean ν:
        μ ← (n μ + m ν)/(n + m);  S ← S + Σ (z − ν)(z − ν)ᵀ + n m/(n + m) (ν − μ)(ν − μ)ᵀ
        """
        grown = n_classes - len(self.counts)
        mu = np.vstack([self.means, np.zeros((grown, Z.shape[1]))])  # (K, D)
        n = np.concatenate([self.counts, np.zeros(grown, np.int64)])
        m = np.bincount(y, minlength=n_classes)
        sums = np.zeros_like(mu)
        np.add.at(sums, y, Z)
        nu = sums / np.maximum(m, 1)[:, None]
        total = np.maximum(n + m, 1)
        inside = Z - nu[y]
        moved = (nu - mu) * np.sqrt(n * m / total)[:, None]
        means = mu + (nu - mu) * (m / total)[:, None]
        return ClassMeans(means, n + m), inside.T @ inside + moved.T @ moved


def oas_shrinkage(S: Array, n: int) -> float:
    """ρ of oracle approximating shrinkage (Chen et al., 2010) for a covariance S (p, p)
    of n rows.
    """
    p = len(S)
    trace_of_square = float((S**2).sum())  # tr(S²)
    square_of_trace = float(np.trace(S)) ** 2  # tr(S)²
    denominator = (n + 1 - 2 / p) * (trace_of_square - square_of_trace / p)
    if denominator <= 0:
        return 1.0
    return min(1.0, ((1 - 2 / p) * trace_of_square + square_of_trace) / denominator)


@dataclass(frozen=True, eq=False)
class RandomFeaturesKnowledge(TasksKnown):
    """Random features, means by class, and what is common to all tasks."""

    features: FourierFeatures | None = saved(
        InFile("values", Record(FourierFeatures)), default=None
    )
    means: Mapping[TaskName, ClassMeans] = saved(
        Each(InFile("values", Record(ClassMeans))), default_factory=dict
    )
    # (D, D): Σ (z − μ_y)(z − μ_y)ᵀ
    scatter: Array | None = saved(
        InFile("values", Numbers("float64", (_n_features, _n_features))), default=None
    )
    # of Σ, by Cholesky
    factor: Any = saved(InFile("values", Custom("cholesky factor")), default=None)


class RanDumb(Learner):
    """Rows become random Fourier features; of a task's classes, the one with the nearest mean wins.

        z(x) = √(2/D) cos(W x + b);   Σ = (1 − ρ) S + ρ tr(S)/D · I + λ I;
        argmin_k (z − μ_k)ᵀ Σ⁻¹ (z − μ_k)

    S is the covariance within the classes of all tasks so far, shared, and exact however the rows
    arrive; so old tasks gain from new ones. ρ is the oracle approximating shrinkage and λ a ridge;
    both make Σ invertible while there are fewer rows than features; therefore the primal form
    serves throughout, and memory is D². Colour images are learnt together with their mirror images.
    The paper has D = 25 000 (5 GB); here D = 2000, and the kernel's width is the median distance in
    the first task. No network, no training loop.

    Parameters
    ----------
    n_features : int, default 2000
        D.
    kernel_width : float, optional
        σ; if left out, the median distance between the first task's rows, standardised.
    ridge : float, default 1e-4
        λ.
    flip : bool, optional
        Whether images are learnt together with their mirror images. If left out, those with three
        channels are: the authors flip photographs and not digits.
    random_state : int, Generator or None, default None
        Decides on the random features.
    """

    knowledge_class: ClassVar[type[RandomFeaturesKnowledge]] = RandomFeaturesKnowledge
    features_ = learnt("features")
    means_ = learnt("means")
    scatter_ = learnt("scatter")
    factor_ = learnt("factor")

    def __init__(
        self,
        n_features: int = 2000,
        *,
        kernel_width: float | None = None,
        ridge: float = 1e-4,
        flip: bool | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_features = n_features
        self.kernel_width = kernel_width
        self.ridge = ridge
        self.flip = flip
        self.random_state = random_state

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> RandomFeaturesKnowledge:
        check_count(self.n_features, "n_features")
        if self.kernel_width is not None and not self.kernel_width > 0:
            raise ParameterError(
                f"kernel_width={self.kernel_width!r} must be positive, or None for the median"
                " distance."
            )
        if not self.ridge >= 0:
            raise ParameterError(f"ridge={self.ridge!r} must not be negative.")
        return RandomFeaturesKnowledge(seed, in_shape, names)

    def _learn(self, known: RandomFeaturesKnowledge, lesson: Lesson) -> RandomFeaturesKnowledge:
        D = self.n_features
        features = known.features
        scatter = known.scatter
        if features is None or scatter is None:
            rng = generator(known.seed, "features")
            features = FourierFeatures.for_rows(lesson.X, D, self.kernel_width, rng=rng)
            scatter = np.zeros((D, D))
        nothing = ClassMeans(np.zeros((0, D)), np.zeros(0, np.int64))
        before = known.means.get(lesson.task, nothing)
        X = lesson.X
        y = lesson.y
        if self._flips(X):
            X = np.concatenate([X, X[..., ::-1]])
            y = np.concatenate([y, y])
        own, more = before.updated(features(X), y, len(lesson.record.classes))
        means = {**known.means, lesson.task: own}
        scatter = scatter + more
        known = replace(known, features=features, means=means, scatter=scatter)
        factor = cho_factor(self._covariance(known), lower=True)
        return replace(known, factor=factor).recorded(lesson)

    def _flips(self, X: Rows) -> bool:
        """Whether rows are learnt together with their mirror images."""
        if X.ndim != 4:
            return False
        if self.flip is None:
            return len(X[0]) == 3
        return self.flip

    def _covariance(self, known: RandomFeaturesKnowledge) -> Array:
        """Σ = (1 − ρ) S + ρ tr(S)/D · I + λ I; the identity while all rows equal their class
        means.
        """
        assert known.scatter is not None
        n = sum(int(of_task.counts.sum()) for of_task in known.means.values())
        S = known.scatter / n
        variance = float(np.trace(S)) / len(S)
        if variance <= 0:
            return np.eye(len(S))
        rho = oas_shrinkage(S, n)
        return np.asarray((1 - rho) * S + (rho * variance + self.ridge) * np.eye(len(S)))

    def _posteriors(self, known: RandomFeaturesKnowledge, X: Rows, task: TaskName) -> Array:
        assert known.features is not None
        return np.asarray(softmax(self._scores(known, known.features(X), task), axis=1))

    def _joint_posteriors(self, known: RandomFeaturesKnowledge, X: Rows) -> dict[TaskName, Array]:
        # One covariance for all tasks: the nearest mean of all classes of all tasks, as in the
        # paper
        assert known.features is not None
        Z = known.features(X)
        scores = {task: self._scores(known, Z, task) for task in known.tasks}
        highest = np.max([of_task.max(axis=1) for of_task in scores.values()], axis=0)[:, None]
        return {task: np.exp(of_task - highest) for task, of_task in scores.items()}

    def _scores(self, known: RandomFeaturesKnowledge, Z: Array, task: TaskName) -> Array:
        """−½ (z − μ)ᵀ Σ⁻¹ (z − μ) (n, K), up to a term that all classes share."""
        means = known.means[task].means
        A = cho_solve(known.factor, means.T)  # Σ⁻¹ μ (D, K)
        scores = Z @ A - (means * A.T).sum(axis=1) / 2
        return np.where(known.means[task].counts > 0, scores, -np.inf)

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """A linear classifier of the rows as they are: least squares, shrunk as leave-one-out says.

        (Discriminant analysis with a shrunk covariance is nearly the same and inverts a matrix of
        columns × columns.)
        """
        del n_tasks
        model = RidgeClassifierCV(alphas=np.logspace(0, 5, 11))
        return {
            "ridge-classifier": make_pipeline(FunctionTransformer(flatten), StandardScaler(), model)
        }

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""
        features = self.features_
        assert features is not None
        arrays = (features.mean, features.scale, features.W, features.b)
        encoder = sum(array.nbytes for array in arrays)
        by_task = self.means_.values()
        return {
            "parameters": self.scatter_.size + sum(known.means.size for known in by_task),
            "encoders": encoder + self.scatter_.nbytes + self.factor_[0].nbytes,
            "channels": sum(known.means.nbytes + known.counts.nbytes for known in by_task),
            "rows": 0,
        }
