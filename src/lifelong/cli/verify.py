"""``lifelong verify``: whether every byte of a saved learner is as it was saved."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong._terminal import console


def verify(
    directory: Annotated[Path, typer.Argument(help="Where a learner was saved.", metavar="DIR")],
) -> None:
    """Check every byte of a saved learner; one line per problem, and exit code 1 if
    there is any.
    """
    from lifelong.persistence.inspection import verify as problems_of

    problems = problems_of(directory)
    terminal = console()
    for problem in problems:
        terminal.print(problem)
    if problems:
        raise typer.Exit(1)
    terminal.print(f"{directory} is intact.")
