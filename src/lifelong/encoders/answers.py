"""Forests that also answer: each leaf keeps what the trees' own rows had as labels.

A task that knows a label by the same name can then listen to the forest's own answer, and not only
to the leaves that its rows fall into. No row is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree

from lifelong._parallel import parallel_map
from lifelong._validation import Rows
from lifelong.encoders.base import Mask
from lifelong.encoders.forest import FittedForest, Leaves, without_class_counts
from lifelong.schema import COUNT, Array, Custom, saved

Answers = NDArray[np.float64]  # (n, K) class probabilities, or (n, 1) numbers
Targets = NDArray[Any]  # codes of classes (n,), or numbers (n,)
Aim = Literal["classes", "number"]


@dataclass(frozen=True, eq=False)
class AnsweringForest:
    """A forest and what it answers.

    Attributes
    ----------
    forest : FittedForest
    row_ends, columns, sums : arrays
        Sums of weights per leaf and class, as a sparse table (n_leaves, K). For numbers K is 1
        and a sum is that of the targets.
    mass : (n_leaves,)
        Sum of weights per leaf.
    """

    forest: FittedForest = saved(Custom("any forest"))
    row_ends: NDArray[np.int64] = saved(Array("int64", (None,), least=0))
    columns: NDArray[np.int32] = saved(Array("int32", ("entries",), least=0))
    sums: NDArray[np.float32] = saved(Array("float32", ("entries",)))
    mass: NDArray[np.float32] = saved(Array("float32", (None,), least=0))
    n_answers: int = saved(COUNT)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: tables that are not those of the forest's leaves."""
        del lengths
        n_leaves = self.forest.n_leaves
        ends = self.row_ends
        fits = len(ends) == n_leaves + 1 and len(self.mass) == n_leaves
        if not fits or ends[0] != 0 or ends[-1] != len(self.sums) or (np.diff(ends) < 0).any():
            return "has answers of other leaves"
        if len(self.columns) and self.columns.max() >= self.n_answers:
            return "has answers of classes that are not there"
        return None

    @cached_property
    def _shares(self) -> Any:
        """What each leaf answers: sums over mass, a sparse table (n_leaves, K)."""
        per_entry = np.repeat(self.mass, np.diff(self.row_ends))
        shares = self.sums / np.maximum(per_entry, np.float32(1e-30))
        shape = (self.forest.n_leaves, self.n_answers)
        return sparse.csr_array((shares, self.columns, self.row_ends), shape=shape)

    def answers(self, X: Rows) -> Answers:
        """The mean answer of all trees (n, K); a leaf without rows does not answer."""
        return self._mean(self.forest.encode(X), None)

    def held_out_answers(self, X: Rows, in_bag: Mask) -> Answers:
        """The mean answer of those trees that have not seen a row (n, K); NaN if all have."""
        return self._mean(self.forest.encode(X), ~in_bag)

    def _mean(self, leaves: Leaves, counts: Mask | None) -> Answers:
        n, n_trees = leaves.shape
        votes = (self.mass[leaves] > 0).astype(np.float32)
        if counts is not None:
            votes *= counts
        ends = np.arange(0, n * n_trees + 1, n_trees)
        reached = sparse.csr_array(
            (votes.ravel(), leaves.ravel(), ends), shape=(n, self.forest.n_leaves)
        )
        total = (reached @ self._shares).toarray().astype(np.float64)
        n_votes = votes.sum(axis=1, dtype=np.float64)[:, None]
        unknown = np.full(total.shape, np.nan)
        mean: Answers = np.divide(total, n_votes, out=unknown, where=n_votes > 0)
        return mean

    def with_rows(
        self, X: Rows, targets: Targets, n_answers: int, weights: NDArray[Any] | None = None
    ) -> "AnsweringForest":
        """With more rows in its leaves; the trees stay as they are."""
        more = _tables(self.forest.encode(X), targets, self.forest.n_leaves, n_answers, weights)
        shape = (self.forest.n_leaves, max(n_answers, self.n_answers))
        before = sparse.csr_array((self.sums, self.columns, self.row_ends), shape=shape)
        return _answering(self.forest, before + more.sums, self.mass + more.mass)

    @property
    def nbytes(self) -> int:
        """Bytes of the trees and of what their leaves answer."""
        arrays = (self.row_ends, self.columns, self.sums, self.mass)
        return self.forest.nbytes + sum(array.nbytes for array in arrays)

    @property
    def n_parameters(self) -> int:
        """Of the trees, and one number for each sum."""
        return self.forest.n_parameters + len(self.sums)


