"""Curves: lines with a band of quartiles over repetitions; dots are medians.

What is drawn is data first (:class:`Curves`), drawn second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from lifelong.report.style import GREY, colour_of, in_figure, new_figure, plain

Values = NDArray[np.float64]
_CROWD = 8  # so many bands at most: more would hide the lines


@dataclass(frozen=True)
class Line:
    """One learner's line: errors are averaged over repetitions first.

    ``lower``, ``median`` and ``upper`` are over repetitions. The median lies between the other two;
    the line need not.
    """

    label: str
    x: Values
    y: Values
    lower: Values | None = None
    upper: Values | None = None
    median: Values | None = None


@dataclass(frozen=True)
class Curves:
    """A figure of lines."""

    name: str
    title: str
    alt: str
    xlabel: str
    ylabel: str
    lines: tuple[Line, ...]
    log: bool = False
    zero: bool = False  # a line at 0: above is better


def describe(lines: Sequence[Line], what: str, over: str) -> str:
    """An alt text: where each line starts and where it ends."""
    ends = "; ".join(
        f"{line.label} from {line.y[0]:.3g} to {line.y[-1]:.3g}" for line in lines if len(line.y)
    )
    return f"{what} against {over}. {ends}."


def draw_curves(curves: Curves) -> Figure:
    """One panel; each line is named at its end, in its colour, so that no legend hides anything."""
    figure = new_figure(4.8, 3.2 + 0.11 * max(len(curves.lines) - 10, 0))
    _draw(figure.subplots(), curves)
    return figure


def draw_panels(panels: Sequence[Curves]) -> Figure:
    """Several figures of lines in one, two in a row."""
    most = max(len(curves.lines) for curves in panels)
    down = -(-len(panels) // 2)
    figure = new_figure(9.6, down * (3.2 + 0.11 * max(most - 10, 0)))
    axes = figure.subplots(down, 2, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, curves in zip(axes, panels, strict=False):
        _draw(axis, curves)
    return figure


def _draw(axis: Any, curves: Curves) -> None:
    labels = [line.label for line in curves.lines]
    for line in curves.lines:
        colour = colour_of(line.label, labels)
        axis.plot(line.x, line.y, color=colour, lw=1.6)
        dots = line.y
        if line.median is not None:
            dots = line.median
        axis.plot(line.x, dots, color=colour, lw=0, marker="o", ms=3.2)
        if line.lower is not None and line.upper is not None and len(labels) <= _CROWD:
            axis.fill_between(line.x, line.lower, line.upper, color=colour, alpha=0.15, lw=0)
    if curves.zero:
        axis.axhline(0, color=GREY, lw=0.8, zorder=0)
    if curves.log:
        _logarithmic(axis, max(float(line.x.max()) for line in curves.lines))
    elif all(
        (line.x % 1 == 0).all() for line in curves.lines
    ):  # it counts something: no half steps between
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    plain(axis, title=curves.title, xlabel=curves.xlabel, ylabel=curves.ylabel)
    _name_lines(axis, curves.lines)


def _logarithmic(axis: Any, last: float) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    places = [n for n in (1, 2, 3, 5, 10, 20, 50, 100) if n <= last]
    axis.set_xticks(places, [str(n) for n in places])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_formatter(NullFormatter())


def _name_lines(axis: Any, lines: Sequence[Line]) -> None:
    """Names at the right edge, pushed apart until none covers another."""
    labels = [line.label for line in lines]
    if axis.get_yscale() == "linear":
        to_axis = axis.transLimits
    else:
        to_axis = axis.transScale + axis.transLimits
    ends = [(float(to_axis.transform((line.x[-1], line.y[-1]))[1]), line) for line in lines]
    ends = sorted(
        ((height, line) for height, line in ends if np.isfinite(height)), key=lambda end: end[0]
    )
    room = min(0.07, 1.06 / max(len(ends), 1))
    heights: list[float] = []
    for height, _ in ends:
        if heights:
            height = max(height, heights[-1] + room)
        heights.append(height)
    excess = 0.0
    if heights:
        excess = max(heights[-1] - 1.03, 0.0)
    for number, (height, (_, line)) in enumerate(zip(heights, ends, strict=True)):
        lowest = -0.03 + number * room
        if excess:
            place = max(height - excess, lowest)
        else:
            place = height
        colour = colour_of(line.label, labels)
        axis.text(
            1.02,
            place,
            in_figure(line.label, most=48),
            transform=axis.transAxes,
            fontsize=8.5,
            color=colour,
            va="center",
        )
