"""``health.html``: how each task of a saved model is doing, on one page that needs no network."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from lifelong._terminal import printable
from lifelong.evaluation.calibration import ReliabilityCurve, together
from lifelong.evaluation.health import Health, TaskHealth
from lifelong.report.html import rendered
from lifelong.report.reliability import describe, draw_reliability
from lifelong.report.style import in_figure, inline_svg

MOST_PANELS = 40
"""Tasks that have a reliability curve of their own on the page."""

_MEANING = {
    "accuracy": "share of rows whose label is predicted",
    "log-loss": "mean of −log p(label): lower is better",
    "AUC": "how well probabilities put rows in order: 0.5 is chance, 1 is best",
    "calibration error": "mean distance of probabilities from what happens",
    "RMSE": "root of the mean squared error",
    "absolute error": "mean of absolute errors",
    "R²": "share of the task's variance that is explained",
    "inside 90 %": "share of rows inside an interval that promises 90 %",
}


@dataclass(frozen=True)
class Cell:
    """A number as a table shows it, and as it sorts; None is not there."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Line:
    """A task in the table."""

    task: str
    rows: Cell
    cells: tuple[Cell, ...]
    notes: str


def headings(health: Health) -> dict[str, str]:
    """Heading → what it means, of every column between rows and notes."""
    scores = {name: _MEANING[name] for name in health.tasks[0].scores}
    alone = f"{health.loss} of the task's own forest alone"
    guess = f"{health.loss} of an answer that does not look at the row"
    return {**scores, "alone": alone, "guess": guess}


def lines(health: Health) -> list[Line]:
    """One per task, in order of arrival; what cannot be measured is a dash."""
    return [
        Line(
            printable(str(task.task)),
            Cell(f"{task.rows:,}", task.rows),
            tuple(_cell(value) for value in (*task.scores.values(), task.alone, task.guess)),
            ", ".join(task.notes),
        )
        for task in health.tasks
    ]


def _cell(value: float) -> Cell:
    if not np.isfinite(value):
        return Cell("–", None)
    digits = 3
    if abs(value) >= 100:
        digits = 1
    return Cell(f"{value:.{digits}f}".replace("-", "−"), round(value, 6))


def finding(health: Health) -> str:
    """The one sentence on top."""
    with_own = [task for task in health.tasks if np.isfinite(task.alone)]
    first = next(iter(health.tasks[0].scores))
    said = f"Mean {first} of {len(health.tasks)} tasks: {health.mean(first):.3f}."
    if with_own:
        lower = sum(task.scores[health.loss] < task.alone for task in with_own)
        said += (
            f" {lower} of {len(with_own)} have a lower {health.loss} with the others than alone."
        )
    noted = sum(bool(task.notes) for task in health.tasks)
    if noted:
        said += f" {noted} have a note."
    return said


def write_health(health: Health, path: Path, about: str) -> Path:
    """Write the page.

    Parameters
    ----------
    health : Health
    path : Path
        The file.
    about : str
        Where the model is, and which rows were measured.
    """
    everything = together(task.curve for task in health.tasks)
    shown = health.tasks[:MOST_PANELS]
    page = rendered(
        "health.html.j2",
        title="How each task is doing",
        about=printable(about),
        health=health,
        finding=finding(health),
        headings=headings(health),
        lines=lines(health),
        all_tasks=_svg(everything, health, "All tasks together", "all", 4.6),
        panels=[_panel(task, health, place) for place, task in enumerate(shown)],
        left_out=len(health.tasks) - len(shown),
        calibration=_in_words(everything, health),
    )
    path.write_text(page, encoding="utf-8", errors="backslashreplace")
    return path


def _panel(task: TaskHealth, health: Health, place: int) -> Markup:
    name = str(task.task)
    title = f"{in_figure(name, most=40)} · {task.rows:,} rows"
    return _svg(task.curve, health, title, f"task-{place}", 3.0)


def _svg(curve: ReliabilityCurve, health: Health, title: str, name: str, width: float) -> Markup:
    figure = draw_reliability(curve, health.aim, title, width)
    alt = describe(curve, printable(title))
    return Markup(inline_svg(figure, name=f"health-{name}", alt=alt))


def _in_words(curve: ReliabilityCurve, health: Health) -> str:
    if health.aim == "number":
        return "On the diagonal, intervals hold as many rows as they promise."
    return (
        f"Expected calibration error of all rows together: {curve.calibration_error:.3f}; right"
        f" probabilities would have {curve.chance_error:.3f} on so many rows, by chance."
    )
