"""Tables of related tasks for the race: reading them, drawing rows, encoding them for rivals."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from lifelong._places import data_directory

MISSING = "missing"
MAX_TEST_ROWS = 300


@dataclass(frozen=True)
class Source:
    """Where a table's tasks and targets are."""

    task: str
    target: str
    date: str | None = None


SOURCES = {
    "heart": Source("hospital", "disease"),
    "adult": Source("occupation", "income"),
    "beijing": Source("station", "PM2.5", date="time"),
    "vowel": Source("speaker", "vowel"),
    "amazon": Source("domain", "review"),
    "school": Source("school", "score"),
}
CLASSES = ("heart", "adult", "beijing", "vowel", "amazon")
NUMBERS = ("school", "beijing")
POLLUTION = [35, 115]  # the upper ends of the first two classes of PM2.5


@dataclass(frozen=True, eq=False)
class TaskTable:
    """A table of one task per row.

    Attributes
    ----------
    frame : (n, p)
        As it was read, with the task column, without the target.
    y : (n,)
        Places in ``labels``, or numbers.
    labels : names of the classes, sorted; None for numbers
    """

    name: str
    frame: pd.DataFrame
    y: NDArray[Any]
    labels: list[str] | None
    source: Source

    @property
    def n_classes(self) -> int:
        """K."""
        if self.labels is None:
            raise AssertionError(f"{self.name} has numbers, not classes")
        return len(self.labels)

    @cached_property
    def tasks(self) -> NDArray[Any]:
        """The task of each row (n,)."""
        return self.frame[self.source.task].to_numpy(dtype=object)

    @cached_property
    def task_names(self) -> list[str]:
        """All tasks, sorted."""
        return sorted(set(self.tasks))

    @cached_property
    def plain(self) -> pd.DataFrame:
        """Columns for rivals: without the task, a date as six numbers."""
        frame = self.frame.drop(columns=self.source.task)
        if self.source.date is None:
            return frame
        time = pd.to_datetime(frame.pop(self.source.date))
        return frame.assign(
            year=time.dt.year,
            month=time.dt.month,
            day=time.dt.day,
            weekday=time.dt.dayofweek,
            hour=time.dt.hour,
            elapsed=(time - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1),
        )


