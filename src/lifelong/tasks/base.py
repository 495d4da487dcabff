"""A task, and a stream of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np

from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import (
    Labels,
    Rows,
    check_labels,
    check_rows,
    check_same_index,
    check_share,
    check_task_name,
    classes_in,
    encode_labels,
)
from lifelong.exceptions import InputError, UnknownTaskError
from lifelong.tasks._rows import draw_share, rows_of_classes

TaskName = str | int


@dataclass(frozen=True, eq=False)
class Task:
    """One task: rows to learn from and rows to be tested on.

    Parameters
    ----------
    name : str or int
        What learners call it.
    X_train, X_test : rows (n, p) or images (n, c, h, w)
        Numbers from numpy, pandas, polars, torch or lists; they become float32. Both have rows of
        the same shape.
    y_train, y_test : sequence of labels
        One per row, of any hashable kind.

    Raises
    ------
    InputError
        If rows or labels cannot be learnt from, or their numbers differ.

    Examples
    --------
    >>> Task("site-a", [[0.0], [1.0]], ["no", "yes"], [[0.9]], ["yes"])
    Task('site-a', train (2, 1), test (1, 1), 2 classes)

    See Also
    --------
    Task.from_arrays : draws the test rows.
    """

    name: TaskName
    X_train: Rows
    y_train: Labels
    X_test: Rows
    y_test: Labels

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_task_name(self.name))
        check_same_index(self.X_train, self.y_train, "y_train")
        check_same_index(self.X_test, self.y_test, "y_test")
        train = check_rows(self.X_train, owner=f"task {self.name!r}")
        test = check_rows(self.X_test, owner=f"task {self.name!r}", in_shape=train.shape[1:])
        object.__setattr__(self, "X_train", train)
        object.__setattr__(self, "X_test", test)
        object.__setattr__(self, "y_train", check_labels(self.y_train, n_rows=len(train)))
        object.__setattr__(self, "y_test", check_labels(self.y_test, n_rows=len(test)))

    @classmethod
    def from_arrays(
        cls,
        name: TaskName,
        X: Any,
        y: Any,
        *,
        test_share: float = 0.25,
        random_state: RandomState = 0,
    ) -> "Task":
        """A task from rows and labels alone, with test rows drawn at random.

        Parameters
        ----------
        name : str or int
            What learners call it.
        X : rows (n, p) or images (n, c, h, w)
            Become float32.
        y : sequence of labels
            One per row, of any hashable kind.
        test_share : float, default 0.25
            The share of each class's rows that is for testing.
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
        check_same_index(X, y)
        rows = check_rows(X, owner=f"task {name!r}")
        labels = check_labels(y, n_rows=len(rows))
        codes = encode_labels(labels, classes_in(labels))
        groups = rows_of_classes(codes, range(int(codes.max()) + 1))
        rng = generator(seed_from(random_state), name, "test rows")
        train, test = draw_share(groups, 1 - check_share(test_share, "test_share"), rng)
        if not len(train) or not len(test):
            raise InputError(
                f"Task {name!r} has {len(rows)} rows, and test_share={test_share} leaves none to"
                " learn from or none to be tested on. Give another share, or Task(name, X_train,"
                " y_train, X_test, y_test)."
            )
        return cls(name, rows[train], labels[train], rows[test], labels[test])

    @property
    def classes(self) -> list[Any]:
        """The distinct training labels."""
        return classes_in(self.y_train)

    def __repr__(self) -> str:
        return (
            f"Task({self.name!r}, train {self.X_train.shape}, test {self.X_test.shape},"
            f" {len(self.classes)} classes)"
        )


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
        If two tasks have the same name.

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


def _itself(task: Task) -> Task:
    return task


def _changed(change: Callable[[Task], Task], load: Callable[[], Task]) -> Task:
    return change(load())
