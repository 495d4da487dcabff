"""The controls table-rf and pooled-rf: ordinary forests on tables, one per task or one for all."""

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score

from lifelong._labels import Labels
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_choice, check_count
from lifelong.exceptions import InputError, UnsupportedError
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import Lesson, TaskRecord, TasksKnown, chosen, without
from lifelong.learners.table_knowledge import TableRows
from lifelong.references.forest import sizes_of_trees
from lifelong.rows import Columns, Table, is_frame, table_of
from lifelong.rows.targets import check_no_holes, check_numbers
from lifelong.rows.views import TreeView
from lifelong.tasks.base import Target, TaskName

Group = TaskName | None  # whose rows a forest is grown on: one task's, or (None) everybody's


@dataclass(frozen=True, eq=False)
class TableForestKnowledge(TasksKnown):
    """The rows of each task, and the columns of their tables.

    Attributes
    ----------
    columns : by group
    memory : by task
    seeds : by task
        Given when a task is first learnt: another name does not change its forest.
    """

    columns: Mapping[Group, Columns] = field(default_factory=dict)
    memory: Mapping[TaskName, TableRows] = field(default_factory=dict)
    seeds: Mapping[TaskName, int] = field(default_factory=dict)
    grown: dict[Any, Any] = field(init=False, default_factory=dict)  # forests, once asked for

    @property
    def labels(self) -> list[Hashable]:
        """All labels of all tasks."""
        return list(
            dict.fromkeys(
                label for record in self.tasks.values() for label in record.classes.tolist()
            )
        )


