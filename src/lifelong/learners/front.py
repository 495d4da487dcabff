"""The front door: one table with a task per row, classes or numbers."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.utils import compute_sample_weight

from lifelong._random import RandomState, seed_from
from lifelong._validation import (
    Labels,
    Rows,
    check_choice,
    check_count,
    check_labels,
    check_same_index,
    check_task_name,
    check_weights,
    classes_in,
    encode_labels,
    join_classes,
)
from lifelong._words import did_you_mean
from lifelong.encoders.answers import Aim, Answers
from lifelong.exceptions import InputError, ParameterError, UnknownTaskError
from lifelong.learners.base import DEFAULT_TASK, Learner
from lifelong.learners.explain_tables import (
    TableExplanation,
    Trial,
    explain_tables,
    held_out_trials,
)
from lifelong.learners.knowledge import Lesson, TaskRecord, TasksKnown
from lifelong.learners.sharing import (
    Settings,
    TableLesson,
    TableRows,
    TablesKnown,
    answer,
    evidence_of,
    forget,
    learn,
)
from lifelong.learners.task_names import names_in, names_per_row
from lifelong.rows import Columns, Table, Texts, is_frame, names_of_array, table_of
from lifelong.rows.targets import check_no_holes, check_numbers
from lifelong.tasks.base import TaskName

TaskPerRow = TaskName | Sequence[TaskName] | NDArray[Any] | None
PAGE = "my-data"
_FEW = 5  # examples in an error message
_INTERVAL_ROWS = 20.0  # rows' worth of all tasks' errors in a task's own scale of errors


class _Asked(NamedTuple):
    """A table to be answered, and the task of each row."""

    X: Rows
    tasks: list[TaskName | None]  # those that occur; None: not known
    place: NDArray[np.intp]  # (n,) in ``tasks``


class _LifelongModel(Learner):
    """What the classifier and the regressor have in common: tables in, a task per row."""

    knowledge_class: ClassVar[type[TasksKnown]] = TablesKnown
    _takes_weights: ClassVar[bool] = True
    _aim: ClassVar[Aim]
    task_column: str | int | None
    n_estimators: int
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    shared: bool
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
        table, names = self._table_and_tasks(X, task, known)
        if any(name is None for name in names.values):
            raise AssertionError("every row has a task by now")
        if known is None:
            known = TablesKnown(seed_from(self.random_state), (0,))
        elif not is_frame(X):
            self._check_width(known, table)
        columns = known.columns.learnt(table)
        rows = columns.rows(table)
        known = replace(known, columns=columns, in_shape=(columns.n_places,))
        known, targets = self._with_targets(known, y, len(rows), classes)
        weights = self._row_weights(y, sample_weight, len(rows))
        lessons = []
        for place, name in enumerate(names.values):
            of_task = np.flatnonzero(names.codes == place)
            lesson = self._table_lesson(known, name, rows, targets, weights, of_task)
            if lesson is not None:
                lessons.append(lesson)
        if not lessons:
            raise InputError("No row has a weight above 0, so there is nothing to learn from.")
        return learn(known, lessons, settings)

    def _table_lesson(
        self,
        known: TablesKnown,
        task: TaskName,
        rows: Rows,
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        of_task: NDArray[np.intp],
    ) -> TableLesson | None:
        """The rows of one task; None if none of them counts."""
        own = None
        if weights is not None:
            of_task = of_task[weights[of_task] > 0]
            own = weights[of_task]
        if not len(of_task):
            return None
        record = self._record(known, task, targets[of_task])
        return TableLesson(task, TableRows(rows[of_task], targets[of_task], own), record)

    def _row_weights(self, y: Any, sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
        del y
        if sample_weight is None:
            return None
        return check_weights(sample_weight, n_rows=n_rows)

    def _with_targets(
        self, known: TablesKnown, y: Any, n_rows: int, classes: Sequence[Hashable] | None
    ) -> tuple[TablesKnown, NDArray[Any]]:
        raise NotImplementedError

    def _record(self, known: TablesKnown, task: TaskName, targets: NDArray[Any]) -> TaskRecord:
        raise NotImplementedError

    def _settings(self) -> Settings:
        check_count(self.n_estimators, "n_estimators")
        check_count(self.max_depth, "max_depth", optional=True)
        check_choice(self.on_unseen, "on_unseen", ["pooled", "raise"])
        if not isinstance(self.shared, bool):
            raise ParameterError(f"shared={self.shared!r} is neither True nor False.")
        tree = {
            "max_depth": self.max_depth,
            "max_features": self.max_features,
            "min_samples_leaf": self.min_samples_leaf,
        }
        return Settings(self._aim, self.n_estimators, tree, self.shared, self.n_jobs)

    # Tables and tasks

    def _table_and_tasks(
        self, X: Any, task: TaskPerRow, known: TablesKnown | None
    ) -> tuple[Table, Texts]:
        """The table without its task column, and each row's task."""
        table = table_of(X)
        column = self._column_of_tasks(X)
        if column is not None and task is not None:
            raise InputError(
                f"The tasks are in column {column!r} (task_column), and task= was given as well. "
                "Give one of both.",
                see=PAGE,
            )
        if column is not None:
            names = names_in(table.column(column, "task column"), column)
            return table.without(column), names
        if task is None:
            return table, self._only_task(len(table), known)
        if isinstance(task, str | int | np.integer):
            codes = np.zeros(len(table), dtype=np.int32)
            return table, Texts(codes, [check_task_name(task)])
        return table, names_per_row(task, len(table))

    def _column_of_tasks(self, X: Any) -> str | None:
        if self.task_column is None:
            return None
        if isinstance(self.task_column, str):
            return self.task_column
        if is_frame(X):
            raise ParameterError(
                f"task_column={self.task_column!r} is a number, and X is a frame. Give the name of "
                "the column."
            )
        return f"x{self.task_column}"

    def _only_task(self, n_rows: int, known: TablesKnown | None) -> Texts:
        """All rows are of the one task there is."""
        codes = np.zeros(n_rows, dtype=np.int32)
        if known is None or not known.tasks:
            return Texts(codes, [DEFAULT_TASK])
        if len(known.tasks) > 1:
            raise self._say_which_task()
        return Texts(codes, list(known.tasks))

    def _check_width(self, known: TablesKnown, table: Table) -> None:
        """Arrays have no names: they must have the columns of before."""
        if len(table.columns) != len(known.columns):
            raise InputError(
                f"X has {len(table.columns)} features, but {type(self).__name__} is expecting "
                f"{len(known.columns)} features as input.",
                see=PAGE,
            )

    def _asked(self, known: TablesKnown, X: Any, task: TaskPerRow) -> _Asked:
        table, names = self._table_and_tasks(X, task, known)
        if is_frame(X):
            _check_spelling(table, known.columns)
        else:
            self._check_width(known, table)
        found: list[TaskName | None] = []
        for name in names.values:
            if name in known.tasks:
                found.append(name)
            elif self.on_unseen == "raise":
                raise self._unknown(known, name)
            else:
                found.append(None)
        return _Asked(known.columns.rows(table), found, names.codes.astype(np.intp))

    def _unknown(self, known: TablesKnown, task: TaskName) -> UnknownTaskError:
        hint = did_you_mean(task, known.tasks)
        names = ", ".join(map(repr, list(known.tasks)[:_FEW]))
        return UnknownTaskError(
            f"Unknown task {task!r}.{hint} Known are {len(known.tasks)} tasks, such as {names}. "
            'With on_unseen="pooled" it would be answered by what all tasks have in common.',
            see=PAGE,
        )

    def _answers(self, known: TablesKnown, X: Any, task: TaskPerRow) -> Answers:
        """Probabilities (n, K) in the order of ``known.labels``, or numbers (n, 1)."""
        asked = self._asked(known, X, task)
        answers = np.empty((len(asked.X), known.n_answers))
        for name, rows in _by_task(asked):
            answers[rows] = answer(known, asked.X[rows], name, self._aim)
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
        >>> frame = pd.DataFrame({"dose": range(40), "sex": ["f", "m", "m", "f"] * 10})
        >>> ill = ["yes" if dose > 20 else "no" for dose in frame.dose]
        >>> model = LifelongClassifier(n_estimators=20, random_state=0).fit(frame, ill, task="Lyon")
        >>> list(model.explain().of_task("Lyon"))
        ['dose', 'sex']
        """
        check_count(repetitions, "repetitions")
        if check_count(folds, "folds") == 1:
            raise ParameterError("folds=1 leaves no row to learn from. Give at least 2.")

        def explained(known: TablesKnown) -> TableExplanation:
            if X is not None:
                trials = self._given_trials(known, X, y, task)
            else:
                names = list(known.tasks)
                if task is not None:
                    names = [self._known_task(known, check_task_name(task))]
                trials = held_out_trials(known, names, self._settings(), self._record, folds)
            if not trials:
                raise InputError("There are too few rows to measure on. Give X and y.", see=PAGE)
            return explain_tables(known, trials, self._aim, repetitions)

        return self._ask(explained)

    def _given_trials(
        self, known: TablesKnown, X: Any, y: Any, task: TaskPerRow
    ) -> dict[TaskName, list[Trial]]:
        """Rows that a user has kept back, by task."""
        check_same_index(X, y)
        asked = self._asked(known, X, task)
        grown, targets = self._with_targets(known, y, len(asked.X), None)
        if grown.n_answers > known.n_answers:
            new = grown.labels[known.n_answers :].tolist()
            raise InputError(f"No task has learnt the label {new[0]!r} in y.", see=PAGE)
        return {
            name: [Trial(known, asked.X[rows], targets[rows])]
            for name, rows in _by_task(asked)
            if name is not None
        }

    # What every learner has

    def _start(self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None) -> Any:
        del names
        self._settings()
        return TablesKnown(seed, in_shape)

    def _learn(self, known: TablesKnown, lesson: Lesson) -> TablesKnown:
        raise NotImplementedError("tables are learnt by partial_fit")

    def _posteriors(self, known: TablesKnown, X: Rows, task: TaskName) -> NDArray[np.float64]:
        return self._answers(known, X, task)

    def _forget(self, known: TablesKnown, task: TaskName, *, encoder: bool) -> TablesKnown:
        del encoder  # nothing of a forgotten task is kept
        return forget(known, task, self._settings())

    def _rename(self, known: TablesKnown, old: TaskName, new: TaskName) -> TablesKnown:
        return known.renamed(old, new)

    def sizes(self) -> dict[str, int]:
        """Parameters, and bytes of encoders, channels and stored rows."""
        known = self.knowledge_
        encoders = [own.forest for own in known.forests.values()]
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
        if names == names_of_array(len(names)):
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


class LifelongClassifier(_LifelongModel):
    """Classes of many related tasks in one table, each better than alone and than pooled.

    Each task grows a forest of its own. All tasks share a forest and a linear model on all rows,
    which also read how far a number is from its task's mean. A task's answer mixes the three by
    weights that held-out rows have chosen.

    Parameters
    ----------
    task_column : str or int, optional
        The column of ``X`` that says which task a row is from (an index, if X is an array). Without
        it, ``fit`` and ``predict`` take ``task=``; without either, all rows are one task.
    n_estimators : int, default 100
        Trees of each task's forest; the shared one has three times as many.
    max_depth : int, optional
        Deepest level of a tree; by default trees grow until their leaves are pure.
    max_features : "sqrt", "log2", int, float or None, default "sqrt"
        Columns that a split looks at, as in scikit-learn's forests.
    min_samples_leaf : int or float, default 1
        Rows that a leaf has at least.
    shared : bool, default True
        Whether rows of several tasks may train one encoder. With False each task has its own forest
        alone.
    class_weight : dict, "balanced" or None, default None
        How much rows of each class count, as in scikit-learn.
    on_unseen : "pooled" or "raise", default "pooled"
        What ``predict`` does with a row of a task that it does not know: answer with what all tasks
        have in common, or raise.
    n_jobs : int, optional
        Threads for growing trees. The model does not depend on it.
    random_state : int, Generator or None, default None
        Where randomness comes from. The same number gives the same model.

    Attributes
    ----------
    classes_ : (K,)
        All labels of all tasks; the columns of ``predict_proba``, whatever the task.
    tasks_ : mapping
        By name, in order of arrival: classes, and how many rows of each.
    columns_ : Columns
        Names, kinds and categories of the table's columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"site": ["a", "b"] * 20, "dose": range(40), "sex": ["f", "m"] * 20})
    >>> ill = ["yes" if dose > 20 else "no" for dose in frame.dose]
    >>> model = LifelongClassifier(task_column="site", random_state=0).fit(frame, ill)
    >>> model.predict(frame.iloc[[0, 39]])
    array(['no', 'yes'], dtype='<U3')

    See Also
    --------
    LifelongRegressor : numbers instead of classes.
    SillyForest, SillyNetwork : the learners of the paper, which share no rows between tasks.
    """

    _aim: ClassVar[Aim] = "classes"

    def __init__(
        self,
        task_column: str | int | None = None,
        *,
        n_estimators: int = 100,
        max_depth: int | None = None,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        shared: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        on_unseen: Literal["pooled", "raise"] = "pooled",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.task_column = task_column
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.shared = shared
        self.class_weight = class_weight
        self.on_unseen = on_unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def classes_(self) -> Labels:
        """All labels of all tasks, in the order of ``predict_proba``'s columns."""
        labels: Labels = self._learnt("classes_").labels
        return labels[_order(labels)]

    def classes_of(self, task: TaskName | None = None) -> Labels:
        """The labels that a task has shown so far."""
        known = self._known()
        record = known.tasks[self._known_task(known, task)]
        return record.classes[record.class_counts > 0]  # type: ignore[no-any-return]

    def labels_of_proba(self, task: TaskName | None = None) -> Labels:
        """The label of each column of ``predict_proba``: ``classes_``, whatever the task."""
        del task
        return self.classes_

    def predict(self, X: Any, task: TaskPerRow = None) -> Labels:  # type: ignore[override]
        """The most probable label of each row.

        Parameters
        ----------
        X : frame or array
            With the task column, if there is one.
        task : name, or (n,) names, optional
            See :meth:`fit`.
        """

        def labels(known: TablesKnown) -> Labels:
            order = _order(known.labels)
            best = self._answers(known, X, task)[:, order].argmax(axis=1)
            found: Labels = known.labels[order][best]
            return found

        return self._ask(labels)

    def predict_proba(  # type: ignore[override]
        self, X: Any, task: TaskPerRow = None
    ) -> NDArray[np.float64]:
        """Probabilities (n, K), one column for each label of ``classes_``, whatever the task."""

        def probabilities(known: TablesKnown) -> NDArray[np.float64]:
            return self._answers(known, X, task)[:, _order(known.labels)]

        return self._ask(probabilities)

    def score(self, X: Any, y: Any, task: TaskPerRow = None, sample_weight: Any = None) -> float:
        """The share of rows (or of ``sample_weight``) whose label is predicted."""
        predicted = self.predict(X, task).tolist()
        truth = check_labels(y, n_rows=len(predicted)).tolist()
        hits = [label == true for label, true in zip(predicted, truth, strict=True)]
        return float(np.average(hits, weights=sample_weight))

    def _with_targets(
        self, known: TablesKnown, y: Any, n_rows: int, classes: Sequence[Hashable] | None
    ) -> tuple[TablesKnown, NDArray[Any]]:
        check_no_holes(y)
        labels = check_labels(y, n_rows=n_rows)
        seen = set(known.labels.tolist())
        new = [label for label in classes_in(labels) if label not in seen]
        declared = []
        if classes is not None:
            declared = classes_in(check_labels(list(classes)))
        new += [label for label in declared if label not in seen and label not in new]
        joined = join_classes(known.labels, new, labels)
        codes = encode_labels(labels, joined.tolist())
        return replace(known, labels=joined), codes.astype(np.int64)

    def _record(self, known: TablesKnown, task: TaskName, targets: NDArray[Any]) -> TaskRecord:
        counts = np.bincount(targets, minlength=known.n_answers)
        before = known.tasks.get(task)
        if before is not None:
            counts[: len(before.class_counts)] += before.class_counts
        return TaskRecord(known.labels, counts)

    def _row_weights(self, y: Any, sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
        weights = super()._row_weights(y, sample_weight, n_rows)
        if self.class_weight is None:
            return weights
        try:
            balance = compute_sample_weight(self.class_weight, check_labels(y, n_rows=n_rows))
        except ValueError as error:
            raise ParameterError(f"class_weight does not fit: {error}") from None
        if weights is None:
            return np.asarray(balance, dtype=np.float64)
        return np.asarray(balance * weights, dtype=np.float64)

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """An ordinary random forest of one task."""
        del n_tasks
        return {"rf": RandomForestClassifier(self.n_estimators, random_state=self.random_state)}


class LifelongRegressor(RegressorMixin, _LifelongModel):
    """A number for each row of many related tasks in one table.

    As :class:`LifelongClassifier`, with means in the place of class shares, ridge regression in the
    place of logistic regression, and weights that sum to one.

    Parameters
    ----------
    task_column : str or int, optional
        The column of ``X`` that says which task a row is from.
    n_estimators : int, default 100
        Trees of each task's forest; the shared one has three times as many.
    max_depth : int, optional
        Deepest level of a tree.
    max_features : "sqrt", "log2", int, float or None, default 1/3
        Columns that a split looks at. For numbers a third is better than the square root.
    min_samples_leaf : int or float, default 2
        Rows that a leaf has at least.
    shared : bool, default True
        Whether rows of several tasks may train one encoder.
    on_unseen : "pooled" or "raise", default "pooled"
        What ``predict`` does with a row of a task that it does not know.
    n_jobs : int, optional
        Threads for growing trees.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    tasks_ : mapping
        By name, in order of arrival.
    columns_ : Columns
        Names, kinds and categories of the table's columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"school": ["a", "b"] * 20, "age": range(40)})
    >>> model = LifelongRegressor(task_column="school", random_state=0).fit(frame, 2 * frame.age)
    >>> model.predict(frame.iloc[[10]]).round(-1)
    array([20.])
    >>> model.predict(frame.iloc[[10]], interval=0.9).shape
    (1, 3)

    See Also
    --------
    LifelongClassifier : classes instead of numbers.
    """

    _aim: ClassVar[Aim] = "number"
    _estimator_type = "regressor"

    def __init__(
        self,
        task_column: str | int | None = None,
        *,
        n_estimators: int = 100,
        max_depth: int | None = None,
        max_features: Any = 1 / 3,
        min_samples_leaf: int = 2,
        shared: bool = True,
        on_unseen: Literal["pooled", "raise"] = "pooled",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.task_column = task_column
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.shared = shared
        self.on_unseen = on_unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(  # type: ignore[override]
        self, X: Any, task: TaskPerRow = None, interval: float | None = None
    ) -> NDArray[np.float64]:
        """The expected number of each row (n,).

        Parameters
        ----------
        X : frame or array
            With the task column, if there is one.
        task : name, or (n,) names, optional
            See :meth:`fit`.
        interval : float, optional
            A share, such as 0.9: then (n, 3), with the lower and upper end of an interval that
            holds about so many of the rows' numbers. Its width comes from held-out errors.
        """
        if interval is not None and not 0 < interval < 1:
            raise ParameterError(f"interval={interval!r} is not a share between 0 and 1.")

        def numbers(known: TablesKnown) -> NDArray[np.float64]:
            mean = self._answers(known, X, task)[:, 0]
            if interval is None:
                return mean
            half = self._half_widths(known, X, task, interval)
            return np.stack([mean, mean - half, mean + half], axis=1)

        return self._ask(numbers)

    def _half_widths(
        self, known: TablesKnown, X: Any, task: TaskPerRow, interval: float
    ) -> NDArray[np.float64]:
        """Half the width of each row's interval: a quantile of all tasks' errors, in the unit of
        the task's own.
        """
        errors = {name: held_out_errors(known, name) for name in known.tasks}
        together = np.concatenate(list(errors.values()))
        if not len(together):
            return np.full(len(table_of(X)), np.inf)
        overall = float(np.mean(together**2))
        scales = {
            name: np.sqrt(
                (found @ found + _INTERVAL_ROWS * overall) / (len(found) + _INTERVAL_ROWS)
            )
            for name, found in errors.items()
        }
        in_units = np.concatenate([np.abs(errors[name]) / scales[name] for name in errors])
        level = min(1.0, interval * (1 + 1 / len(in_units)))
        quantile = float(np.quantile(in_units, level))
        asked = self._asked(known, X, task)
        half = np.empty(len(asked.X))
        for name, rows in _by_task(asked):
            scale = np.sqrt(overall)
            if name is not None:
                scale = scales[name]
            half[rows] = quantile * scale
        return half

    @property
    def predict_proba(self) -> Any:
        """Numbers have no classes."""
        raise AttributeError("LifelongRegressor predicts numbers; it has no predict_proba.")

    def score(self, X: Any, y: Any, task: TaskPerRow = None, sample_weight: Any = None) -> float:
        """R²: the share of the variance that is explained."""
        return float(r2_score(y, self.predict(X, task), sample_weight=sample_weight))

    def _with_targets(
        self, known: TablesKnown, y: Any, n_rows: int, classes: Sequence[Hashable] | None
    ) -> tuple[TablesKnown, NDArray[Any]]:
        if classes is not None:
            raise InputError("classes= is for LifelongClassifier: numbers have none.")
        check_no_holes(y)
        numbers = check_numbers(y, n_rows)
        return replace(known, labels=np.array(["number"])), numbers

    def _record(self, known: TablesKnown, task: TaskName, targets: NDArray[Any]) -> TaskRecord:
        n_rows = len(targets)
        before = known.tasks.get(task)
        if before is not None:
            n_rows += before.n_rows
        return TaskRecord(known.labels, np.array([n_rows]))

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """An ordinary random forest of one task."""
        del n_tasks
        return {"rf": RandomForestRegressor(self.n_estimators, random_state=self.random_state)}


def held_out_errors(known: TablesKnown, task: TaskName) -> NDArray[np.float64]:
    """What the mix is off by on a task's rows, by opinions that have not seen them (n,)."""
    opinions, targets, _ = evidence_of(known, task, "number")
    return np.asarray(targets - np.tensordot(known.channels[task].weights, opinions, axes=1))


def _scale(errors: NDArray[np.float64], overall: float) -> float:
    """The size of a task's errors, a little towards that of all tasks."""
    total = float(errors @ errors) + _INTERVAL_ROWS * overall
    return float(np.sqrt(total / (len(errors) + _INTERVAL_ROWS)))


def _order(labels: Labels) -> NDArray[np.intp]:
    """The places of labels in the order of ``classes_``: sorted where they can be compared."""
    place = {label: number for number, label in enumerate(labels.tolist())}
    return np.array([place[label] for label in classes_in(labels)], dtype=np.intp)


def _by_task(asked: _Asked) -> Iterator[tuple[TaskName | None, NDArray[np.intp]]]:
    """The rows of each task; tasks that are not known come together."""
    unseen = []
    for place, name in enumerate(asked.tasks):
        rows = np.flatnonzero(asked.place == place)
        if name is None:
            unseen.append(rows)
        elif len(rows):
            yield name, rows
    if unseen:
        yield None, np.concatenate(unseen)


def _check_spelling(table: Table, columns: Columns) -> None:
    """A column that nobody knows beside a known one that is missing is likely a typing error."""
    known = columns.by_name
    missing = [name for name in known if name not in table.columns]
    if len(missing) == len(known):
        names = ", ".join(map(repr, list(known)[:_FEW]))
        raise InputError(f"None of the known columns is in X: {names}, ….", see=PAGE)
    for name in table.columns:
        if name not in known:
            hint = did_you_mean(name, missing)
            if hint:
                raise InputError(f"Column {name!r} is not known.{hint}", see=PAGE)
