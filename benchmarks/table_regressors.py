"""Rivals of the race over tables with numbers: each is a function of a draw that returns a number
for each of its test rows (n,).
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

from benchmarks.table_data import Draw
from benchmarks.table_rivals import (
    as_text,
    by_task,
    catboost,
    lightgbm,
    rows_of,
)
from benchmarks.table_stack import standard_columns
from lifelong.references.boosting import LIGHTGBM, catboost_settings, lightgbm_rounds

Numbers = NDArray[np.float64]
Rival = Callable[[Draw], Numbers]
Fit = Callable[[Any, Numbers, int], Callable[[Any], Numbers]]
"""From rows, numbers and a seed to a function that answers rows."""

PENALTIES = np.logspace(-1, 4, 16)  # of ridge regression on standardised columns
TASK_PENALTIES = np.logspace(-1, 3, 9)  # variance of errors ÷ variance of intercepts


def fit_forest(X: Numbers, y: Numbers, seed: int) -> Callable[[Any], Numbers]:
    """A forest of 300 trees; a third of the columns per split, as Breiman advises for numbers."""
    model = RandomForestRegressor(300, max_features=1 / 3, random_state=seed, n_jobs=1).fit(X, y)
    return model.predict


def fit_ridge(X: Numbers, y: Numbers, seed: int) -> Callable[[Any], Numbers]:
    """Ridge regression, its penalty by leave-one-out."""
    del seed
    return make_pipeline(standard_columns(), RidgeCV(PENALTIES)).fit(X, y).predict


def fit_lightgbm(X: Any, y: Numbers, seed: int) -> Callable[[Any], Numbers]:
    """LightGBM with native categories; rounds by five folds."""
    settings = {**LIGHTGBM, "seed": seed, "objective": "regression"}
    return lightgbm_rounds(settings, X, y, seed).predict


def fit_catboost(X: Any, y: Numbers, seed: int) -> Callable[[Any], Numbers]:
    """CatBoost with native categories: 300 rounds, its own choice of a learning rate."""
    columns = list(X.select_dtypes("category").columns)
    model = catboost.CatBoostRegressor(cat_features=columns, **catboost_settings(seed))
    model.fit(as_text(X), y)
    return lambda Q: model.predict(as_text(Q))


def per_task(fit: Fit, *, native: bool = False) -> Rival:
    """One model per task."""

    def answers(draw: Draw) -> Numbers:
        if native:
            X, Q = (frame.iloc[:, :-1] for frame in draw.native)
        else:
            X, Q = draw.matrix
        found = np.empty(len(Q))
        for train, test in by_task(draw):
            found[test] = fit(rows_of(X, train), draw.y[train], draw.seed)(rows_of(Q, test))
        return found

    return answers


def pooled(fit: Fit, *, native: bool = False) -> Rival:
    """One model of all rows with the task as columns, or as a category."""

    def answers(draw: Draw) -> Numbers:
        if native:
            X, Q = draw.native
        else:
            X, Q = draw.matrix_with_task
        return fit(X, draw.y, draw.seed)(Q)

    return answers


@lru_cache(maxsize=1)
def own_forest(draw: Draw) -> Numbers:
    """A forest per task."""
    return per_task(fit_forest)(draw)


@lru_cache(maxsize=1)
def pooled_forest(draw: Draw) -> Numbers:
    """One forest of all rows with the task as columns."""
    return pooled(fit_forest)(draw)


def average(draw: Draw) -> Numbers:
    """The mean of a forest per task and a pooled one."""
    return (own_forest(draw) + pooled_forest(draw)) / 2


def mixed_effects(draw: Draw) -> Numbers:
    """y = Xβ + u_task + ε, with normal intercepts u and a normal prior on β.

    Both are penalised columns of one ridge regression; the two penalties are chosen together by
    leave-one-out.
    """
    X, Q = draw.matrix
    standard = standard_columns().fit(X)
    tasks = np.unique(draw.train_tasks)
    X = np.hstack([standard.transform(X), draw.train_tasks[:, None] == tasks])
    Q = np.hstack([standard.transform(Q), draw.test_tasks[:, None] == tasks])
    mean = draw.y.mean()
    y = draw.y - mean
    n_columns = X.shape[1] - len(tasks)
    best = np.inf
    for penalty, of_tasks in product(PENALTIES, TASK_PENALTIES):
        penalties = np.repeat([penalty, of_tasks], [n_columns, len(tasks)])
        inverse = np.linalg.inv(X.T @ X + np.diag(penalties))
        solution = inverse @ (X.T @ y)
        leverage = np.einsum("ij,jk,ik->i", X, inverse, X, optimize=True)
        left_out = np.mean(((y - X @ solution) / (1 - leverage)) ** 2)
        if left_out < best:
            best = left_out
            chosen = solution
    return mean + Q @ chosen


def regressors() -> tuple[dict[str, Rival], list[str]]:
    """All rivals by name, and notes on those that cannot run here."""
    found: dict[str, Rival] = {
        "own forest": own_forest,
        "own ridge": per_task(fit_ridge),
        "pooled forest": pooled_forest,
        "pooled ridge": pooled(fit_ridge),
        "average of forests": average,
        "mixed effects": mixed_effects,
    }
    notes = []
    if lightgbm is None:
        notes.append("lightgbm is not installed: its rows are left out.")
    else:
        found["own LightGBM"] = per_task(fit_lightgbm, native=True)
        found["pooled LightGBM"] = pooled(fit_lightgbm, native=True)
    if catboost is None:
        notes.append("catboost is not installed: its rows are left out.")
    else:
        found["pooled CatBoost"] = pooled(fit_catboost, native=True)
    return found, notes
