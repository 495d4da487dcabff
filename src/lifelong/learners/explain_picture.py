"""The picture of who helps whom; the only file of learners that needs matplotlib, imported when one
is asked for.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from lifelong.learners.explain import Explanation

_INK = "#1f2328"
_OWN = "#d9dde1"


def draw(explanation: "Explanation") -> Figure:
    """Tasks down, encoders across; a cell says what an encoder brings to a task beside its own."""
    helps = 100 * explanation.helps  # (T, U), points of accuracy
    tasks = [str(name) for name in explanation.tasks]
    encoders = [str(name) for name in explanation.encoders]
    n_tasks, n_encoders = helps.shape
    figure = Figure(
        figsize=(max(3.6, 0.62 * n_encoders + 2.2), max(2.4, 0.46 * n_tasks + 1.5)),
        layout="constrained",
    )
    axis = figure.subplots()
    known = helps[~np.isnan(helps)]
    largest = max(float(np.abs(known).max(initial=0)), 0.1)
    axis.set_facecolor(_OWN)
    picture = axis.imshow(
        helps, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest"
    )
    for (t, u), gain in np.ndenumerate(helps):
        text = _signed(gain)
        if np.isnan(gain):  # the task's own encoder
            text = f"{100 * explanation.before[t]:.0f} %"
        color = _INK
        if abs(gain) > 0.6 * largest:  # a dark cell
            color = "white"
        axis.text(u, t, text, ha="center", va="center", fontsize=8, color=color)
    axis.set_xticks(range(n_encoders), encoders, rotation=30, ha="right", fontsize=9)
    axis.set_yticks(range(n_tasks), tasks, fontsize=9)
    axis.set_xlabel("encoder of", fontsize=9.5, color=_INK)
    axis.set_ylabel("helps task", fontsize=9.5, color=_INK)
    axis.set_title(_finding(known), fontsize=10, color=_INK, loc="left")
    axis.tick_params(length=0, labelcolor=_INK)
    for side in axis.spines.values():
        side.set_visible(False)
    bar: Any = figure.colorbar(picture, shrink=0.9)
    bar.set_label("points of accuracy", fontsize=9, color=_INK)
    bar.ax.tick_params(labelsize=8, labelcolor=_INK)
    bar.outline.set_visible(False)
    return figure


def write(figure: Figure, path: Path) -> None:
    """The same figure gives the same bytes."""
    metadata = None
    if path.suffix == ".svg":
        metadata = {"Date": None}
    with mpl.rc_context({"svg.hashsalt": "who helps whom"}):
        figure.savefig(path, dpi=150, metadata=metadata)


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


def _finding(helps: np.ndarray) -> str:
    if not len(helps):
        return "One encoder: nobody to help"
    helped = int((helps > 0).sum())
    mean = _signed(helps.mean())
    first = f"An encoder of another task helps in {helped} of {len(helps)} cases,"
    return f"{first}\nby {mean} points on average (grey: own encoder alone)"
