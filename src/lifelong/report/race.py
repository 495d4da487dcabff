"""A race: one learner against each of the others, on every stream and with every error."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lifelong.evaluation.measure import STAGE
from lifelong.evaluation.paired import Verdict, count_verdicts, mean_and_error, verdict
from lifelong.experiments.tables import Results
from lifelong.report.style import GREY, INK, colour_of, in_figure, new_figure, plain

ERROR = "error"
Errors = dict[tuple[str, str], NDArray[np.float64]]  # (part, learner) → (repetitions,)
SHOWN = {ERROR: "accuracy", "clipped log loss": "log-loss", "roc_auc": "AUC"}
"""What tables call an error; accuracy and AUC are shown as 1 − error."""


@dataclass(frozen=True)
class Standing:
    """How a learner did with one error, and how the one that the race is about did against it.

    Attributes
    ----------
    mean, error : float
        Over repetitions of the mean over streams, as they are shown.
    verdicts : wins, ties and losses of ours by stream; None for ours
    """

    mean: float
    error: float
    verdicts: dict[Verdict, int] | None

    def __str__(self) -> str:
        """As a cell of a table: ``0.812 ± 0.003``; one repetition has no spread."""
        if np.isnan(self.error):
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ± {self.error:.3f}"


@dataclass(frozen=True)
class Race:
    """The standings of all learners that have all streams, best first.

    Attributes
    ----------
    ours : label of the learner that the race is about
    metrics : what was measured, as tables call it
    standings : label → metric → Standing
    """

    ours: str
    metrics: tuple[str, ...]
    standings: dict[str, dict[str, Standing]]

    @property
    def title(self) -> str:
        """What the first metric says."""
        metric = self.metrics[0]
        rivals = {label: found[metric] for label, found in self.standings.items()}
        del rivals[self.ours]
        best = next(iter(rivals))
        counts = rivals[best].verdicts or {}
        said = ", ".join(f"{count} {_plural(name, count)}" for name, count in counts.items())
        mean = self.standings[self.ours][metric].mean
        return (
            f"{self.ours} has {metric} {mean:.3f}, its best rival {best} {rivals[best].mean:.3f}:"
            f" {said}"
        )

    @property
    def alt(self) -> str:
        """The first metric of everyone."""
        metric = self.metrics[0]
        found = (f"{label} {of[metric].mean:.3f}" for label, of in self.standings.items())
        return f"Mean {metric} of each learner, with its standard error. {', '.join(found)}."


def _plural(name: str, count: int) -> str:
    if count == 1:
        return name
    return {"win": "wins", "tie": "ties", "loss": "losses"}[name]


def race(results: Results, ours: str) -> Race | None:
    """Who is ahead of whom; None unless ours and one more have all headline streams."""
    labels = [learner.label for learner in results.spec.learners]
    found = {}
    for name in dict.fromkeys([ERROR, *(n for part in results.spec.parts for n in part.others)]):
        measured = _final_errors(results, name)
        parts = sorted({part for part, _ in measured})
        complete = [label for label in labels if all((part, label) in measured for part in parts)]
        if ours in complete and len(complete) > 1:
            found[SHOWN.get(name, name)] = _standings(measured, parts, complete, ours, name)
    if not found:
        return None
    metrics = tuple(found)
    together = [label for label in labels if all(label in found[metric] for metric in metrics)]
    together.sort(key=lambda label: -found[metrics[0]][label].mean)
    standings = {label: {metric: found[metric][label] for metric in metrics} for label in together}
    return Race(ours, metrics, standings)


def _final_errors(results: Results, name: str) -> Errors:
    """The mean over tasks after the last one, by part and learner, repetition by repetition."""
    by_repetition: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in results.rows:
        is_last = row.kind == STAGE and row.stage == row.n_tasks - 1
        value = row.error
        if name != ERROR:
            value = row.others.get(name)
        if row.done and is_last and value is not None:
            of_part = by_repetition.setdefault((row.part, row.learner), {})
            of_part.setdefault(row.repetition, []).append(value)
    found = {}
    for (part, learner), errors in by_repetition.items():
        if (part, learner) in results.tables:
            n_complete = len(results.tables[part, learner].errors)
            means = [float(np.mean(errors[r])) for r in sorted(errors)]
            found[part, learner] = np.array(means[:n_complete])
    return found


def _standings(
    measured: Errors, parts: list[str], labels: list[str], ours: str, name: str
) -> dict[str, Standing]:
    n = min(len(measured[part, label]) for part in parts for label in labels)
    found = {}
    for label in labels:
        by_part = np.stack([measured[part, label][:n] for part in parts])  # (P, repetitions)
        mean, error = mean_and_error(by_part.mean(axis=0))
        if name in (ERROR, "roc_auc"):
            mean = 1 - mean
        verdicts = None
        if label != ours:
            gains = by_part - np.stack([measured[part, ours][:n] for part in parts])
            verdicts = count_verdicts(verdict(of_part) for of_part in gains)
        found[label] = Standing(mean, error, verdicts)
    return found


def table_lines(shown: Race) -> list[str]:
    """The race as a table in Markdown."""
    head = [f"{metric} | wins, ties, losses" for metric in shown.metrics]
    lines = [
        f"| learner | {' | '.join(head)} |",
        "|---" * (1 + 2 * len(shown.metrics)) + "|",
    ]
    for label, found in shown.standings.items():
        cells = [f"**{label}**" if label == shown.ours else label]
        for metric in shown.metrics:
            counts = (found[metric].verdicts or {}).values()
            cells += [str(found[metric]), ", ".join(map(str, counts))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def draw_race(shown: Race) -> Figure:
    """A panel per metric: a dot per learner with two standard errors, the best on top."""
    labels = list(shown.standings)
    figure = new_figure(2.2 + 2.1 * len(shown.metrics), 0.9 + 0.3 * len(labels))
    axes: Any = np.atleast_1d(figure.subplots(1, len(shown.metrics), sharey=True))
    heights = np.arange(len(labels))[::-1]
    for axis, metric in zip(axes, shown.metrics, strict=True):
        for label, height in zip(labels, heights, strict=True):
            found = shown.standings[label][metric]
            spread = 2 * np.nan_to_num(found.error)
            colour = "#d1495b" if label == shown.ours else colour_of(label, labels)
            axis.errorbar(found.mean, height, xerr=spread, color=colour, marker="o", ms=5, lw=1.4)
        axis.axvline(shown.standings[shown.ours][metric].mean, color=GREY, lw=0.8, zorder=0)
        better = "lower is better" if metric == "log-loss" else "higher is better"
        plain(axis, title=metric, xlabel=better)
        axis.set_yticks(heights, [in_figure(label, most=32) for label in labels], color=INK)
    return figure
