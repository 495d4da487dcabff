"""Growing decision trees by scikit-learn's builder, without the checks around it.

``DecisionTreeClassifier.fit`` looks at rows, labels and parameters anew for every tree. For a tree
on a hundred rows that takes seven times as long as the tree. Here they are looked at once for a
forest, and the builder gets what ``fit`` would have given it: the trees are the same, bit for bit.

The builder is not part of scikit-learn's public interface. The first forest of a process therefore
grows one small tree both ways; where they differ, or the builder has come to want something else,
all trees are grown by ``fit``. So it is with the compiled loops of
:mod:`lifelong.encoders.growing_compiled`, which take the builder's place where many trees grow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._criterion import MSE, Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

from lifelong._parallel import parallel_map
from lifelong._validation import Rows
from lifelong._words import shown
from lifelong.encoders.growing_compiled import (
    Limits,
    RankedRows,
    by_loops,
    compiled_loops,
    loops_if_warm,
)
from lifelong.exceptions import ParameterError

_TREES_AT_ONCE = 16  # trees that a thread grows before it asks for more
_DIRECTLY = frozenset({"max_depth", "max_features", "min_samples_leaf"})
_ALLOWED = {
    "max_depth": "a whole number of at least 1, or None",
    "max_features": "'sqrt', 'log2', None, a whole number of at least 1, or a share up to 1.0",
    "min_samples_leaf": "a whole number of at least 1, or a share below 1.0",
}
_NO_LIMIT = int(np.iinfo(np.int32).max)
_EXAMPLE = {"max_depth": 6, "max_features": "sqrt", "min_samples_leaf": 2}


def check_tree(max_depth: Any, max_features: Any, min_samples_leaf: Any) -> dict[str, Any]:
    """Parameters of scikit-learn's trees, checked."""
    tree = {
        "max_depth": max_depth,
        "max_features": max_features,
        "min_samples_leaf": min_samples_leaf,
    }
    for name, value in tree.items():
        is_whole = isinstance(value, int | np.integer)
        if isinstance(value, bool) or (is_whole and value > _NO_LIMIT):
            raise ParameterError(
                f"{name}={shown(value)} does not fit. Whole numbers go up to {_NO_LIMIT}."
            )
        try:
            DecisionTreeClassifier(**{name: value})._validate_params()
        except ValueError:
            raise ParameterError(
                f"{name}={shown(value)} does not fit. Give {_ALLOWED[name]}."
            ) from None
    return tree


@dataclass(frozen=True, eq=False)
class ToGrowOn:
    """Rows as the builder takes them.

    Attributes
    ----------
    X : (n, p)
        float32.
    y : (n, 1)
        Positions among the classes that are there, or numbers; float64.
    n_classes : int
        0: the targets are numbers.
    is_missing : (p,), optional
        Columns with missing entries; None if there are none.
    """

    X: Rows
    y: NDArray[np.float64]
    n_classes: int
    is_missing: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        X: Rows,
        targets: NDArray[Any],
        *,
        are_numbers: bool = False,
        is_missing: NDArray[np.bool_] | None = None,
    ) -> "ToGrowOn":
        """Rows with codes of classes, or numbers."""
        n_classes = 0
        if not are_numbers:
            classes, targets = np.unique(targets, return_inverse=True)
            n_classes = len(classes)
        if is_missing is not None and not is_missing.any():
            is_missing = None
        y = np.ascontiguousarray(targets, dtype=np.float64).reshape(-1, 1)
        return cls(np.asarray(X, dtype=np.float32), y, n_classes, is_missing)


