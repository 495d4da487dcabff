"""``lifelong report``: from the rows of a run to a page people want to look at."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lifelong._extras import require
from lifelong._terminal import console
from lifelong.exceptions import ParameterError

if TYPE_CHECKING:
    from lifelong.report.sections import Section

EXAMPLES = """
Examples:

  lifelong report runs/cifar-10x10

  lifelong report runs/mine runs/yours --out comparison --open

  lifelong report runs/xor-xnor --out docs/results/xor-xnor --page docs/experiments/xor-xnor.md
"""


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Run directories; several are compared.", metavar="DIR…")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write. Default: the run directory, or 'comparison' for several."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="A Markdown page: findings and table go between its 'measured' marks, "
            "and only the figures that it shows are written."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write report.html, tables and figures (SVG and PNG) from measured rows alone.

    Elsewhere than in the run directory, the rows are written as well, packed: rows.jsonl.gz.
    """
    require("matplotlib", extra="report", for_what="A report")
    require("jinja2", extra="report", for_what="A report")
    from lifelong.report.html import write_sections
    from lifelong.report.runs import side_by_side
    from lifelong.report.sections import section

    if page is not None and show:
        raise ParameterError("--open shows report.html, which --page does not write. Choose one.")
    target = out
    if target is None and len(folders) == 1:
        target = folders[0]
    if target is None:
        target = Path("comparison")
    sections = [section(results) for results in side_by_side(folders)]
    terminal = console()
    if page is not None:
        written = _write_for_page(sections, target, page)
        what = "tables, rows and the figures it shows"
        terminal.print(f"{page}, and {len(written)} files in {target}: {what}.")
        return
    html, *others = write_sections(sections, target)
    terminal.print(f"{html}, and {len(others)} files beside it: tables and figures.")
    if show:
        typer.launch(html.resolve().as_uri())


def _write_for_page(sections: "list[Section]", target: Path, page: Path) -> list[Path]:
    from lifelong.report.files import write_numbers, write_shown_figures
    from lifelong.report.markdown import write_into

    if len(sections) > 1:
        names = ", ".join(section.results.spec.experiment for section in sections)
        count = len(sections)
        raise ParameterError(f"--page is for one experiment, and these are {count}: {names}.")
    section = sections[0]
    write_into(page, section, target)
    return [*write_numbers(section, target), *write_shown_figures(section, target, page)]
