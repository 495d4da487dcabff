"""Draw what no single report draws for the pages: ``python -m benchmarks.committed_figures``.

- ``docs/images/strip-all.svg``: the paper's figure strip, all datasets in one, from the tables in
  ``docs/results``.
- ``docs/results/adversarial-order/figures/orders.svg``: figure cifar2, left: each order, each task.
- The strips of results that have no rows.
- ``docs/images/spectrograms.png``: figure spectrogram, from the recordings (needs their files).
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from lifelong.experiments.spec import Spec
from lifelong.experiments.store import Store
from lifelong.report.learner_facts import fact_sheet
from lifelong.report.strip import STATISTICS, Strip, draw_panel, draw_row, draw_strips
from lifelong.report.style import INK, new_figure, plain, write_svg
from lifelong.report.written import written_orders, written_strip
from lifelong.tasks.datasets import load

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
IMAGES = ROOT / "docs" / "images"
DATASETS = {
    "cifar-10x10": "CIFAR 10×10",
    "spoken-digit": "spoken digit",
    "tabular-cifar": "tabular CIFAR",
    "glyphs-budget": "kanji 50×20 (for Food1k)",
    "mini-imagenet-20x5": "Mini-ImageNet 20×5",
    "five-datasets": "5-dataset",
}
COLUMNS = ("transfer", "forward_transfer", "backward_transfer", "accuracy")
PAPER = (  # the learners of the paper's figure
    *("silly-n", "silly-f", "model-zoo", "prognn", "df-cnn", "lmc", "lwf", "coscl", "randumb"),
    *("a-gem", "total-replay", "partial-replay", "none"),
    *("silly-n, no limit", "silly-n, 20 encoders", "silly-n, 5 encoders"),
)
IN_ORDERS = ("silly-n", "silly-f", "lwf", "ewc", "none")


def growing(spec: Spec, n_tasks: int) -> set[str]:
    """The labels of the learners that add resources with every task."""
    sheets = {learner.label: fact_sheet(learner, n_tasks) for learner in spec.learners}
    return {label for label, entry in sheets.items() if entry is not None and entry.growing}


def number_of_tasks(folder: Path, stream: str) -> int:
    """Of one stream."""
    with (folder / "tasks.csv").open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["stream"] == stream]
    return len({line["task"] for line in lines})


def panel_of(name: str, statistic: str, learners: tuple[str, ...] = ()) -> Strip:
    """A panel of committed results."""
    folder = RESULTS / name
    spec = Store(folder).read_spec()
    assert spec is not None, name
    streams = [part.name for part in spec.headline]
    marked = growing(spec, n_tasks=number_of_tasks(folder, streams[0]))
    return written_strip(folder, statistic, streams=streams, learners=learners, growing=marked)


def all_datasets() -> Figure:
    """A row of panels per dataset that has results: T, FT, BT and accuracy."""
    shown = [name for name in DATASETS if (RESULTS / name / "table.csv").is_file()]
    rows = {name: [panel_of(name, statistic, PAPER) for statistic in COLUMNS] for name in shown}
    heights = [0.9 + 0.22 * len(panels[0].rows) for panels in rows.values()]
    figure = new_figure(10.4, sum(heights))
    for part, (name, panels) in zip(
        figure.subfigures(len(rows), 1, squeeze=False, height_ratios=heights)[:, 0],
        rows.items(),
        strict=True,
    ):
        for axis, panel in zip(part.subplots(1, len(COLUMNS), sharey=True), panels, strict=True):
            draw_panel(axis, panel, draw_row, title_width=30)
            plain(axis, title="", xlabel=STATISTICS[panel.statistic])
        part.suptitle(DATASETS[name], fontsize=11, color=INK, x=0.01, ha="left")
    return figure


def orders() -> Figure:
    """A panel per learner, a strip per order."""
    folder = RESULTS / "adversarial-order"
    panels = [written_orders(folder, learner) for learner in IN_ORDERS]
    figure = draw_strips(panels)
    for axis, learner, panel in zip(figure.axes, IN_ORDERS, panels, strict=False):
        means = [row.mean for row in panel.rows]
        title = f"{learner}: mean T from {min(means):+.3f} to {max(means):+.3f}"
        plain(axis, title=title.replace("-0", "−0"), xlabel=STATISTICS["transfer"], title_width=34)
    return figure


def spectrograms(digit: int = 5, columns: int = 8) -> Figure:
    """So many recordings of one digit by each speaker."""
    stream = load("spoken-digit")
    figure = new_figure(6.4, 0.82 * len(stream))
    axes = figure.subplots(len(stream), columns)
    for across, task in zip(axes, stream, strict=True):
        rows = np.flatnonzero(task.y_train == digit)[:columns]
        across[0].set_ylabel(task.name, fontsize=9, color=INK)
        for axis, row in zip(across, rows, strict=True):
            axis.imshow(
                task.X_train[row].mean(axis=0),
                cmap="magma",
                origin="lower",
                interpolation="nearest",
            )
            axis.set_xticks([])
            axis.set_yticks([])
    return figure


def without_rows() -> list[Path]:
    """Strips of results whose rows were never committed, from their tables."""
    written = []
    for folder in sorted(path.parents[1] for path in RESULTS.glob("*/figures/strip.svg")):
        if not Store(folder).packed_path.is_file():
            panels = [panel_of(folder.name, statistic) for statistic in STATISTICS]
            written.append(write_svg(draw_strips(panels), folder / "figures" / "strip"))
    return written


def main() -> None:
    """Draw them all."""
    files = without_rows()
    files.append(write_svg(all_datasets(), IMAGES / "strip-all"))
    files.append(write_svg(orders(), RESULTS / "adversarial-order" / "figures" / "orders"))
    picture = IMAGES / "spectrograms.png"
    spectrograms().savefig(picture, dpi=90)
    for file in [*files, picture]:
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
