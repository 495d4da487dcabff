"""The race over tables of related tasks: ``python -m benchmarks.tables``.

Our learner beside a model per task, one model of all rows, and mixes of both, on paired draws of
the tables in LIFELONG_DATA/tables. Parts:

- ``tasks``: every task with 20, 50 and 200 rows; accuracy, log-loss, AUC.
- ``new``, ``unseen``, ``one-class``: a task that arrives after all others were learnt, with five
  rows per class, with none, and with twenty rows of one class.
- ``numbers``: regression, drawn at random and by time; RMSE relative to the task's mean.

Every measured cell is one line of runs/tables/rows.jsonl; a cell that is there is not measured
again. ``--only ours`` measures our learner again where its code has changed. ``--report`` writes
docs/results/tables-race.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lifelong
from benchmarks import table_report
from benchmarks.table_data import (
    CLASSES,
    NUMBERS,
    OTHER_ROWS,
    Choice,
    Draw,
    TaskTable,
    arriving_task,
    new_tasks,
    no_rows,
    read,
    related_tasks,
    rows_of_each_class,
    rows_of_one_class,
)
from benchmarks.table_regressors import regressors
from benchmarks.table_rivals import in_all_classes, quiet, rivals
from benchmarks.table_scores import classification_scores, regression_scores
from lifelong import LifelongClassifier, LifelongRegressor

OURS = "ours"
RUNS = Path("runs/tables")
ROWS_PER_TASK = (20, 50, 200)
SEEDS = (0, 1, 2, 3, 4)
ARRIVALS: dict[str, Choice] = {
    "new": rows_of_each_class,
    "unseen": no_rows,
    "one-class": rows_of_one_class,
}
PARTS = ("tasks", *ARRIVALS, "numbers")

Learner = Callable[[Draw], NDArray[np.float64]]


@dataclass(frozen=True)
class Cell:
    """One draw of one table: what all learners are asked."""

    part: str
    table: str
    rows: int
    seed: int
    split: str = "random"
    task: str = ""  # that arrives last

    def draw(self) -> Draw:
        """The rows."""
        table = cached_table(self.table, self.part == "numbers")
        if self.part in ARRIVALS:
            return arriving_task(table, self.task, ARRIVALS[self.part], self.seed)
        return related_tasks(table, self.rows, self.seed, by_time=self.split == "time")


@lru_cache(maxsize=len(CLASSES) + len(NUMBERS))
def cached_table(name: str, numbers: bool) -> TaskTable:
    """Tables are read once."""
    return read(name, numbers=numbers)


def cells(
    parts: Sequence[str], tables: Sequence[str] | None, sizes: Sequence[int], seeds: Sequence[int]
) -> Iterator[Cell]:
    """All cells, seed by seed, so that a run that was stopped has whole seeds."""
    for part in parts:
        for seed in seeds:
            yield from _cells_of_part(part, tables, sizes, seed)


def _cells_of_part(
    part: str, tables: Sequence[str] | None, sizes: Sequence[int], seed: int
) -> Iterator[Cell]:
    offered = CLASSES
    if part == "numbers":
        offered = NUMBERS
    names = [name for name in offered if tables is None or name in tables]
    for name in names:
        if part in ARRIVALS:
            for task in new_tasks(cached_table(name, False), seed):
                yield Cell(part, name, OTHER_ROWS, seed, task=task)
            continue
        for rows in sizes:
            yield Cell(part, name, rows, seed)
            if part == "numbers" and name == "beijing":
                yield Cell(part, name, rows, seed, split="time")


# Our learners


def our_classifier(draw: Draw) -> NDArray[np.float64]:
    """LifelongClassifier on the table as it was read (n, K)."""
    model = LifelongClassifier(draw.table.source.task, random_state=draw.seed, n_jobs=1)
    _learn(model, draw)
    answers = model.predict_proba(draw.table.frame.iloc[draw.test])
    return in_all_classes(answers, model.classes_, draw.table.n_classes)


def our_regressor(draw: Draw) -> NDArray[np.float64]:
    """LifelongRegressor on the table as it was read (n,)."""
    model = LifelongRegressor(draw.table.source.task, random_state=draw.seed, n_jobs=1)
    _learn(model, draw)
    return model.predict(draw.table.frame.iloc[draw.test])


def _learn(model: Any, draw: Draw) -> None:
    """All tasks at once, but for one that arrives later."""
    frame = draw.table.frame.iloc[draw.train]
    last = draw.train_tasks == draw.arrives
    model.fit(frame[~last], draw.y[~last])
    if last.any():
        model.partial_fit(frame[last], draw.y[last])


def code_of_package() -> str:
    """A short hash of the package's source: rows of ours say which code they are from."""
    digest = hashlib.sha256()
    folder = Path(lifelong.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


# Measuring


def learners_of(part: str) -> tuple[dict[str, Learner], list[str]]:
    """Learners that can take a part, and notes on those that are left out."""
    if part == "numbers":
        found, notes = regressors()
        return {OURS: our_regressor, **found}, notes
    found, notes = rivals()
    if part == "unseen":
        found = {name: rival for name, rival in found.items() if name.startswith("pooled")}
    return {OURS: our_classifier, **found}, notes


def measure(cell: Cell, learner: Learner, draw: Draw) -> dict[str, Any]:
    """Scores and seconds of one learner on one draw; what went wrong, if it did.

    Forests that several rivals use are grown once: ``cpu_seconds`` is what this learner has added.
    """
    began = time.process_time()
    try:
        answers = learner(draw)
        if cell.part == "numbers":
            scores = regression_scores(draw, answers)
        else:
            scores = classification_scores(draw, answers)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {**scores, "cpu_seconds": round(time.process_time() - began, 2)}


def run(
    file: Path, wanted: Sequence[Cell], only: Sequence[str] = (), leave_out: Sequence[str] = ()
) -> int:
    """Measure what is not in the file yet; how many rows were added.

    Parameters
    ----------
    file : path of a JSON-lines file, which grows by a line per cell and learner
    wanted : cells
    only : learners; empty for all. Of "ours", rows of other code are measured again.
    leave_out : learners that are not measured
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    without_cut_line(file)
    code = code_of_package()
    present = set()
    for row in table_report.read_rows(file):
        fresh = row["learner"] != OURS or OURS not in only or row.get("code") == code
        if "error" not in row and fresh:
            present.add(table_report.key(row))
    added = 0
    for cell in wanted:
        learners, notes = learners_of(cell.part)
        if not added:
            print(*notes, sep="\n", end="\n" * bool(notes))
        draw = None
        for name, learner in learners.items():
            row: dict[str, Any] = {**asdict(cell), "learner": name}
            chosen = (not only or name in only) and name not in leave_out
            if not chosen or table_report.key(row) in present:
                continue
            if draw is None:
                draw = cell.draw()
            row |= measure(cell, learner, draw)
            if name == OURS:
                row["code"] = code
            append(file, row)
            added += 1
    return added


def without_cut_line(file: Path) -> None:
    """Drop a last line that a stopped run has not finished."""
    if file.exists():
        with file.open("rb+") as lines:
            lines.truncate(lines.read().rfind(b"\n") + 1)


def append(file: Path, row: dict[str, Any]) -> None:
    """One line at the end of the file, at once; and a short one on the screen."""
    with file.open("a") as lines:
        lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    print({name: value for name, value in row.items() if name != "tasks"}, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--tables", nargs="+", help="some tables only")
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS_PER_TASK))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--only", nargs="+", default=[], help="some learners only, such as ours")
    parser.add_argument("--leave-out", nargs="+", default=[], help="learners not to measure")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the measured rows")
    parser.add_argument("--report", action="store_true", help="write docs/results/tables-race")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; choose from {', '.join(PARTS)}")
    file = chosen.runs / "rows.jsonl"
    if chosen.report:
        rows = table_report.read_rows(file)
        print(table_report.write(rows))
        parts = table_report.summary(table_report.figures(table_report.latest(rows)))
        table_report.write_headline(table_report.headline(parts))
        return
    quiet()
    parts = chosen.parts or PARTS
    wanted = list(cells(parts, chosen.tables, chosen.rows, chosen.seeds))
    run(file, wanted, chosen.only, chosen.leave_out)


if __name__ == "__main__":
    main()
