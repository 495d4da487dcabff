"""What references keep of scikit-learn and scipy: forests with class shares, a Cholesky factor."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from lifelong.persistence.checking import Arrays, Scope, expect, keys
from lifelong.persistence.forests import pack_trees, unpack_trees
from lifelong.persistence.kinds import CustomKind, pack, packed, unpack
from lifelong.persistence.kinds import unpacked as unpacked_value
from lifelong.persistence.text import Json
from lifelong.schema import Array, Exactly, Several, Whole


def _pack_pipeline(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    """The control RF's own pipeline, around trees from the file."""
    forest = value[-1]
    trees = [tree.tree_ for tree in forest.estimators_]
    return {
        "trees": pack_trees(trees, arrays, at, len(forest.classes_)),
        "classes": forest.classes_.tolist(),
        "seed": int(forest.random_state),
    }


def _unpack_pipeline(node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    expect("K" in scope, at, "belongs to no task")
    keys(node, {"trees", "classes", "seed"}, at)
    learner = scope["learner"]
    classes = unpacked_value(Several(Whole(0, scope["K"] - 1), least=1), node["classes"], at)
    expect(list(classes) == sorted(set(classes)), at, "has its classes in disorder")
    trees = unpack_trees(node["trees"], arrays, at, scope["p"], len(classes))
    expect(len(trees) == learner.n_estimators, at, f"has {len(trees)} trees")
    seed = unpacked_value(Whole(0, 2**31), node["seed"], at)
    return _pipeline_of(learner._forest(seed), trees, np.array(classes), scope["p"])


def _pipeline_of(pipeline: Any, trees: Sequence[Tree], classes: NDArray[Any], p: int) -> Any:
    """The pipeline as it is once it is fitted, with trees from elsewhere.

    One tree on one row per class and one column has every attribute that scikit-learn sets. All
    models are copies of that one, so that making them takes no more than the trees themselves,
    whatever numbers of rows and columns a file speaks of.
    """
    forest = pipeline[-1]
    forest.set_params(n_estimators=1)
    pipeline.fit(np.zeros((len(classes), 1), dtype=np.float32), classes)
    forest.set_params(n_estimators=len(trees))
    (first,) = forest.estimators_
    forest.estimators_ = []
    for tree in trees:
        model = copy(first)
        model.tree_ = tree
        model.n_features_in_ = p
        forest.estimators_.append(model)
    forest.n_features_in_ = p
    return pipeline


PIPELINE = CustomKind(_pack_pipeline, _unpack_pipeline)


def _square(scope: Scope) -> Array:
    D = scope["learner"].n_features
    return Array("float64", (D, D))


def _pack_factor(value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    """scipy's Cholesky factor: a matrix, and that it is the lower one."""
    packed(Exactly(True), bool(value[1]), at)
    return pack(_square(scope), value[0], arrays, at, scope)


def _unpack_factor(node: Json, arrays: Arrays, at: str, scope: Scope) -> tuple[Any, bool]:
    return unpack(_square(scope), node, arrays, at, scope), True


FACTOR = CustomKind(_pack_factor, _unpack_factor)
