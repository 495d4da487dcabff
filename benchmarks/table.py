"""The table: printed as it grows, written as JSON and Markdown, and put into docs/performance.md
between its marks.
"""

import json
import os
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks.measure import Row

PARTS = [
    "growing_trees",
    "walking",
    "many_encoders",
    "training_an_encoder",
    "best_networks",
    "inference",
    "parallel_encoders",
    "fine_tuning",
    "against_proglearn",
    "growth_tasks",
    "growth_tables",
    "growth_rows",
    "encoding_tables",
    "fitting_tables",
    "listening",
]
RESULTS = Path("docs/results/bench")
PAGE = Path("docs/performance.md")
BEGIN = "<!-- bench: begin -->"
END = "<!-- bench: end -->"


def line(row: Row) -> str:
    """One row for the terminal."""
    verdict = {True: "met", False: "MISSED", None: ""}[row.met]
    ours = quantity(row.ours, row.unit)
    theirs = quantity(row.theirs, row.unit)
    return (
        f"{row.work:58s} {ours:>10s} {theirs:>10s}  {ratio(row):>7s}  {target(row):7s} {verdict:6s}"
        f" {row.note}"
    )


def write(rows: list[Row], name: str, folder: Path = RESULTS, page: Path | None = PAGE) -> None:
    """Both files, with the rows of parts that were not measured now as they were; and the page if
    it has marks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    now = {row.part for row in rows}
    if file.exists():
        old = json.loads(file.read_text())["rows"]
    else:
        old = []
    kept = [
        Row(**{field: row[field] for field in asdict(rows[0])})
        for row in old
        if row["part"] not in now
    ]
    rows = sorted(
        kept + rows, key=lambda row: PARTS.index(row.part)
    )  # stable: rows of a part stay in order
    records = [{**asdict(row), "met": row.met} for row in rows]
    file.write_text(
        json.dumps({"machine": machine(), "rows": records}, indent=1, ensure_ascii=False) + "\n"
    )
    text = markdown(rows)
    (folder / f"{name}.md").write_text(text)
    if page is not None and page.exists() and BEGIN in page.read_text():
        put(page, BEGIN, text, END)


def put(page: Path, begin: str, text: str, end: str) -> None:
    """The text between two marks of a page, in place of what is there."""
    before, rest = page.read_text().split(begin)
    page.write_text(f"{before}{begin}\n{text}{end}{rest.split(end)[1]}")


def machine() -> str:
    """What it was measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "torch"))
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},"
        f" {packages}"
    )


def markdown(rows: list[Row]) -> str:
    """The table as it is shown in the documentation."""
    loads = [row.load for row in rows if row.load]
    times = sorted({row.measured for row in rows})
    lines = [
        (
            f"{machine()}. Measured {times[0]} to {times[-1]} UTC, load average {min(loads):.1f} to"
            f" {max(loads):.1f}."
        ),
        "",
        "| work | ours | against | theirs | ratio (range) | target | |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for row in rows:
        verdict = {True: "met", False: "**missed**", None: ""}[row.met]
        note = "; ".join(text for text in (verdict, row.note) if text)
        spread = ""
        if row.spread and row.spread[0] != row.spread[1]:
            spread = f" ({row.spread[0]:.3g}–{row.spread[1]:.3g})"
        cells = [
            row.work,
            quantity(row.ours, row.unit),
            row.against,
            quantity(row.theirs, row.unit),
        ]
        lines.append("| " + " | ".join([*cells, ratio(row) + spread, target(row), note]) + " |")
    return "\n".join(lines) + "\n"


def quantity(value: float | None, unit: str) -> str:
    """Seconds or bytes, in a unit that suits them."""
    if value is None:
        return ""
    if unit == "B":
        if value >= 1e9:
            return f"{value / 1e9:.3g} GB"
        if value >= 1e5:
            return f"{value / 1e6:.3g} MB"
        return f"{value / 1e3:.3g} kB"
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms"


def ratio(row: Row) -> str:
    """As a number, or nothing."""
    if row.ratio is None:
        return "–"
    if row.ratio < 100:
        return f"{row.ratio:.3g}"
    return f"{row.ratio:.0f}"


def target(row: Row) -> str:
    """Such as ≤ 1.1."""
    if row.target is None:
        return ""
    return f"{row.sense} {row.target:g}"
