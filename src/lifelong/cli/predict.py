"""``lifelong predict``: labels for the rows of a file, from a saved learner, in batches."""

import math
import warnings
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lifelong._spreadsheet import safe_cell
from lifelong._validation import check_count
from lifelong.cli.batches import STDIN, Batch, Columns, batches
from lifelong.cli.headers import Header
from lifelong.cli.output import check_out, opened, watched
from lifelong.exceptions import DatasetError, InputError, ParameterError

if TYPE_CHECKING:
    from lifelong.cli.answers import Lines
    from lifelong.learners import Learner

_MOST_AT_ONCE = 1_000_000_000  # rows
EXAMPLES = (
    "Examples: lifelong predict model --task Lyon --input rows.csv > labels.csv   ·   "
    "zcat rows.csv.gz | lifelong predict model --task Lyon --input - --proba --out labels.csv"
)


def predict(
    directory: Annotated[Path, typer.Argument(help="Where a learner was saved.", metavar="DIR")],
    file: Annotated[
        Path, typer.Option("--input", help="Rows: .csv, .parquet or .npy; - is CSV from a pipe.")
    ],
    task: Annotated[
        str | None, typer.Option(help="The task. May be left out if there is only one.")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="A CSV file, whole or not there at all; a device or pipe; - prints."),
    ] = STDIN,
    header: Annotated[
        Header,
        typer.Option(
            help="Whether the first line of a CSV names its columns. auto: it does if all cells are"
            " names, does not if all are numbers, and is an error otherwise."
        ),
    ] = Header.AUTO,
    task_column: Annotated[
        str | None, typer.Option(help="The column that says which task a row is from.")
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Of numbers: also an interval that holds so many of them, such as 0.9."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Probabilities of all classes, too.")
    ] = False,
    batch_size: Annotated[int, typer.Option(help="Rows in memory at once.")] = 10_000,
) -> None:
    """Predict the labels of the rows in a file, however large it is; one line of CSV per row."""
    from lifelong.cli.answers import Wanted, answered
    from lifelong.learners import LifelongClassifier, LifelongRegressor
    from lifelong.persistence import load

    check_count(batch_size, "--batch-size")
    if batch_size > _MOST_AT_ONCE:
        raise ParameterError(
            f"--batch-size={batch_size} is more than {_MOST_AT_ONCE}. Give fewer rows: they are in"
            " memory at once."
        )
    check_out(out, file, directory)
    learner = load(directory)
    if isinstance(learner, LifelongClassifier | LifelongRegressor):
        if header == Header.NO:
            raise ParameterError(
                f"--header no: {directory} holds a model of tables, which finds columns by their "
                "names. Give the file a first line with names."
            )
        wanted = Wanted(task, task_column, proba, interval)
        _write(out, "the table", answered(learner, file, wanted, batch_size))
        return
    if task_column is not None or interval is not None:
        raise ParameterError(
            f"--task-column and --interval are for models of tables (lifelong learn); {directory}"
            f" holds a {type(learner).__name__}. Say which task: --task."
        )
    name = _task(learner, task)
    read = batches(file, _columns_of(learner), batch_size, header)
    _write(out, f"task {str(name)!r}", _answered(learner, name, read, file, proba))


def _write(out: Path, of: str, lines: "Generator[Lines]") -> None:
    """All lines, and how far it has come."""
    with opened(out) as target, watched(of) as watch, closing(lines):
        for some in lines:
            target.write(some.text)
            watch(some.n_rows, some.share)
        target.flush()  # a full disk shows here


def _columns_of(learner: "Learner") -> Columns:
    """What a file must have, by name if the learner knows names."""
    names = getattr(learner, "feature_names_in_", None)
    if names is not None:
        names = [str(column) for column in names]
    return Columns(math.prod(learner.in_shape_), names)


def _answered(
    learner: "Learner", task: Any, read: Generator[Batch], file: Path, proba: bool
) -> "Generator[Lines]":
    """A header, then a line for every row: its label and, if wanted, all probabilities."""
    from lifelong.cli.answers import Lines, csv_lines

    classes = learner.classes_of(task).tolist()
    names = [safe_cell(label) for label in classes]
    titles = ["label"]
    if proba:
        titles += [f"p_{label}" for label in classes]
    yield Lines(csv_lines([titles]), 0)
    with closing(read):
        for batch in read:
            posteriors = _posteriors(learner, task, batch, file)
            answers = []
            for row, best in zip(posteriors.tolist(), posteriors.argmax(axis=1), strict=True):
                cells = [names[best]]
                if proba:
                    cells += [f"{p:.6g}" for p in row]
                answers.append(cells)
            yield Lines(csv_lines(answers), len(batch.X), batch.share)


def _task(learner: "Learner", task: str | None) -> Any:
    """The task that a text means; names may be whole numbers."""
    by_text = {str(name): name for name in learner.tasks_} | {name: name for name in learner.tasks_}
    if task is None:
        return learner.known_task(None)
    return learner.known_task(by_text.get(task, task))


def _posteriors(learner: "Learner", task: Any, batch: Batch, file: Path) -> Any:
    try:
        with warnings.catch_warnings():
            # Columns have been chosen by name, and rows are without names from there on.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return learner.predict_proba(
                batch.X.reshape(len(batch.X), *learner.in_shape_), task=task
            )
    except InputError as error:
        last = batch.first + len(batch.X) - 1
        raise DatasetError(
            f"{file}, rows {batch.first} to {last}: {str(error).splitlines()[0]}"
        ) from None
