"""Forests that also answer: each leaf keeps what the trees' own rows had as labels.

A task that knows a label by the same name can then use the forest's own answer, and not only
to the leaves that its rows fall into. No row is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lifelong._validation import Rows
from lifelong.encoders.base import Mask
from lifelong.encoders.forest import FittedForest, Leaves
from lifelong.encoders.growing import ToGrowOn, grow_trees
from lifelong.schema import COUNT, Array, Custom, saved

Answers = NDArray[np.float64]  # (n, K) class probabilities, or (n, 1) numbers
Targets = NDArray[Any]  # codes of classes (n,), or numbers (n,)
Aim = Literal["classes", "number"]

FEW_ANSWERS = 8
"""Classes up to which a leaf's sums are one row of a plain table; with more, most sums are 0."""

_SMALLEST = 0.005  # a held-out probability of 0 costs as much as this one
_ROWS_AT_ONCE = 4096  # rows that are answered at once: what lies between fits into the cache


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
    def _is_plain(self) -> bool:
        """Whether every leaf has a sum for all classes, in their order."""
        k = self.n_answers
        if k > FEW_ANSWERS or len(self.columns) != self.forest.n_leaves * k:
            return False
        wanted = np.arange(k, dtype=np.int32)
        in_order = (self.columns.reshape(-1, k) == wanted).all()
        return bool(in_order and (np.diff(self.row_ends) == k).all())

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        """The sums as a plain table (n_leaves, K)."""
        shape = (self.forest.n_leaves, self.n_answers)
        if self._is_plain:
            return self.sums.reshape(shape)
        table = sparse.csr_array((self.sums, self.columns, self.row_ends), shape=shape)
        return np.asarray(table.toarray())

    @cached_property
    def _shares(self) -> Any:
        """What each leaf answers: sums over mass, a sparse table (n_leaves, K)."""
        per_entry = np.repeat(self.mass, np.diff(self.row_ends))
        shares = self.sums / np.maximum(per_entry, np.float32(1e-30))
        shape = (self.forest.n_leaves, self.n_answers)
        return sparse.csr_array((shares, self.columns, self.row_ends), shape=shape)

    @property
    def n_trees(self) -> int:
        """How many trees answer."""
        return len(self.forest.trees)

    @cached_property
    def all_leaves_answer(self) -> bool:
        """Whether every leaf has rows."""
        return bool((self.mass > 0).all())

    def leaf_answers(self, n_leaves: int) -> NDArray[np.float32]:
        """What the first so many leaves answer (n_leaves, K)."""
        mass = np.maximum(self.mass[:n_leaves], np.float32(1e-30))
        return np.asarray(self._table[:n_leaves] / mass[:, None])

    def answers(self, X: Rows, n_trees: int | None = None) -> Answers:
        """The mean answer of all trees (n, K); a leaf without rows does not answer.

        With ``n_trees``, that of the first so many.
        """
        pieces = [X[first : first + _ROWS_AT_ONCE] for first in range(0, len(X), _ROWS_AT_ONCE)]
        found = [self._mean(self.forest.encode(piece, n_trees), None) for piece in pieces or [X]]
        if len(found) == 1:
            return found[0]
        return np.concatenate(found)

    def held_out_answers(self, X: Rows, in_bag: Mask) -> Answers:
        """The mean answer of those trees that have not seen a row (n, K); NaN if all have."""
        return self._held_out(self.forest.encode(X), in_bag)

    def _held_out(self, leaves: Leaves, in_bag: Mask) -> Answers:
        found = []
        for first in range(0, len(leaves), _ROWS_AT_ONCE):
            piece = slice(first, first + _ROWS_AT_ONCE)
            found.append(self._mean(leaves[piece], in_bag[piece]))
        return np.concatenate(found)

    def _mean(self, leaves: Leaves, in_bag: Mask | None) -> Answers:
        mass = self.mass[leaves]  # (n, B)
        votes = (mass > 0).astype(np.float32)
        if in_bag is not None:
            votes *= ~in_bag
        if self.n_answers <= FEW_ANSWERS:
            total = self._sum_of_few(leaves, mass, votes)
        else:
            total = self._sum_of_many(leaves, votes)
        n_votes = votes.sum(axis=1, dtype=np.float64)[:, None]
        unknown = np.full(total.shape, np.nan)
        mean: Answers = np.divide(total.astype(np.float64), n_votes, out=unknown, where=n_votes > 0)
        return mean

    def _sum_of_few(
        self, leaves: Leaves, mass: NDArray[np.float32], votes: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Votes times shares, tree after tree (n, K)."""
        shares = self._table[leaves.T]  # (B, n, K)
        shares /= np.maximum(mass, np.float32(1e-30)).T[:, :, None]
        shares *= votes.T[:, :, None]
        if shares.shape[1:] == (1, 1):  # numpy would add a single column in another order
            return np.asarray(np.cumsum(shares, axis=0)[-1])
        return np.asarray(shares.sum(axis=0))

    def _sum_of_many(self, leaves: Leaves, votes: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same by a product of sparse tables."""
        n, n_trees = leaves.shape
        ends = np.arange(0, n * n_trees + 1, n_trees)
        reached = sparse.csr_array(
            (votes.ravel(), leaves.ravel(), ends), shape=(n, self.forest.n_leaves)
        )
        return np.asarray((reached @ self._shares).toarray())

    def with_rows(
        self, X: Rows, targets: Targets, n_answers: int, weights: NDArray[Any] | None = None
    ) -> "AnsweringForest":
        """With more rows in its leaves; the trees stay as they are."""
        return self._with_leaves(self.forest.encode(X), targets, n_answers, weights)

    def learning(
        self, X: Rows, targets: Targets, n_answers: int, weights: NDArray[Any] | None = None
    ) -> "tuple[Answers, AnsweringForest]":
        """What it answers to rows that it has not seen, and the forest with them in its leaves."""
        leaves = self.forest.encode(X)
        return self._mean(leaves, None), self._with_leaves(leaves, targets, n_answers, weights)

    def _with_leaves(
        self, leaves: Leaves, targets: Targets, n_answers: int, weights: NDArray[Any] | None
    ) -> "AnsweringForest":
        n_answers = max(n_answers, self.n_answers)
        if n_answers == self.n_answers <= FEW_ANSWERS:
            return self._with_few(_counted(leaves, targets, weights))
        more = _tables(leaves, targets, self.forest.n_leaves, n_answers, weights)
        shape = (self.forest.n_leaves, n_answers)
        before = sparse.csr_array((self.sums, self.columns, self.row_ends), shape=shape)
        return _answering(self.forest, before + more.sums, self.mass + more.mass)

    def _with_few(self, more: "_Counted") -> "AnsweringForest":
        """With more sums in those leaves alone that rows have reached."""
        k = self.n_answers
        row_ends = self.row_ends
        columns = self.columns
        if not self._is_plain:
            row_ends = np.arange(0, self.forest.n_leaves * k + 1, k, dtype=np.int64)
            columns = np.tile(np.arange(k, dtype=np.int32), self.forest.n_leaves)
        sums = self._table.flatten()
        entries, at = np.unique(more.at.astype(np.int64) * k + more.column, return_inverse=True)
        added = np.zeros(len(entries), dtype=np.float32)
        np.add.at(added, at, more.value.astype(np.float32))
        sums[entries] += added
        mass = self.mass.copy()
        reached, at = np.unique(more.at, return_inverse=True)
        mass[reached] += np.bincount(at, weights=more.weight).astype(np.float32)
        found = AnsweringForest(self.forest, row_ends, columns, sums, mass, k)
        vars(found)["_is_plain"] = True  # no need to look at all leaves again
        return found

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
) -> tuple[AnsweringForest, Answers]:
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

    Returns
    -------
    AnsweringForest
    (n, K)
        What the trees that have not seen a row answer to it; NaN if all have.
    """
    times: NDArray[Any] = in_bag.astype(np.float64)
    if weights is not None:
        times = times * weights[:, None]
    is_missing: NDArray[np.bool_] = np.asarray(np.isnan(X).any(axis=0))
    rows = ToGrowOn.of(X, targets, are_numbers=aim == "number", is_missing=is_missing)
    trees = grow_trees(rows, times, tree, rng=rng, n_jobs=n_jobs)
    forest = FittedForest.of(trees)
    leaves = forest.encode(X)
    tables = _tables(leaves, targets, forest.n_leaves, n_answers, times)
    found = _answering(forest, tables.sums, tables.mass)
    return found, found._held_out(leaves, in_bag)


@dataclass(frozen=True, eq=False)
class _Tables:
    sums: Any  # sparse (n_leaves, K)
    mass: NDArray[np.float32]  # (n_leaves,)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Every row in every tree whose weight is not 0, one after the other."""

    at: NDArray[np.int32]  # the leaf
    column: NDArray[np.int32]
    value: NDArray[Any]  # what is added to the sum there
    weight: NDArray[np.float32]  # what is added to the leaf's mass


