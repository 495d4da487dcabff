"""``lifelong demo``: see representation ensembling work, without data or network."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong._extras import require
from lifelong._terminal import console
from lifelong._validation import MOST_JOBS
from lifelong.evaluation.errors import ErrorTable


def demo(
    out: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("lifelong-demo"),
    learners: Annotated[
        str, typer.Option(help="Which learners, by name.")
    ] = "silly-f,silly-n,rf,single",
    repetitions: Annotated[
        int | None, typer.Option(help="Repetitions of each stream instead of 4 to 6.", min=1)
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes.", min=1, max=MOST_JOBS)] = 2,
) -> None:
    """LifelongClassifier on a table beside a model per task and a pooled one; then simulations and
    scikit-learn's digits with the paper's learners: under two minutes, no data needed.
    """
    require("torch", extra="torch", for_what="The demo")
    require("matplotlib", extra="report", for_what="The demo")
    from lifelong.experiments.demo import PARTS, run_demo
    from lifelong.references.registry import find_learner
    from lifelong.report import figures
    from lifelong.report.tables import LEGEND, summary_table, write_csv

    names = learners.split(",")
    for name in names:  # first: nobody wants to wait for an error
        find_learner(name)
    out.mkdir(parents=True, exist_ok=True)
    shown = console(soft_wrap=False)
    measured: dict[str, list[ErrorTable]] = {}
    for part, tables in run_demo(names, repetitions, n_jobs):
        measured[part.title] = tables
        title = f"{part.title}: {part.shows} ({len(tables[0].single)} repetitions)"
        shown.print(summary_table(title, tables), "")
    shown.print(LEGEND, style="dim")

    drawn = {
        "data": figures.draw_data([part.stream(0) for part in PARTS]),
        "error": figures.draw_errors(measured),
        "transfer": figures.draw_transfer(measured),
    }
    written = [path for name, figure in drawn.items() for path in figures.write(figure, out / name)]
    write_csv(
        out / "table.csv",
        [(title, table) for title, tables in measured.items() for table in tables],
    )
    shown.print(
        f"\nFigures: {', '.join(path.name for path in written)}; all numbers: table.csv; in"
        f" {out.resolve()}"
    )
