"""RanPAC (McDonnell et al., NeurIPS 2023): random projections of frozen features, then ridge."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lifelong._labels import Codes
from lifelong._random import RandomState, generator
from lifelong._validation import Rows, check_count
from lifelong.encoders.base import Encoder, FittedEncoder, honest_split
from lifelong.encoders.forest import flatten
from lifelong.learners.base import Learner, learnt
from lifelong.learners.density import Scaling
from lifelong.learners.knowledge import Lesson, TasksKnown
from lifelong.schema import Array as Numbers
from lifelong.schema import Each, Elsewhere, InFile, Maybe, Record, saved
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]
STRENGTHS = tuple(10.0**power for power in range(-6, 7))
"""λ in units of the mean of the Gram matrix's diagonal."""

_FEATURES = "features"  # what the frozen encoder is called
_FITTED = 0.8  # share of the rows that are fitted to choose λ; the others measure the error


def _n_features(lengths: Mapping[str, Any]) -> int:
    return int(lengths["learner"].n_features)


@dataclass(frozen=True, eq=False)
class Sums:
    """Of one task: Σ φ(x) per class (K, M), of the rows that fit and of those that test."""

    fitted: Array = saved(Numbers("float64", ("K", _n_features)))
    judging: Array = saved(Numbers("float64", ("K", _n_features)))

    def with_rows(self, phi: Array, y: Codes, fits: NDArray[np.bool_], n_classes: int) -> "Sums":
        """The sums with more rows, and with classes that are new."""
        wider = ((0, n_classes - len(self.fitted)), (0, 0))
        fitted = np.pad(self.fitted, wider)
        judging = np.pad(self.judging, wider)
        np.add.at(fitted, y[fits], phi[fits])
        np.add.at(judging, y[~fits], phi[~fits])
        return Sums(fitted, judging)


@dataclass(frozen=True, eq=False)
class Grams:
    """Of all tasks: Σ φ φᵀ (M, M), of the rows that fit and of those that test."""

    fitted: Array = saved(Numbers("float64", (_n_features, _n_features)))
    judging: Array = saved(Numbers("float64", (_n_features, _n_features)))


@dataclass(frozen=True, eq=False)
class PrototypeKnowledge(TasksKnown):
    """Sums over rows, from which everything follows in closed form."""

    encoders: Mapping[TaskName, FittedEncoder] = saved(
        Each(Elsewhere("encoder"), every_task=False), default_factory=dict
    )
    scaling: Scaling | None = saved(Maybe(InFile("values", Record(Scaling))), default=None)
    grams: Grams | None = saved(InFile("values", Record(Grams)), default=None)
    sums: Mapping[TaskName, Sums] = saved(
        Each(InFile("values", Record(Sums))), default_factory=dict
    )

    @cached_property
    def strength(self) -> float:
        """λ with the smallest squared error on the rows that test."""
        assert self.grams is not None
        C = np.vstack([sums.fitted for sums in self.sums.values()]).T  # (M, K)
        held = np.vstack([sums.judging for sums in self.sums.values()]).T
        if not held.any():
            return 1.0
        errors = []
        for strength in STRENGTHS:
            W = ridge(self.grams.fitted, C, strength)
            # ‖Y − ΦW‖² of the rows that test, but for ‖Y‖², from sums alone
            errors.append(float(((self.grams.judging @ W) * W).sum() - 2 * (W * held).sum()))
        return STRENGTHS[int(np.argmin(errors))]

    @cached_property
    def weights(self) -> dict[TaskName, Array]:
        """(G + λ I)⁻¹ C, for the classes (M, K) of each task."""
        assert self.grams is not None
        C = np.vstack([sums.fitted + sums.judging for sums in self.sums.values()]).T
        W = ridge(self.grams.fitted + self.grams.judging, C, self.strength)
        ends = np.cumsum([len(sums.fitted) for sums in self.sums.values()])[:-1]
        return dict(zip(self.sums, np.split(W, ends, axis=1), strict=True))


def ridge(G: Array, C: Array, strength: float) -> Array:
    """(G + λ d I)⁻¹ C, d the mean of G's diagonal."""
    size = float(np.trace(G)) / len(G) or 1.0
    factor = cho_factor(G + strength * size * np.eye(len(G)), lower=True)
    return np.asarray(cho_solve(factor, C))