def read(name: str, *, numbers: bool = False, folder: Path | None = None) -> TaskTable:
    """One table of LIFELONG_DATA/tables; beijing's target as classes or as a number."""
    source = SOURCES[name]
    if folder is None:
        folder = data_directory() / "tables"
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    frame = frame.dropna(subset=[source.target]).reset_index(drop=True)
    target = frame.pop(source.target)
    if numbers:
        return TaskTable(name, frame, target.to_numpy(dtype=float), None, source)
    if name == "beijing":
        places = np.digitize(target, POLLUTION, right=True)
        return TaskTable(name, frame, places, ["up to 35", "up to 115", "above 115"], source)
    labels, places = np.unique(target.to_numpy(dtype=str), return_inverse=True)
    return TaskTable(name, frame, places, labels.tolist(), source)


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows of a table to learn from and to be asked about.

    Attributes
    ----------
    train, test : places of rows
    seed : for the learners
    arrives : a task that comes after all others were learnt, if there is one
    """

    table: TaskTable
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seed: int
    arrives: str | None = None

    @property
    def y(self) -> NDArray[Any]:
        """Targets of the training rows."""
        return self.table.y[self.train]

    @property
    def train_tasks(self) -> NDArray[Any]:
        """The task of each training row."""
        return self.table.tasks[self.train]

    @property
    def test_tasks(self) -> NDArray[Any]:
        """The task of each test row."""
        return self.table.tasks[self.test]

    @cached_property
    def matrix(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Training and test rows as numbers: categories one-hot (a missing one is a category of
        its own), missing numbers NaN. Categories are those of the training rows.
        """
        return _one_hot(self.table.plain, self.train, self.test)

    @cached_property
    def matrix_with_task(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same with one column per task; a task without training rows has zeros."""
        task = self.table.source.task
        frame = self.table.plain.assign(**{task: self.table.tasks})
        return _one_hot(frame, self.train, self.test)

    @cached_property
    def native(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Training and test rows with text as pandas categories, those of the training rows; the
        task is the last column.
        """
        frame = self.table.plain.assign(**{self.table.source.task: self.table.tasks})
        train = frame.iloc[self.train].copy()
        test = frame.iloc[self.test].copy()
        for column in text_columns(frame):
            kinds = pd.CategoricalDtype(sorted(train[column].dropna().unique()))
            train[column] = train[column].astype(kinds)
            test[column] = test[column].where(test[column].isin(kinds.categories)).astype(kinds)
        return train, test


def text_columns(frame: pd.DataFrame) -> list[str]:
    """Columns that are not numbers."""
    return [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]


def _one_hot(
    frame: pd.DataFrame, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    texts = text_columns(frame)
    frame = frame.assign(**{name: frame[name].astype(object).fillna(MISSING) for name in texts})
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
        remainder="passthrough",
    )
    known = encoder.fit_transform(frame.iloc[train])
    asked = encoder.transform(frame.iloc[test])
    return np.asarray(known, dtype=float), np.asarray(asked, dtype=float)


# Which rows: each function is a pure function of the table, the sizes and the seed


def related_tasks(table: TaskTable, rows: int, seed: int, *, by_time: bool = False) -> Draw:
    """``rows`` rows of every task (at most half of them) to learn from, others to be asked about.

    With ``by_time`` the rows to learn from are from the first 60 % of the table's time, and those
    to be asked about from the rest.
    """
    rng = np.random.default_rng(seed)
    early = np.ones(len(table.y), dtype=bool)
    late = early
    if by_time:
        early = _is_early(table)
        late = ~early
    train = []
    test = []
    for task in table.task_names:
        mine = table.tasks == task
        places = rng.permutation(np.flatnonzero(mine & early))
        chosen = places[: min(rows, mine.sum() // 2)]
        rest = np.setdiff1d(np.flatnonzero(mine & late), chosen)
        train.append(chosen)
        test.append(rng.permutation(rest)[:MAX_TEST_ROWS])
    return Draw(table, np.concatenate(train), np.concatenate(test), seed)


def _is_early(table: TaskTable, share: float = 0.6) -> NDArray[np.bool_]:
    """Which rows are among the first ``share`` in time (n,)."""
    time = pd.to_datetime(table.frame[table.source.date])
    return np.asarray(time <= time.sort_values().iloc[int(share * len(time)) - 1])


NEW_TASKS = 4
OTHER_ROWS = 50
ROWS_PER_CLASS = 5
ROWS_OF_ONE_CLASS = 20


def new_tasks(table: TaskTable, seed: int) -> list[str]:
    """Tasks that arrive last, one at a time."""
    names = np.array(table.task_names, dtype=object)
    chosen = np.random.default_rng([seed, 1]).permutation(names)[:NEW_TASKS]
    return sorted(chosen)


Choice = Callable[[NDArray[np.intp], NDArray[np.int64]], NDArray[np.intp]]


def rows_of_each_class(places: NDArray[np.intp], y: NDArray[np.int64]) -> NDArray[np.intp]:
    """The first rows of each class: five, and at most half of what there is."""
    found = []
    for k in np.unique(y):
        of_class = places[y == k]
        found.append(of_class[: min(ROWS_PER_CLASS, len(of_class) // 2)])
    return np.concatenate(found)


def rows_of_one_class(places: NDArray[np.intp], y: NDArray[np.int64]) -> NDArray[np.intp]:
    """Rows of the most frequent class: twenty, and at most half of what there is."""
    of_class = places[y == np.bincount(y).argmax()]
    return of_class[: min(ROWS_OF_ONE_CLASS, len(of_class) // 2)]


def no_rows(places: NDArray[np.intp], y: NDArray[np.int64]) -> NDArray[np.intp]:
    """None: the task is unseen."""
    del y
    return places[:0]


def arriving_task(table: TaskTable, task: str, choose: Choice, seed: int) -> Draw:
    """Fifty rows of every other task, a choice of the new task's own; the new task is asked about.

    The test rows are the same whatever the choice: no choice takes from them.
    """
    train = []
    for number, other in enumerate(table.task_names):
        rng = np.random.default_rng([seed, 2, number])  # so that others' rows are the same for all
        places = rng.permutation(np.flatnonzero(table.tasks == other))
        if other != task:
            train.append(places[: min(OTHER_ROWS, len(places) // 2)])
            continue
        y = table.y[places]
        taken = [rows_of_each_class(places, y), rows_of_one_class(places, y)]
        rest = np.setdiff1d(places, np.concatenate(taken))
        test = rng.permutation(rest)[:MAX_TEST_ROWS]
        own = choose(places, y)
    return Draw(table, np.concatenate([*train, own]), test, seed, arrives=task)
