"""The command line: one small file per command."""

import sys

import typer
from rich.console import Console

from lifelong.cli.demo import demo
from lifelong.cli.list import list_names
from lifelong.exceptions import LifelongError

app = typer.Typer(
    name="lifelong",
    no_args_is_help=True,
    help="Lifelong learning by representation ensembling: every task, old and new, gets better as tasks arrive.",
)
app.command("demo")(demo)
app.command("list")(list_names)


def main() -> None:
    """Run a command; a known error is one line on the terminal and exit code 1, never a traceback."""
    try:
        app()
    except LifelongError as error:
        Console(stderr=True).print(f"[red]error:[/] {error}", highlight=False)
        sys.exit(1)


__all__ = ["app", "main"]