def grow_answering(
    X: Rows,
    targets: Targets,
    *,
    in_bag: Mask,
    n_answers: int,
    aim: Aim,
    rng: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    **tree: Any,
) -> AnsweringForest:
    """One tree per column of ``in_bag`` (n, B), each on its own rows, and what they answer.

    Parameters
    ----------
    X : (n, p)
        As trees read them; NaN is missing.
    targets : (n,)
        Codes of classes, or numbers.
    in_bag : (n, B)
        Which rows each tree is grown on.
    n_answers : int
        Classes that there are; 1 for numbers.
    aim : "classes" or "number"
    """
    times: NDArray[Any] = in_bag.astype(np.float64)
    if weights is not None:
        times = times * weights[:, None]
    make: Any = DecisionTreeClassifier
    if aim == "number":
        make = DecisionTreeRegressor
    # Checked once: for every tree it would be a quarter of a small tree's time.
    make(**tree)._validate_params()
    is_missing: NDArray[np.bool_] = np.asarray(np.isnan(X).any(axis=0))
    seeds = np.asarray(rng.integers(2**31 - 1, size=in_bag.shape[1])).tolist()
    grow = partial(_grow_tree, make, X, targets, times, is_missing, tree)
    trees = parallel_map(grow, list(enumerate(seeds)), n_jobs=n_jobs, prefer="threads")
    forest = FittedForest.of(trees)
    tables = _tables(forest.encode(X), targets, forest.n_leaves, n_answers, times)
    return _answering(forest, tables.sums, tables.mass)


def _grow_tree(
    make: Any,
    X: Rows,
    targets: Targets,
    weights: NDArray[np.float64],
    is_missing: NDArray[np.bool_],
    parameters: dict[str, Any],
    job: tuple[int, int],
) -> Tree:
    column, seed = job
    model = make(random_state=seed, **parameters)
    mask = None
    if is_missing.any():
        mask = is_missing
    # X is float32 and checked at the edge: scikit-learn need not look for every tree. ``fit`` with
    # ``check_input=False`` would not tell the tree where values are missing; ``_fit`` does.
    with config_context(skip_parameter_validation=True):
        model._fit(
            X,
            targets,
            sample_weight=weights[:, column],
            check_input=False,
            missing_values_in_feature_mask=mask,
        )
    return without_class_counts(model.tree_)


@dataclass(frozen=True, eq=False)
class _Tables:
    sums: Any  # sparse (n_leaves, K)
    mass: NDArray[np.float32]  # (n_leaves,)


def _tables(
    leaves: Leaves,
    targets: Targets,
    n_leaves: int,
    n_answers: int,
    weights: NDArray[Any] | None,
) -> _Tables:
    """Sums per leaf and class of rows in ``leaves`` (n, B), each with its weight (n,) or (n, B)."""
    n, n_trees = leaves.shape
    times = np.ones((n, n_trees), dtype=np.float32)
    if weights is not None:
        times = np.broadcast_to(weights.reshape(n, -1), (n, n_trees)).astype(np.float32)
    counted = times > 0
    at = leaves[counted]
    weight = times[counted]
    rows = np.broadcast_to(np.arange(n)[:, None], (n, n_trees))[counted]
    if targets.dtype.kind == "f":
        column = np.zeros(len(at), dtype=np.int32)
        value = weight * targets[rows]
    else:
        column = targets[rows].astype(np.int32)
        value = weight
    sums = sparse.csr_array((value, (at, column)), shape=(n_leaves, n_answers))
    mass = np.bincount(at, weights=weight, minlength=n_leaves).astype(np.float32)
    return _Tables(sums, mass)


def _answering(forest: FittedForest, sums: Any, mass: NDArray[np.float32]) -> AnsweringForest:
    return AnsweringForest(
        forest,
        sums.indptr.astype(np.int64),
        sums.indices.astype(np.int32),
        sums.data.astype(np.float32),
        mass,
        sums.shape[1],
    )


def joined_forests(first: AnsweringForest, second: AnsweringForest) -> AnsweringForest:
    """One forest of the trees of both."""
    forest = FittedForest.of([*first.forest.trees, *second.forest.trees])
    return AnsweringForest(
        forest,
        np.concatenate([first.row_ends, second.row_ends[1:] + first.row_ends[-1]]),
        np.concatenate([first.columns, second.columns]),
        np.concatenate([first.sums, second.sums]),
        np.concatenate([first.mass, second.mass]),
        max(first.n_answers, second.n_answers),
    )