class RanPAC(Learner):
    """Frozen features, projected at random, read by one ridge regression of all classes.

        φ(x) = max(0, h(x) W),  W (p, M) ~ N(0, 1/p), fixed;
        G = Σ φ φᵀ,  C = Σ φ yᵀ over all rows of all tasks;   scores(x) = φ(x) (G + λ I)⁻¹ C

    G and C are sums, so nothing is forgotten, and it does not matter in which order tasks or rows
    arrive: the answer is that of all rows at once. λ has the smallest squared error on a fifth of
    the rows (of all tasks, where the authors look at the newest), and the solution then has all.
    A class of a task is one column: with the task known only its columns compete, and without it
    all do, as in the paper. The authors' M is 10 000 (0.8 GB); here 2000. They adapt the
    pretrained network to the first task; ours stays as it is.

    Parameters
    ----------
    encoder : Encoder, optional
        What makes the features h, such as a :class:`~lifelong.PretrainedEncoder`; it is fitted
        once, on the first task. If left out, rows themselves, in units of the first task's columns.
    n_features : int, default 2000
        M.
    random_state : int, Generator or None, default None
        Decides on the projection and on the rows that choose λ.

    Examples
    --------
    >>> from lifelong.tasks.simulations import gaussian_xor
    >>> learner = RanPAC(n_features=50, random_state=0)
    >>> learner.partial_fit(*gaussian_xor(200, random_state=0), task="xor").score(
    ...     *gaussian_xor(200, random_state=1), task="xor"
    ... ) > 0.9
    True

    References
    ----------
    McDonnell et al., RanPAC: Random Projections and Pre-trained Models for Continual Learning,
    NeurIPS 2023.
    """

    knowledge_class: ClassVar[type[PrototypeKnowledge]] = PrototypeKnowledge
    sums_ = learnt("sums")
    grams_ = learnt("grams")

    def __init__(
        self,
        encoder: Encoder | None = None,
        *,
        n_features: int = 2000,
        random_state: RandomState = None,
    ) -> None:
        self.encoder = encoder
        self.n_features = n_features
        self.random_state = random_state

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> PrototypeKnowledge:
        check_count(self.n_features, "n_features")
        M = self.n_features
        grams = Grams(np.zeros((M, M)), np.zeros((M, M)))
        return PrototypeKnowledge(seed, in_shape, names, grams=grams)

    def _learn(self, known: PrototypeKnowledge, lesson: Lesson) -> PrototypeKnowledge:
        if not known.tasks:
            known = self._with_features(known, lesson)
        rng = generator(known.seed, lesson.task, "fits", lesson.first)
        fits = honest_split(lesson.y, _FITTED, rng=rng)[:, 0]
        phi = self._projected(known, lesson.X)  # (n, M)
        assert known.grams is not None
        grams = Grams(
            known.grams.fitted + phi[fits].T @ phi[fits],
            known.grams.judging + phi[~fits].T @ phi[~fits],
        )
        nothing = Sums(np.zeros((0, self.n_features)), np.zeros((0, self.n_features)))
        before = known.sums.get(lesson.task, nothing)
        sums = before.with_rows(phi, lesson.y, fits, len(lesson.record.classes))
        return replace(known, grams=grams, sums={**known.sums, lesson.task: sums}).recorded(lesson)

    def _with_features(self, known: PrototypeKnowledge, lesson: Lesson) -> PrototypeKnowledge:
        """What rows are turned into, fixed with the first task."""
        if self.encoder is None:
            return replace(known, scaling=Scaling.of(lesson.X))
        rng = generator(known.seed, "features")
        fitted = self.encoder.fit(lesson.X, lesson.y, rng=rng)
        return replace(known, encoders={_FEATURES: fitted})

    def _projected(self, known: PrototypeKnowledge, X: Rows) -> Array:
        """φ (n, M)."""
        if known.scaling is not None:
            h = (flatten(X) - known.scaling.mean) / known.scaling.scale
        else:
            h = known.encoders[_FEATURES].encode(X)
        p = h.shape[1]
        rng = generator(known.seed, "projection")
        W = rng.normal(scale=p**-0.5, size=(p, self.n_features))
        return np.maximum(h.astype(np.float64) @ W, 0.0)

    def _posteriors(self, known: PrototypeKnowledge, X: Rows, task: TaskName) -> Array:
        return np.asarray(softmax(self._projected(known, X) @ known.weights[task], axis=1))

    def _joint_posteriors(self, known: PrototypeKnowledge, X: Rows) -> dict[TaskName, Array]:
        phi = self._projected(known, X)
        return {task: np.exp(phi @ W) for task, W in known.weights.items()}

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """A linear classifier of the rows as they are, shrunk as leave-one-out scores say."""
        del n_tasks
        model = RidgeClassifierCV(alphas=np.logspace(0, 5, 11))
        return {
            "ridge-classifier": make_pipeline(FunctionTransformer(flatten), StandardScaler(), model)
        }

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``."""
        known: PrototypeKnowledge = self._learnt("knowledge_")
        assert known.grams is not None
        sums = sum(of.fitted.nbytes + of.judging.nbytes for of in known.sums.values())
        encoders = sum(encoder.nbytes for encoder in known.encoders.values())
        return {
            "parameters": sum(W.size for W in known.weights.values()),
            "encoders": encoders + known.grams.fitted.nbytes + known.grams.judging.nbytes,
            "channels": sums,
            "rows": 0,
        }
