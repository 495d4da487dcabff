"""The rows of a file with their right answers, as ``learn`` and ``health`` take them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lifelong.exceptions import DatasetError, InputError, ParameterError

if TYPE_CHECKING:
    from lifelong.rows import Table
    from lifelong.rows.files import Content

FIRST_ROW = 1
"""The number of the row below the header: people who look at files count from one."""


class Given(NamedTuple):
    """Rows with the model's task column, if it has one, and their labels or numbers."""

    rows: "Table"
    labels: Any
    task: Any  # one for all rows; None: they are in the task column

    def features(self, model: Any) -> "Table":
        """The columns that are learnt from."""
        if isinstance(model.task_column, str):
            return self.rows.without(model.task_column)
        return self.rows

    def tasks(self, model: Any) -> list[Any]:
        """The task of each row."""
        from lifelong.rows.files import labels_of

        if isinstance(model.task_column, str):
            return labels_of(self.rows.columns[model.task_column])
        name = self.task
        if name is None:
            name = next(iter(known_tasks(model)), "task")
        return [name] * len(self.rows)


def known_tasks(model: Any) -> list[Any]:
    """The names of the tasks that a model has learnt."""
    if not model.__sklearn_is_fitted__():
        return []
    return list(model.tasks_)


def known_labels(model: Any) -> list[Any]:
    """The labels that a model of classes has learnt."""
    if not model.__sklearn_is_fitted__():
        return []
    return list(model.classes_.tolist())


def read_rows(
    model: Any, file: Path, content: "Content", label_column: str, task: str | None
) -> Given:
    """The rows of a file for a model, checked; missing labels and tasks are errors by row."""
    from lifelong.cli.names import check_filled, column_of, names_of
    from lifelong.rows.files import read_table

    known = model.columns_ if model.__sklearn_is_fitted__() else None
    task_column = model.task_column if isinstance(model.task_column, str) else None
    if label_column == task_column:
        raise ParameterError(
            f"{label_column!r} is the label column and the task column. Give two columns."
        )
    names = [] if task_column is None else [task_column]
    is_number = not hasattr(model, "class_weight")
    if not is_number:
        names.append(label_column)
    table = read_table(file, content, known, names)
    what = f"label column {label_column!r}"
    targets = column_of(table, label_column, "label column", file)
    check_filled(targets, f"{what} is missing", file)
    if is_number:
        labels = _numbers(targets, what, file)
    else:
        labels = _labels(model, targets, label_column in table.booleans, what, file)
    rows = table.without(label_column)
    if task_column is not None:
        words = column_of(rows, task_column, "task column", file)
        check_filled(words, f"task column {task_column!r} is empty", file)
        rows = rows.with_column(task_column, names_of(words, known_tasks(model)))
    meant: Any = task
    if task is not None:
        by_text = {str(name): name for name in known_tasks(model)}
        meant = by_text.get(task, task)
    return Given(rows, labels, meant)


def _labels(model: Any, words: Any, is_boolean: bool, what: str, file: Path) -> list[Any]:
    from lifelong.cli.names import check_no_fractions, names_of

    known = known_labels(model)
    names = names_of(words, known, is_boolean=is_boolean, truths=True)
    check_no_fractions(names, known, what, file)
    return list(names.objects().tolist())


def _numbers(values: Any, what: str, file: Path) -> Any:
    """A column of numbers, or an error that names the first entry that is none."""
    from lifelong.rows import Texts
    from lifelong.rows.written import values_of

    if isinstance(values, Texts):
        for row, word in enumerate(values.objects().tolist(), start=FIRST_ROW):
            if isinstance(values_of([str(word)])[0], Texts):
                raise DatasetError(
                    f"{file}: the {what} holds text in row {row}: {str(word)[:60]!r}. A model of"
                    " classes is learnt without --target number."
                )
    elif values.dtype.kind == "M":
        raise DatasetError(
            f"{file}: the {what} holds dates. Turn them into numbers, such as days since a date."
        )
    return values


@contextmanager
def said_of(file: Path, first: int = FIRST_ROW) -> Iterator[None]:
    """Errors about rows say of which file they are, and count as the file does."""
    from lifelong.rows.cells import CellError

    try:
        yield
    except CellError as error:
        raise DatasetError(f"{file}: {error.counted_from(first)}") from None
    except InputError as error:
        raise DatasetError(f"{file}: {str(error).splitlines()[0]}") from None
