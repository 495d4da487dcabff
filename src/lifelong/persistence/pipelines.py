"""What references keep of scikit-learn and scipy: forests with class shares, a Cholesky factor."""

from typing import Any

import numpy as np

from lifelong.persistence.forests import pack_trees, unpack_trees
from lifelong.persistence.kinds import Arrays, CustomKind, Scope, expect, keys, pack, packed, unpack
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
    # A forest on one row per class has every attribute that scikit-learn sets; then its trees are
    # exchanged.
    pipeline = learner._forest(seed)
    rows = np.zeros((len(classes), *scope["in_shape"]), dtype=np.float32)
    pipeline.fit(rows, np.array(classes))
    for model, tree in zip(pipeline[-1].estimators_, trees, strict=True):
        model.tree_ = tree
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
