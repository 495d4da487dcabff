"""Answers of a model of tables to the rows of a file, as lines of CSV."""

import csv
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lifelong._spreadsheet import safe_cell
from lifelong._terminal import console
from lifelong._words import did_you_mean
from lifelong.cli.given import FIRST_ROW, said_of
from lifelong.exceptions import InputWarning, ParameterError, UnknownTaskError

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
    given = wanted.task_column or model.task_column
    as_text = [] if given is None else [given]
    titles = csv_lines([_titles(model, wanted, is_number)])
    done = 0
    said: set[str] = set()
    for table in tables_in(file, size, model.columns_, as_text):
        rows = _with_tasks(model, table, wanted, file, done + FIRST_ROW)
        with said_of(file, done + FIRST_ROW), _warnings_once(said):
            lines = list(_answers(model, rows, task, wanted, is_number))
        yield Lines(titles + csv_lines(lines), len(table))
        titles = ""  # they stand above the first rows: a file that cannot be read prints nothing
        done += len(table)


@contextmanager
def _warnings_once(said: set[str]) -> Iterator[None]:
    """Each warning is one line on stderr, and is not said again."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", InputWarning)
        yield
    for warning in found:
        text = str(warning.message)
        if text not in said:
            said.add(text)
            console(stderr=True).print(f"warning: {text}", markup=False)


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


def _with_tasks(model: Any, table: "Table", wanted: Wanted, file: Path, first: int) -> "Table":
    """The table, with the names of tasks in the task column, if it has one."""
    from lifelong.cli.names import check_filled, column_of, names_of

    given = wanted.task_column or model.task_column
    if given is None or wanted.task is not None:
        return table
    words = column_of(table, given, "task column", file)
    check_filled(words, f"task column {given!r} is empty", file, first)
    return table.with_column(given, names_of(words, model.tasks_))


def _answers(
    model: Any, table: "Table", task: Any, wanted: Wanted, is_number: bool
) -> Iterator[Sequence[Any]]:
    column = wanted.task_column or model.task_column
    if task is not None:
        tasks: Any = task
    elif column is None:
        tasks = next(iter(model.tasks_))
    else:
        tasks = table.columns[column].objects().tolist()  # type: ignore[union-attr]
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
