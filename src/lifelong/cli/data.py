"""``lifelong data``: which datasets there are, whether their files are sound, how to get them, what
they look like.
"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, JustifyMethod
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn
from rich.table import Table

from lifelong._places import data_directory
from lifelong._terminal import Description, console
from lifelong._validation import check_choice
from lifelong.tasks.base import TaskStream
from lifelong.tasks.datasets import DATASETS, load
from lifelong.tasks.datasets._check import check_dataset
from lifelong.tasks.datasets._fetch import fetch as fetch_source
from lifelong.tasks.datasets._source import Dataset, Source
from lifelong.tasks.datasets.contact_sheet import contact_sheet
from lifelong.tasks.sources import from_table

app = typer.Typer(help="List, check, fetch and show the benchmark datasets.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A dataset's name, as `lifelong data list` shows it.")]
_NUMBERS = {"tasks", "classes", "rows", "on disk"}
DataDir = Annotated[
    Path | None,
    typer.Option(help="Where the raw files are. Default: $LIFELONG_DATA, else the cache."),
]


@app.command("list")
def list_datasets(data_dir: DataDir = None) -> None:
    """All datasets: tasks, classes, rows of the official release, shape, size on disk, licence,
    present or not.
    """
    table = Table(
        caption=f"Raw files are looked for in {data_directory(data_dir)}", box=None, pad_edge=False
    )
    for heading in ("name", "tasks", "classes", "rows", "shape", "on disk", "licence", "present"):
        justify: JustifyMethod = "right" if heading in _NUMBERS else "left"
        table.add_column(heading, justify=justify)
    for dataset in DATASETS.values():
        table.add_row(*_columns(dataset, data_dir))
    _console().print(table)


def _columns(dataset: Dataset, data_dir: Path | None) -> list[str]:
    shape = "×".join(map(str, dataset.shape))
    counts = [str(dataset.tasks), str(dataset.classes or "–"), f"{dataset.rows:,}"]
    size = "–"
    if dataset.sources:
        size = f"{dataset.size_on_disk(data_dir) / 1e6:,.1f} MB"
    missing = [source.name for source in dataset.missing(data_dir)]
    if not missing:
        present = "yes"
    elif len(missing) < len(dataset.sources):
        present = f"lacks {', '.join(missing)}"
    else:
        present = "no"
    return [dataset.name, *counts, shape, size, dataset.licence, present]


@app.command()
def check(
    name: Annotated[
        str | None, typer.Argument(help="A dataset; without one, all that are present.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Count the rows and compare checksums with the official release; a subset is named as such."""
    if name:
        chosen = [_dataset(name)]
    else:
        chosen = [
            dataset
            for dataset in DATASETS.values()
            if dataset.sources and not dataset.missing(data_dir)
        ]
    table = Table("dataset", "source", "what", "result", box=None, pad_edge=False)
    for dataset in chosen:
        findings = check_dataset(dataset, data_dir)
        for finding in findings:
            table.add_row(dataset.name, finding.source, finding.what, finding.result)
        if not findings:
            table.add_row(dataset.name, "none", "all rows", "needs no files: nothing to check")
    _console().print(table)


@app.command()
def fetch(name: Name, data_dir: DataDir = None) -> None:
    """Download a dataset's official files into the data directory."""
    dataset = _dataset(name)
    for source in dataset.sources:
        size = sum(download.size for download in source.downloads)
        note = "size not published"
        if size:
            note = f"{size / 1e6:,.0f} MB"
        _console().print(
            f"{source.name}: {note}. Licence: {source.licence}. Cite: {source.citation}."
        )
        _fetch(source, data_dir)
    _console().print(f"{name} is complete in {data_directory(data_dir)}.")


def _fetch(source: Source, data_dir: Path | None) -> None:
    columns = (
        Description(),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bars:
        row = bars.add_task(source.name, total=None)
        fetch_source(
            source,
            data_dir,
            report=lambda done, total: bars.update(row, completed=done, total=total or None),
        )


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(help="A dataset's name, or a CSV or Parquet file of your own.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The PNG to write. Default: NAME.png here.")
    ] = None,
    data_dir: DataDir = None,
    columns: Annotated[int, typer.Option(help="Pictures per task.")] = 20,
    task_column: Annotated[
        str | None, typer.Option(help="Of a table: the column that names the task.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Of a table: the column with the label.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which rows are drawn.")] = 0,
) -> None:
    """Write a contact sheet: one row of pictures per task. A table's tasks are listed instead."""
    if task_column and label_column:
        _print_tasks(
            from_table(name, task_column=task_column, label_column=label_column, random_state=seed)
        )
        return
    stream = load(_dataset(name).name, data_dir, random_state=seed)
    if _dataset(name).is_table:
        _print_tasks(stream)
        return
    _console().print(
        f"{contact_sheet(stream, out or Path(f'{name}.png'), columns=columns)}", soft_wrap=True
    )


def _print_tasks(stream: TaskStream) -> None:
    table = Table("task", "train", "test", "classes", box=None, pad_edge=False)
    for task in stream:
        table.add_row(
            str(task.name),
            str(len(task.y_train)),
            str(len(task.y_test)),
            ", ".join(map(str, task.classes)) or "numbers",
        )
    _console().print(table)


def _dataset(name: str) -> Dataset:
    return DATASETS[check_choice(name, "dataset", list(DATASETS))]


def _console() -> Console:
    return console(soft_wrap=False, in_a_pipe=200)  # in a pipe: one line per row