def _counted(leaves: Leaves, targets: Targets, weights: NDArray[Any] | None) -> _Counted:
    """Rows in ``leaves`` (n, B), each with its weight (n,) or (n, B)."""
    n, n_trees = leaves.shape
    times = np.ones((n, n_trees), dtype=np.float32)
    if weights is not None:
        times = np.broadcast_to(weights.reshape(n, -1), (n, n_trees)).astype(np.float32)
    counted = times > 0
    at = leaves[counted]
    weight = times[counted]
    rows = np.broadcast_to(np.arange(n)[:, None], (n, n_trees))[counted]
    if targets.dtype.kind == "f":
        return _Counted(at, np.zeros(len(at), dtype=np.int32), weight * targets[rows], weight)
    return _Counted(at, targets[rows].astype(np.int32), weight, weight)


def _tables(
    leaves: Leaves,
    targets: Targets,
    n_leaves: int,
    n_answers: int,
    weights: NDArray[Any] | None,
) -> _Tables:
    """Sums per leaf and class."""
    found = _counted(leaves, targets, weights)
    entries = (found.value, (found.at, found.column))
    sums = sparse.csr_array(entries, shape=(n_leaves, n_answers))
    mass = np.bincount(found.at, weights=found.weight, minlength=n_leaves).astype(np.float32)
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


def losses(answers: Answers, targets: Targets, aim: Aim) -> NDArray[np.float64]:
    """Log-loss, or squared error, of each row; NaN where there is no answer (n,)."""
    if aim == "number":
        return np.asarray((answers[:, 0] - targets) ** 2)
    chosen = answers[np.arange(len(targets)), targets]
    return np.asarray(-np.log(np.maximum(chosen, _SMALLEST)))


def loss(answers: Answers, targets: Targets, aim: Aim) -> float:
    """Mean log-loss, or mean squared error, of rows that were answered at all."""
    found = losses(answers, targets, aim)
    found = found[~np.isnan(found)]
    if len(found) == 0:
        return np.inf
    return float(found.mean())


def answers_better(
    answers: Answers, others: Answers, targets: Targets, aim: Aim, least: float = 0.0
) -> bool:
    """Whether answers have a smaller loss than others: by more than a standard error, and by more
    than a share of the others' loss.
    """
    before = losses(others, targets, aim)
    gains = before - losses(answers, targets, aim)
    there = ~np.isnan(gains)
    gain = gains[there].mean()
    error = gains[there].std() / np.sqrt(there.sum())
    return bool(gain > max(error, least * before[there].mean()))
