"""``report.html``: one page that needs no network, its figures and tables as files beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lifelong.experiments.tables import Results
from lifelong.report.files import write_numbers
from lifelong.report.growth import AMOUNTS
from lifelong.report.headline import COLUMNS, HeadlineRow
from lifelong.report.learner_facts import is_control
from lifelong.report.runs import side_by_side
from lifelong.report.sections import Picture, Section, section
from lifelong.report.style import inline_svg, write


@dataclass(frozen=True)
class Shown:
    """A picture as the page has it."""

    title: str
    alt: str
    svg: Markup
    file: str


def write_report(folders: Sequence[Path], out: Path) -> list[Path]:
    """Read the run directories; write ``report.html``, ``figures/`` and all numbers into ``out``.

    Elsewhere than in the run directory itself, spec and packed rows are written beside them.
    """
    return write_sections([section(results) for results in side_by_side(folders)], out)


def write_sections(sections: Sequence[Section], out: Path) -> list[Path]:
    """The files of a report: the page first."""
    out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    pages: list[dict[str, Any]] = []
    for part in sections:
        where = out if len(sections) == 1 else out / part.results.spec.experiment
        written += _write_files(part, where)
        pages.append(_context(part, where.relative_to(out)))
    page = out / "report.html"
    page.write_text(_render(pages), encoding="utf-8")
    return [page, *written]


def _write_files(part: Section, where: Path) -> list[Path]:
    files = write_numbers(part, where)
    for picture in part.in_files:
        files += write(picture.figure, where / "figures" / picture.file_name)
    return files


def _render(pages: list[dict[str, Any]]) -> str:
    loader = PackageLoader("lifelong.report")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["signed"] = lambda value: f"{value:+.3f}".replace("-", "−")
    title = ", ".join(page["spec"].experiment for page in pages)
    return environment.get_template("report.html.j2").render(title=title, sections=pages)


def _context(part: Section, where: Path) -> dict[str, Any]:
    results = part.results
    return {
        "spec": results.spec,
        "finding": _finding(results, part.table),
        "facts": _facts(results, part.table),
        "failures": _failures(results),
        "columns": COLUMNS,
        "rows": part.table,
        "pictures": [_shown(picture, results, where) for picture in part.pictures],
        "matrices": [_shown(picture, results, where) for picture in part.matrices],
        "growth": part.growth,
        "amounts": AMOUNTS,
        "beside_paper": part.beside_paper,
        "table_file": (where / "table.csv").as_posix(),
        "tasks_file": (where / "tasks.csv").as_posix(),
    }


def _shown(picture: Picture, results: Results, where: Path) -> Shown:
    name = f"{results.spec.experiment}-{picture.name}"
    svg = Markup(inline_svg(picture.figure, name=name, alt=picture.alt))
    file = where / "figures" / f"{picture.file_name}.svg"
    return Shown(picture.title, picture.alt, svg, file.as_posix())


def _finding(results: Results, rows: list[HeadlineRow]) -> str:
    """The one sentence on top."""
    best = rows[0]
    gain = best.cells["gain"].value
    versus = ""
    if gain is not None and not is_control(results.spec.learner(best.label)):
        versus = (
            f", {'ahead of' if gain > 0 else 'behind'} the plain single-task model of its family"
            f" ({gain:+.3f})"
        )
    helped = sum((row.cells["transfer"].value or 0) > 5e-4 for row in rows)
    sentence = f"{best.label} is most accurate ({best.cells['accuracy'].text}){versus}. "
    sentence += f"Other tasks help {helped} of {len(rows)} learners."
    return sentence.replace("-0.", "−0.")


def _facts(results: Results, rows: list[HeadlineRow]) -> dict[str, str]:
    spec, first = results.spec, results.rows[0]
    counts = sorted({row.repetitions for row in rows})
    asked = f" of {spec.repetitions}" if counts[0] < spec.repetitions else ""
    streams = ", ".join(part.name for part in spec.headline)
    others = len(spec.parts) - len(spec.headline)
    return {
        "version": spec.version,
        "streams": streams + (f", and {others} for the curves" if others else ""),
        "learners": str(len(spec.learners)),
        "repetitions": "–".join(map(str, counts)) + asked,
        "seed": str(spec.seed),
        "versions": ", ".join(f"{name} {number}" for name, number in first.versions.items()),
        "machine": first.machine,
        "spec": spec.hash,
    }


def _failures(results: Results) -> dict[str, str]:
    return {f"{row.learner} on {row.part}": row.reason for row in results.failures}
