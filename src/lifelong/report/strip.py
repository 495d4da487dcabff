"""Strip plots: one strip per learner, one dot per task (darker: older).

The bar is the mean of the dots. Over repetitions, the line joins the quartiles and the diamond is
the median, which lies between them; the bar need not, since errors are averaged before logarithms
are taken. :func:`draw_dots` shows the median and the quartiles of every dot instead. A star behind
a name says that the learner adds resources with every task, as in the paper.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from lifelong.evaluation.errors import ErrorTable
from lifelong.report.style import GREY, INK, colour_of, in_figure, new_figure, plain

STATISTICS = {
    "accuracy": "accuracy",
    "gain": "gain over the single-task model",
    "transfer": "transfer T",
    "forward_transfer": "forward transfer FT",
    "backward_transfer": "backward transfer BT",
}
VENIAT = {
    "veniat_transfer": "transfer T (Veniat)",
    "veniat_forward_transfer": "forward transfer FT (Veniat)",
    "veniat_backward_transfer": "backward transfer BT (Veniat)",
}
"""The same without the logarithm: figure strip_overall."""
_NAMES = STATISTICS | VENIAT
Tables = Mapping[str, Sequence[ErrorTable]]  # learner → its tables, one per stream
Values = NDArray[np.float64]
_MOST_ACROSS = 3  # panels side by side: more would be too small to read on a page


@dataclass(frozen=True)
class Quartiles:
    """Over repetitions: numbers, or one of each per task."""

    lower: Any
    median: Any
    upper: Any


@dataclass(frozen=True)
class StripRow:
    """One learner."""

    label: str
    values: Values  # (T,), oldest task first; streams one after another
    ages: Values  # (T,), 0 oldest … 1 newest
    whole: Quartiles  # of the mean over tasks
    dots: Quartiles  # (T,) each
    growing: bool = False  # adds resources with every task

    @property
    def mean(self) -> float:
        """Over tasks."""
        return float(np.mean(self.values))

    @property
    def name(self) -> str:
        """What stands beside the strip."""
        if self.growing:
            return f"{self.label} *"
        return self.label


DrawRow = Callable[[Any, int, StripRow, str], None]  # axis, place, row, colour


@dataclass(frozen=True)
class Strip:
    """One statistic of all learners, best first."""

    statistic: str
    title: str
    alt: str
    rows: tuple[StripRow, ...]


def strips(
    tables: Tables,
    statistics: Sequence[str] = tuple(STATISTICS),
    growing: Collection[str] = (),
) -> list[Strip]:
    """A strip plot per statistic; in all of them the most accurate learner comes first.

    Parameters
    ----------
    tables : learner → its tables
    statistics : names, default those of :data:`STATISTICS`
    growing : labels, default none
        Learners that get a star, because they add resources with every task.
    """
    order = sorted(tables, key=lambda label: -_row(label, tables[label], "accuracy").mean)
    panels = []
    for statistic in statistics:
        rows = [_row(label, tables[label], statistic, label in growing) for label in order]
        panels.append(strip_of(statistic, rows))
    return panels


def _row(
    label: str,
    tables: Sequence[ErrorTable],
    statistic: str,
    growing: bool = False,
) -> StripRow:
    values = np.concatenate([getattr(table, statistic) for table in tables])
    ages = np.concatenate([np.linspace(0, 1, len(table.tasks)) for table in tables])
    spreads = [table.spread(statistic) for table in tables]
    dots = Quartiles(
        *(
            np.concatenate([spread[side] for spread in spreads])
            for side in ("lower", "median", "upper")
        )
    )
    whole = Quartiles(*quartiles(tables, statistic))
    return StripRow(label, values, ages, whole, dots, growing)


def quartiles(tables: Sequence[ErrorTable], statistic: str) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile over repetitions of means over tasks (and streams)."""
    n = min(len(table.errors) for table in tables)
    each = [
        np.mean([np.mean(getattr(table.each_repetition[r], statistic)) for table in tables])
        for r in range(n)
    ]
    lower, median, upper = np.percentile(each, [25, 50, 75])
    return float(lower), float(median), float(upper)


