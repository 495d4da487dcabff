"""The control RF: an ordinary random forest per task."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import Rows, check_count
from lifelong.encoders.forest import flatten
from lifelong.learners.base import Learner, learnt
from lifelong.learners.knowledge import ROWS, Lesson, StoredRows, TasksKnown, without
from lifelong.schema import Custom, Each, InFile, saved
from lifelong.tasks.base import TaskName


@dataclass(frozen=True, eq=False)
class ForestKnowledge(TasksKnown):
    """A forest per task, and its rows."""

    forests: Mapping[TaskName, Any] = saved(
        Each(InFile("values", Custom("pipeline"))), default_factory=dict
    )
    memory: Mapping[TaskName, StoredRows] = saved(ROWS, default_factory=dict)


class Forest(Learner):
    """An ordinary random forest per task, on all its rows; more rows of a known task grow it anew,
    on all of them.

    Parameters
    ----------
    n_estimators : int, default 100
        Trees of each forest.
    random_state : int, Generator or None, default None
        Decides on the rows and columns of each tree.
    """

    knowledge_class: ClassVar[type[ForestKnowledge]] = ForestKnowledge
    forests_ = learnt("forests")
    memory_ = learnt("memory")

    def __init__(self, n_estimators: int = 100, *, random_state: RandomState = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> ForestKnowledge:
        check_count(self.n_estimators, "n_estimators")
        return ForestKnowledge(seed, in_shape, names)

    def _learn(self, known: ForestKnowledge, lesson: Lesson) -> ForestKnowledge:
        task = lesson.task
        rows = StoredRows(lesson.X.copy(), lesson.y.copy())
        if task in known.memory:
            rows = known.memory[task].with_rows(rows)
        seed = int(generator(known.seed, task, "forest").integers(2**31 - 1))
        forest = self._forest(seed).fit(rows.X, rows.y)
        return replace(
            known,
            forests={**known.forests, task: forest},
            memory={**known.memory, task: rows},
        ).recorded(lesson)

    def alone(self, task: TaskName) -> "Forest":
        """A copy that knows ``task`` alone: nothing is shared."""
        known = self._learnt("knowledge_")
        single = copy(self)
        single.knowledge_ = replace(
            known,
            tasks={task: known.tasks[task]},
            forests={task: known.forests[task]},
            memory={task: known.memory[task]},
        )
        return single

    def _forget(self, known: ForestKnowledge, task: TaskName, *, encoder: bool) -> ForestKnowledge:
        del encoder  # it has none
        return replace(
            known,
            tasks=without(known.tasks, task),
            forests=without(known.forests, task),
            memory=without(known.memory, task),
        )

    def _forest(self, seed: int) -> Any:
        return make_pipeline(
            FunctionTransformer(flatten),
            RandomForestClassifier(self.n_estimators, random_state=seed),
        )

    def _posteriors(self, known: ForestKnowledge, X: Rows, task: TaskName) -> NDArray[np.float64]:
        forest = known.forests[task]
        posteriors = np.zeros((len(X), len(known.tasks[task].classes)))
        posteriors[:, forest.classes_] = forest.predict_proba(X)
        return posteriors

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """The same forest."""
        del n_tasks
        return {"rf": self._forest(seed_from(copy(self.random_state)))}

    def sizes(self) -> dict[str, int]:
        """``parameters`` (splits, leaf values); bytes of ``encoders``, ``channels``, ``rows``."""
        trees = [tree.tree_ for forest in self.forests_.values() for tree in forest[-1].estimators_]
        return {**sizes_of_trees(trees), "rows": sum(rows.nbytes for rows in self.memory_.values())}


def sizes_of_trees(trees: Sequence[Any]) -> dict[str, int]:
    """Splits and leaf values of scikit-learn's trees, and bytes of their splits and leaves."""
    splits = sum(
        tree.feature.nbytes + tree.threshold.nbytes + tree.children_left.nbytes * 2
        for tree in trees
    )
    return {
        "parameters": sum(tree.node_count + tree.value.size for tree in trees),
        "encoders": splits,
        "channels": sum(tree.value.nbytes for tree in trees),
    }
