"""``lifelong predict``: labels for the rows of a file, from a saved learner, in batches."""

import csv
import math
import stat
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

from lifelong._files import replacing
from lifelong._spreadsheet import safe_cell
from lifelong._terminal import Description, console
from lifelong._validation import check_count
from lifelong.cli.batches import STDIN, Batch, Columns, batches
from lifelong.cli.headers import Header
from lifelong.exceptions import DatasetError, InputError, ParameterError

if TYPE_CHECKING:
    from lifelong.learners import Learner

_MOST_AT_ONCE = 1_000_000_000  # rows
_EVERY = 5.0  # seconds between lines where nobody looks at a terminal
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
    learner = load(directory)
    if isinstance(learner, LifelongClassifier | LifelongRegressor):
        wanted = Wanted(task, task_column, proba, interval)
        with _opened(out) as target, _watched("the table") as watch:
            for some in answered(learner, file, wanted, batch_size):
                target.write(some.text)
                watch(some.n_rows)
            target.flush()  # a full disk shows here
        return
    if task_column is not None or interval is not None:
        raise ParameterError(
            f"--task-column and --interval are for models of tables (lifelong learn); {directory}"
            f" holds a {type(learner).__name__}. Say which task: --task."
        )
    name = _task(learner, task)
    names = getattr(learner, "feature_names_in_", None)
    if names is not None:
        names = [str(column) for column in names]
    columns = Columns(math.prod(learner.in_shape_), names)
    with (
        _opened(out) as target,
        _watched(f"task {str(name)!r}") as watch,
        warnings.catch_warnings(),
    ):
        # Columns have been chosen by name, and rows are without names from there on.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        lines = csv.writer(target, lineterminator="\n")
        classes = learner.classes_of(name)
        names_of_classes = [safe_cell(label) for label in classes.tolist()]
        lines.writerow(["label", *(f"p_{label}" for label in classes.tolist() if proba)])
        for batch in batches(file, columns, batch_size, header):
            posteriors = _posteriors(learner, name, batch, file)
            labels = [names_of_classes[column] for column in posteriors.argmax(axis=1)]
            if proba:
                numbers = ([f"{p:.6g}" for p in row] for row in posteriors.tolist())
                lines.writerows([label, *row] for label, row in zip(labels, numbers, strict=True))
            else:
                lines.writerows([label] for label in labels)
            watch(len(batch.X), batch.share)
        target.flush()  # a full disk shows here


def _task(learner: "Learner", task: str | None) -> Any:
    """The task that a text means; names may be whole numbers."""
    by_text = {str(name): name for name in learner.tasks_} | {name: name for name in learner.tasks_}
    if task is None:
        return learner.known_task(None)
    return learner.known_task(by_text.get(task, task))


def _posteriors(learner: "Learner", task: Any, batch: Batch, file: Path) -> Any:
    try:
        return learner.predict_proba(batch.X.reshape(len(batch.X), *learner.in_shape_), task=task)
    except InputError as error:
        last = batch.first + len(batch.X) - 1
        raise DatasetError(
            f"{file}, rows {batch.first} to {last}: {str(error).splitlines()[0]}"
        ) from None


@contextmanager
def _opened(out: Path) -> Iterator[TextIO]:
    """Where lines go.

    A new or regular file gets its name when it is complete. A symlink stays one: the file that it
    leads to is replaced. Devices and pipes are written to.
    """
    if out == STDIN:
        yield sys.stdout
        return
    try:
        if _is_device_or_pipe(out):
            with out.open("w", newline="", encoding="utf-8") as target:
                yield target
            return
        with (
            replacing(_without_links(out)) as scratch,
            scratch.path.open("w", newline="", encoding="utf-8") as target,
        ):
            yield target
    except OSError as error:
        raise DatasetError(f"{out} cannot be written: {error.strerror or error}.") from None


def _is_device_or_pipe(out: Path) -> bool:
    try:
        mode = out.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise DatasetError(f"{out} is a folder. Give the name of a CSV file in it.")
    return not stat.S_ISREG(mode)


def _without_links(out: Path) -> Path:
    try:
        return out.resolve()
    except RuntimeError as error:  # links that lead to each other
        raise DatasetError(f"{out} cannot be written: {error}.") from None


@contextmanager
def _watched(of: str) -> Iterator[Any]:
    """A bar on a terminal; elsewhere a line every few seconds and one at the end.

    All of it on stderr.
    """
    terminal = console(stderr=True)
    started = time.monotonic()
    count = 0
    last = started
    bars = Progress(
        Description(),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )

    def show(n_rows: int, share: float | None = None) -> None:
        nonlocal count, last
        count += n_rows
        bars.update(row, completed=share, description=f"{count:,} rows")
        if not terminal.is_terminal and time.monotonic() - last > _EVERY:
            last = time.monotonic()
            known = ""
            if share is not None:
                known = f" · {share:.0%}"
            terminal.print(f"{count:,} rows{known}")

    with bars:
        row = bars.add_task("0 rows", total=1.0)
        yield show
    terminal.print(f"{count:,} rows of {of} in {time.monotonic() - started:.1f} s")
