"""LifelongClassifier as tasks grow from 10 to 10 000, a task of 100 rows × 20 columns at a time.

``python -m benchmarks growth_tables`` goes to 10 000 tasks, with ``--quick`` to 1000; ``python -m
benchmarks.growth_tables --tasks 3000`` to any number. Points are written as they come, to
docs/results/bench/growth-tables.json; ``--report`` makes the picture and the table of
docs/performance.md from them.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row, timed
from benchmarks.table import put, quantity
from lifelong import LifelongClassifier, load, save

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
N_ROWS = 100
N_COLUMNS = 20
MOST_EXPONENT = 0.15
FILE = Path("docs/results/bench/growth-tables.json")
PICTURE = Path("docs/images/growth-tables.svg")
PAGE = Path("docs/performance.md")
BEGIN = "<!-- growth: begin -->"
END = "<!-- growth: end -->"
COSTS = {
    "add": ("one more task", "CPU s"),
    "predict": ("1000 rows of one task", "CPU s"),
    "one_row": ("one row", "CPU s"),
    "bytes_per_task": ("bytes per task", "B"),
    "learnt": ("all learnt", "CPU s"),
}

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Point:
    """Costs with T tasks known: CPU seconds, and bytes."""

    n_tasks: int
    add: float  # one more task: median of the last lessons without a new shared encoder
    learnt: float  # all tasks so far, shared encoders included
    predict: float  # 1000 rows of one task
    one_row: float
    bytes_per_task: float  # of encoders, channels and stored rows


def tasks(n_tasks: int) -> Iterator[Rows]:
    """Related tasks: each weighs three common directions in its own way."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(3, N_COLUMNS))
    for _ in range(n_tasks):
        X = rng.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
        slopes = rng.dirichlet(np.ones(3)) @ directions
        score = X @ slopes + X[:, 0] * X[:, 1] + rng.normal() / 2
        yield X, (score + rng.normal(size=N_ROWS) > 0).astype(int)


