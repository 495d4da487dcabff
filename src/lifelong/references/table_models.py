"""More controls on tables: boosted trees per task or of all tasks, and SillyForest.best().

Each keeps the rows of all tasks, and is fitted on them when it is first asked.
"""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer

from lifelong._random import RandomState, seed_from
from lifelong._validation import check_choice
from lifelong.learners.presets import SillyForest
from lifelong.references.boosting import Boosting, Library
from lifelong.references.pooled import TableForest, TableForestKnowledge
from lifelong.rows import Columns
from lifelong.rows.views import coded_places
from lifelong.tasks.base import Target, TaskName


class TableBoosting(TableForest):
    """Boosted trees on the rows of a task, or on those of all tasks with the task as a category.

    Needs ``pip install 'lifelong[boost]'``.

    Parameters
    ----------
    library : "lightgbm" or "catboost", default "lightgbm"
        LightGBM chooses its rounds by five folds of the rows; CatBoost makes 300.
    pooled : bool, default False
        Whether all tasks share one model.
    target : "class" or "number", default "class"
        What is predicted.
    random_state : int, Generator or None, default None
        Decides on folds, rows and columns.
    """

    def __init__(
        self,
        library: Library = "lightgbm",
        *,
        pooled: bool = False,
        target: Target = "class",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(pooled=pooled, target=target, random_state=random_state)
        self.library = library

    def _start(self, seed: int, in_shape: tuple[int, ...], names: Any) -> TableForestKnowledge:
        check_choice(self.library, "library", ("lightgbm", "catboost"))
        return super()._start(seed, in_shape, names)

    def _for_trees(self, known: TableForestKnowledge, rows: Any, task: TaskName) -> Any:
        """Rows as they are, categories as codes; where all share a model, the task is one more."""
        if not self.pooled:
            return rows
        place = list(known.tasks).index(task)
        return np.hstack([rows, np.full((len(rows), 1), place, dtype=np.float32)])

    def _unfitted(self, seed: Any, columns: Columns | None = None) -> Any:
        categories: list[int] = []
        if columns is not None:
            categories = [place for place, _ in coded_places(columns)]
            if self.pooled:
                categories.append(columns.n_places)
        return Boosting(self.library, self.target, seed, categories)

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """The same library on one task."""
        del n_tasks
        seed = seed_from(copy(self.random_state)) % 2**31
        return {self.library: self._unfitted(seed)}

    def sizes(self) -> dict[str, int]:
        """``parameters`` (splits, leaf values); bytes of ``encoders``, ``channels``, ``rows``."""
        known = self._learnt("knowledge_")
        models = {self._group(task): self._forest(known, task) for task in known.tasks}
        found = [model.sizes() for model in models.values()]
        return {
            "parameters": sum(parameters for parameters, _ in found),
            "encoders": sum(nbytes for _, nbytes in found),
            "channels": 0,
            "rows": sum(rows.nbytes for rows in known.memory.values()),
        }


class TableSilly(TableForest):
    """``SillyForest.best()`` on tables: their rows become numbers, holes are filled.

    It is taught anew, task after task, whenever a task has come: the columns are those of all
    tables so far, with medians in the place of missing numbers and columns that say where.

    Parameters
    ----------
    n_estimators : int, default 100
        Trees of each task.
    random_state : int, Generator or None, default None
        Decides on the rows and columns of each tree.
    """

    def __init__(self, n_estimators: int = 100, *, random_state: RandomState = None) -> None:
        super().__init__(n_estimators, pooled=True, random_state=random_state)

    def _for_trees(self, known: TableForestKnowledge, rows: Any, task: TaskName) -> Any:
        n_tasks = len(known.tasks)
        return super()._for_trees(known, rows, task)[:, :-n_tasks]

    def _grow(self, known: TableForestKnowledge, task: TaskName) -> Any:
        n_places = known.columns[self._group(task)].n_places
        rows = {
            name: self._for_trees(known, stored.wide(n_places), name)
            for name, stored in known.memory.items()
        }
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        imputer.fit(np.concatenate(list(rows.values())))
        learner = SillyForest.best(n_estimators=self.n_estimators, random_state=known.seed)
        for name, stored in known.memory.items():
            number = known.seeds[name]  # a name that stays when the task gets another
            learner.partial_fit(imputer.transform(rows[name]), stored.targets, task=number)
        return imputer, learner

    def _posteriors(
        self, known: TableForestKnowledge, X: Any, task: TaskName
    ) -> NDArray[np.float64]:
        imputer, learner = self._forest(known, task)
        number = known.seeds[task]
        rows = imputer.transform(self._tree_rows(known, X, task))
        every = np.zeros((len(X), len(known.tasks[task].classes)))
        every[:, learner.classes_of(number)] = learner.predict_proba(rows, task=number)
        return every

    def sizes(self) -> dict[str, int]:
        """``parameters`` (splits, leaf values); bytes of ``encoders``, ``channels``, ``rows``."""
        known = self._learnt("knowledge_")
        _, learner = self._forest(known, next(iter(known.tasks)))
        return {**learner.sizes(), "rows": sum(rows.nbytes for rows in known.memory.values())}
