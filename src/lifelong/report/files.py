"""What a report leaves in a folder: numbers, rows, and the figures that a page shows."""

import re
from pathlib import Path

from lifelong.experiments.store import Store
from lifelong.experiments.tables import summary
from lifelong.report.headline import write_table
from lifelong.report.sections import Section
from lifelong.report.style import write_svg
from lifelong.report.tables import write_csv

_LINK = re.compile(r"\]\(([^)\s]+)|\bsrc=\"([^\"]+)\"")


def write_numbers(section: Section, where: Path) -> list[Path]:
    """``table.csv``, ``tasks.csv`` and ``summary.json``; outside of a run, its spec and rows.

    The rows are packed. All other files can be made from them again.
    """
    where.mkdir(parents=True, exist_ok=True)
    results = section.results
    table = where / "table.csv"
    tasks = where / "tasks.csv"
    write_table(table, results)
    write_csv(tasks, [(stream, errors) for (stream, _), errors in results.tables.items()])
    store = Store(where)
    files = [table, tasks, store.write_json("summary.json", summary(results))]
    if not store.rows_path.exists():  # a run keeps its own; those of an older report are replaced
        store.write_spec(results.spec)
        files += [store.spec_path, store.write_packed(results.rows)]
    return files


def write_shown_figures(section: Section, where: Path, page: Path) -> list[Path]:
    """The figures that a Markdown page shows, as SVG.

    What an older report has drawn beyond them is removed.
    """
    folder = where / "figures"
    wanted = shown_in(page)
    written = []
    for picture in section.in_files:
        svg = folder / f"{picture.file_name}.svg"
        if svg.resolve() in wanted:
            written.append(write_svg(picture.figure, svg))
        else:
            svg.unlink(missing_ok=True)
        svg.with_suffix(".png").unlink(missing_ok=True)
    return written


def shown_in(page: Path) -> set[Path]:
    """The files that a Markdown page shows or links to."""
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    return {(page.parent / (markdown or html)).resolve() for markdown, html in links}
