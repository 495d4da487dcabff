"""A task, and a stream of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels, check_labels, check_same_index, classes_in, encode_labels
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_choice, check_rows, check_share, check_task_name
from lifelong.exceptions import InputError, UnknownTaskError
from lifelong.rows import Table, is_frame, table_of
from lifelong.rows.targets import check_no_holes, check_numbers
from lifelong.tasks._rows import draw_share, rows_of_classes

TaskName = str | int
Target = Literal["class", "number"]


@dataclass(frozen=True, eq=False)
class Task:
    """One task: rows to learn from and rows to be tested on.

    Parameters
    ----------
    name : str or int
        What learners call it.
    X_train, X_test : rows (n, p), images (n, c, h, w) or a frame
        Numbers from numpy, pandas, polars, torch or lists; they become float32. Both have rows of
        the same shape. A frame with text, categories, dates or missing values is kept as a
        :class:`~lifelong.rows.Table`, which LifelongClassifier and LifelongRegressor read; columns
        without any value among the training rows are left out.
    y_train, y_test : sequence of labels, or of numbers
        One per row; labels are of any hashable kind.
    target : "class" or "number", default "class"
        What ``y`` holds.

    Raises
    ------
    InputError
        If rows or labels cannot be learnt from, or their numbers differ.

    Examples
    --------
    >>> Task("site-a", [[0.0], [1.0]], ["no", "yes"], [[0.9]], ["yes"])
    Task('site-a', train (2, 1), test (1, 1), 2 classes)
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [63, None], "sex": ["f", "m"]})
    >>> Task("site-a", frame, [0.5, 1.5], frame, [0.5, 1.5], target="number")
    Task('site-a', train (2, 2), test (2, 2), numbers)

    See Also
    --------
    Task.from_arrays : draws the test rows.
    """

    name: TaskName
    X_train: Any  # Rows, or a Table
    y_train: Labels
    X_test: Any
    y_test: Labels
    target: Target = "class"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_task_name(self.name))
        check_same_index(self.X_train, self.y_train, "y_train")
        check_same_index(self.X_test, self.y_test, "y_test")
        check_choice(self.target, "target", get_args(Target))
        train, test = _rows_or_tables(self.X_train, self.X_test, owner=f"task {self.name!r}")
        object.__setattr__(self, "X_train", train)
        object.__setattr__(self, "X_test", test)
        object.__setattr__(self, "y_train", _check_targets(self.y_train, len(train), self.target))
        object.__setattr__(self, "y_test", _check_targets(self.y_test, len(test), self.target))

    @classmethod
    def from_arrays(
        cls,
        name: TaskName,
        X: Any,
        y: Any,
        *,
        test_share: float = 0.25,
        target: Target = "class",
        random_state: RandomState = 0,
    ) -> "Task":
        """A task from rows and labels alone, with test rows drawn at random.

        Parameters
        ----------
        name : str or int
            What learners call it.
        X : rows (n, p), images (n, c, h, w) or a frame
            See :class:`Task`.
        y : sequence of labels, or of numbers
            One per row; labels are of any hashable kind.
        test_share : float, default 0.25
            The share of each class's rows that is for testing.
        target : "class" or "number", default "class"
            What ``y`` holds.
        random_state : int, Generator or None, default 0
            Decides which rows are drawn.

        Returns
        -------
        Task

        Raises
        ------
        InputError
            If the share leaves no row to learn from, or none to be tested on.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> Task.from_arrays("site-a", X, y, test_share=0.5)
        Task('site-a', train (2, 1), test (2, 1), 2 classes)
        """
        check_choice(target, "target", get_args(Target))
        check_same_index(X, y)
        rows, _ = _rows_or_tables(X, X, owner=f"task {name!r}")
        targets = _check_targets(y, len(rows), target)
        groups = groups_of(targets, target)
        rng = generator(seed_from(random_state), name, "test rows")
        train, test = draw_share(groups, 1 - check_share(test_share, "test_share"), rng)
        if not len(train) or not len(test):
            raise InputError(
                f"Task {name!r} has {len(rows)} rows, and test_share={test_share} leaves none to"
                " learn from or none to be tested on. Give another share, or Task(name, X_train,"
                " y_train, X_test, y_test)."
            )
        return cls(name, rows[train], targets[train], rows[test], targets[test], target)

    @property
    def classes(self) -> list[Any]:
        """The distinct training labels; none where the target is a number."""
        if self.target == "number":
            return []
        return classes_in(self.y_train)

    def __repr__(self) -> str:
        if self.target == "number":
            what = "numbers"
        else:
            what = f"{len(self.classes)} classes"
        return f"Task({self.name!r}, train {self.X_train.shape}, test {self.X_test.shape}, {what})"


def groups_of(targets: Labels, target: Target) -> list[NDArray[np.intp]]:
    """Row numbers of each class, from each of which test rows are drawn; numbers are one group."""
    if target == "number":
        return [np.arange(len(targets))]
    codes = encode_labels(targets, classes_in(targets))
    return rows_of_classes(codes, range(int(codes.max()) + 1))


def _rows_or_tables(X_train: Any, X_test: Any, owner: str) -> tuple[Any, Any]:
    """Rows of numbers of one shape; or two tables, if either has more than numbers."""
    if _is_table(X_train) or _is_table(X_test):
        return _measured_columns(table_of(X_train), table_of(X_test), owner)
    train = check_rows(X_train, owner=owner)
    if X_test is X_train:
        return train, train
    return train, check_rows(X_test, owner=owner, in_shape=train.shape[1:])


def _measured_columns(train: Table, test: Table, owner: str) -> tuple[Table, Table]:
    """Both tables without columns that have no value in any training row."""
    measured = train.measured()
    if not measured:
        raise InputError(
            f"The training rows of {owner} have no value in any column.", see="my-data"
        )
    return train.only(measured), test.only([name for name in measured if name in test.columns])


def _is_table(X: Any) -> bool:
    """Whether X is a table already, or a frame with more than numbers in it."""
    if isinstance(X, Table):
        return True
    return is_frame(X) and table_of(X).as_numbers() is None


def _check_targets(y: Any, n_rows: int, target: Target) -> Labels:
    """One label, or one number, per row."""
    if target == "class":
        return check_labels(y, n_rows=n_rows)
    check_no_holes(y)
    return check_numbers(y, n_rows)


class TaskStream:
    """Tasks in the order in which they arrive.

    A stream may be lazy: :meth:`lazy` takes a loader per task and calls it each time the task is
    asked for, so that a stream of a hundred tasks never holds more than the one in use.

    Parameters
    ----------
    tasks : iterable of Task
        Each with a name of its own.

    Raises
    ------
    InputError
        If two tasks have the same name, or some are tables with named columns and others are
        rows of numbers.

    Examples
    --------
    >>> from lifelong.tasks.simulations import xor_stream
    >>> stream = xor_stream(100, second="xnor", random_state=0)
    >>> stream.names
    ['xor', 'xnor']
    >>> [len(task.X_train) for task in stream]
    [100, 100]
    >>> stream["xnor"]
    Task('xnor', train (100, 2), test (1000, 2), 2 classes)
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        ready = list(tasks)
        names = [task.name for task in ready]
        if len(set(names)) < len(names):
            raise InputError(f"Every task in a stream needs a name of its own; got {names}.")
        _check_alike(ready)
        self._loaders: dict[TaskName, Callable[[], Task]] = {
            task.name: partial(_itself, task) for task in ready
        }

    @classmethod
    def lazy(cls, loaders: Mapping[TaskName, Callable[[], Task]]) -> "TaskStream":
        """A stream that loads each task when it is asked for, and does not keep it.

        Parameters
        ----------
        loaders : mapping of names to functions
            Each function takes nothing and returns the task of that name.

        Returns
        -------
        TaskStream
        """
        stream = cls([])
        stream._loaders = dict(loaders)
        return stream

    @property
    def names(self) -> list[TaskName]:
        """The tasks' names, without loading them."""
        return list(self._loaders)

    def map(self, change: Callable[[Task], Task]) -> "TaskStream":
        """The stream with ``change`` applied to each task when it is loaded; names stay.

        Parameters
        ----------
        change : function Task → Task

        Returns
        -------
        TaskStream
            A new one; this stream stays as it is.
        """
        return TaskStream.lazy(
            {name: partial(_changed, change, load) for name, load in self._loaders.items()}
        )

    def __len__(self) -> int:
        return len(self._loaders)

    def __iter__(self) -> Iterator[Task]:
        for load in self._loaders.values():
            yield load()

    def named(self, name: TaskName) -> Task:
        """The task of that name, loaded now.

        Parameters
        ----------
        name : str or int

        Returns
        -------
        Task

        Raises
        ------
        UnknownTaskError
            If the stream has no such task.
        """
        if name not in self._loaders:
            raise UnknownTaskError(
                f"No task {name!r} in this stream. Its tasks: {', '.join(map(repr, self.names))}."
            )
        return self._loaders[name]()

    @overload
    def __getitem__(self, key: TaskName) -> Task: ...
    @overload
    def __getitem__(self, key: slice) -> "TaskStream": ...
    def __getitem__(self, key: TaskName | slice) -> "Task | TaskStream":
        """Text is a name, a whole number a position (numbers as names: :meth:`named`), a slice
        gives a substream.
        """
        if isinstance(key, slice):
            return TaskStream.lazy({name: self._loaders[name] for name in self.names[key]})
        if isinstance(key, int | np.integer):
            if not -len(self) <= key < len(self):
                raise UnknownTaskError(
                    f"No task at position {key}: this stream has {len(self)} tasks."
                )
            key = self.names[int(key)]
        return self.named(key)

    def __repr__(self) -> str:
        return f"TaskStream({len(self)} tasks: {', '.join(map(repr, self.names))})"


def _check_alike(tasks: list[Task]) -> None:
    """Columns of a table have names, rows of numbers have none: nobody could match them."""
    tables = [task.name for task in tasks if isinstance(task.X_train, Table)]
    if tables and len(tables) < len(tasks):
        rows = next(task.name for task in tasks if not isinstance(task.X_train, Table))
        raise InputError(
            f"Task {tables[0]!r} is a table with named columns, task {rows!r} has rows of numbers "
            "without names. Make all of them tables: Task(name, table_of(X_train), …) with "
            "table_of from lifelong.rows; or one stream with sources.from_frame.",
            see="my-data",
        )


def _itself(task: Task) -> Task:
    return task


def _changed(change: Callable[[Task], Task], load: Callable[[], Task]) -> Task:
    return change(load())
