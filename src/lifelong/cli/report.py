"""``lifelong report``: from the rows of a run to a page people want to look at."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lifelong._extras import require

EXAMPLES = """
Examples:

  lifelong report runs/cifar-10x10

  lifelong report runs/mine runs/yours --out comparison --open

  lifelong report runs/xor-xnor --out docs/results/xor-xnor --page docs/experiments/xor-xnor.md
"""


def report(
    folders: Annotated[list[Path], typer.Argument(help="Run directories; several are compared.", metavar="DIR…")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write. Default: the run directory, or 'comparison' for several.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="A Markdown page; findings and table go between its 'measured' marks.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write report.html, table.csv and figures (SVG and PNG) from measured rows alone."""
    require("matplotlib", extra="report", for_what="A report")
    require("jinja2", extra="report", for_what="A report")
    from lifelong.report.html import write_sections
    from lifelong.report.markdown import write_into
    from lifelong.report.runs import side_by_side
    from lifelong.report.sections import section

    target = out or (folders[0] if len(folders) == 1 else Path("comparison"))
    sections = [section(results) for results in side_by_side(folders)]
    html, *others = write_sections(sections, target)
    if page is not None:
        write_into(page, sections[0], target)
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{html}, and {len(others)} files beside it: tables and figures.")
    if show:
        typer.launch(html.resolve().as_uri())
