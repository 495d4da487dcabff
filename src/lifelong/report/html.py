"""``report.html``: one page that needs no network, its figures and tables as files beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lifelong.experiments.tables import Results, kind_of
from lifelong.report.files import write_numbers
from lifelong.report.growth import AMOUNTS
from lifelong.report.headline import COLUMNS, HeadlineRow
from lifelong.report.learner_facts import is_control
from lifelong.report.runs import side_by_side
from lifelong.report.sections import Picture, Section, safe_name, section
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
    for each in sections:
        if len(sections) == 1:
            where = out
        else:
            where = out / safe_name(each.results.spec.experiment)
        written += _write_files(each, where)
        pages.append(_context(each, where.relative_to(out)))
    page = out / "report.html"
    title = ", ".join(content["spec"].experiment for content in pages)
    html = rendered("report.html.j2", title=title, sections=pages)
    page.write_text(html, encoding="utf-8", errors="backslashreplace")
    return [page, *written]


def _write_files(section: Section, where: Path) -> list[Path]:
    files = write_numbers(section, where)
    for picture in section.in_files:
        files += write(picture.figure, where / "figures" / picture.file_name)
    return files


def rendered(template: str, **content: Any) -> str:
    """A page: whatever names hold, they are text in it."""
    environment = Environment(
        loader=PackageLoader("lifelong.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["signed"] = lambda value: f"{value:+.3f}".replace("-", "−")
    return environment.get_template(template).render(**content)


def _context(section: Section, where: Path) -> dict[str, Any]:
    results = section.results
    return {
        "spec": results.spec,
        "finding": _finding(results, section.table),
        "facts": _facts(results, section.table),
        "failures": _failures(results),
        "columns": COLUMNS,
        "rows": section.table,
        "pictures": [_shown(picture, results, where) for picture in section.pictures],
        "matrices": [_shown(picture, results, where) for picture in section.matrices],
        "race": section.race,
        "reliability": [_shown(picture, results, where) for picture in section.reliability],
        "growth": section.growth,
        "amounts": AMOUNTS,
        "beside_paper": section.beside_paper,
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
        place = "ahead of" if gain > 0 else "behind"
        versus = f", {place} the plain single-task model of its family ({gain:+.3f})"
    helped = sum((row.cells["transfer"].value or 0) > 5e-4 for row in rows)
    sentence = f"{best.label} is most accurate ({best.cells['accuracy'].text}){versus}. "
    sentence += f"Other tasks help {helped} of {len(rows)} learners."
    return sentence.replace("-0.", "−0.")


def _facts(results: Results, rows: list[HeadlineRow]) -> dict[str, str]:
    spec = results.spec
    first = results.rows[0]
    counts = sorted({row.repetitions for row in rows})
    asked = ""
    if counts[0] < spec.repetitions:
        asked = f" of {spec.repetitions}"
    streams = ", ".join(part.name for part in spec.headline)
    others = len(spec.parts) - len(spec.headline)
    if others:
        streams += f", and {others} for the curves"
    kinds = dict.fromkeys(kind_of(part).name for part in spec.parts)
    return {
        "version": spec.version,
        "streams": streams,
        "errors": ", ".join(kinds) + "; accuracy is 1 − error",
        "learners": str(len(spec.learners)),
        "repetitions": "–".join(map(str, counts)) + asked,
        "seed": str(spec.seed),
        "versions": ", ".join(f"{name} {number}" for name, number in first.versions.items()),
        "machine": first.machine,
        "spec": spec.hash,
    }


def _failures(results: Results) -> dict[str, str]:
    return {f"{row.learner} on {row.part}": row.reason for row in results.failures}
