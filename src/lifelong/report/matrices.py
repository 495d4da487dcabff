"""Accuracy matrices: how good a learner is on each task (down) after each stage (across)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lifelong.evaluation.errors import ErrorTable
from lifelong.report.style import INK, in_figure, new_figure, plain
from lifelong.tasks.base import TaskName


@dataclass(frozen=True)
class Matrix:
    """One learner: ``accuracy[t, s]`` on task t after stage s, NaN before the task arrived."""

    label: str
    title: str
    alt: str
    tasks: tuple[TaskName, ...]
    accuracy: NDArray[np.float64]  # (T, T)


def matrix(table: ErrorTable) -> Matrix:
    """The matrix of a learner, mean over repetitions."""
    accuracy = 1 - table.errors.mean(axis=0)
    arrival = np.diagonal(accuracy)
    final = accuracy[:, -1]
    change = 0.0
    if len(final) > 1:
        change = float(np.mean((final - arrival)[:-1]))
    if abs(change) < 5e-4:
        finding = "keeps its accuracy"
    elif change > 0:
        finding = f"gains {change:.3f}"
    else:
        finding = f"loses {-change:.3f}"
    title = f"{table.learner} {finding} on old tasks"
    alt = (
        f"Accuracy of {table.learner} on each task after each stage: {arrival.mean():.3f} on"
        f" average when a task has just been learnt, {final.mean():.3f} after all {len(final)}"
        " tasks."
    )
    return Matrix(table.learner, title, alt, tuple(table.tasks), accuracy)


def draw_matrices(matrices: Sequence[Matrix], low: float, high: float) -> Figure:
    """Heat maps; ``low`` and ``high`` are shared by all that are compared."""
    across = min(len(matrices), 4)
    down = -(-len(matrices) // across)
    figure = new_figure(3.5 * across, 3.0 * down)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for axis in axes[len(matrices) :]:
        axis.set_axis_off()
    for axis, shown in zip(axes, matrices, strict=False):
        _draw(figure, axis, shown, low, high)
    return figure


def _draw(figure: Figure, axis: Any, shown: Matrix, low: float, high: float) -> None:
    n = len(shown.tasks)
    picture = axis.imshow(
        shown.accuracy, cmap="viridis", vmin=low, vmax=high, interpolation="nearest"
    )
    if n <= 6:
        for (t, s), value in np.ndenumerate(shown.accuracy):
            if not np.isnan(value):  # before its arrival, or not measured
                dark = (value - low) / max(high - low, 1e-9) < 0.6
                axis.text(
                    s,
                    t,
                    f"{value:.2f}",
                    ha="center",
                    va="center",
                    fontsize=7,
                    color="white" if dark else "black",
                )
    if n <= 10:
        step = 1
    else:
        step = max(1, n // 6)
    axis.set_yticks(range(0, n, step), [in_figure(task, most=24) for task in shown.tasks[::step]])
    axis.set_xticks(range(0, n, step), [str(s + 1) for s in range(0, n, step)])
    plain(axis, title=shown.title, xlabel="tasks learnt", ylabel="task", title_width=32)
    bar = figure.colorbar(picture, shrink=0.85)
    bar.ax.tick_params(labelsize=8, labelcolor=INK)
    bar.outline.set_visible(False)
