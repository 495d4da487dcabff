"""Which learners can be saved, and what each has learnt: the one table between names in a file and classes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lifelong.learners import Learner, Silly, SillyForest, SillyNetwork
from lifelong.learners.density import Scaling
from lifelong.persistence.densities import DensityState
from lifelong.persistence.encoders import Encoders
from lifelong.persistence.forests import TreesKind
from lifelong.persistence.kinds import (
    Array,
    Arrays,
    ByName,
    Exactly,
    Kind,
    Name,
    NameKind,
    Record,
    Several,
    Whole,
    expect,
    keys,
)
from lifelong.persistence.parts import ChannelState
from lifelong.persistence.states import ROWS, Each, InFile, Maybe, Plain, State
from lifelong.persistence.text import Json, Unfit
from lifelong.references import CONTROLS, REFERENCES
from lifelong.references.forest import Forest
from lifelong.references.randumb import ClassMeans, FourierFeatures, RanDumb

_REFERENCES = {factory.learner: factory for factory in (*REFERENCES.values(), *CONTROLS.values())}
_OURS: Mapping[str, type[Learner]] = {"Silly": Silly, "SillyForest": SillyForest, "SillyNetwork": SillyNetwork}


def learner_class(name: Json) -> type[Learner]:
    """The class that a manifest means."""
    if isinstance(name, str) and name in _OURS:
        return _OURS[name]
    if isinstance(name, str) and name in _REFERENCES:
        found: type[Learner] = _REFERENCES[name].learner_class()
        return found
    raise Unfit(f"there is no learner called {str(name)[:40]!r}; known: {', '.join([*_OURS, *_REFERENCES])}")


def name_of(learner: Learner) -> str:
    """The name of a learner's class in a manifest."""
    name = type(learner).__name__
    known = name in _OURS or name in _REFERENCES
    if not known or learner_class(name) is not type(learner):
        raise Unfit(f"only the library's own learners can be saved, and {name} is yours")
    return name


def states_of(learner: Learner) -> Mapping[str, State]:
    """Every learnt attribute beside tasks, seed and shape, in the order in which they are loaded."""
    if isinstance(learner, Silly):
        return _SILLY
    if isinstance(learner, RanDumb):
        return _RANDUMB
    if isinstance(learner, Forest):
        return {"forests_": Each(InFile("values", _pipeline)), "memory_": Each(ROWS)}
    from lifelong.persistence.references import STATES

    return STATES[type(learner).__name__]


def _scaling(learner: Any, _: Name | None) -> Kind:
    column = Array("float32", (int(np.prod(learner.in_shape_)),))
    return Record(Scaling, {"mean": column, "scale": column})


_SILLY: Mapping[str, State] = {
    "encoders_": Encoders(),
    "channels_": Each(ChannelState()),
    "memory_": Each(ROWS, every_task=False),
    "densities_": Each(DensityState(), every_task=False),
    "addresses_": Plain(ByName(NameKind())),
    "scaling_": Maybe(InFile("values", _scaling)),
}


LATER = {"densities_", "addresses_", "scaling_"}
"""Attributes that a file may lack, because learners have not always had them."""


# RanDumb: random features, means by class, and what is common to all tasks


def _of_size(kind: Callable[[int], Kind]) -> Callable[[Any, Name | None], Kind]:
    return lambda learner, _: kind(learner.n_features)


def _features(learner: Any, _: Name | None) -> Kind:
    p, D = int(np.prod(learner.in_shape_)), learner.n_features
    column, shapes = Array("float64", (p,)), {"W": Array("float64", (D, p)), "b": Array("float64", (D,))}
    return Record(FourierFeatures, {"mean": column, "scale": column, **shapes})


def _means(learner: Any, task: Name | None) -> Kind:
    assert task is not None
    K = len(learner.tasks_[task].classes)
    return Record(ClassMeans, {"means": Array("float64", (K, learner.n_features)), "counts": Array("int64", (K,))})


@dataclass(frozen=True)
class FactorKind:
    """scipy's Cholesky factor: a matrix, and that it is the lower one."""

    size: int

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        Exactly(True).pack(bool(value[1]), arrays, at)
        return Array("float64", (self.size, self.size)).pack(value[0], arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> tuple[Any, bool]:
        return Array("float64", (self.size, self.size)).unpack(node, arrays, at), True


_RANDUMB: Mapping[str, State] = {
    "features_": InFile("values", _features),
    "means_": Each(InFile("values", _means)),
    "scatter_": InFile("values", _of_size(lambda D: Array("float64", (D, D)))),
    "factor_": InFile("values", _of_size(FactorKind)),
}


# The control RF: scikit-learn's forests, class shares included


@dataclass(frozen=True)
class PipelineKind:
    """The learner's own pipeline, around trees from the file."""

    learner: Forest
    task: Name

    def _trees(self, n_classes: int) -> TreesKind:
        return TreesKind(int(np.prod(self.learner.in_shape_)), n_classes)

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        forest = value[-1]
        trees = self._trees(len(forest.classes_)).pack([tree.tree_ for tree in forest.estimators_], arrays, at)
        return {"trees": trees, "classes": forest.classes_.tolist(), "seed": int(forest.random_state)}

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:
        keys(node, {"trees", "classes", "seed"}, at)
        known = len(self.learner.tasks_[self.task].classes)
        classes = Several(Whole(0, known - 1), least=1).unpack(node["classes"], arrays, at)
        expect(list(classes) == sorted(set(classes)), at, "has its classes in disorder")
        trees = self._trees(len(classes)).unpack(node["trees"], arrays, at)
        expect(len(trees) == self.learner.n_estimators, at, f"has {len(trees)} trees")
        seed = Whole(0, 2**31).unpack(node["seed"], arrays, at)
        # A forest on one row per class has every attribute that scikit-learn sets; then its trees are exchanged.
        pipeline = self.learner._forest(seed)
        pipeline.fit(np.zeros((len(classes), *self.learner.in_shape_), dtype=np.float32), np.array(classes))
        for model, tree in zip(pipeline[-1].estimators_, trees, strict=True):
            model.tree_ = tree
        return pipeline


def _pipeline(learner: Any, task: Name | None) -> Kind:
    assert task is not None
    expect(task in learner.tasks_, f"the forest of {task!r}", "belongs to no task")
    return PipelineKind(learner, task)