def grow_trees(
    rows: ToGrowOn,
    weights: NDArray[Any],
    parameters: Mapping[str, Any],
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> list[Tree]:
    """A tree for each column of ``weights`` (n, B), numbers or yes and no.

    A row of weight 0 is never looked at. Of a tree only the structure is kept.

    Parameters
    ----------
    rows : ToGrowOn
    weights : (n, B)
    parameters : dict
        Of scikit-learn's trees.
    rng : numpy.random.Generator
        Gives each tree its seed.
    n_jobs : int, optional
        Threads; the trees do not depend on it.
    """
    make: Any = DecisionTreeClassifier
    if not rows.n_classes:
        make = DecisionTreeRegressor
    make(**parameters)._validate_params()
    seeds = np.asarray(rng.integers(2**31 - 1, size=weights.shape[1])).tolist()
    grow: Any = partial(_by_estimator, make, rows, weights, parameters)
    if _DIRECTLY.issuperset(parameters) and builder_is_as_expected():
        grow = _by_loops_if_faster(rows, weights, parameters)
        if grow is None:
            grow = partial(_by_builder, rows, weights, parameters)
    jobs = list(enumerate(seeds))
    some = [jobs[at : at + _TREES_AT_ONCE] for at in range(0, len(jobs), _TREES_AT_ONCE)]
    grown = parallel_map(grow, some, n_jobs=n_jobs, prefer="threads")
    return [tree for trees in grown for tree in trees]


def _by_loops_if_faster(
    rows: ToGrowOn, weights: NDArray[Any], parameters: Mapping[str, Any]
) -> Any:
    """How to grow trees in compiled loops; None where they cannot, or would not save time."""
    n, p = rows.X.shape
    n_trees = weights.shape[1]
    limits = _limits(parameters, n, p)
    # Ranking all columns takes as long as growing a few trees that look at as many.
    if not rows.n_classes or n_trees * limits.max_features < p:
        return None
    in_bag = weights != 0
    n_rows = in_bag.sum(axis=0)
    if n_rows.min() == 0 or not np.array_equal(weights, in_bag):
        return None
    loops = loops_if_warm(n_rows)
    if loops is None or not loops_are_as_expected():
        return None
    ranked = RankedRows.of(rows.X, rows.y[:, 0], rows.n_classes)
    if ranked is None:
        return None
    return partial(by_loops, loops, ranked, in_bag, limits)


@cache
def builder_is_as_expected() -> bool:
    """Whether scikit-learn's builder, called directly, grows the tree that ``fit`` grows."""
    for make in (DecisionTreeClassifier, DecisionTreeRegressor):
        rows, weights = _example(are_numbers=make is DecisionTreeRegressor)
        try:
            directly = _by_builder(rows, weights, _EXAMPLE, [(0, 5)])[0]
        except (TypeError, ValueError, AttributeError):
            return False
        expected = _by_estimator(make, rows, weights, _EXAMPLE, [(0, 5)])[0]
        if not _are_the_same(directly, expected):
            return False
    return True


@cache
def loops_are_as_expected() -> bool:
    """Whether the compiled loops grow the trees that ``fit`` grows."""
    loops = compiled_loops()
    if loops is None:
        return False
    for is_missing in (False, True):
        rows, weights = _example(is_missing=is_missing)
        ranked = RankedRows.of(rows.X, rows.y[:, 0], rows.n_classes)
        assert ranked is not None
        limits = _limits(_EXAMPLE, *rows.X.shape)
        try:
            found = by_loops(loops, ranked, weights > 0, limits, [(0, 5)])[0]
        except Exception:  # numba has many kinds of its own
            return False
        expected = _by_estimator(DecisionTreeClassifier, rows, weights, _EXAMPLE, [(0, 5)])[0]
        if not _are_the_same(found, expected):
            return False
    return True


def _example(
    *, are_numbers: bool = False, is_missing: bool = False
) -> tuple[ToGrowOn, NDArray[np.float64]]:
    """Rows for a tree that is grown in several ways, and which of them count."""
    places = np.arange(60)
    X = np.stack([places * 7 % 20, places * 11 % 13, places % 5], axis=1).astype(np.float32)
    if is_missing:
        X[places % 7 == 0, 0] = np.nan
    has_holes: NDArray[np.bool_] = np.asarray(np.isnan(X).any(axis=0))
    rows = ToGrowOn.of(X, places * 3 % 4, are_numbers=are_numbers, is_missing=has_holes)
    return rows, (places % 4 > 0).astype(np.float64)[:, None]


def _are_the_same(one: Tree, other: Tree) -> bool:
    """Whether two trees ask the same questions."""
    return (
        np.array_equal(one.children_left, other.children_left)
        and np.array_equal(one.children_right, other.children_right)
        and np.array_equal(one.feature, other.feature)
        and np.array_equal(one.threshold, other.threshold)
    )


def _by_builder(
    rows: ToGrowOn,
    weights: NDArray[Any],
    parameters: Mapping[str, Any],
    jobs: Sequence[tuple[int, int]],
) -> list[Tree]:
    """What ``fit`` does once it has checked everything, for some columns of ``weights``."""
    n, p = rows.X.shape
    limits = _limits(parameters, n, p)
    min_leaf = limits.min_leaf
    min_split = max(2, 2 * min_leaf)
    counts = np.array([max(rows.n_classes, 1)], dtype=np.intp)
    random_state = np.random.RandomState(0)  # making one takes as long as growing a small tree
    trees = []
    for column, seed in jobs:
        random_state.seed(seed)
        if rows.n_classes:
            criterion = Gini(1, counts)
        else:
            criterion = MSE(1, n)
        splitter = BestSplitter(criterion, limits.max_features, min_leaf, 0.0, random_state, None)
        builder = DepthFirstTreeBuilder(splitter, min_split, min_leaf, 0.0, limits.max_depth, 0.0)
        tree = Tree(p, counts, 1)
        sample_weight = weights[:, column].astype(np.float64)
        builder.build(tree, rows.X, rows.y, sample_weight, rows.is_missing)
        trees.append(without_class_counts(tree))
    return trees


def _limits(parameters: Mapping[str, Any], n: int, p: int) -> Limits:
    """Parameters of trees as whole numbers, for n rows of p columns."""
    min_leaf = parameters.get("min_samples_leaf", 1)
    if not isinstance(min_leaf, int | np.integer):
        min_leaf = ceil(min_leaf * n)
    max_features = _n_features_of_a_split(parameters.get("max_features"), p)
    return Limits(max_features, parameters.get("max_depth") or _NO_LIMIT, int(min_leaf))


def _n_features_of_a_split(max_features: Any, p: int) -> int:
    """How many columns a split looks at, of ``p``."""
    if max_features is None:
        return p
    if max_features == "sqrt":
        return max(1, int(np.sqrt(p)))
    if max_features == "log2":
        return max(1, int(np.log2(p)))
    if isinstance(max_features, int | np.integer):
        return int(max_features)
    return max(1, int(max_features * p))


def _by_estimator(
    make: Any,
    rows: ToGrowOn,
    weights: NDArray[Any],
    parameters: Mapping[str, Any],
    jobs: Sequence[tuple[int, int]],
) -> list[Tree]:
    """The same trees by scikit-learn's estimators, which check their input for each."""
    trees = []
    for column, seed in jobs:
        model = make(random_state=seed, **parameters)
        targets = rows.y[:, 0]
        if rows.n_classes:
            targets = targets.astype(np.intp)
        # ``fit`` with ``check_input=False`` would not tell the tree where values are missing.
        with config_context(skip_parameter_validation=True):
            model._fit(
                rows.X,
                targets,
                sample_weight=weights[:, column].astype(np.float64),
                check_input=False,
                missing_values_in_feature_mask=rows.is_missing,
            )
        trees.append(without_class_counts(model.tree_))
    return trees


def without_class_counts(tree: Tree) -> Tree:
    """The tree's structure alone: channels keep their own counts of classes."""
    state = tree.__getstate__()
    bare = Tree(tree.n_features, np.ones(1, dtype=np.intp), 1)
    bare.__setstate__({**state, "values": np.zeros((tree.node_count, 1, 1))})
    return bare
