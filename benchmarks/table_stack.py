"""Forests and logistic regressions per task and pooled, and the prototype that stacks them.

An opinion is what a model answers to the training rows without having learnt from them, and to the
test rows. The stack is a log-linear mix of five: own forest, own logistic regression, pooled
forest, pooled logistic regression, and the mean of the other tasks' forests. Its weights are
non-negative; those of all tasks together are the prior from which each task moves.
"""

import hashlib
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.table_data import Draw

Probabilities = NDArray[np.float64]

N_TREES = 300
CLIP = 5.0  # standard deviations
FLOOR = 1e-3  # added to every class of an opinion before it is stacked
LEAST = 0.005  # probabilities below are raised to it before the logarithm
MOST = 3.0  # the largest weight
COMMON_PULL = 2.0  # of the common weights towards equal ones that sum to 1
TASK_PULL = 10.0  # of a task's weights towards the common ones


MAX_FORESTS = 100  # kept at a time
_FORESTS: dict[bytes, Any] = {}


class Opinion(NamedTuple):
    """What one model answers (n, K)."""

    held_out: Probabilities  # to the training rows, by models that have not seen them
    test: Probabilities


def in_all_classes(
    answers: Probabilities, classes: NDArray[np.int64], n_classes: int
) -> Probabilities:
    """Answers (n, k) in the columns of all classes (n, K)."""
    full = np.zeros((len(answers), n_classes))
    full[:, classes] = answers
    return full


def fit_forest(X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Any:
    """A forest with out-of-bag answers; missing numbers are split on as they are.

    One that was grown from the same rows is kept: when a task arrives, the others stay.
    """
    mark = hashlib.sha256(X.tobytes() + y.tobytes() + repr((X.shape, seed)).encode()).digest()
    if mark not in _FORESTS:
        if len(_FORESTS) >= MAX_FORESTS:
            _FORESTS.clear()
        forest = RandomForestClassifier(N_TREES, oob_score=True, random_state=seed, n_jobs=1)
        _FORESTS[mark] = forest.fit(X, y)
    return _FORESTS[mark]


def standard_columns() -> Any:
    """Missing numbers imputed with indicators, standardised, and clipped at five standard
    deviations, so that no outlier among the test rows carries a linear model away.
    """
    return make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        StandardScaler(),
        FunctionTransformer(np.clip, kw_args={"a_min": -CLIP, "a_max": CLIP}),
    )


def linear_model() -> Any:
    """Logistic regression on standardised columns."""
    return make_pipeline(standard_columns(), LogisticRegression(C=0.3, max_iter=1000))


def forest_opinion(
    X: NDArray[np.float64], y: NDArray[np.int64], Q: NDArray[np.float64], n_classes: int, seed: int
) -> Opinion:
    """Of one forest; a row that no tree has left out gets the class shares."""
    forest = fit_forest(X, y, seed)
    out_of_bag = out_of_bag_answers(forest, y)
    return Opinion(
        in_all_classes(out_of_bag, forest.classes_, n_classes),
        in_all_classes(forest.predict_proba(Q), forest.classes_, n_classes),
    )


def out_of_bag_answers(forest: Any, y: NDArray[np.int64]) -> Probabilities:
    """(n, k), in the columns of the forest's classes."""
    if len(forest.classes_) == 1:
        return np.ones((len(y), 1))
    answers = np.array(forest.oob_decision_function_)
    lacking = ~np.isfinite(answers).all(axis=1) | (answers.sum(axis=1) == 0)
    answers[lacking] = 1 / len(forest.classes_)
    return answers


@lru_cache(maxsize=1)
def pooled_forest_opinion(draw: Draw) -> Opinion:
    """One forest of all rows, the task as columns."""
    X, Q = draw.matrix_with_task
    return forest_opinion(X, draw.y, Q, draw.table.n_classes, draw.seed)


@lru_cache(maxsize=1)
def own_forests_opinions(draw: Draw) -> tuple[Opinion, Opinion]:
    """Of each task's forest on its own rows, and of the mean of the other tasks' forests."""
    X, Q = draw.matrix
    n_classes = draw.table.n_classes
    own = Opinion(np.zeros((len(X), n_classes)), np.zeros((len(Q), n_classes)))
    others = Opinion(np.zeros((len(X), n_classes)), np.zeros((len(Q), n_classes)))
    tasks = np.unique(draw.train_tasks)
    for task in tasks:
        mine = draw.train_tasks == task
        asked = draw.test_tasks == task
        forest = fit_forest(X[mine], draw.y[mine], draw.seed)
        out_of_bag = out_of_bag_answers(forest, draw.y[mine])
        own.held_out[mine] = in_all_classes(out_of_bag, forest.classes_, n_classes)
        of_train = in_all_classes(forest.predict_proba(X), forest.classes_, n_classes)
        of_test = in_all_classes(forest.predict_proba(Q), forest.classes_, n_classes)
        own.test[asked] = of_test[asked]
        others.held_out[~mine] += of_train[~mine] / (len(tasks) - 1)
        others.test[~asked] += of_test[~asked] / (len(tasks) - 1)
    return own, others


