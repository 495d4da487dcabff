"""Every task gets better as others arrive: ``python -m benchmarks.arriving``.

Twelve tasks of a table arrive one by one, with few rows each. After every arrival
LifelongClassifier (``partial_fit``) is measured beside one forest of all rows so far, told the
task, and a forest per task: on the three tasks that came first, and on the one that has just come.
Three tables of the race (:mod:`benchmarks.tables`) have twelve tasks. Rows are appended to
docs/results/arriving/rows.csv; ``--picture`` draws README's first picture from them.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.table_data import Draw, TaskTable, read, related_tasks
from benchmarks.table_rivals import in_all_classes, quiet
from benchmarks.table_stack import own_forest, pooled_forest
from lifelong import LifelongClassifier

TABLES = ("adult", "beijing", "vowel")
ROWS = 20
N_TASKS = 12
N_FIRST = 3
SEEDS = (0, 1, 2, 3, 4)
RESULTS = Path("docs/results/arriving/rows.csv")
PICTURE = Path("docs/images/arriving.svg")
LINES = {
    "LifelongClassifier": ("#d1495b", "o"),
    "one forest for all tasks": ("#2a78b8", "s"),
    "a forest per task": ("#7d8a97", "^"),
}
PANELS = {
    "first": f"the first {N_FIRST} tasks",
    "new": "the task that has just come",
}


@dataclass(frozen=True)
class Result:
    """The accuracy of one learner with so many tasks known."""

    table: str
    seed: int
    n_known: int
    asked: str
    learner: str
    accuracy: float


def of_tasks(draw: Draw, tasks: list[str], asked: list[str]) -> Draw:
    """The rows of some tasks to learn from, and of some to be asked about."""
    train = draw.train[np.isin(draw.train_tasks, tasks)]
    test = draw.test[np.isin(draw.test_tasks, asked)]
    return replace(draw, train=train, test=test)


def accuracy(draw: Draw, answers: NDArray[np.float64], tasks: list[str]) -> float:
    """The mean over tasks."""
    hits = answers.argmax(axis=1) == draw.table.y[draw.test]
    return float(np.mean([hits[draw.test_tasks == task].mean() for task in tasks]))


def measured(table: TaskTable, seed: int) -> Iterator[Result]:
    """All learners after every arrival."""
    order = np.random.default_rng(seed).permutation(table.task_names)[:N_TASKS].tolist()
    everything = related_tasks(table, ROWS, seed)
    model = LifelongClassifier(table.source.task, random_state=seed, n_jobs=1)
    for n_known in range(1, len(order) + 1):
        known = order[:n_known]
        new = known[-1:]
        lesson = of_tasks(everything, new, new)
        model.partial_fit(table.frame.iloc[lesson.train], lesson.y)
        asked = {"new": new}
        if n_known >= N_FIRST:
            asked["first"] = order[:N_FIRST]
        for which, tasks in asked.items():
            draw = of_tasks(everything, known, tasks)
            ours = model.predict_proba(table.frame.iloc[draw.test])
            answers = {
                "LifelongClassifier": in_all_classes(ours, model.classes_, table.n_classes),
                "one forest for all tasks": pooled_forest(draw),
                "a forest per task": own_forest(of_tasks(everything, tasks, tasks)),
            }
            for learner, found in answers.items():
                score = round(accuracy(draw, found, tasks), 5)
                yield Result(table.name, seed, n_known, which, learner, score)


def append(results: list[Result]) -> None:
    """Rows at the end of the file, which has a header."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    begins = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(results[0])), lineterminator="\n")
        if begins:
            writer.writeheader()
        writer.writerows(asdict(result) for result in results)


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over tables, with the standard error over seeds, for every panel, learner and number."""
    by_seed = rows.groupby(["asked", "learner", "n_known", "seed"]).accuracy.mean()
    by_point = by_seed.groupby(level=["asked", "learner", "n_known"])
    return by_point.agg(["mean", "sem"])


def draw_picture(rows: pd.DataFrame, to: Path = PICTURE) -> None:
    """Two panels, legible on white and on black."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    grey = "#808080"
    found = points(rows)
    figure, axes = plt.subplots(1, len(PANELS), figsize=(8, 3.1), sharey=True)
    for axis, (asked, title) in zip(axes, PANELS.items(), strict=True):
        for learner, (colour, mark) in LINES.items():
            line = found.loc[asked, learner]
            places = line.index.to_numpy()
            axis.plot(places, line["mean"], color=colour, marker=mark, markersize=4, label=learner)
            low = line["mean"] - line["sem"]
            axis.fill_between(
                places, low, line["mean"] + line["sem"], color=colour, alpha=0.2, lw=0
            )
        axis.set_title(title, fontsize=10, color=grey, loc="left")
        axis.set_xlabel("tasks known", color=grey)
        axis.set_xticks(range(1, N_TASKS + 1))
        axis.tick_params(colors=grey)
        for side, spine in axis.spines.items():
            spine.set_color(grey)
            spine.set_visible(side in ("left", "bottom"))
    axes[0].set_ylabel("accuracy", color=grey)
    axes[0].legend(frameon=False, labelcolor=grey, fontsize=9)
    figure.tight_layout()
    mpl.rcParams["svg.hashsalt"] = "lifelong"
    figure.savefig(to, transparent=True, metadata={"Date": None})


def main() -> None:
    """Measure what is not in the file, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--picture", action="store_true", help="draw what was measured before")
    chosen = parser.parse_args()
    quiet()
    if not chosen.picture:
        done = set()
        if RESULTS.exists():
            before = pd.read_csv(RESULTS)
            done = set(zip(before.table, before.seed, strict=True))
        for seed in chosen.seeds:
            for name in TABLES:
                if (name, seed) not in done:
                    append(list(measured(read(name), seed)))
                    print(name, seed, flush=True)
    rows = pd.read_csv(RESULTS)
    print(points(rows).round(3).to_string())
    draw_picture(rows)


if __name__ == "__main__":
    main()
