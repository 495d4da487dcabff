"""``lifelong verify``: whether every byte of a saved learner is as it was saved."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def verify(
    directory: Annotated[Path, typer.Argument(help="Where a learner was saved.", metavar="DIR")],
) -> None:
    """Check every byte of a saved learner; one line per problem, and exit code 1 if
    there is any.
    """
    from lifelong.persistence.inspection import verify as problems_of

    problems = problems_of(directory)
    console = Console(soft_wrap=True, highlight=False)
    for problem in problems:
        console.print(problem, markup=False)
    if problems:
        raise typer.Exit(1)
    console.print(f"{directory} is intact.", markup=False)
