"""Boosted trees of LightGBM and CatBoost as models that fit and answer rows of numbers.

Settings are ordinary ones that suit small tables, and the same for every table. Categories are
given as they are: both libraries split on them in their own ways.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lifelong._extras import require
from lifelong.tasks.base import Target

Library = Literal["lightgbm", "catboost"]

LIGHTGBM: dict[str, Any] = {
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 5,
    "min_data_per_group": 10,  # LightGBM's 100 would forbid splits on a task of 50 rows
    "feature_fraction": 0.8,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "num_threads": 1,
    "deterministic": True,
    "verbosity": -1,
}
MAX_ROUNDS = 300
PATIENCE = 20
"""Rounds without an improvement on held-out folds, after which no more are tried."""
N_FOLDS = 5


def lightgbm_rounds(
    settings: dict[str, Any], X: Any, y: NDArray[Any], seed: int, categories: Any = "auto"
) -> Any:
    """LightGBM's trees on all rows, as many as five folds of them choose.

    Parameters
    ----------
    settings : of LightGBM, the objective among them
    X : (n, p)
    y : (n,)
        Codes of classes, or numbers.
    seed : int
        Decides on the folds.
    categories : "auto" or places of columns, default "auto"
        Which columns hold codes; ``"auto"`` for a frame whose columns say so themselves.
    """
    lightgbm = import_module("lightgbm")

    def data() -> Any:
        return lightgbm.Dataset(
            X,
            y,
            categorical_feature=categories,
            free_raw_data=False,
            params={"verbosity": -1},
        )

    order = np.random.default_rng(seed).permutation(len(y))
    parts = np.array_split(order, min(N_FOLDS, len(y)))
    folds = [(np.setdiff1d(order, part), np.sort(part)) for part in parts]
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    history = lightgbm.cv(settings, data(), MAX_ROUNDS, folds=folds, callbacks=[stop])
    rounds = len(next(iter(history.values())))
    return lightgbm.train(settings, data(), rounds)


def lightgbm_objective(n_classes: int) -> dict[str, Any]:
    """What LightGBM has to be told about the classes."""
    if n_classes == 2:
        return {"objective": "binary"}
    return {"objective": "multiclass", "num_class": n_classes}


def catboost_settings(seed: int) -> dict[str, Any]:
    """CatBoost: 300 rounds, its own choice of a learning rate."""
    return {
        "iterations": MAX_ROUNDS,
        "random_seed": seed,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }


class Boosting(BaseEstimator):
    """One boosted model, with scikit-learn's ``fit``, ``predict`` and ``predict_proba``.

    Parameters
    ----------
    library : "lightgbm" or "catboost"
    target : "class" or "number", default "class"
    seed : int, default 0
    categories : places of columns that hold codes, default none

    Attributes
    ----------
    classes_ : (K,)
        The classes of the rows that it was fitted on.
    """

    def __init__(
        self,
        library: Library,
        target: Target = "class",
        seed: int = 0,
        categories: Sequence[int] = (),
    ) -> None:
        self.library = library
        self.target = target
        self.seed = seed
        self.categories = categories

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's scorers ask whether it answers with classes or with numbers."""
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.target == "class" else "regressor"
        return tags

    def fit(self, X: NDArray[Any], y: Any) -> "Boosting":
        """Boost on rows; of one class, nothing is there to be learnt."""
        require(self.library, extra="boost", for_what=f"A control that boosts with {self.library}")
        self.classes_ = np.arange(1)
        targets = np.asarray(y)
        if self.target == "class":
            self.classes_, targets = np.unique(targets, return_inverse=True)
        self.model_ = None
        if self.target == "number" or len(self.classes_) > 1:
            grow = {"lightgbm": self._lightgbm, "catboost": self._catboost}[self.library]
            self.model_ = grow(X, targets)
        return self

    def _lightgbm(self, X: NDArray[Any], targets: NDArray[Any]) -> Any:
        settings = {**LIGHTGBM, "seed": self.seed, "objective": "regression"}
        if self.target == "class":
            settings |= lightgbm_objective(len(self.classes_))
        return lightgbm_rounds(settings, X, targets, self.seed, list(self.categories))

    def _catboost(self, X: NDArray[Any], targets: NDArray[Any]) -> Any:
        catboost = import_module("catboost")
        make = catboost.CatBoostClassifier
        if self.target == "number":
            make = catboost.CatBoostRegressor
        model = make(cat_features=list(self.categories), **catboost_settings(self.seed))
        return model.fit(self._as_codes(X), targets)

    def _as_codes(self, X: NDArray[Any]) -> NDArray[Any]:
        """CatBoost wants whole numbers for categories; a missing one is a category of its own."""
        if not self.categories:
            return X
        rows = X.astype(object)
        for place in self.categories:
            rows[:, place] = np.nan_to_num(X[:, place], nan=-1).astype(int)
        return rows

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """The probability of each of ``classes_`` (n, K)."""
        if self.model_ is None:
            return np.ones((len(X), 1))
        if self.library == "catboost":
            return np.asarray(self.model_.predict_proba(self._as_codes(X)))
        found = np.asarray(self.model_.predict(X))
        if found.ndim == 1:
            found = np.stack([1 - found, found], axis=1)
        return found

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The most probable class of each row, or its number."""
        if self.target == "class":
            return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
        assert self.model_ is not None
        if self.library == "catboost":
            return np.asarray(self.model_.predict(self._as_codes(X)))
        return np.asarray(self.model_.predict(X))

    def sizes(self) -> tuple[int, int]:
        """How many numbers the trees are made of, and how many bytes they take."""
        if self.model_ is None:
            return 0, 0
        if self.library == "catboost":
            leaves = self.model_.get_leaf_values().size
            splits = self.model_.tree_count_ * self.model_.get_all_params()["depth"]
            return leaves + splits, 8 * (leaves + 2 * splits)
        nodes = self.model_.dump_model()["tree_info"]
        leaves = sum(tree["num_leaves"] for tree in nodes)
        splits = leaves - len(nodes)
        return leaves + splits, 8 * (leaves + 2 * splits)
