"""Figures: what the data look like, error against tasks, transfer per task.

Each title states what the data say.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lifelong.evaluation.errors import ErrorTable
from lifelong.report.style import FIXED, in_figure
from lifelong.tasks import Task, TaskStream

_INK = "#222222"
_GREY = "#999999"
_CLASSES = ("#1b6ca8", "#e08a2c")
_COLOURS = {**FIXED, "lifelong": "#d1495b", "pooled-rf": "#c98a1b", "table-rf": FIXED["rf"]}


def draw_data(streams: Sequence[TaskStream]) -> Figure:
    """A picture of every task: scatter plots of two-dimensional rows, samples of images; a row per
    kind of input.
    """
    kinds: dict[tuple[int, ...], dict[Any, Task]] = {}
    for stream in streams:
        for task in stream:
            kinds.setdefault(task.X_train.shape[1:], {}).setdefault(task.name, task)
    figure = _figure(9, 1.9 * len(kinds))
    for row, tasks in zip(
        figure.subfigures(len(kinds), squeeze=False)[:, 0], kinds.values(), strict=True
    ):
        for axis, task in zip(
            row.subplots(1, len(tasks), squeeze=False)[0], tasks.values(), strict=True
        ):
            _draw_task(axis, task)
    return figure


def _draw_task(axis: Any, task: Task) -> None:
    axis.set_title(in_figure(task.name), fontsize=8, color=_INK)
    axis.set_xticks([])
    axis.set_yticks([])
    if task.X_train.ndim == 4:
        first = [np.flatnonzero(task.y_train == label)[0] for label in task.classes[:9]]
        axis.imshow(_mosaic(task.X_train[first]), cmap="gray_r", interpolation="nearest")
    elif task.X_train.shape[1] == 2:
        colours = [_CLASSES[task.classes.index(label) % 2] for label in task.y_train.tolist()]
        axis.scatter(*task.X_train.T, s=1.5, c=colours, linewidths=0)
        axis.set_aspect("equal")


def _mosaic(images: np.ndarray) -> np.ndarray:
    """Up to nine grey images (n, c, h, w) → one picture of three by three, with gaps."""
    grey = np.pad(images.mean(axis=1), ((0, 9 - len(images)), (1, 1), (1, 1)))  # (9, h + 2, w + 2)
    height, width = grey.shape[1:]
    return grey.reshape(3, 3, height, width).swapaxes(1, 2).reshape(3 * height, 3 * width)


def draw_errors(parts: Mapping[str, Sequence[ErrorTable]]) -> Figure:
    """Error on each task as later ones arrive: falling is backward transfer, rising forgetting."""
    figure = _figure(3.6 * len(parts), 3.1)
    for axis, (title, tables) in zip(
        figure.subplots(1, len(parts), squeeze=False)[0], parts.items(), strict=True
    ):
        for table in tables:
            errors = table.errors.mean(axis=0)  # (T, T)
            colour = _colour(table)
            for t in range(len(table.tasks)):
                stages = np.arange(t, len(table.tasks))
                axis.plot(
                    stages + 1,
                    errors[t, t:],
                    color=colour,
                    alpha=_age(t, table),
                    lw=1.6,
                    marker="o",
                    ms=3,
                )
            axis.plot([], [], color=colour, marker="o", ms=3, label=in_figure(table.learner))
        finding = in_figure(f"{title}: {_error_finding(tables)}")
        axis.set_title(finding, fontsize=9, color=_INK, loc="left")
        axis.set_xlabel("tasks learnt")
        axis.set_xticks(range(1, len(tables[0].tasks) + 1))
        axis.set_ylim(bottom=0)
        _plain(axis)
    figure.axes[0].set_ylabel("error of each task (darker: older)")
    _name_learners(figure)
    return figure


def _error_finding(tables: Sequence[ErrorTable]) -> str:
    tables = [table for table in tables if np.any(table.backward_transfer != 0)] or list(tables)
    fallen = sum(int((table.backward_transfer[:-1] > 0).sum()) for table in tables)
    total = sum(len(table.tasks) - 1 for table in tables)
    return f"error fell later\non {fallen} of {total} old tasks"


def draw_transfer(parts: Mapping[str, Sequence[ErrorTable]]) -> Figure:
    """Transfer forward, backward, total; gain over plain models: a dot per task, older darker."""
    statistics = {
        "forward_transfer": "forward",
        "backward_transfer": "backward",
        "transfer": "total",
        "gain": "gain",
    }
    figure = _figure(3.6 * len(parts), 3.1)
    for axis, (title, tables) in zip(
        figure.subplots(1, len(parts), squeeze=False)[0], parts.items(), strict=True
    ):
        shown = [table for table in tables if np.any(table.transfer != 0)] or list(tables)
        for position, table in enumerate(shown):
            offset = (position - (len(shown) - 1) / 2) * 0.22
            for x, statistic in enumerate(statistics):
                values = getattr(table, statistic)
                places = np.linspace(-0.06, 0.06, len(values)) + x + offset
                alpha = [_age(t, table) for t in range(len(values))]
                axis.scatter(places, values, s=16, color=_colour(table), alpha=alpha, linewidths=0)
                axis.plot(
                    [x + offset - 0.09, x + offset + 0.09], [values.mean()] * 2, color=_INK, lw=1.2
                )
            axis.scatter([], [], s=16, color=_colour(table), label=in_figure(table.learner))
        axis.axhline(0, color=_GREY, lw=0.8, zorder=0)
        helped = sum(int((table.transfer > 0).sum()) for table in shown)
        total = sum(len(table.tasks) for table in shown)
        finding = in_figure(f"{title}: other tasks\nhelped {helped} of {total}")
        axis.set_title(finding, fontsize=9, color=_INK, loc="left")
        axis.set_xticks(range(len(statistics)), list(statistics.values()))
        _plain(axis)
    figure.axes[0].set_ylabel("log ratio of errors (above 0: better)")
    _name_learners(figure)
    return figure


def _name_learners(figure: Figure) -> None:
    """A legend where learners are shown that no part before has named."""
    named: set[str] = set()
    for axis in figure.axes:
        names = set(axis.get_legend_handles_labels()[1])
        if not names <= named:
            axis.legend(frameon=False, fontsize=8)
        named |= names


def write(figure: Figure, path: Path) -> list[Path]:
    """The figure as SVG and PNG."""
    paths = [path.with_suffix(".svg"), path.with_suffix(".png")]
    for file in paths:
        figure.savefig(file, dpi=150)
    return paths


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _colour(table: ErrorTable) -> str:
    return _COLOURS.get(table.learner, _GREY)


def _age(t: int, table: ErrorTable) -> float:
    """Opacity of task t: the oldest is darkest."""
    return 1.0 - 0.65 * t / max(len(table.tasks) - 1, 1)


def _plain(axis: Any) -> None:
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=8, colors=_INK)
