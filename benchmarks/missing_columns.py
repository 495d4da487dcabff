"""Hospitals that never measured a column: what to do with it, on the real table ``heart``.

``python -m benchmarks.missing_columns --repetitions 5`` appends a row per draw, way and hospital to
docs/results/missing-columns/rows.csv and puts the table of docs/my-data.md between its marks. Rows
that are there already are not measured again.

All ways use the same :class:`~lifelong.LifelongClassifier` on the same rows. They differ in what
becomes of entries and columns that are missing before it sees them.
"""

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.table import put
from lifelong import LifelongClassifier
from lifelong._places import data_directory

RESULTS = Path("docs/results/missing-columns/rows.csv")
PAGE = Path("docs/my-data.md")
BEGIN = "<!-- missing columns: begin -->"
END = "<!-- missing columns: end -->"
TASK = "hospital"
TARGET = "disease"
SCARCE = 0.1  # a hospital that has fewer values of a column than this share did not measure it
SCORES = ("accuracy", "log_loss", "auc")

Frame = pd.DataFrame
Way = Callable[[Frame, Frame], tuple[Frame, Frame]]


class Result(NamedTuple):
    """One hospital's held-out rows, in one draw."""

    way: str
    rows_per_task: int
    seed: int
    task: str
    accuracy: float
    log_loss: float
    auc: float


def as_they_are(train: Frame, test: Frame) -> tuple[Frame, Frame]:
    """Ours: what is missing stays missing."""
    return train, test


def columns_of_all(train: Frame, test: Frame) -> tuple[Frame, Frame]:
    """Only columns that every hospital has measured; holes in them stay."""
    measured = train.notna().groupby(train[TASK]).mean().min() >= SCARCE
    kept = [name for name in train.columns if measured[name]]
    return train[kept], test[kept]


def filled_with_zero(train: Frame, test: Frame) -> tuple[Frame, Frame]:
    """0 in the place of numbers, a text of its own in the place of texts."""
    filling = {name: 0 if is_number(train[name]) else "0" for name in train.columns}
    return train.fillna(filling), test.fillna(filling)


def imputed(train: Frame, test: Frame) -> tuple[Frame, Frame]:
    """The median of numbers, the most frequent text, of all hospitals' training rows."""
    filling = {name: _usual(train[name]) for name in train.columns}
    return train.fillna(filling), test.fillna(filling)


def imputed_with_flags(train: Frame, test: Frame) -> tuple[Frame, Frame]:
    """Imputed, and a column beside each that says where."""
    with_holes = [name for name in train.columns if train[name].isna().any()]
    filled = imputed(train, test)
    flagged = []
    for frame, full in zip((train, test), filled, strict=True):
        flags = {f"{name} is missing": frame[name].isna() for name in with_holes}
        flagged.append(full.assign(**flags))
    return flagged[0], flagged[1]


WAYS: dict[str, Way] = {
    "as it is (ours)": as_they_are,
    "columns that all hospitals have": columns_of_all,
    "zeros": filled_with_zero,
    "median or most frequent": imputed,
    "the same, with a column that says where": imputed_with_flags,
}


def is_number(column: Any) -> bool:
    """Whether a column holds numbers."""
    return bool(pd.api.types.is_numeric_dtype(column))


def _usual(column: Any) -> Any:
    if is_number(column):
        return column.median()
    return column.mode().iloc[0]


def drawn(frame: Frame, rows_per_task: int, seed: int) -> tuple[Frame, Frame]:
    """So many rows of each hospital to learn from; all others are tested on."""
    rng = np.random.default_rng(seed)
    chosen = []
    for _, rows in frame.groupby(TASK):
        chosen.append(rng.choice(rows.index, min(rows_per_task, len(rows) // 2), replace=False))
    learnt = np.concatenate(chosen)
    return frame.loc[learnt], frame.drop(index=learnt)


def measured(frame: Frame, way: str, rows_per_task: int, seed: int) -> Iterator[Result]:
    """A result per hospital."""
    train, test = drawn(frame, rows_per_task, seed)
    X, X_test = WAYS[way](train.drop(columns=TARGET), test.drop(columns=TARGET))
    model = LifelongClassifier(task_column=TASK, random_state=seed).fit(X, train[TARGET])
    probabilities = model.predict_proba(X_test)
    ill = (test[TARGET] == model.classes_[1]).to_numpy()
    for task in sorted(test[TASK].unique()):
        of_task = (test[TASK] == task).to_numpy()
        p = probabilities[of_task, 1]
        truth = ill[of_task]
        accuracy = float(((p > 0.5) == truth).mean())
        loss = float(log_loss(truth, p, labels=[False, True]))
        auc = float(roc_auc_score(truth, p))
        yield Result(way, rows_per_task, seed, str(task), accuracy, loss, auc)


def read() -> list[Result]:
    """What was measured before."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return [result_of(line) for line in csv.DictReader(file)]


def result_of(line: dict[str, str]) -> Result:
    """A line of the file."""
    return Result(
        line["way"],
        int(line["rows_per_task"]),
        int(line["seed"]),
        line["task"],
        *(float(line[score]) for score in SCORES),
    )


def append(results: list[Result]) -> None:
    """One line each; the header first, if the file is new."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    is_new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        if is_new:
            lines.writerow(Result._fields)
        for result in results:
            scores = [f"{score:.5f}" for score in result[4:]]
            lines.writerow([*result[:4], *scores])


def table(results: list[Result], rows_per_task: int) -> Iterator[str]:
    """A line per way: the mean over hospitals, its mean and spread over draws, and the paired
    difference from ours.
    """
    frame = pd.DataFrame([result for result in results if result.rows_per_task == rows_per_task])
    by_draw = frame.groupby(["way", "seed"])[list(SCORES)].mean()
    ours = by_draw.loc[next(iter(WAYS))]
    n_draws = len(ours)
    yield f"| {rows_per_task} rows per hospital, {n_draws} draws | accuracy | log-loss | AUC |"
    yield "|---|---|---|---|"
    for way in WAYS:
        found = by_draw.loc[way]
        cells = []
        for score in SCORES:
            cell = f"{found[score].mean():.3f} ± {found[score].std():.3f}"
            if way != next(iter(WAYS)):
                difference = found[score] - ours[score]
                error = difference.std() / np.sqrt(n_draws)
                cell += f" ({difference.mean():+.3f} ± {error:.3f})"
            cells.append(cell)
        yield f"| {way} | " + " | ".join(cells) + " |"


def main() -> None:
    """Measure what is not there yet, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 50])
    chosen = parser.parse_args()
    frame = pd.read_csv(data_directory(None) / "tables" / "heart.csv.gz")
    results = read()
    done = {(result.way, result.rows_per_task, result.seed) for result in results}
    for seed in range(chosen.repetitions):
        for rows_per_task in chosen.rows:
            for way in WAYS:
                if (way, rows_per_task, seed) in done:
                    continue
                new = list(measured(frame, way, rows_per_task, seed))
                append(new)
                results += new
                print(way, rows_per_task, seed, flush=True)
    tables = ["\n".join(table(results, rows_per_task)) for rows_per_task in chosen.rows]
    text = "\n\n".join(tables) + "\n"
    print(text)
    put(PAGE, BEGIN, text, END)


if __name__ == "__main__":
    main()
