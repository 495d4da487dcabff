"""``lifelong inspect``: what a saved learner holds, without loading it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from lifelong._terminal import console

if TYPE_CHECKING:
    from lifelong.persistence.inspection import ColumnSummary, Summary

SOME_DAMAGED = 1
_SHOWN = 30


def inspect(
    directory: Annotated[Path, typer.Argument(help="Where a learner was saved.", metavar="DIR")],
    all_tasks: Annotated[
        bool, typer.Option("--all", help="Every task, however many there are.")
    ] = False,
) -> None:
    """Tasks, rows, encoders, bytes and versions of a saved learner; whether the files are whole."""
    from lifelong.persistence.inspection import damaged_files
    from lifelong.persistence.inspection import inspect as summarise

    summary = summarise(directory)
    damaged = damaged_files(directory)
    terminal = console()
    _say_what_it_is(terminal, summary, all_tasks)
    _list_tasks(terminal, summary, all_tasks)
    for name, what in damaged.items():
        terminal.print(f"damaged: {name}: {what}")
    if damaged:
        terminal.print(f"checksums: {len(damaged)} files are damaged")
        raise typer.Exit(SOME_DAMAGED)
    terminal.print("checksums: ok")


def _say_what_it_is(terminal: Console, summary: "Summary", all_columns: bool) -> None:
    n_rows = sum(task.rows for task in summary.tasks)
    terminal.print(
        f"{summary.learner}: {len(summary.tasks)} tasks, {n_rows:,} rows seen,"
        f" {_encoders(summary)}, {_rows(summary)},"
        f" {_size(summary.total)}"
    )
    terminal.print(f"format {summary.format}, written by {_versions(summary.written_by)}")
    parameters = [f"{name}={value!r}" for name, value in summary.parameters.items()]
    terminal.print(f"parameters: {', '.join(parameters)}")
    sizes = [f"{content} {_size(size)}" for content, size in summary.bytes.items() if size]
    terminal.print(f"bytes: {', '.join(sizes)}")
    if not summary.columns:
        return
    shown = summary.columns
    if not all_columns:
        shown = shown[:_SHOWN]
    more = ""
    if len(shown) < len(summary.columns):
        more = f", … and {len(summary.columns) - len(shown)} more (--all shows them)"
    names = ", ".join(map(_column, shown))
    terminal.print(f"columns: {names}{more}")


def _encoders(summary: "Summary") -> str:
    """What it answers with: a model of tables has a forest per task and an encoder of all."""
    if not summary.columns:
        return f"{summary.encoders} encoders"
    shared = "no shared encoder"
    if summary.shared:
        shared = "1 shared encoder"
    return f"{summary.encoders} own forests, {shared}"


def _rows(summary: "Summary") -> str:
    if summary.columns:
        return f"{len(summary.columns)} columns"
    return f"rows of shape {'×'.join(map(str, summary.in_shape))}"


def _column(column: "ColumnSummary") -> str:
    if column.categories:
        return f"{column.name} ({column.kind}, {column.categories})"
    return f"{column.name} ({column.kind})"


def _list_tasks(terminal: Console, summary: "Summary", all_tasks: bool) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("task")
    table.add_column("rows", justify="right")
    table.add_column("classes", justify="right")
    table.add_column("encoder")
    table.add_column("bytes", justify="right")
    shown = summary.tasks
    if not all_tasks:
        shown = shown[:_SHOWN]
    for task in shown:
        encoder = "own" if task.encoder else "–"
        table.add_row(
            str(task.name), f"{task.rows:,}", str(task.classes), encoder, _size(task.bytes)
        )
    terminal.print(table)
    if len(shown) < len(summary.tasks):
        terminal.print(f"… and {len(summary.tasks) - len(shown)} more (--all shows them)")


def _versions(written_by: dict[str, str]) -> str:
    return ", ".join(f"{package} {version}" for package, version in written_by.items())


def _size(count: int) -> str:
    """Bytes for people.

    >>> _size(999), _size(12_345), _size(7_000_000)
    ('999 B', '12.3 kB', '7.0 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"