def logistic_opinion(
    X: NDArray[np.float64], y: NDArray[np.int64], Q: NDArray[np.float64], n_classes: int, seed: int
) -> Opinion:
    """Of logistic regression, held out by five folds (fewer with fewer than 20 rows)."""
    held_out = np.full((len(X), n_classes), 1 / n_classes)
    order = np.random.default_rng(seed).permutation(len(y))
    n_folds = min(5, len(y) // 4)
    if n_folds >= 2:
        for part in np.array_split(order, n_folds):
            rest = np.setdiff1d(order, part)
            held_out[part] = _logistic_answers(X[rest], y[rest], X[part], n_classes)
    return Opinion(held_out, _logistic_answers(X, y, Q, n_classes))


def _logistic_answers(
    X: NDArray[np.float64], y: NDArray[np.int64], Q: NDArray[np.float64], n_classes: int
) -> Probabilities:
    classes = np.unique(y)
    if len(classes) == 1:
        return in_all_classes(np.ones((len(Q), 1)), classes, n_classes)
    model = clone(linear_model()).fit(X, y)
    return in_all_classes(model.predict_proba(Q), classes, n_classes)


# The rivals


def own_forest(draw: Draw) -> Probabilities:
    """A forest per task."""
    return own_forests_opinions(draw)[0].test


def pooled_forest(draw: Draw) -> Probabilities:
    """One forest of all rows with the task as columns."""
    return pooled_forest_opinion(draw).test


def average(draw: Draw) -> Probabilities:
    """The mean of a forest per task and a pooled one."""
    return (own_forest(draw) + pooled_forest(draw)) / 2


def stacked(draw: Draw) -> Probabilities:
    """All five opinions, weighed by the training rows."""
    n_classes = draw.table.n_classes
    own, others = own_forests_opinions(draw)
    X, Q = draw.matrix_with_task
    pooled_logistic = logistic_opinion(X, draw.y, Q, n_classes, draw.seed)
    opinions = [own, _own_logistic(draw), pooled_forest_opinion(draw), pooled_logistic, others]
    known = np.array([_logs(opinion.held_out) for opinion in opinions])  # (J, n, K)
    asked = np.array([_logs(opinion.test) for opinion in opinions])
    tasks = np.unique(draw.train_tasks)
    of_task = {task: draw.train_tasks == task for task in tasks}
    equal = np.full(len(opinions), 1 / len(opinions))
    common = mixing_weights(known, draw.y, equal, COMMON_PULL)
    answers = np.empty((len(Q), n_classes))
    for task in np.unique(draw.test_tasks):
        mine = of_task[task]
        weights = mixing_weights(known[:, mine], draw.y[mine], common, TASK_PULL)
        rows = draw.test_tasks == task
        answers[rows] = softmax(np.tensordot(weights, asked[:, rows], axes=1), axis=1)
    return answers


def _own_logistic(draw: Draw) -> Opinion:
    X, Q = draw.matrix
    n_classes = draw.table.n_classes
    found = Opinion(np.zeros((len(X), n_classes)), np.zeros((len(Q), n_classes)))
    for task in np.unique(draw.train_tasks):
        mine = draw.train_tasks == task
        asked = draw.test_tasks == task
        queries = Q[asked]
        if not asked.any():
            queries = Q[:1]  # nothing of it is used
        opinion = logistic_opinion(X[mine], draw.y[mine], queries, n_classes, draw.seed)
        found.held_out[mine] = opinion.held_out
        if asked.any():
            found.test[asked] = opinion.test
    return found


def _logs(answers: Probabilities) -> Probabilities:
    raised = answers + FLOOR
    return np.log(np.clip(raised / raised.sum(axis=1, keepdims=True), LEAST, 1))


def mixing_weights(
    logs: Probabilities, y: NDArray[np.int64], prior: NDArray[np.float64], pull: float
) -> NDArray[np.float64]:
    """Weights (J,) in [0, MOST] that make Σⱼ wⱼ log pⱼ most likely, drawn towards a prior.

    Parameters
    ----------
    logs : (J, n, K)
        Logarithms of each opinion's held-out answers.
    y : (n,)
        The classes of the rows.
    prior : (J,)
        Where the weights start, and where ``pull · |w − prior|²`` draws them.
    pull : float
    """
    rows = np.arange(len(y))

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        mixed = log_softmax(np.tensordot(weights, logs, axes=1), axis=1)  # (n, K)
        away = weights - prior
        expected = (logs * np.exp(mixed)).sum(axis=2)  # (J, n)
        slope = (expected - logs[:, rows, y]).sum(axis=1)
        return -mixed[rows, y].sum() + pull * away @ away, slope + 2 * pull * away

    return minimize(loss, prior, jac=True, bounds=[(0, MOST)] * len(prior)).x
