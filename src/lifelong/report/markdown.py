"""What was measured as Markdown, put between two marks of a page in docs."""

import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from lifelong.exceptions import DatasetError
from lifelong.report.headline import COLUMNS, CellData, number
from lifelong.report.learner_facts import growing_labels
from lifelong.report.sections import Picture, Section

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def write_into(page: Path, part: Section, results: Path) -> None:
    """Replace what stands between the page's marks; ``results`` is where the report's files are."""
    before, begin, rest = (
        page.read_text(encoding="utf-8").partition(BEGIN) if page.is_file() else ("", "", "")
    )
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DatasetError(
            f"{page} lacks the marks {BEGIN} and {END}. Put them where the results belong."
        )
    where = Path(os.path.relpath(results, page.parent)).as_posix()
    text = "\n".join(markdown(part, where))
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def markdown(part: Section, where: str) -> Iterator[str]:
    """Command, pictures, findings (the figures' titles, which come from the data) and the table."""
    spec = part.results.spec
    seed = f" --seed {spec.seed}" if spec.seed else ""
    smoke = " --smoke" if spec.version == "smoke" else ""
    counts = sorted({row.repetitions for row in part.table})
    repetitions = " to ".join(map(str, counts))
    yield (
        f"Measured with `lifelong run {spec.experiment}{smoke} --repetitions {counts[-1]}{seed}`: "
    )
    yield (
        f"{len(part.table)} learners, repetitions: {repetitions}; {_versions(part)}. All files:"
        f" [{where}]({where})."
    )
    yield ""
    for picture in _shown(part):
        yield f"![{picture.alt}]({where}/figures/{picture.file_name}.svg)\n"
    yield from (f"- {picture.title}." for picture in part.pictures)
    yield ""
    yield f"| learner | {' | '.join(heading for heading, _ in COLUMNS.values())} |"
    yield "|---" * (len(COLUMNS) + 1) + "|"
    for row in part.table:
        paper = spec.published.get(row.label, {})
        yield (
            f"| {row.label} |"
            f" {' | '.join(_cell(row.cells[name], name, paper.get(name)) for name in COLUMNS)} |"
        )
    if growing_labels(part.results) and any(one.name == "strip" for one in part.whole):
        yield "\nA star (*) in the figure marks learners that add resources with every task."
    if counts[-1] > 1:
        yield "\nSmall: quartiles over repetitions, of the mean over tasks."
    if spec.published:
        yield "\nIn brackets: the paper's numbers, where they are published."


def _shown(part: Section) -> list[Picture]:
    """The figures named before the strips, and the strips: what the paper shows comes first."""
    strip = [picture for picture in part.whole if picture.name == "strip"]
    ahead = list(takewhile(lambda picture: not picture.name.startswith("strip-"), part.pictures))
    return [*ahead, *strip] if strip else part.pictures[:1]


def _cell(cell: CellData, column: str, paper: float | None) -> str:
    ours = f"**{cell.text}**" if cell.best else cell.text
    both = ours if paper is None else f"{ours} ({number(column, paper)})"
    return f"{both}<br><small>{cell.spread}</small>" if cell.spread else both


def _versions(part: Section) -> str:
    first = part.results.rows[0]
    return ", ".join(
        f"{name} {number}" for name, number in first.versions.items() if name != "lifelong"
    )