def strip_of(statistic: str, rows: Sequence[StripRow]) -> Strip:
    """A panel with these rows, in their order; those without a number are left out."""
    shown = [row for row in rows if not np.isnan(row.mean)]
    means = ", ".join(f"{row.label} {row.mean:.3f}" for row in shown)
    alt = f"{_NAMES[statistic]} of each learner, a dot per task. Means over tasks: {means}."
    finding = _finding(statistic, shown)
    if statistic in VENIAT:
        finding = f"In differences of errors: {finding[0].lower()}{finding[1:]}"
    return Strip(statistic, finding, alt, tuple(shown))


def _finding(statistic: str, rows: list[StripRow]) -> str:
    if not rows:
        return f"No {_NAMES[statistic]} was measured"
    best = max(rows, key=lambda row: row.mean)
    above = sum(row.mean > 5e-4 for row in rows)
    n = len(rows)
    most = ""
    if above:
        most = f", {best.label} most"
    if statistic == "accuracy":
        return f"{best.label} is most accurate: {best.mean:.3f}"
    if statistic == "gain":
        return f"{above} of {n} beat the plain single-task model{most}"
    if statistic.endswith("backward_transfer"):
        below = sum(row.mean < -5e-4 for row in rows)
        return f"Later tasks help {above} of {n} learners; {below} forget"
    source = "Earlier tasks help" if statistic.endswith("forward_transfer") else "Other tasks help"
    return f"{source} {above} of {n} learners{most}"


def draw_strips(panels: Sequence[Strip]) -> Figure:
    """The panels side by side, three at most in a row."""
    return _drawn(panels, draw_row)


def draw_dots(panels: Sequence[Strip]) -> Figure:
    """The same with the median and the quartiles of every task: figure strip_IQR."""
    return _drawn(panels, _draw_dots_of)


def _drawn(panels: Sequence[Strip], of_row: DrawRow) -> Figure:
    n_rows = max(max(len(panel.rows) for panel in panels), 1)
    across = min(len(panels), _MOST_ACROSS)
    down = -(-len(panels) // across)
    longest = max((min(len(row.name), 48) for panel in panels for row in panel.rows), default=0)
    names = 0.07 * max(
        0, longest - 12
    )  # inches that long names take, so that a title still fits beside them
    if len(panels) == 1:
        width = 4.8
    else:
        width = 3.1 * across
    figure = new_figure(width + names, down * (1.1 + 0.25 * n_rows))
    axes = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, panel in zip(axes, panels, strict=False):
        draw_panel(axis, panel, of_row, title_width=46 if len(panels) == 1 else 34)
    return figure


def draw_panel(axis: Any, panel: Strip, of_row: DrawRow, title_width: int) -> None:
    """One panel on an axis of its own."""
    labels = [row.label for row in panel.rows]
    for y, row in enumerate(panel.rows):
        of_row(axis, y, row, colour_of(row.label, labels))
    if panel.statistic != "accuracy":
        axis.axvline(0, color=GREY, lw=0.8, zorder=0)
    axis.set_yticks(range(len(labels)), [in_figure(row.name, most=48) for row in panel.rows])
    axis.set_ylim(len(labels) - 0.4, -0.6)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5))
    plain(axis, title=panel.title, xlabel=_NAMES[panel.statistic], title_width=title_width)


def draw_row(axis: Any, y: int, row: StripRow, colour: str) -> None:
    """A dot per task, their mean, and the spread of that mean."""
    _scatter(axis, y, row.values, row.ages, colour)
    axis.plot([row.whole.lower, row.whole.upper], [y, y], color=INK, lw=1)
    axis.plot([row.mean] * 2, [y - 0.34, y + 0.34], color=INK, lw=1.8)
    axis.plot([row.whole.median], [y], color=INK, marker="D", ms=3.4, mfc="white", mew=0.9)


def _draw_dots_of(axis: Any, y: int, row: StripRow, colour: str) -> None:
    places = y + np.linspace(-0.36, 0.36, len(row.values))
    axis.hlines(places, row.dots.lower, row.dots.upper, color=colour, lw=1)
    axis.scatter(row.dots.median, places, s=5, color=colour, linewidths=0, clip_on=False)


def _scatter(axis: Any, y: int, values: Values, ages: Values, colour: str) -> None:
    spread = np.where(np.arange(len(values)) % 2, 0.16, -0.16) * (len(values) > 6)
    # Nothing to clip: the axes hold all dots. Without it, a file has half the size.
    look = {"s": 15, "color": colour, "alpha": 1 - 0.65 * ages, "linewidths": 0}
    axis.scatter(values, y + spread, clip_on=False, **look)