class TableForest(Learner):
    """An ordinary random forest on the rows of a task, or one on those of all tasks.

    It reads tables as LifelongClassifier does: text, dates, missing values. A pooled forest has one
    more column for each task; a task's answer has its own labels only. Forests are grown when they
    are first asked, on all rows seen so far.

    Parameters
    ----------
    n_estimators : int, default 100
        Trees of a forest.
    pooled : bool, default False
        Whether all tasks share one forest.
    target : "class" or "number", default "class"
        What is predicted.
    random_state : int, Generator or None, default None
        Decides on the rows and columns of each tree.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dose": range(20), "sex": ["f", "m"] * 10})
    >>> ill = ["yes" if dose > 9 else "no" for dose in frame.dose]
    >>> forest = TableForest(pooled=True, random_state=0)
    >>> forest.partial_fit(frame, ill, task="Lyon").predict(frame[:1], task="Lyon")
    array(['no'], dtype='<U3')
    """

    knowledge_class: ClassVar[type[TableForestKnowledge]] = TableForestKnowledge

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        pooled: bool = False,
        target: Target = "class",
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.pooled = pooled
        self.target = target
        self.random_state = random_state

    # Learning

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        task: TaskName | None = None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Keep the rows of a new task, or more rows of a known one."""
        return self._update(
            lambda known: self._learnt_from(known, X, y, task, classes, sample_weight)
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and learn one task."""
        return self._update(lambda _: self._learnt_from(None, X, y, None, None, None))

    def _learnt_from(
        self,
        known: TableForestKnowledge | None,
        X: Any,
        y: Any,
        task: TaskName | None,
        classes: Sequence[Hashable] | None,
        sample_weight: Any,
    ) -> TableForestKnowledge:
        known, table = self._rows_to_learn(known, X)
        name = self._task_to_learn(known, task)
        group = self._group(name)
        columns = known.columns.get(group, Columns()).learnt(table)
        lesson = self._lesson(known, columns.rows(table), y, name, classes, sample_weight)
        return self._learn(replace(known, columns={**known.columns, group: columns}), lesson)

    def _start(
        self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None
    ) -> TableForestKnowledge:
        check_count(self.n_estimators, "n_estimators")
        check_choice(self.target, "target", get_args(Target))
        return TableForestKnowledge(seed, in_shape, names)

    def _learn(self, known: TableForestKnowledge, lesson: Lesson) -> TableForestKnowledge:
        task = lesson.task
        rows = TableRows(lesson.X, lesson.y)
        if task in known.memory:
            rows = known.memory[task].with_rows(rows)
        seed = int(generator(known.seed, task, "forest").integers(2**31 - 1))
        return replace(
            known,
            memory={**known.memory, task: rows},
            seeds={task: seed, **known.seeds},
        ).recorded(lesson)

    def _rows_to_learn(
        self, known: TableForestKnowledge | None, X: Any
    ) -> tuple[TableForestKnowledge, Any]:
        table = table_of(X)
        if known is None:
            shape = (len(table.columns),)
            return self._start(seed_from(self.random_state), shape, None), table
        return known, self._rows_to_ask(known, X)

    def _rows_to_ask(self, known: Any, X: Any) -> Any:
        table = table_of(X)
        if not is_frame(X) and len(table.columns) != known.in_shape[0]:
            raise InputError(
                f"X has {len(table.columns)} features, but TableForest is expecting "
                f"{known.in_shape[0]} features as input, as in its first task.",
                see="my-data",
            )
        return table

    def _lesson(
        self,
        known: TasksKnown,
        rows: Any,
        y: Any,
        task: TaskName,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Lesson:
        if self.target == "class":
            return super()._lesson(known, rows, y, task, classes, sample_weight)
        if sample_weight is not None:
            raise UnsupportedError("TableForest takes no sample_weight. LifelongRegressor does.")
        check_no_holes(y)
        numbers = check_numbers(y, len(rows))
        n_rows = len(rows)
        if task in known.tasks:
            n_rows += known.tasks[task].n_rows
        record = TaskRecord(np.array(["number"]), np.array([n_rows]))
        return Lesson(task, rows, numbers, record)  # type: ignore[arg-type]

    def _group(self, task: TaskName) -> Group:
        if self.pooled:
            return None
        return task

    # Answers

    def predict(self, X: Any, task: TaskName | None = None, **options: Any) -> Labels:
        """The most probable label of each row, or its expected number."""
        if self.target == "class":
            return super().predict(X, task, **options)

        def numbers(known: TableForestKnowledge) -> Labels:
            name = self._known_task(known, task)
            rows = self._tree_rows(known, self._rows_to_ask(known, X), name)
            return np.asarray(self._forest(known, name).predict(rows))

        return self._ask(numbers)

    def score(
        self, X: Any, y: Any, task: TaskName | None = None, sample_weight: Any = None
    ) -> float:
        """Share of rows whose label is predicted; of numbers, R²."""
        if self.target == "class":
            return super().score(X, y, task, sample_weight)
        return float(r2_score(y, self.predict(X, task), sample_weight=sample_weight))

    def _posteriors(
        self, known: TableForestKnowledge, X: Any, task: TaskName
    ) -> NDArray[np.float64]:
        forest = self._forest(known, task)
        found = forest.predict_proba(self._tree_rows(known, X, task))
        labels = known.labels
        every = np.zeros((len(X), len(labels)))
        every[:, forest.classes_] = found
        place = {label: column for column, label in enumerate(labels)}
        own = every[:, [place[label] for label in known.tasks[task].classes.tolist()]]
        total = own.sum(axis=1, keepdims=True)
        shares = known.tasks[task].class_shares
        return np.where(total > 0, own / np.where(total > 0, total, 1), shares)

    def _tree_rows(self, known: TableForestKnowledge, X: Table, task: TaskName) -> Any:
        return self._for_trees(known, known.columns[self._group(task)].rows(X), task)

    def _for_trees(self, known: TableForestKnowledge, rows: Any, task: TaskName) -> Any:
        """Rows as trees read them, with a column for each task where all share a forest."""
        columns = known.columns[self._group(task)]
        view = TreeView.of(columns)(rows)
        if not self.pooled:
            return view
        names = list(known.tasks)
        which = np.zeros((len(rows), len(names)), dtype=np.float32)
        which[:, names.index(task)] = 1
        return np.hstack([view, which])

    def _forest(self, known: TableForestKnowledge, task: TaskName) -> Any:
        """The forest that answers for a task; grown on first demand."""
        key = (self._group(task), self.n_estimators)
        if key not in known.grown:
            known.grown[key] = self._grow(known, task)
        return known.grown[key]

    def _grow(self, known: TableForestKnowledge, task: TaskName) -> Any:
        names = [task]
        if self.pooled:
            names = list(known.tasks)
        n_places = known.columns[self._group(task)].n_places
        place = {label: column for column, label in enumerate(known.labels)}
        X = []
        targets = []
        for name in names:
            stored = known.memory[name]
            X.append(self._for_trees(known, stored.wide(n_places), name))
            if self.target == "number":
                targets.append(stored.targets)
            else:
                codes = [place[label] for label in known.tasks[name].classes.tolist()]
                targets.append(np.array(codes)[stored.targets])
        seed = known.seeds[names[0]]
        model = self._unfitted(seed, known.columns[self._group(task)])
        return model.fit(np.concatenate(X), np.concatenate(targets))

    def _unfitted(self, seed: Any, columns: Columns | None = None) -> Any:
        """The model; ``columns`` are those of the tables, None for rows of numbers."""
        del columns
        if self.target == "number":
            return RandomForestRegressor(self.n_estimators, random_state=seed)
        return RandomForestClassifier(self.n_estimators, random_state=seed)

    # What every learner has

    def alone(self, task: TaskName) -> "TableForest | None":
        """A copy that knows ``task`` alone; a pooled forest would have to be grown anew."""
        known = self._learnt("knowledge_")
        if self.pooled:
            return None
        single = copy(self)
        single.knowledge_ = replace(
            known,
            tasks=chosen(known.tasks, task),
            columns={task: known.columns[task]},
            memory=chosen(known.memory, task),
            seeds=chosen(known.seeds, task),
        )
        return single

    def _forget(
        self, known: TableForestKnowledge, task: TaskName, *, encoder: bool
    ) -> TableForestKnowledge:
        del encoder  # it has none
        columns = {group: found for group, found in known.columns.items() if group != task}
        return replace(
            known,
            tasks=without(known.tasks, task),
            columns=columns,
            memory=without(known.memory, task),
            seeds=without(known.seeds, task),
        )

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """The same forest on one task."""
        del n_tasks
        return {"rf": self._unfitted(seed_from(copy(self.random_state)) % 2**31)}

    def sizes(self) -> dict[str, int]:
        """``parameters`` (splits, leaf values); bytes of ``encoders``, ``channels``, ``rows``."""
        known = self._learnt("knowledge_")
        forests = {self._group(task): self._forest(known, task) for task in known.tasks}
        trees = [tree.tree_ for forest in forests.values() for tree in forest.estimators_]
        return {**sizes_of_trees(trees), "rows": sum(rows.nbytes for rows in known.memory.values())}
