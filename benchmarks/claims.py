"""Write ``docs/claims.md``: the claims of ``claims.md`` beside this file, with our figures.

``{experiment/learner/statistic}`` is a mean over tasks; ``…/task`` and ``…/task/stream`` are one
task's value, and ``…/every task/stream`` is the mean over tasks of one of several streams.
``{equal-rows/learner/rows/replay}`` is a backward transfer of :mod:`benchmarks.equal_rows`. Run
``python -m benchmarks.claims`` when results have changed.
"""

import csv
import re
from functools import cache
from pathlib import Path
from statistics import fmean

from benchmarks import equal_rows
from lifelong.report.growth import amounts, growth_table
from lifelong.report.runs import read_run

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
TEMPLATE = Path(__file__).with_name("claims.md")
PAGE = ROOT / "docs" / "claims.md"
EVERY_TASK = "every task"
_SIGNED = ("transfer", "forward_transfer", "backward_transfer", "gain")
_TOKEN = re.compile(r"\{([^{}]+)\}")


def page() -> str:
    """The page with all figures filled in."""
    return _TOKEN.sub(_filled, TEMPLATE.read_text(encoding="utf-8"))


def _filled(token: re.Match[str]) -> str:
    if token[1] == "taxonomy":
        return taxonomy()
    experiment, learner, statistic, *where = token[1].split("/")
    if experiment == "equal-rows":
        n, replay = (statistic, *where)
        values = equal_rows.transfers(equal_rows.read(), learner, int(n), float(replay))
        return equal_rows.shown(values)
    if experiment == "share":
        return f"{share_of(learner, statistic):.0%}"
    return shown(statistic, measured(experiment, learner, statistic, *where))


def shown(statistic: str, value: float) -> str:
    """A figure as tables show it.

    >>> shown("transfer", -0.0421), shown("accuracy", 0.4493), shown("train_seconds", 7.02)
    ('−0.042', '0.449', '7.0')
    """
    if statistic in _SIGNED:
        return f"{value:+.3f}".replace("-", "−")
    if statistic.endswith("seconds"):
        return f"{value:.1f}"
    return f"{value:.3f}"


def measured(
    experiment: str, learner: str, statistic: str, task: str = "", stream: str = ""
) -> float:
    """A committed figure: of one task where one is named, and of the first stream that has it."""
    if task == EVERY_TASK:
        lines = _lines(RESULTS / experiment / "tasks.csv")
        of_stream = [
            line for line in lines if (line["learner"], line["stream"]) == (learner, stream)
        ]
        return fmean(float(line[statistic]) for line in of_stream)
    table = "tasks.csv" if task else "table.csv"
    for line in _lines(RESULTS / experiment / table):
        fits = not task or (line["task"] == task and stream in ("", line["stream"]))
        if fits and line["learner"] == learner:
            return float(line[statistic])
    raise KeyError(f"{experiment} has no {statistic} of {learner!r} on {task!r} {stream!r}.")


@cache
def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def share_of(learner: str, content: str) -> float:
    """Which share of a learner's bytes that is after all tasks."""
    found = amounts(read_run(RESULTS / "resources"), learner)
    return float(found[content][-1] / found["size"][-1])


def taxonomy() -> str:
    """Fitted exponents beside the paper's."""
    lines = [
        "| learner | capacity | space | paper: space | time | paper: time | inference |",
        "|---|---|---|---|---|---|---|",
    ]
    for growth in growth_table(read_run(RESULTS / "resources")):
        fitted = growth.exponents
        cells = [
            growth.label,
            _exponent(fitted["encoders"]),
            _exponent(fitted["size"]),
            _power(growth.paper_space),
            _exponent(fitted["training"]),
            _power(growth.paper_time),
            _exponent(fitted["inference"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _exponent(value: float) -> str:
    rounded = round(value, 1) + 0.0  # no −0.0
    return f"{rounded:.1f}".replace("-", "−")


def _power(exponent: int | None) -> str:
    if exponent is None:
        return ""
    return {0: "1", 1: "T", 2: "T²"}[exponent]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
