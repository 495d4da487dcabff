"""Size and time against the number of tasks; fitted exponents beside the paper's Õ (table tax)."""

from dataclasses import dataclass

import numpy as np

from lifelong.evaluation.measure import STAGE
from lifelong.evaluation.resources import fitted_exponent
from lifelong.experiments.rows import Row
from lifelong.experiments.tables import Results
from lifelong.report.curves import Curves, Line, Values, describe
from lifelong.report.learner_facts import fact_sheet

AMOUNTS = {
    "size": "bytes in all",
    "encoders": "bytes of encoders",
    "channels": "bytes of channels",
    "rows": "bytes of stored rows",
    "training": "seconds of training so far",
    "inference": "seconds per 1000 rows",
}
FIGURE_SIZE = ("growth-size", "growth-encoders", "growth-training", "growth-inference")
"""The four panels of the paper's figure size."""


@dataclass(frozen=True)
class Growth:
    """A learner's fitted exponents, and the paper's for space and time (None if it gives none)."""

    label: str
    exponents: dict[str, float]
    paper_space: int | None
    paper_time: int | None


def amounts(results: Results, label: str) -> dict[str, Values]:
    """Each amount after 1, 2, …, T tasks, mean over repetitions."""
    stream = results.spec.headline[0].name
    rows = [
        r
        for r in results.rows
        if r.done and r.kind == STAGE and (r.part, r.learner) == (stream, label)
    ]
    table = results.tables[stream, label]
    by_stage = [[r for r in rows if r.stage == stage] for stage in range(len(table.tasks))]
    parts = {
        name: np.array([_mean(rows, name) for rows in by_stage])
        for name in ("encoders", "channels", "rows")
    }
    return {
        "size": np.sum(list(parts.values()), axis=0),
        **parts,
        "training": np.cumsum(table.train_seconds.mean(axis=0)),
        "inference": np.array([np.mean([r.predict_seconds for r in rows]) for rows in by_stage]),
    }


def _mean(rows: list[Row], content: str) -> float:
    return float(np.mean([row.bytes[content] for row in rows]))


def growth_table(results: Results) -> list[Growth]:
    """One line per learner."""
    lines = []
    for label in _measured(results):
        measured = amounts(results, label)
        n_tasks = np.arange(1, len(measured["size"]) + 1)
        exponents = {name: fitted_exponent(n_tasks, values) for name, values in measured.items()}
        entry = fact_sheet(results.spec.learner(label), len(n_tasks))
        if entry is None:
            lines.append(Growth(label, exponents, None, None))
        else:
            lines.append(Growth(label, exponents, entry.space, entry.time))
    return lines


def growth_curves(results: Results) -> list[Curves]:
    """One figure per amount; both axes logarithmic, so that a straight line is a power of T."""
    measured = {label: amounts(results, label) for label in _measured(results)}
    curves = []
    for name, what in AMOUNTS.items():
        lines = [
            _line(label, values[name])
            for label, values in measured.items()
            if (values[name] > 0).all()
        ]
        if lines:
            title = _finding({line.label: fitted_exponent(line.x, line.y) for line in lines})
            alt = describe(lines, what, "tasks learnt, both logarithmic")
            curves.append(
                Curves(f"growth-{name}", title, alt, "tasks learnt", what, tuple(lines), log=True)
            )
    return curves


def _finding(slopes: dict[str, float]) -> str:
    flat = min(slopes, key=slopes.__getitem__)
    steep = max(slopes, key=slopes.__getitem__)
    low = _power(slopes[flat])
    high = _power(slopes[steep])
    if low == high:
        return f"All grow like {low}"
    return f"{flat} grows like {low}, {steep} like {high}"


def _power(slope: float) -> str:
    if abs(slope) < 0.05:
        slope = 0.0  # not −0.0
    return f"T^{slope:.1f}"


def _line(label: str, values: Values) -> Line:
    return Line(label, np.arange(1, len(values) + 1, dtype=np.float64), values)


def _measured(results: Results) -> list[str]:
    return [learner.label for learner in results.spec.learners if results.headline(learner.label)]
