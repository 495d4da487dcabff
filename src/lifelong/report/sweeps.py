"""Curves from error tables: over streams (angles, rows), learners (budgets, trees, …), stages."""

from collections.abc import Callable, Sequence

import numpy as np

from lifelong.evaluation.errors import ErrorTable
from lifelong.evaluation.transfer import backward_transfer, half_a_mistake
from lifelong.experiments.spec import FINAL_STAGES, HEADLINE
from lifelong.experiments.tables import Results
from lifelong.report.curves import Curves, Line, Values, describe
from lifelong.tasks.base import TaskName

HEADINGS = {
    "error": "error",
    "accuracy": "accuracy",
    "gain": "gain over the single-task model",
    "transfer": "transfer T",
    "forward_transfer": "forward transfer FT",
    "backward_transfer": "backward transfer BT",
}


ALL_TASKS = "all tasks"


def sweep(
    results: Results,
    *,
    statistic: str,
    task: TaskName,
    over: str,
    min_tasks: int = 1,
    groups: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Curves | None:
    """A statistic against where each stream is on its axis.

    Parameters
    ----------
    task : str or int
        A task's name or its position; ``"all tasks"`` is the mean.
    groups : list of str
        Only the streams of those groups; all that have a place on an axis if there are none.
    without : list of str
        Learners that are not shown: one that forgets everything leaves no room for the others.
    """
    points = [
        part
        for part in results.spec.parts
        if part.at is not None and (not groups or part.group in groups)
    ]
    lines = []
    shown = [learner.label for learner in results.spec.learners if learner.label not in without]
    for label in shown:
        found = {part.at or 0.0: results.tables.get((part.name, label)) for part in points}
        known = [
            (at, table)
            for at, table in sorted(found.items())
            if table and _has(table, task, min_tasks)
        ]
        if len(known) > 1:
            each = [_each(table, statistic, task) for _, table in known]
            middle = [_pooled(table, statistic, task) for _, table in known]
            lines.append(_line(label, np.array([at for at, _ in known]), middle, each))
    if not lines:
        return None
    where = "the first task" if task == 0 else task
    what = f"{HEADINGS[statistic]} on {where}"
    which = [group for group in groups if group != HEADLINE]
    name = "-".join(["sweep", statistic, str(task), *which]).replace(" ", "-").replace("_", "-")
    finding = _sweep_finding(lines, statistic)
    alt = describe(lines, what, over)
    return Curves(name, finding, alt, over, what, tuple(lines), zero=statistic != "error")


def _has(table: ErrorTable, task: TaskName, min_tasks: int) -> bool:
    known = (
        task in table.tasks
        or task == ALL_TASKS
        or (isinstance(task, int) and task < len(table.tasks))
    )
    return known and len(table.tasks) >= min_tasks


def _pooled(table: ErrorTable, statistic: str, task: TaskName) -> float:
    """Errors are averaged over repetitions first."""
    if statistic == "error":
        values = 1 - table.accuracy
    else:
        values = getattr(table, statistic)
    if task == ALL_TASKS:
        return float(np.mean(values))
    if task in table.tasks:
        return float(values[table.tasks.index(task)])
    return float(values[int(task)])


def _each(table: ErrorTable, statistic: str, task: TaskName) -> list[float]:
    return [_pooled(alone, statistic, task) for alone in table.each_repetition]


def _line(label: str, x: Values, middle: list[float], each: list[list[float]]) -> Line:
    lower, median, upper = np.array([np.percentile(values, [25, 50, 75]) for values in each]).T
    return Line(label, x, np.array(middle), lower, upper, median)


def _sweep_finding(lines: list[Line], statistic: str) -> str:
    if statistic == "error":
        best = min(lines, key=lambda line: line.y[-1])
        return f"{best.label} ends with the lowest error: {best.y[-1]:.3f}"
    if len(lines) > 2:
        ranked = sorted(lines, key=lambda line: float(np.mean(line.y)))
        worst = ranked[0]
        best = ranked[-1]
        means = f"{np.mean(best.y):+.3f} on average; lowest: {worst.label}, {np.mean(worst.y):+.3f}"
        return f"Highest {HEADINGS[statistic]}: {best.label}, {means}"
    line = max(lines, key=lambda line: float(np.ptp(line.y)))
    low = int(np.argmin(line.y))
    high = int(np.argmax(line.y))
    extremes = [f"{line.y[at]:+.3f} at {line.x[at]:g}" for at in (low, high)]
    return f"{line.label}: from {extremes[0]} to {extremes[1]}"


def learner_curve(results: Results, *, statistic: str, over: str) -> Curves | None:
    """A statistic, mean over tasks, against a learner's setting; a line per name of learner."""
    names = dict.fromkeys(
        learner.name for learner in results.spec.learners if learner.at is not None
    )
    lines = []
    for name in names:
        points = {
            learner.at: tables
            for learner in results.spec.learners
            if learner.name == name
            and learner.at is not None
            and (tables := results.headline(learner.label))
        }
        ordered = sorted(points.items())
        if len(ordered) > 1:
            middle = [
                float(np.mean([np.mean(getattr(table, statistic)) for table in tables]))
                for _, tables in ordered
            ]
            each = [_means(tables[0], statistic) for _, tables in ordered]
            lines.append(
                _line(name, np.array([at for at, _ in ordered], dtype=np.float64), middle, each)
            )
    if not lines or any(np.isnan(line.y).all() for line in lines):
        return None
    what = HEADINGS[statistic]
    first = lines[0]
    title = (
        f"{first.label}: {what} {first.y[0]:.3f} with {first.x[0]:g}, {first.y[-1]:.3f} with"
        f" {first.x[-1]:g}"
    )
    return Curves(
        f"{statistic}-curve",
        title,
        describe(lines, what, over),
        over,
        what,
        tuple(lines),
        zero=statistic != "accuracy",
    )


def _means(table: ErrorTable, statistic: str) -> list[float]:
    return [float(np.mean(getattr(alone, statistic))) for alone in table.each_repetition]


def stages(results: Results) -> Curves | None:
    """The mean error on the tasks seen so far, as tasks arrive."""
    return _over_stages(
        results,
        "stages",
        "mean error on tasks seen so far",
        _seen_so_far,
        np.asarray,
        _stages_finding,
    )


def first_task(results: Results) -> Curves | None:
    """What later tasks do to the first one: log(e at arrival / e after each stage)."""
    what = "backward transfer to the first task"
    return _over_stages(results, "first-task", what, _first_task, _since_arrival, _first_finding)


def _seen_so_far(table: ErrorTable) -> Values:
    return np.asarray(np.nanmean(table.errors, axis=1))  # (R, T)


def _first_task(table: ErrorTable) -> Values:
    return half_a_mistake(table.errors[:, 0, :], table.test_rows[0])  # (R, T)


def _since_arrival(errors: Values) -> Values:
    return backward_transfer(errors[0], errors)  # (T,)


def _over_stages(
    results: Results,
    name: str,
    what: str,
    errors: Callable[[ErrorTable], Values],
    statistic: Callable[[Values], Values],
    finding: Callable[[list[Line]], str],
) -> Curves | None:
    if results.spec.stages == FINAL_STAGES:  # what lies between was not measured
        return None
    lines = []
    for label in (learner.label for learner in results.spec.learners):
        tables = results.headline(label)
        if tables and len(tables[0].tasks) > 1:
            longest = max(len(table.tasks) for table in tables)
            of_streams = [_as_long(errors(table), longest) for table in tables]
            measured = np.concatenate(of_streams)  # (R · streams, T)
            each = [statistic(table) for table in measured]
            lower, median, upper = np.percentile(each, [25, 50, 75], axis=0)
            x = np.arange(1, measured.shape[1] + 1, dtype=np.float64)
            # As everywhere: errors are averaged over repetitions first, then comes the ratio, then
            # the logarithm.
            middle = statistic(measured.mean(axis=0))
            lines.append(Line(label, x, middle, lower, upper, median))
    if not lines:
        return None
    alt = describe(lines, what, "tasks learnt")
    zero = name == "first-task"
    return Curves(name, finding(lines), alt, "tasks learnt", what, tuple(lines), zero=zero)


def _as_long(errors: Values, n_stages: int) -> Values:
    """A stream that has ended (R, T) keeps its last errors."""
    return np.pad(errors, ((0, 0), (0, n_stages - errors.shape[1])), mode="edge")


def _stages_finding(lines: list[Line]) -> str:
    best = min(lines, key=lambda line: line.y[-1])
    return f"After {best.x[-1]:g} tasks {best.label} errs least: {best.y[-1]:.3f}"


def _first_finding(lines: list[Line]) -> str:
    helped = sum(line.y[-1] > 5e-4 for line in lines)
    best = max(lines, key=lambda line: line.y[-1])
    return (
        f"Later tasks help the first one in {helped} of {len(lines)} learners, {best.label} most"
        f" ({best.y[-1]:+.3f})"
    )
