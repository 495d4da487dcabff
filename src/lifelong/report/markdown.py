"""What was measured as Markdown, put between two marks of a page in docs."""

import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from lifelong._terminal import printable
from lifelong.exceptions import DatasetError
from lifelong.report.headline import COLUMNS, CellData, number
from lifelong.report.learner_facts import growing_labels
from lifelong.report.race import table_lines
from lifelong.report.sections import Picture, Section

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


def write_into(page: Path, section: Section, results: Path) -> None:
    """Replace what stands between the page's marks; ``results`` is where the report's files are."""
    text = ""
    if page.is_file():
        text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DatasetError(
            f"{page} lacks the marks {BEGIN} and {END}. Put them where the results belong."
        )
    where = Path(os.path.relpath(results, page.parent)).as_posix()
    measured = "\n".join(markdown(section, where))
    page.write_text(f"{before}{BEGIN}\n{measured}\n{END}{after}", encoding="utf-8")


def markdown(section: Section, where: str) -> Iterator[str]:
    """Command, pictures, findings (the figures' titles, which come from the data) and the table."""
    spec = section.results.spec
    seed = ""
    if spec.seed:
        seed = f" --seed {spec.seed}"
    smoke = " --smoke" if spec.version == "smoke" else ""
    counts = sorted({row.repetitions for row in section.table})
    repetitions = " to ".join(map(str, counts))
    yield (
        f"Measured with `lifelong run {spec.experiment}{smoke} --repetitions {counts[-1]}{seed}`: "
    )
    yield (
        f"{len(section.table)} learners, repetitions: {repetitions}; {_versions(section)}."
        f" All files: [{where}]({where})."
    )
    yield ""
    for picture in _shown(section):
        yield f"![{_text(picture.alt)}]({where}/figures/{picture.file_name}.svg)\n"
    yield from (f"- {_text(picture.title)}." for picture in section.pictures)
    yield ""
    if section.race is not None:
        yield from table_lines(section.race)
        yield (
            "\nMean over streams and its standard error over repetitions; wins, ties and losses of"
            f" {_text(section.race.ours)} by stream, by two standard errors of the paired"
            " difference.\n"
        )
    yield f"| learner | {' | '.join(heading for heading, _ in COLUMNS.values())} |"
    yield "|---" * (len(COLUMNS) + 1) + "|"
    for row in section.table:
        paper = spec.published.get(row.label, {})
        yield (
            f"| {_text(row.label)} |"
            f" {' | '.join(_cell(row.cells[name], name, paper.get(name)) for name in COLUMNS)} |"
        )
    if growing_labels(section.results) and any(
        picture.name == "strip" for picture in section.whole
    ):
        yield "\nA star (*) in the figure marks learners that add resources with every task."
    if counts[-1] > 1:
        yield (
            "\nSmall: median over repetitions of the mean over tasks, and quartiles. Large: errors"
            " are averaged over repetitions first, as in the paper, so it may lie elsewhere."
        )
    if spec.published:
        yield "\nIn brackets: the paper's numbers, where they are published."


def _shown(section: Section) -> list[Picture]:
    """The figures named before the strips, and the strips: what the paper shows comes first."""
    growth = [picture for picture in section.whole if picture.name == "growth"]
    if growth:
        return growth
    strip = [picture for picture in section.whole if picture.name == "strip"]
    ahead = list(takewhile(lambda picture: not picture.name.startswith("strip-"), section.pictures))
    if strip:
        return [*ahead, *strip]
    return section.pictures[:1]


def _cell(cell: CellData, column: str, paper: float | None) -> str:
    if cell.best:
        ours = f"**{cell.text}**"
    else:
        ours = cell.text
    if paper is None:
        both = ours
    else:
        both = f"{ours} ({number(column, paper)})"
    if cell.spread:
        return f"{both}<br><small>{cell.spread}</small>"
    return both


def _text(name: str) -> str:
    """A name or sentence that is neither HTML nor a cell's end in Markdown.

    >>> _text("<b> | [x]")
    '&lt;b> &#124; &#91;x&#93;'
    """
    special: dict[str, str | int | None] = {
        "&": "&amp;",
        "<": "&lt;",
        "|": "&#124;",
        "[": "&#91;",
        "]": "&#93;",
        "`": "&#96;",
    }
    return printable(name).replace("\n", " ").translate(str.maketrans(special))


def _versions(section: Section) -> str:
    first = section.results.rows[0]
    return ", ".join(
        f"{name} {number}" for name, number in first.versions.items() if name != "lifelong"
    )
