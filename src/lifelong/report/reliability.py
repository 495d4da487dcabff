"""Reliability curves: whether probabilities of a learner mean what they say, task by task."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from lifelong.evaluation.calibration import ReliabilityCurve, together
from lifelong.evaluation.measure import STAGE
from lifelong.experiments.tables import Results
from lifelong.report.style import FIXED, GREY, in_figure, new_figure, plain

MOST_PANELS = 60
"""Tasks that have a curve of their own on a page."""

WIDTH = 3.0  # inches, of a panel

_COLOUR = FIXED["silly-f"]


@dataclass(frozen=True)
class TaskCurve:
    """The curve of one task, of the rows of all repetitions together."""

    part: str
    task: str
    curve: ReliabilityCurve

    @property
    def title(self) -> str:
        """What the panel is of."""
        error = f"ECE {self.curve.calibration_error:.3f}"
        return f"{self.part}: {in_figure(self.task, most=30)} · {error}"


def task_curves(results: Results, learner: str) -> list[TaskCurve]:
    """The curves of a learner after the last task, in order of streams and tasks."""
    found: dict[tuple[str, str], list[ReliabilityCurve]] = {}
    for row in results.rows:
        is_last = row.kind == STAGE and row.stage == row.n_tasks - 1
        if row.done and is_last and row.learner == learner and row.reliability:
            curve = ReliabilityCurve.from_json(row.reliability)
            found.setdefault((row.part, str(row.task)), []).append(curve)
    return [TaskCurve(part, task, together(curves)) for (part, task), curves in found.items()]


def panels(curves: list[TaskCurve]) -> Iterator[tuple[str, str, Figure]]:
    """Title, words and picture of each curve, up to :data:`MOST_PANELS`."""
    for each in curves[:MOST_PANELS]:
        figure = draw_reliability(each.curve, "classes", each.title, WIDTH)
        yield each.title, describe(each.curve, each.title), figure


def draw_reliability(curve: ReliabilityCurve, aim: str, title: str, width: float) -> Figure:
    """Promised against held, with standard errors; the larger a dot, the more rows it stands for.

    The diagonal is where promises are kept.
    """
    figure = new_figure(width, width * 0.92)
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color=GREY, lw=1, dashes=(4, 3))
    there = (curve.rows > 0) & np.isfinite(curve.accuracy)
    x = curve.confidence[there]
    y = curve.accuracy[there]
    n = curve.rows[there]
    # of a share y of n rows, with half a row of each kind added: none and all have errors, too
    share = (y * n + 0.5) / (n + 1)
    error = np.sqrt(share * (1 - share) / n)
    low = np.clip(y - error, 0, 1)
    high = np.clip(y + error, 0, 1)
    axis.vlines(x, low, high, color=_COLOUR, lw=1, alpha=0.6)
    axis.plot(x, y, color=_COLOUR, lw=1)
    axis.scatter(x, y, s=8 + 40 * n / n.max(), color=_COLOUR, linewidths=0)
    axis.set_xlim(-0.03, 1.03)
    axis.set_ylim(-0.03, 1.03)
    xlabel = "how sure (probability of the answer)"
    ylabel = "share of right answers"
    if aim == "number":
        xlabel = "share that an interval promises"
        ylabel = "share of rows inside"
    plain(axis, title=title, xlabel=xlabel, ylabel=ylabel, title_width=int(9 * width))
    return figure


def describe(curve: ReliabilityCurve, name: str) -> str:
    """The curve in words."""
    there = curve.rows > 0
    points = ", ".join(
        f"{y:.2f} at {x:.2f}"
        for x, y in zip(curve.confidence[there], curve.accuracy[there], strict=True)
    )
    return f"Reliability of {name}: {points}."
