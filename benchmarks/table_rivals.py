"""Rivals of the race over tables with classes: each is a function of a draw that returns
probabilities of its test rows (n, K).

Settings are ordinary ones that suit small tables and are the same for every table. Boosting with
LightGBM chooses its number of rounds by five folds of the training rows.
"""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer

from benchmarks.table_data import MISSING, Draw
from benchmarks.table_stack import (
    Probabilities,
    average,
    in_all_classes,
    linear_model,
    own_forest,
    pooled_forest,
    stacked,
)
from lifelong import SillyForest
from lifelong.references.boosting import (
    LIGHTGBM,
    catboost_settings,
    lightgbm_objective,
    lightgbm_rounds,
)

Rival = Callable[[Draw], Probabilities]


def optional(package: str) -> Any:
    """A package that may not be installed: None then."""
    try:
        return import_module(package)
    except ImportError:
        return None


lightgbm = optional("lightgbm")
catboost = optional("catboost")


def shares(y: NDArray[np.int64], n_rows: int, n_classes: int) -> Probabilities:
    """The class shares of ``y`` for each of ``n_rows`` rows."""
    counts = np.bincount(y, minlength=n_classes)
    return np.tile(counts / counts.sum(), (n_rows, 1))


Fit = Callable[[Any, NDArray[np.int64], int, int], Callable[[Any], Probabilities]]
"""From rows, classes, K and a seed to a function that answers rows."""


def fit_logistic(
    X: NDArray[np.float64], y: NDArray[np.int64], n_classes: int, seed: int
) -> Callable[[Any], Probabilities]:
    """Logistic regression, C = 0.3."""
    del seed
    if len(np.unique(y)) < 2:
        return lambda Q: shares(y, len(Q), n_classes)
    model = linear_model().fit(X, y)
    return lambda Q: in_all_classes(model.predict_proba(Q), model.classes_, n_classes)


def fit_lightgbm(
    X: Any, y: NDArray[np.int64], n_classes: int, seed: int
) -> Callable[[Any], Probabilities]:
    """LightGBM with native categories; rounds by five folds."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        return lambda Q: shares(y, len(Q), n_classes)
    settings = {**LIGHTGBM, "seed": seed, **lightgbm_objective(len(classes))}
    booster = lightgbm_rounds(settings, X, codes, seed)

    def answers(Q: Any) -> Probabilities:
        found = booster.predict(Q)
        if found.ndim == 1:
            found = np.stack([1 - found, found], axis=1)
        return in_all_classes(found, classes, n_classes)

    return answers


def fit_catboost(
    X: Any, y: NDArray[np.int64], n_classes: int, seed: int
) -> Callable[[Any], Probabilities]:
    """CatBoost with native categories: 300 rounds, its own choice of a learning rate."""
    if len(np.unique(y)) < 2:
        return lambda Q: shares(y, len(Q), n_classes)
    columns = list(X.select_dtypes("category").columns)
    model = catboost.CatBoostClassifier(cat_features=columns, **catboost_settings(seed))
    model.fit(as_text(X), y)
    classes = np.asarray(model.classes_, dtype=np.int64)
    return lambda Q: in_all_classes(model.predict_proba(as_text(Q)), classes, n_classes)


def as_text(frame: Any) -> Any:
    """Categories as text, a missing one as a category of its own: CatBoost takes no holes."""
    columns = frame.select_dtypes("category").columns
    return frame.assign(**{c: frame[c].astype(object).fillna(MISSING) for c in columns})


# From a fit to a rival: per task or pooled


def by_task(draw: Draw) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Places of each task's rows in the training and in the test rows, for tasks asked about."""
    for task in np.unique(draw.test_tasks):
        yield np.flatnonzero(draw.train_tasks == task), np.flatnonzero(draw.test_tasks == task)


def per_task(fit: Fit, *, native: bool = False) -> Rival:
    """One model per task."""

    def answers(draw: Draw) -> Probabilities:
        if native:
            X, Q = (frame.iloc[:, :-1] for frame in draw.native)
        else:
            X, Q = draw.matrix
        n_classes = draw.table.n_classes
        found = np.empty((len(Q), n_classes))
        for train, test in by_task(draw):
            model = fit(rows_of(X, train), draw.y[train], n_classes, draw.seed)
            found[test] = model(rows_of(Q, test))
        return found

    return answers


def pooled(fit: Fit, *, native: bool = False) -> Rival:
    """One model of all rows with the task as columns, or as a category."""

    def answers(draw: Draw) -> Probabilities:
        X, Q = draw.native if native else draw.matrix_with_task
        return fit(X, draw.y, draw.table.n_classes, draw.seed)(Q)

    return answers


def rows_of(X: Any, places: NDArray[np.intp]) -> Any:
    """Some rows of a frame or of an array."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return X[places]


def silly_best(draw: Draw) -> Probabilities:
    """``SillyForest.best()`` on the matrix of numbers, one task after the other.

    It takes no missing numbers: they are imputed, with indicators.
    """
    X, Q = draw.matrix
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    X = imputer.fit_transform(X)
    Q = imputer.transform(Q)
    model = SillyForest.best(random_state=draw.seed, n_jobs=1)
    tasks = sorted(set(draw.train_tasks), key=lambda task: (task == draw.arrives, task))
    for task in tasks:
        mine = draw.train_tasks == task
        model.partial_fit(X[mine], draw.y[mine], task=task)
    found = np.empty((len(Q), draw.table.n_classes))
    for task in set(draw.test_tasks):
        mine = draw.test_tasks == task
        answers = model.predict_proba(Q[mine], task=task)
        found[mine] = in_all_classes(answers, model.classes_of(task), draw.table.n_classes)
    return found


def rivals() -> tuple[dict[str, Rival], list[str]]:
    """All rivals by name, and notes on those that cannot run here.

    Names that begin with "pooled" can answer a task that they have never seen.
    """
    found: dict[str, Rival] = {
        "own forest": own_forest,
        "own logistic": per_task(fit_logistic),
        "pooled forest": pooled_forest,
        "pooled logistic": pooled(fit_logistic),
        "average of forests": average,
        "stacked prototype": stacked,
        "SillyForest.best()": silly_best,
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


def quiet() -> None:
    """No warnings of rivals about few rows and the like."""
    warnings.filterwarnings("ignore", module="sklearn|lightgbm|catboost|numpy|pandas")
