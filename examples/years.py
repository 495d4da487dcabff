"""A stream that runs for years on a fixed budget: ten years, a new product every month, drift, and
nothing grows.

    python examples/years.py                         # 120 months, a few minutes
    python examples/years.py --picture years         # and draw it

Rows are generated: twelve modes of a machine as in sites.py, but they wander, and after ten years
none is where it was. Six products are in production at a time, and each sorts the modes in its own
way. The learner lives in a directory (store=): kill it and start it again with the same directory,
and it goes on. An old product is forgotten, and of eight encoders the one that says least goes when
a new one comes (budget=8, keep="useful").
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from lifelong import SillyForest, Store


class Month(NamedTuple):
    """What one month measured."""

    plain: float  # accuracy of a forest on the product's own rows
    first: float  # ... of a learner that stopped training encoders when its budget was spent
    ours: float  # ... of the learner, on the new product
    oldest: float  # ... on the oldest product in production
    seconds: float
    kilobytes: float  # in the store
    files: int
    memory: float  # peak of the process, MB


class Machine:
    """Generated rows of products that share the modes of one machine; the modes wander."""

    def __init__(self, seed: int, n_modes: int = 12, n_sensors: int = 10) -> None:
        self.rng = np.random.default_rng(seed)
        self.modes = self.rng.normal(size=(n_modes, n_sensors))

    def next_product(
        self, n: int
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """A month later: rows to learn from and rows to be tested on."""
        step = self.rng.normal(size=self.modes.shape)
        self.modes = (
            0.995 * self.modes + 0.1 * step
        )  # a walk that stays in bounds: the spread of modes does not change
        meaning = self.rng.permutation(np.resize(["ok", "watch", "stop"], len(self.modes)))
        return self._rows(meaning, n), self._rows(meaning, 300)

    def _rows(self, meaning: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        mode = self.rng.integers(len(self.modes), size=n)
        return (
            self.modes[mode] + 0.45 * self.rng.normal(size=(n, self.modes.shape[1])),
            meaning[mode],
        )


def live(
    months: int, n_rows: int, n_trees: int, in_production: int, directory: Path
) -> list[Month]:
    """Month after month: a new product comes, the oldest one goes."""
    machine = Machine(seed=0)
    tests = {}
    measured = []
    settings = {"n_estimators": n_trees, "channel": "ridge", "budget": 8, "random_state": 0}
    learner = SillyForest(**settings, keep="useful", store=Store(directory, cache_bytes=1_000_000))
    first = SillyForest(**settings, keep="first")
    for month in range(1, months + 1):
        (X, y), test = machine.next_product(n_rows)
        name = f"month {month}"
        started = time.perf_counter()
        renew(learner, name, X, y, in_production)
        seconds = time.perf_counter() - started
        renew(first, name, X, y, in_production)
        tests = {known: tests.get(known, test) for known in learner.tasks_}
        oldest = next(iter(tests))
        plain = RandomForestClassifier(8 * n_trees, random_state=0).fit(X, y)
        scores = (plain.score(*test), first.score(*test, name), learner.score(*test, name))
        measured.append(
            Month(*scores, learner.score(*tests[oldest], oldest), seconds, *size_of(directory))
        )
        if month % 12 == 0:
            show(month, measured[-12:])
    return measured


def renew(
    learner: SillyForest, name: str, X: np.ndarray, y: np.ndarray, in_production: int
) -> None:
    """A new product comes; the oldest one goes with its rows and its channel.

    Its encoder goes when it is of no use.
    """
    learner.partial_fit(X, y, task=name)
    if len(learner.tasks_) > in_production:
        learner.forget(next(iter(learner.tasks_)))


def size_of(directory: Path) -> tuple[float, int, float]:
    """Kilobytes and files in the store, and the peak of the process's memory in MB (Linux counts in
    kB).
    """
    files = [path for path in directory.rglob("*") if path.is_file()]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return sum(path.stat().st_size for path in files) / 1000, len(files), peak


def show(month: int, year: list[Month]) -> None:
    mean = Month(*np.mean(year, axis=0))
    last = year[-1]
    line = f"year {month // 12:3}: forest {mean.plain:.2f}, first eight encoders {mean.first:.2f}, "
    line += f"eight useful ones {mean.ours:.2f} (oldest product {mean.oldest:.2f}); "
    print(
        line + f"{last.kilobytes:5.0f} kB in {last.files} files, {mean.seconds:.2f} s a month,"
        f" {last.memory:.0f} MB"
    )


def draw(path: Path, measured: list[Month]) -> None:
    """Accuracy over the years, and what it takes."""
    from lifelong.report.style import GREY, new_figure, plain, write

    figure = new_figure(7.2, 4.6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 1])
    years = np.arange(1, len(measured) + 1) / 12
    for part, label, colour in [
        ("plain", "a forest on the new product's rows", GREY),
        ("first", "the first eight encoders, kept for ever", "#c98a1b"),
        ("ours", "the eight most useful encoders", "#d1495b"),
    ]:
        values = np.array([getattr(month, part) for month in measured])
        top.plot(years, smooth(values), color=colour, linewidth=2, label=label)
        top.scatter(years, values, color=colour, s=6, alpha=0.35, linewidths=0)
    top.legend(frameon=False, fontsize=9, loc="lower left")
    plain(
        top,
        title="Accuracy on a new product (lines: mean of a year)",
        ylabel="accuracy",
        title_width=90,
    )
    bottom.plot(years, [month.kilobytes for month in measured], color="#2a78b8", linewidth=1.6)
    bottom.set_ylim(0, 1.25 * max(month.kilobytes for month in measured))
    plain(bottom, title="Kilobytes on disk", xlabel="years", ylabel="kB", title_width=90)
    write(figure, path)
    print(f"Picture: {path.with_suffix('.svg')} and .png")


def smooth(values: np.ndarray, width: int = 12) -> np.ndarray:
    """The mean of the months around each month."""
    half = width // 2
    return np.array([values[max(0, at - half) : at + half + 1].mean() for at in range(len(values))])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--months", type=int, default=120)
    parser.add_argument("--rows", type=int, default=40, help="labelled rows of each new product")
    parser.add_argument("--trees", type=int, default=10, help="trees of each encoder")
    parser.add_argument("--in-production", type=int, default=6)
    parser.add_argument("--picture", type=Path, help="draw it, as .svg and .png")
    chosen = parser.parse_args()
    print(
        f"Generated rows: {chosen.months} months, a new product with {chosen.rows} labelled rows"
        " every month."
    )
    with tempfile.TemporaryDirectory() as directory:
        measured = live(
            chosen.months, chosen.rows, chosen.trees, chosen.in_production, Path(directory)
        )
    if chosen.picture:
        draw(chosen.picture, measured)


if __name__ == "__main__":
    main()
