"""Answers of a model of tables to the rows of a file, as lines of CSV."""

import csv
from collections.abc import Generator, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lifelong._spreadsheet import safe_cell
from lifelong._words import did_you_mean
from lifelong.exceptions import DatasetError, InputError, ParameterError, UnknownTaskError

if TYPE_CHECKING:
    from lifelong.rows import Table

_FEW = 5


class Wanted(NamedTuple):
    """What the user asks for."""

    task: str | None
    task_column: str | None
    proba: bool
    interval: float | None


class Lines(NamedTuple):
    """Lines of CSV, and how many rows they answer."""

    text: str
    n_rows: int
    share: float | None = None  # of the file that has been read, where it is known


def answered(model: Any, file: Path, wanted: Wanted, size: int) -> Generator[Lines]:
    """A header, then a line for every row of the file, in its order."""
    from lifelong.rows.files import tables_in

    is_number = not hasattr(model, "class_weight")
    _check_fits(model, wanted, is_number)
    task = None
    if wanted.task is not None:
        task = task_called(model, wanted.task)
    yield Lines(csv_lines([_titles(model, wanted, is_number)]), 0)
    done = 0
    for table in tables_in(file, size, model.columns_):
        try:
            rows = _with_tasks(model, table, wanted, file)
            lines = list(_answers(model, rows, task, wanted, is_number))
        except InputError as error:
            reason = str(error).splitlines()[0]
            raise DatasetError(
                f"{file}, rows {done + 1} to {done + len(table)}: {reason}"
            ) from None
        yield Lines(csv_lines(lines), len(table))
        done += len(table)


def _check_fits(model: Any, wanted: Wanted, is_number: bool) -> None:
    if wanted.task is not None and wanted.task_column is not None:
        raise ParameterError("Give --task-column or --task, not both.")
    if is_number and wanted.proba:
        raise ParameterError("--proba is for classes; this model predicts numbers. Try --interval.")
    if not is_number and wanted.interval is not None:
        raise ParameterError("--interval is for numbers; this model predicts classes. Try --proba.")
    given = wanted.task or wanted.task_column or model.task_column
    if given is None and len(model.tasks_) > 1:
        raise UnknownTaskError(
            f"{len(model.tasks_)} tasks are known. Say which one (--task), or which column has each"
            " row's task (--task-column)."
        )


def task_called(model: Any, task: str) -> Any:
    """The task that --task means; names may be whole numbers."""
    by_text = {str(name): name for name in model.tasks_}
    if task not in by_text:
        hint = did_you_mean(task, by_text)
        names = ", ".join(map(repr, list(by_text)[:_FEW]))
        raise UnknownTaskError(
            f"Unknown task {task!r}.{hint} Known are {len(by_text)} tasks, such as {names}."
        )
    return by_text[task]


def _with_tasks(model: Any, table: "Table", wanted: Wanted, file: Path) -> "Table":
    """The table with the model's task column, if it has one."""
    given = wanted.task_column or model.task_column
    if given is None or wanted.task is not None:
        return table
    if given not in table.columns:
        hint = did_you_mean(given, table.columns)
        names = ", ".join(map(repr, list(table.columns)[:30]))
        raise DatasetError(f"{file} has no task column {given!r}.{hint} Columns: {names}.")
    return table


def _answers(
    model: Any, table: "Table", task: Any, wanted: Wanted, is_number: bool
) -> Iterator[Sequence[Any]]:
    from lifelong.learners.task_names import names_in

    column = wanted.task_column or model.task_column
    if task is not None:
        tasks: Any = task
    elif column is None:
        tasks = next(iter(model.tasks_))
    else:
        tasks = names_in(table.columns[column], column).objects().tolist()
        table = table.without(column)
    asker = type(model)(**{**model.get_params(deep=False), "task_column": None})
    asker.knowledge_ = model.knowledge_
    if is_number:
        numbers = np.atleast_2d(asker.predict(table, task=tasks, interval=wanted.interval))
        if wanted.interval is None:
            numbers = numbers.T
        yield from ([f"{number:.6g}" for number in row] for row in numbers.tolist())
        return
    probabilities = asker.predict_proba(table, task=tasks)
    names = [safe_cell(label) for label in asker.classes_.tolist()]
    for row, best in zip(probabilities.tolist(), probabilities.argmax(axis=1), strict=True):
        cells = [names[best]]
        if wanted.proba:
            cells += [f"{p:.6g}" for p in row]
        yield cells


def _titles(model: Any, wanted: Wanted, is_number: bool) -> list[str]:
    if not is_number:
        classes = [f"p_{label}" for label in model.classes_.tolist() if wanted.proba]
        return ["label", *classes]
    if wanted.interval is None:
        return ["prediction"]
    return ["prediction", "lower", "upper"]


def csv_lines(rows: Sequence[Sequence[Any]]) -> str:
    """Rows of cells as lines of CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
