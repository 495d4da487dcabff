"""The table: printed as it grows, written as JSON and Markdown, and put between the marks of
docs/performance-table.md; the rows that users feel go into docs/performance.md.

``python -m benchmarks.table`` writes the pages anew from what is stored.
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
PAGE = Path("docs/performance-table.md")
SHORT_PAGE = Path("docs/performance.md")
FELT = {  # a row of the table, and what a user would call it; "…" stands for the row it belongs to
    "LifelongClassifier, one row of one of 100 tasks, 50 times": (
        "one row of one of 100 tasks, 50 times"
    ),
    "LifelongClassifier.fit, 100 tasks × 200 × 20": (
        "`LifelongClassifier.fit`, 100 tasks × 200 × 20"
    ),
    "10000 tasks × 100 × 20: learning in all": "10 000 tasks × 100 × 20, learnt one by one",
    "10000 tasks × 100 × 20: opening the saved directory": "opening their directory",
    "encode a table of 1,000,000 × 20, six columns text": "a million rows × 20 columns as numbers",
    "SiLLy-F, one task of 50000 × 20": "`SillyForest`, one task of 50 000 × 20",
    "1000 tasks × 100 × 50: predict 1000 rows of one task": (
        "`SillyForest`, 1000 rows of one of 1000 tasks"
    ),
    "SiLLy-F, 10 tasks × 500 × 3072: learning in all": (
        "`SillyForest`, learning 10 tasks × 500 × 3072"
    ),
    "SiLLy-F, 10 tasks × 500 × 3072: predict 500 rows": "… predicting 500 rows",
    "SiLLy-N, 5 tasks × 500 × 28×28, 5 epochs: learning in all": (
        "`SillyNetwork`, learning 5 tasks × 500 × 28×28"
    ),
    "SiLLy-N, 5 tasks × 500 × 28×28, 5 epochs: predict one row": "… predicting one row",
    "training an encoder, the paper's CNN × 1.0": "training the paper's CNN",
    "strong recipe, the paper's CNN: training, per row that passes": (
        "… with augmentation, as `SillyNetwork.best` does, per row that passes"
    ),
    "SillyNetwork.best(shared=1), 10 tasks: predict 1000 images": (
        "`SillyNetwork.best(shared=1)`, 10 tasks: 1000 images"
    ),
    "4 CNNs, n_jobs=2": "4 networks with `n_jobs=2`",
}
BEGIN = "<!-- bench: begin -->"
END = "<!-- bench: end -->"


def line(row: Row) -> str:
    """One row for the terminal."""
    judged = {True: "met", False: "MISSED", None: ""}[row.met]
    ours = quantity(row.ours, row.unit)
    theirs = quantity(row.theirs, row.unit)
    return (
        f"{row.work:58s} {ours:>10s} {theirs:>10s}  {ratio(row):>7s}  {target(row):7s} {judged:6s}"
        f" {row.note}"
    )


def write(rows: list[Row], name: str, folder: Path = RESULTS, page: Path | None = PAGE) -> None:
    """Both files, with the rows of parts that were not measured now as they were; and the pages,
    unless there is none.
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
    (folder / f"{name}.md").write_text(markdown(rows))
    if page is not None:
        put(page, BEGIN, markdown(rows), END)
        put(SHORT_PAGE, BEGIN, short(rows), END)


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
        note = "; ".join(text for text in (verdict(row), row.note) if text)
        cells = [
            row.work,
            quantity(row.ours, row.unit),
            row.against,
            quantity(row.theirs, row.unit),
        ]
        lines.append(
            "| " + " | ".join([*cells, ratio(row) + spread(row), target(row), note]) + " |"
        )
    return "\n".join(lines) + "\n"


def short(rows: list[Row]) -> str:
    """The rows that users feel, and how many others met their target."""
    lines = [
        "| what | ours | against | theirs | ratio (range) | target |",
        "|---|---:|---|---:|---:|---|",
    ]
    known: dict[str, Row] = {}
    above = ""
    for row in rows:
        if row.work.startswith("… "):
            known.setdefault(f"{above}: {row.work[2:]}", row)
            continue
        above = row.work.rpartition(": ")[0]
        if row.work not in known or known[row.work].met is None:
            known[row.work] = row
    for work, title in FELT.items():
        row = known[work]
        ours = quantity(row.ours, row.unit)
        theirs = quantity(row.theirs, row.unit)
        numbers = [ours, row.against, theirs, ratio(row) + spread(row)]
        lines.append(f"| {' | '.join([title, *numbers])} | {target(row)} {verdict(row)} |")
    judged = [row for row in rows if row.met is not None]
    n_met = sum(bool(row.met) for row in judged)
    lines += ["", f"{n_met} of {len(judged)} rows with a target meet it."]
    return "\n".join(lines) + "\n"


def spread(row: Row) -> str:
    """The smallest and the largest ratio, in brackets."""
    if row.spread and row.spread[0] != row.spread[1]:
        return f" ({row.spread[0]:.3g}–{row.spread[1]:.3g})"
    return ""


def verdict(row: Row) -> str:
    """Whether it is as good as it should be."""
    return {True: "met", False: "**missed**", None: ""}[row.met]


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


def main() -> None:
    """Write the pages from the rows that are stored."""
    stored = json.loads((RESULTS / "table.json").read_text())["rows"]
    known = [{name: row[name] for name in row if name != "met"} for row in stored]
    rows = [Row(**row) for row in known]
    put(PAGE, BEGIN, markdown(rows), END)
    put(SHORT_PAGE, BEGIN, short(rows), END)


if __name__ == "__main__":
    main()
