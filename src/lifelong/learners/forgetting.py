"""Forgetting a task of a table: what is known then is as if the task had never been."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels
from lifelong._validation import Rows
from lifelong.learners.knowledge import TaskRecord
from lifelong.learners.table_knowledge import TableRows, TablesKnown
from lifelong.learners.table_learning import Settings, TableLesson, ask_all, learn, share, unshared
from lifelong.rows.columns import Column, Columns
from lifelong.tasks.base import TaskName


def forget(known: TablesKnown, task: TaskName, settings: Settings) -> TablesKnown:
    """Without a task: the shared encoder is made anew without its rows.

    Labels, columns and categories that the task alone had go as well. Every forest is then grown
    anew, as each has read the columns that there were.
    """
    gone = known.tasks[task]
    rest = replace(
        known.without_task(task), shared=None, common=(), unseen=(), asked_at=(), reads_linear=False
    )
    if not rest.tasks:
        return replace(TablesKnown(known.seed, (0,)), batches=known.batches)
    labels = _labels_that_stay(rest, gone)
    columns = _columns_that_stay(rest)
    if labels.all() and columns.is_everything:
        if settings.shares_rows:
            return share(rest, settings)
        if settings.asks_others:
            return ask_all(rest, settings)
        return unshared(rest, settings)
    rest = replace(rest, asks_others=False, asks_linear=False)
    lessons = [_lesson(rest, name, labels, columns) for name in rest.tasks]
    fresh = replace(
        rest,
        tasks={},
        forests={},
        channels={},
        memory={},
        columns=columns.columns,
        in_shape=(columns.columns.n_places,),
        labels=rest.labels[labels],
    )
    return learn(fresh, lessons, settings)


def _labels_that_stay(rest: TablesKnown, gone: TaskRecord) -> NDArray[np.bool_]:
    """Which labels (K,) are not those of the forgotten task alone; declared ones stay."""
    had = np.zeros(rest.n_answers, dtype=bool)
    had[: len(gone.class_counts)] = gone.class_counts > 0
    return np.asarray(~had | rest.presence.any(axis=0))


@dataclass(frozen=True)
class _Narrowed:
    """Columns that stay, and what becomes of rows."""

    columns: Columns
    places: NDArray[np.intp]  # those that stay
    codes: Mapping[int, NDArray[np.float32]]  # by place: the new code of each old one
    is_everything: bool

    def rows(self, X: Rows) -> Rows:
        """Rows (n, p) without the places and categories that are gone."""
        X = X.copy()
        for place, new in self.codes.items():
            there = ~np.isnan(X[:, place])
            X[there, place] = new[X[there, place].astype(np.intp)]
        return X[:, self.places]


def _columns_that_stay(rest: TablesKnown) -> _Narrowed:
    """The columns and categories that some row still has."""
    n_places = rest.columns.n_places
    every = [rows.wide(n_places) for rows in rest.memory.values()]
    kept: list[Column] = []
    places: list[int] = []
    codes: dict[int, Any] = {}
    first = 0
    for column in rest.columns:
        own = range(first, first + column.n_places)
        first += column.n_places
        if all(np.isnan(rows[:, own[0]]).all() for rows in every):
            continue
        places += own
        if column.kind == "category":
            new = _new_codes(len(column.categories), [rows[:, own[0]] for rows in every])
            codes[own[0]] = new
            stay = [name for name, code in zip(column.categories, new, strict=True) if code >= 0]
            column = replace(column, categories=tuple(stay))
        kept.append(column)
    columns = Columns(tuple(kept))
    return _Narrowed(columns, np.array(places, np.intp), codes, columns == rest.columns)


def _new_codes(n_categories: int, values: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The new code of each old one: those that no row has any more are left out (NaN)."""
    used = np.zeros(n_categories, dtype=bool)
    for codes in values:
        used[codes[~np.isnan(codes)].astype(np.intp)] = True
    return np.where(used, np.cumsum(used) - 1, np.nan).astype(np.float32)


def _lesson(
    rest: TablesKnown, task: TaskName, labels: NDArray[np.bool_], columns: _Narrowed
) -> TableLesson:
    """All rows of a task, as they would be had the forgotten task never been."""
    rows = rest.memory[task]
    record = rest.tasks[task]
    targets = rows.targets
    if targets.dtype.kind == "i":
        targets = (np.cumsum(labels) - 1)[targets]
    X = columns.rows(rows.wide(rest.columns.n_places))
    record = _record(record, rest.labels, labels)
    return TableLesson(task, TableRows(X, targets, rows.weights), record)


def _record(record: TaskRecord, every: Labels, labels: NDArray[np.bool_]) -> TaskRecord:
    counts = np.zeros(len(every), dtype=np.int64)
    counts[: len(record.class_counts)] = record.class_counts
    return TaskRecord(every[labels], counts[labels])