def grow(sizes: Sequence[int]) -> Iterator[tuple[Point, LifelongClassifier]]:
    """Costs at several numbers of tasks, task after task."""
    asked = np.random.default_rng(1).normal(size=(1000, N_COLUMNS)).astype(np.float32)
    model = LifelongClassifier(random_state=0)
    lessons: list[float] = []
    makings = 0
    spent = 0.0
    for number, (X, y) in enumerate(tasks(max(sizes))):
        seconds = timed(lambda t=number, X=X, y=y: model.partial_fit(X, y, task=t))["CPU s"]
        spent += seconds
        made_from = len(model.knowledge_.shared.tasks)
        if made_from == makings:
            lessons.append(seconds)
        makings = made_from
        if number + 1 in sizes:
            known = model.sizes()
            held = sum(size for content, size in known.items() if content != "parameters")
            point = Point(
                number + 1,
                statistics.median(lessons[-20:]),
                spent,
                _median(lambda t=number // 2: model.predict(asked, task=t), 5),
                _median(lambda: [model.predict(asked[:1], task=0) for _ in range(100)], 3) / 100,
                held / (number + 1),
            )
            yield point, model


def _median(work: object, repeats: int) -> float:
    return statistics.median(timed(work)["CPU s"] for _ in range(repeats))


def measured(sizes: Sequence[int], file: Path = FILE) -> list[Point]:
    """All points, written as they come; then the last model saved and opened."""
    points: list[Point] = []
    found: dict[str, object] = {"load average": os.getloadavg()[0]}
    for point, model in grow(sizes):
        points.append(point)
        found["points"] = [asdict(each) for each in points]
        found["load average at the end"] = os.getloadavg()[0]
        file.write_text(json.dumps(found, indent=1) + "\n")
        print(json.dumps(asdict(point)), flush=True)
        if point.n_tasks == max(sizes) or point.n_tasks >= 1000:
            found["saved"] = {"n_tasks": point.n_tasks, **saved(model)}
            file.write_text(json.dumps(found, indent=1) + "\n")
            print(found["saved"], flush=True)
    return points


def saved(model: LifelongClassifier) -> dict[str, float]:
    """Bytes of the saved directory, and seconds of saving, of opening, and of a first answer."""
    with tempfile.TemporaryDirectory() as folder:
        saving = timed(lambda: save(model, folder))["CPU s"]
        n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
        start = time.process_time()
        opened = load(folder, lazy=True)
        opening = time.process_time() - start
        row = np.zeros((1, N_COLUMNS), dtype=np.float32)
        first = timed(lambda: opened.predict(row, task=0))["CPU s"]
    return {"bytes": n_bytes, "save": saving, "open": opening, "first answer": first}


def exponent(points: Sequence[Point], field: str) -> float:
    """The slope of log cost over log T, by least squares."""
    sizes = np.log([point.n_tasks for point in points])
    costs = np.log([asdict(point)[field] for point in points])
    return float(np.polyfit(sizes, costs, 1)[0])


def rows(quick: bool) -> Iterator[Row]:
    """Exponents of T, all tasks learnt, the directory."""
    sizes = SIZES
    file = FILE
    if quick:
        sizes = tuple(size for size in SIZES if size <= 1000)
        file = FILE.with_name("growth-tables-quick.json")
    yield from rows_of(measured(sizes, file), json.loads(file.read_text())["saved"])


def rows_of(points: Sequence[Point], directory: dict[str, float]) -> Iterator[Row]:
    """The lines of the table."""
    load_now = os.getloadavg()[0]
    what = f"LifelongClassifier, {points[0].n_tasks} → {points[-1].n_tasks} tasks"
    for words, field, unit in (
        ("one more task", "add", "CPU s"),
        ("predict 1000 rows of one task", "predict", "CPU s"),
        ("bytes per task", "bytes_per_task", "B"),
    ):
        last = asdict(points[-1])[field]
        first = asdict(points[0])[field]
        slope = exponent(points, field)
        work = f"{what}: {words}"
        yield Row(
            work, "exponent of T", slope, "≤", MOST_EXPONENT, last, first, unit, load=load_now
        )
    n_tasks = points[-1].n_tasks
    limits = {
        "learning in all": (points[-1].learnt, 0.09 * n_tasks),
        "opening the saved directory": (directory["open"], 2.0),
    }
    for words, (seconds, most) in limits.items():
        work = f"{n_tasks} tasks × {N_ROWS} × {N_COLUMNS}: {words}"
        yield Row(work, "CPU seconds", seconds, "≤", most, seconds, load=load_now)
    work = f"{n_tasks} tasks × {N_ROWS} × {N_COLUMNS}: the saved directory"
    n_bytes = directory["bytes"]
    yield Row(work, "bytes", n_bytes / 2e9, "≤", 1.0, n_bytes, 2e9, "B", load=load_now)


def draw(points: Sequence[Point], to: Path = PICTURE) -> None:
    """Costs over tasks, each as a multiple of its first point; legible on white and on black."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    grey = "#808080"
    sizes = [point.n_tasks for point in points]
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for words, field, colour, mark in (
        ("one more task", "add", "#1b9e77", "o"),
        ("predict 1000 rows", "predict", "#d95f02", "s"),
        ("bytes per task", "bytes_per_task", "#7570b3", "^"),
    ):
        costs = np.array([asdict(point)[field] for point in points])
        label = f"{words}: T^{exponent(points, field):.2f}"
        axes.plot(sizes, costs / costs[0], color=colour, marker=mark, label=label, linewidth=2)
    linear = np.array(sizes) / sizes[0]
    axes.plot(sizes, linear, color=grey, linestyle=":", label="linear")
    axes.set(xscale="log", yscale="log", xlabel="tasks known", ylabel="cost ÷ cost at 10 tasks")
    axes.tick_params(colors=grey, which="both")
    for spine in axes.spines.values():
        spine.set_color(grey)
    axes.xaxis.label.set_color(grey)
    axes.yaxis.label.set_color(grey)
    axes.set_ylim(0.1, 20)
    axes.legend(frameon=False, labelcolor=grey)
    figure.savefig(to, transparent=True, bbox_inches="tight", metadata={"Date": None})


def markdown(found: dict[str, Any]) -> str:
    """The table of the page: a line per number of tasks, exponents, and the saved directory."""
    points = [Point(**point) for point in found["points"]]
    lines = [
        f"| tasks known | {' | '.join(words for words, _ in COSTS.values())} |",
        f"|---:|{'---:|' * len(COSTS)}",
    ]
    for point in points:
        costs = [quantity(asdict(point)[field], unit) for field, (_, unit) in COSTS.items()]
        lines.append(f"| {point.n_tasks} | {' | '.join(costs)} |")
    slopes = [f"{exponent(points, field):.2f}" for field in COSTS if field != "learnt"]
    lines.append(f"| exponent of T | {' | '.join(slopes)} | |")
    directory = found["saved"]
    lines += [
        "",
        f"The directory of {directory['n_tasks']} tasks has {quantity(directory['bytes'], 'B')}"
        f" and opens in {quantity(directory['open'], 'CPU s')} (`load(directory, lazy=True)`); the"
        f" first answer of a task takes {quantity(directory['first answer'], 'CPU s')}, saving all"
        f" {quantity(directory['save'], 'CPU s')}. Load average {found['load average']:.1f} to"
        f" {found['load average at the end']:.1f} on two cores.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure as many tasks as asked for, or show what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=max(SIZES), help="tasks at most")
    parser.add_argument("--report", action="store_true", help="show what was measured before")
    chosen = parser.parse_args()
    if not chosen.report:
        sizes = [size for size in SIZES if size < chosen.tasks]
        measured([*sizes, chosen.tasks])
    found = json.loads(FILE.read_text())
    draw([Point(**point) for point in found["points"]])
    put(PAGE, BEGIN, markdown(found), END)


if __name__ == "__main__":
    main()
