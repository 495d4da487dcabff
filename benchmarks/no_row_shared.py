"""Where no row may be shared: ``python -m benchmarks.no_row_shared``, then ``--report``.

``LifelongClassifier(shared=None)`` on the paired draws of the race (:mod:`benchmarks.tables`, part
``tasks``), also with all other tasks counting alike. Beside it stand a forest per task and
``SillyForest.best()``, which share no row either: their rows are those of the race, in
docs/results/tables-race. Rows go to runs/no-row-shared/rows.jsonl; what is there is not measured
again. ``--report`` writes docs/results/no-row-shared and the table of docs/channels.md.
"""

import argparse
import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.table import put
from benchmarks.table_data import CLASSES, Draw
from benchmarks.table_report import key, read_rows
from benchmarks.table_rivals import in_all_classes, quiet
from benchmarks.tables import ROWS_PER_TASK, append, cells, measure, without_cut_line
from lifelong import LifelongClassifier
from lifelong.evaluation.paired import mean_and_error
from lifelong.learners import table_others

FILE = Path("runs/no-row-shared/rows.jsonl")
RESULTS = Path("docs/results/no-row-shared")
PAGE = Path("docs/channels.md")
BEGIN = "<!-- no row shared: begin -->"
END = "<!-- no row shared: end -->"
SEEDS = (0, 1, 2, 3, 4)
OURS = "LifelongClassifier(shared=None)"
METRICS = ("accuracy", "log_loss", "auc")


def ours(draw: Draw) -> NDArray[np.float64]:
    """Tasks ask each other's forests and linear models (n, K)."""
    task = draw.table.source.task
    model = LifelongClassifier(task, shared=None, random_state=draw.seed, n_jobs=1)
    model.fit(draw.table.frame.iloc[draw.train], draw.y)
    answers = model.predict_proba(draw.table.frame.iloc[draw.test])
    return in_all_classes(answers, model.classes_, draw.table.n_classes)


def all_alike(draw: Draw) -> NDArray[np.float64]:
    """The same with the plain mean of others' answers."""
    credit = table_others.CREDIT
    table_others.CREDIT = 0.0
    try:
        return ours(draw)
    finally:
        table_others.CREDIT = credit


LEARNERS = {OURS: ours, "… with all others alike": all_alike}
RIVALS = ("SillyForest.best()", "own forest")
RACE = Path("docs/results/tables-race/rows.jsonl.gz")


def run(file: Path, seeds: Sequence[int], tables: Sequence[str], sizes: Sequence[int]) -> None:
    """Measure what is not in the file yet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    without_cut_line(file)
    present = {key(row) for row in read_rows(file) if "error" not in row}
    for cell in cells(["tasks"], tables, sizes, seeds):
        draw = cell.draw()
        for name, learner in LEARNERS.items():
            row: dict[str, Any] = {**asdict(cell), "learner": name}
            if key(row) not in present:
                append(file, row | measure(cell, learner, draw))


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown: means over draws, and what ours gains, with its standard error."""
    found = pd.DataFrame(rows)
    lines = ["| | accuracy | log-loss | AUC |", "|---|---|---|---|"]
    for name in (*LEARNERS, *RIVALS):
        cells_of = [_cell(found, name, metric) for metric in METRICS]
        lines.append(f"| {name} | {' | '.join(cells_of)} |")
    return "\n".join(lines)


def _cell(found: pd.DataFrame, name: str, metric: str) -> str:
    wide = found.pivot_table(index=["table", "rows", "seed"], columns="learner", values=metric)
    mean = wide[name].mean()
    if name == OURS:
        return f"{mean:.3f}"
    gain, error = mean_and_error(wide[OURS] - wide[name])
    return f"{mean:.3f} (ours {gain:+.3f} ± {error:.3f})"


def text_of(rows: Sequence[dict[str, Any]], race: Path = RACE) -> str:
    """The table with what it says, the rivals' rows taken from the race."""
    seeds = len({row["seed"] for row in rows})
    draws = {_draw(row) for row in rows}
    of_race = [json.loads(line) for line in gzip.decompress(race.read_bytes()).splitlines()]
    beside = [row for row in of_race if row["learner"] in RIVALS and _draw(row) in draws]
    return "\n".join(
        [
            f"Five tables with 20, 50 and 200 rows per task, {seeds} paired seeds; in brackets what"
            " LifelongClassifier(shared=None) gains, and its standard error over draws:"
            " `python -m benchmarks.no_row_shared`, then `--report`.",
            "",
            table([*rows, *beside]),
            "",
        ]
    )


def report(file: Path, folder: Path = RESULTS) -> str:
    """Write the rows, compressed, and the table."""
    rows = [row for row in read_rows(file) if "error" not in row]
    text = text_of(rows)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(text)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    packed = gzip.compress(lines.encode(), mtime=0)
    (folder / "rows.jsonl.gz").write_bytes(packed)
    put(PAGE, BEGIN, text, END)
    return text


def _draw(row: dict[str, Any]) -> tuple[Any, ...]:
    """Which rows of which table."""
    return tuple(row[name] for name in ("part", "table", "rows", "seed", "split"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(CLASSES))
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS_PER_TASK))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.report:
        print(report(FILE))
        return
    quiet()
    run(FILE, chosen.seeds, chosen.tables, chosen.rows)


if __name__ == "__main__":
    main()
