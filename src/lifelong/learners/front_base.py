"""What the classifier and the regressor of tables have in common: tables in, a task per row."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import check_same_index
from lifelong._random import check_random_state, seed_from
from lifelong._validation import (
    MOST_TREES,
    Rows,
    check_choice,
    check_count,
    check_jobs,
    check_task_name,
    check_weights,
)
from lifelong._words import shown
from lifelong.encoders.answers import Aim, Answers
from lifelong.encoders.growing import check_tree
from lifelong.exceptions import InputError, ParameterError, UnknownTaskError, UnsupportedError
from lifelong.learners.base import DEFAULT_TASK, Learner
from lifelong.learners.explain_tables import (
    TableExplanation,
    Trial,
    explain_tables,
    held_out_trials,
)
from lifelong.learners.forgetting import forget
from lifelong.learners.front_tables import (
    PAGE,
    by_position,
    column_of_tasks,
    rows_that_count,
    unknown_task,
    which_task,
)
from lifelong.learners.knowledge import Lesson, TaskRecord, TasksKnown
from lifelong.learners.table_answering import answer
from lifelong.learners.table_knowledge import TablesKnown
from lifelong.learners.table_learning import Settings, TableLesson, learn
from lifelong.learners.task_names import (
    Asked,
    by_task,
    check_task_kinds,
    names_in,
    names_per_row,
    rows_by_code,
)
from lifelong.rows import Columns, Table, Texts, is_frame, names_of_array, table_of
from lifelong.rows.spelling import check_spelling, warn_of_misspelling
from lifelong.rows.suspicious import warn_of_suspicions
from lifelong.tasks.base import TaskName

ON_UNSEEN = ("pooled", "raise")

TaskPerRow = TaskName | Sequence[TaskName] | NDArray[Any] | None


class LifelongModel(Learner):
    """What the classifier and the regressor have in common: tables in, a task per row."""

    knowledge_class: ClassVar[type[TasksKnown]] = TablesKnown
    _takes_weights: ClassVar[bool] = True
    aim: ClassVar[Aim]
    task_column: str | int | None
    n_estimators: int
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    shared: bool | None
    on_unseen: str
    n_jobs: int | None

    # Learning

    def fit(self, X: Any, y: Any, task: TaskPerRow = None, sample_weight: Any = None) -> Self:
        """Learn all tasks of a table at once; whatever was known before is forgotten.

        Parameters
        ----------
        X : frame (pandas, polars, pyarrow, …) or array (n, p)
            Numbers, text, categories, dates and booleans; entries may be missing.
        y : (n,)
            One label, or number, per row.
        task : name, or (n,) names, optional
            One task for all rows, or one per row; not needed where ``task_column`` is in ``X``.
        sample_weight : (n,), optional
            How much each row counts.

        Returns
        -------
        self
        """
        return self._update(lambda _: self._learnt_from(None, X, y, task, None, sample_weight))

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        task: TaskPerRow = None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn more rows of anything: new tasks, known ones, new columns, categories and labels.

        If anything fails, the model is as it was.

        Parameters
        ----------
        X, y, task, sample_weight
            See :meth:`fit`.
        classes : labels, optional
            Labels that may come later and are not in ``y`` yet.
        """

        def learnt(known: Any) -> TablesKnown:
            return self._learnt_from(known, X, y, task, classes, sample_weight)

        return self._update(learnt)

    def _learnt_from(
        self,
        known: TablesKnown | None,
        X: Any,
        y: Any,
        task: TaskPerRow,
        classes: Sequence[Hashable] | None,
        sample_weight: Any,
    ) -> TablesKnown:
        settings = self._settings()
        check_same_index(X, y)
        check_same_index(X, sample_weight, "sample_weight")
        table, names = self._table_and_tasks(X, task, known)
        if not table.columns:
            raise InputError("X has no column: there is nothing to learn from.", see=PAGE)
        check_task_kinds(names.values, [] if known is None else known.tasks)
        targets = self._targets(y, len(table))
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, n_rows=len(table))
            counts = weights > 0  # a row of weight 0 is not there: not even its labels are
            table = table.take(counts)
            names = names[counts]
            targets = targets[counts]
            weights = weights[counts]
        if known is None:
            known = TablesKnown(seed_from(self.random_state), (0,))
        elif known.tasks and not is_frame(X):
            table = by_position(table, known.columns, self)
        warn_of_misspelling(table, known.columns)
        warn_of_suspicions(table, known.columns)
        columns = known.columns.learnt(table)
        rows = columns.rows(table)
        known = replace(known, columns=columns, in_shape=(columns.n_places,))
        known, codes = self._with_targets(known, targets, classes)
        weights = self._balanced(targets, weights, known)
        targets = codes
        lessons = []
        for place, of_task in rows_by_code(names.codes):
            task_rows = rows_that_count(rows, targets, weights, of_task)
            if task_rows is not None:
                name = names.values[place]
                record = self._record(known, name, task_rows.targets)
                lessons.append(TableLesson(name, task_rows, record))
        if not lessons:
            raise InputError("No row has a weight above 0, so there is nothing to learn from.")
        return learn(known, lessons, settings)

    def _balanced(
        self, targets: NDArray[Any], weights: NDArray[np.float64] | None, known: Any
    ) -> NDArray[np.float64] | None:
        """Weights with those of classes in them; ``known`` has the labels of ``targets``, too."""
        del targets, known
        return weights

    @abstractmethod
    def _targets(self, y: Any, n_rows: int) -> NDArray[Any]:
        """One label or number per row, checked."""

    @abstractmethod
    def _with_targets(
        self, known: TablesKnown, targets: NDArray[Any], classes: Sequence[Hashable] | None
    ) -> tuple[TablesKnown, NDArray[Any]]:
        """With new labels; and targets as codes, or numbers."""

    @abstractmethod
    def _record(self, known: TablesKnown, task: TaskName, targets: NDArray[Any]) -> TaskRecord:
        """What is known of a task after these rows."""

    def _settings(self) -> Settings:
        check_count(self.n_estimators, "n_estimators", most=MOST_TREES)
        check_count(self.max_depth, "max_depth", optional=True)
        check_choice(self.on_unseen, "on_unseen", ON_UNSEEN)
        check_jobs(self.n_jobs)
        check_random_state(self.random_state)
        if self.shared is not None and not isinstance(self.shared, bool):
            raise ParameterError(f"shared={shown(self.shared)} is neither True nor False nor None.")
        tree = check_tree(self.max_depth, self.max_features, self.min_samples_leaf)
        shares_rows = self.shared is True
        asks_others = self.shared is None
        return Settings(self.aim, self.n_estimators, tree, shares_rows, asks_others, self.n_jobs)

    # Tables and tasks

    def _table_and_tasks(
        self, X: Any, task: TaskPerRow, known: TablesKnown | None
    ) -> tuple[Table, Texts]:
        """The table without its task column, and each row's task."""
        table = table_of(X)
        column = column_of_tasks(self.task_column, X, table)
        if column is not None and task is not None:
            raise InputError(
                f"The tasks are in column {column!r} (task_column), and task= was given as well. "
                "Give one of both.",
                see=PAGE,
            )
        if column is not None:
            names = names_in(table.column(column, "task column"), column)
            if len(table.columns) == 1:
                raise InputError(f"X has no column but the task column {column!r}.", see=PAGE)
            return table.without(column), names
        if task is None:
            return table, self._only_task(len(table), known)
        check_same_index(X, task, "task")
        if isinstance(task, str | int | np.integer):
            codes = np.zeros(len(table), dtype=np.int32)
            return table, Texts(codes, [check_task_name(task)])
        return table, names_per_row(task, len(table))

    def _only_task(self, n_rows: int, known: TablesKnown | None) -> Texts:
        """All rows are of the one task there is."""
        codes = np.zeros(n_rows, dtype=np.int32)
        if known is None or not known.tasks:
            return Texts(codes, [DEFAULT_TASK])
        if len(known.tasks) > 1:
            raise self._say_which_task()
        return Texts(codes, list(known.tasks))

    def _say_which_task(self) -> UnknownTaskError:
        return which_task(self._tasks())

    def _asked(self, known: TablesKnown, X: Any, task: TaskPerRow) -> Asked:
        check_choice(self.on_unseen, "on_unseen", ON_UNSEEN)
        table, names = self._table_and_tasks(X, task, known)
        check_task_kinds(names.values, known.tasks, asked=True)
        if is_frame(X):
            check_spelling(table, known.columns)
        else:
            table = by_position(table, known.columns, self)
        found: list[TaskName | None] = []
        for name in names.values:
            if name in known.tasks:
                found.append(name)
            elif self.on_unseen == "raise":
                raise unknown_task(name, known.tasks)
            else:
                found.append(None)
        return Asked(known.columns.rows(table), found, names.codes.astype(np.intp))

    def _answers(self, known: TablesKnown, X: Any, task: TaskPerRow) -> Answers:
        """Probabilities (n, K) in the order of ``known.labels``, or numbers (n, 1)."""
        asked = self._asked(known, X, task)
        answers = np.empty((len(asked.X), known.n_answers))
        for name, rows in by_task(asked):
            answers[rows] = answer(known, asked.X[rows], name, self.aim)
        return answers

    # What matters

    def explain(
        self,
        X: Any = None,
        y: Any = None,
        task: TaskPerRow = None,
        *,
        repetitions: int = 5,
        folds: int = 3,
    ) -> TableExplanation:
        """Which columns matter for each task, and how good each opinion on it is.

        A column matters as much as the loss grows when its values are shuffled, on rows that were
        not learnt from.

        Parameters
        ----------
        X, y : frame or array, and its targets, optional
            Rows that were not learnt from. Without them, models are learnt anew from the stored
            rows, ``folds`` times, and measured on the rows left out.
        task : name, or (n,) names, optional
            With ``X``, see :meth:`fit`; without, the one task to explain. Default: all.
        repetitions : int, default 5
            How often each column is shuffled: more make the spread surer.
        folds : int, default 3
            In how many parts the stored rows are left out, if ``X`` is not given.

        Returns
        -------
        TableExplanation
            Printed, two tables.

        Examples
        --------
        >>> import pandas as pd
        >>> from lifelong import LifelongClassifier
        >>> frame = pd.DataFrame({"dose": range(40), "sex": ["f", "m", "m", "f"] * 10})
        >>> ill = ["yes" if dose > 20 else "no" for dose in frame.dose]
        >>> model = LifelongClassifier(n_estimators=20, random_state=0).fit(frame, ill, task="Lyon")
        >>> list(model.explain().of_task("Lyon"))
        ['dose', 'sex']
        """
        check_count(repetitions, "repetitions", most=MOST_TREES)
        if check_count(folds, "folds") == 1:
            raise ParameterError("folds=1 leaves no row to learn from. Give at least 2.")

        def explained(known: TablesKnown) -> TableExplanation:
            if X is not None:
                given = self.trials(known, X, y, task)
                trials = {name: [trial] for name, trial in given.items() if name is not None}
            else:
                names = list(known.tasks)
                if task is not None:
                    names = [self._known_task(known, check_task_name(task))]
                trials = held_out_trials(known, names, self._settings(), self._record, folds)
            if not trials and X is not None:
                raise UnknownTaskError(
                    "No row of X is of a task that is known: none can be explained.", see=PAGE
                )
            if not trials:
                raise InputError("There are too few rows to measure on. Give X and y.", see=PAGE)
            return explain_tables(known, trials, self.aim, repetitions)

        return self._ask(explained)

    def trials(
        self, known: TablesKnown, X: Any, y: Any, task: TaskPerRow = None
    ) -> dict[TaskName | None, Trial]:
        """Rows that a user has kept back, by task; rows of tasks that are not known under None."""
        check_same_index(X, y)
        asked = self._asked(known, X, task)
        labels = self._targets(y, len(asked.X))
        grown, targets = self._with_targets(known, labels, None)
        if grown.n_answers > known.n_answers:
            new = grown.labels[known.n_answers :].tolist()
            raise InputError(f"No task has learnt the label {new[0]!r} in y.", see=PAGE)
        return {name: Trial(known, asked.X[rows], targets[rows]) for name, rows in by_task(asked)}

    # What every learner has

    def _start(self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None) -> Any:
        del names
        self._settings()
        return TablesKnown(seed, in_shape)

    def _learn(self, known: TablesKnown, lesson: Lesson) -> TablesKnown:
        del known, lesson
        raise UnsupportedError("Tables are learnt by fit and partial_fit.", see=PAGE)

    def _posteriors(self, known: TablesKnown, X: Rows, task: TaskName) -> NDArray[np.float64]:
        return self._answers(known, X, task)

    def _rows_to_ask(self, known: TablesKnown, X: Any) -> Rows:
        return self._asked(known, X, None).X

    def _joint_posteriors(
        self, known: TablesKnown, X: Rows
    ) -> Mapping[TaskName, NDArray[np.float64]]:
        del known, X
        raise UnsupportedError(
            f"{type(self).__name__} does not infer which task a row is from. Say it: in the task "
            "column, or by task=. SillyForest and SillyNetwork can infer it.",
            see="unknown-task",
        )

    def _forget(self, known: TablesKnown, task: TaskName, *, encoder: bool) -> TablesKnown:
        del encoder  # nothing of a forgotten task is kept
        return forget(known, task, self._settings())

    def _rename(self, known: TablesKnown, old: TaskName, new: TaskName) -> TablesKnown:
        return known.renamed(old, new)

    def sizes(self) -> dict[str, int]:
        """Parameters, and bytes of encoders, channels and stored rows."""
        known = self.knowledge_
        encoders: list[Any] = list(known.forests.values())
        if known.shared is not None:
            encoders.append(known.shared)
        channels = sum(mix.held_out.nbytes + mix.weights.nbytes for mix in known.channels.values())
        return {
            "parameters": sum(encoder.n_parameters for encoder in encoders),
            "encoders": sum(encoder.nbytes for encoder in encoders),
            "channels": channels,
            "rows": sum(rows.nbytes for rows in known.memory.values()),
        }

    @property
    def n_features_in_(self) -> int:
        """Columns of X, the task column included."""
        known = self._learnt("n_features_in_")
        return len(known.columns) + (self.task_column is not None)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where X had names; the task column is not among them."""
        names = list(self._learnt("feature_names_in_").columns.by_name)
        if set(names) <= set(names_of_array(len(names) + 1)):  # one may be the task column
            raise AttributeError("The columns of X had no names.")
        return np.array(names, dtype=object)

    @property
    def columns_(self) -> Columns:
        """The columns of the table, their kinds and categories."""
        columns: Columns = self._learnt("columns_").columns
        return columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
