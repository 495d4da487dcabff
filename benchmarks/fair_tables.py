"""Ours beside everybody, from the committed rows: where a gain comes from, and who is best.

::

    python -m benchmarks.fair_tables           # writes the tables into the pages
    python -m benchmarks.fair_tables --check   # says which page is out of date

Three tables and a sentence, each between the marks ``<!-- fair: begin -->`` and
``<!-- fair: end -->`` of a page:

- docs/references.md: per stream ours, ours alone, the own ensemble, joint training with our
  read-out, and the best of all references, each from its better recipe;
- docs/experiments/source-of-gain.md: every arm on every stream;
- docs/experiments/read-out.md: every representation read in two ways;
- README.md: what other tasks bring beyond the best control.

Two learners are compared by paired differences, one for each task of each repetition. Where the
mean difference is less than twice its standard error, it is a tie.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifelong.evaluation.errors import ErrorTable
from lifelong.experiments.catalogue.source_of_gain import ARMS
from lifelong.experiments.spec import LearnerSpec
from lifelong.experiments.tables import Results
from lifelong.references import BOUNDS, REFERENCES
from lifelong.report.runs import read_run

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
BEGIN = "<!-- fair: begin -->"
END = "<!-- fair: end -->"

WITHOUT_OTHER_TASKS = ("alone", "untrained", "shuffled", "own")
"""Arms that need no label of another task."""
FROM_OTHER_TASKS = ("tasks", "shared")

STREAMS = {
    "CIFAR 10×10": ("best-cifar-strong", "best-cifar-plain", "cifar-10x10"),
    "spoken digit": ("best-spoken-digit", "spoken-digit"),
    "Mini-ImageNet 20×5": ("best-mini-imagenet",),
    "5-dataset, 1000 rows": ("best-five-datasets-1000",),
    "5-dataset, 5000 rows": ("best-five-datasets-5000",),
    "CIFAR, 4 tasks, half width": ("read-out", "source-of-gain"),
    "spoken digit, 4 speakers, half width": ("read-out", "source-of-gain"),
}
"""Experiments that measure the same stream, each with recipes of its own."""

_PART = re.compile(r", half width$")
_OURS = ("silly-n-best", "silly-n-shared", "silly-n-shared-once")


@dataclass(frozen=True)
class Entrant:
    """A learner of an experiment on one stream."""

    experiment: str
    spec: LearnerSpec
    table: ErrorTable

    @property
    def accuracy(self) -> float:
        """Mean over tasks and repetitions, after the last task."""
        return float(np.mean(per_task(self.table)))

    @property
    def readout(self) -> str:
        """How it is read."""
        return str(self.spec.parameters.get("readout", "softmax"))


def per_task(table: ErrorTable) -> NDArray[np.float64]:
    """Accuracies after the last task (repetitions, tasks)."""
    return 1 - np.asarray(table.errors)[:, :, -1]


def spread(table: ErrorTable) -> str:
    """Standard deviation over repetitions of the mean over tasks."""
    means = per_task(table).mean(axis=1)
    if len(means) < 2:
        return "–"
    return short(float(means.std(ddof=1)))


def short(value: float) -> str:
    """Three digits without the leading 0."""
    return f"{value:.3f}".replace("0.", ".", 1)


def difference(ours: ErrorTable, other: ErrorTable) -> tuple[float, float]:
    """Mean of the paired differences, over tasks and repetitions that both have, and its error."""
    n = min(len(ours.errors), len(other.errors))
    paired = (per_task(ours)[:n] - per_task(other)[:n]).ravel()
    return float(paired.mean()), float(paired.std(ddof=1) / np.sqrt(len(paired)))


def verdict(ours: ErrorTable, other: ErrorTable) -> str:
    """The difference with its standard error, and whether that is a tie."""
    mean, error = difference(ours, other)
    text = f"{mean:+.3f} ± {error:.3f}".replace("0.", ".").replace("-", "−")
    if abs(mean) < 2 * error or mean == 0:
        return f"{text}: tie"
    return text


def first_repetitions(table: ErrorTable, n: int) -> ErrorTable:
    """The table of repetitions that all have, where some arms are further than others."""
    return replace(table, errors=table.errors[:n], single=table.single[:n], references={})


def measured(experiment: str) -> Results | None:
    """What is committed of an experiment."""
    if not (RESULTS / experiment / "spec.json").is_file():
        return None
    return read_run(RESULTS / experiment)


# Who is best


def entrants(stream: str) -> list[Entrant]:
    """Everybody who was measured on a stream, under every recipe."""
    return entrants_in(STREAMS[stream], _PART.sub("", stream))


def entrants_in(experiments: Sequence[str], part: str) -> list[Entrant]:
    """Everybody who was measured on a part of these experiments, or on their only one."""
    found = []
    for experiment in experiments:
        results = measured(experiment)
        if results is None:
            continue
        names = {name for name, _ in results.tables}
        here = part
        if part not in names and len(names) == 1:
            here = names.pop()
        for learner in results.spec.learners:
            if (here, learner.label) in results.tables:
                table = results.tables[here, learner.label]
                found.append(Entrant(experiment, learner, table))
    return found


def best_of(found: Sequence[Entrant], wanted: Callable[[Entrant], bool]) -> Entrant | None:
    """The most accurate of those that are wanted."""
    chosen = [entrant for entrant in found if wanted(entrant)]
    return max(chosen, key=lambda entrant: entrant.accuracy, default=None)


def _is_arm(entrant: Entrant, arm: str) -> bool:
    return entrant.spec.name == "companions-n" and entrant.spec.parameters.get("arm") == arm


def who_is_best() -> list[str]:
    """A line per stream."""
    head = (
        "stream",
        "ours (repetitions, spread)",
        "ours alone",
        "own ensemble",
        "joint + read-out",
        "best of all references (how many were run)",
        "ours − it",
        "MB, ours / it",
        "train s",
        "predict s",
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for stream in STREAMS:
        found = entrants(stream)
        ours = best_of(found, lambda entrant: entrant.spec.name in _OURS)
        if ours is None:
            continue
        own = best_of(found, _is_own_ensemble)
        joint = best_of(
            found, lambda entrant: entrant.spec.name == "joint" and entrant.readout == "ridge"
        )
        rival = best_of(found, lambda entrant: entrant.spec.name in REFERENCES)
        n_run = len({entrant.spec.name for entrant in found if entrant.spec.name in REFERENCES})
        lines.append(_line(stream, ours, own, joint, rival, n_run))
    return lines


def _is_own_ensemble(entrant: Entrant) -> bool:
    return entrant.spec.name == "own-ensemble" or _is_arm(entrant, "own")


def _line(
    stream: str,
    ours: Entrant,
    own: Entrant | None,
    joint: Entrant | None,
    rival: Entrant | None,
    n_run: int,
) -> str:
    repetitions = len(ours.table.errors)
    level = f"{ours.spec.name} {short(ours.accuracy)} ({repetitions}, {spread(ours.table)})"
    alone = short(float(np.mean(1 - np.asarray(ours.table.single))))
    cells = [stream, level, alone, _level(own), _level(joint)]
    if rival is None:
        return f"| {' | '.join([*cells, 'not run', '–', '–', '–', '–'])} |"
    named = f"{rival.spec.label} {short(rival.accuracy)} of {rival.experiment} ({n_run})"
    pairs = [
        _pair(_megabytes(ours.table), _megabytes(rival.table)),
        _pair(_mean(ours.table.train_seconds), _mean(rival.table.train_seconds)),
        _pair(_mean(ours.table.predict_seconds), _mean(rival.table.predict_seconds)),
    ]
    return f"| {' | '.join([*cells, named, verdict(ours.table, rival.table), *pairs])} |"


def _level(entrant: Entrant | None) -> str:
    if entrant is None:
        return "not run"
    return f"{short(entrant.accuracy)} ({len(entrant.table.errors)}, {spread(entrant.table)})"


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.mean(values)) if np.size(values) else 0.0


def _megabytes(table: ErrorTable) -> float:
    return sum(size for name, size in table.sizes.items() if name != "parameters") / 1e6


def _pair(ours: float, theirs: float) -> str:
    return f"{ours:.3g} / {theirs:.3g}"


# Where the gain comes from


def source_of_gain() -> list[str]:
    """A line per stream, a column per arm, and what is learnt from other tasks."""
    results = measured("source-of-gain")
    if results is None:
        return ["Not measured yet."]
    head = ["stream (repetitions)", *ARMS.values(), "best of the last two − best of the others"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for part in results.spec.parts:
        by_arm = {
            str(learner.parameters["arm"]): results.tables[part.name, learner.label]
            for learner in results.spec.learners
            if (part.name, learner.label) in results.tables
        }
        if set(by_arm) != set(ARMS):
            continue
        n = min(len(table.errors) for table in by_arm.values())
        by_arm = {arm: first_repetitions(table, n) for arm, table in by_arm.items()}
        without = max((by_arm[arm] for arm in WITHOUT_OTHER_TASKS), key=_level_of)
        with_others = max((by_arm[arm] for arm in FROM_OTHER_TASKS), key=_level_of)
        levels = [f"{short(_level_of(by_arm[arm]))} ± {spread(by_arm[arm])}" for arm in ARMS]
        cells = [f"{part.name} ({n})", *levels, verdict(with_others, without)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def where_the_gain_comes_from() -> list[str]:
    """A sentence for README: what other tasks bring beyond the best control, by kind of learner."""
    lines = source_of_gain()[2:]
    shown = []
    for line in lines:
        stream, *_, above = (cell.strip() for cell in line.strip("|").split("|"))
        shown.append(f"{stream} {above}")
    return [
        "What is learnt from other tasks: accuracy of the better of two arms that use other tasks'"
        " labels minus that of the best of four that do not (alone, with untrained encoders, with"
        " shuffled labels, with more encoders of its own), four tasks each, repetitions in"
        f" brackets: {'; '.join(shown)} ([source-of-gain](docs/experiments/source-of-gain.md)). We"
        " claim lifelong learning by representations only where that is above 0 and no tie; on"
        " tables, what `LifelongClassifier` gains comes from other tasks' labels, not from their"
        " representations."
    ]


def _level_of(table: ErrorTable) -> float:
    return float(np.mean(per_task(table)))


# How it is read


def read_out() -> list[str]:
    """A line per stream and representation: softmax, ridge, and what each costs."""
    results = measured("read-out")
    if results is None:
        return ["Not measured yet."]
    levels = ("softmax", "ridge", "ridge − softmax", "ours − it, both ridge")
    costs_of = ("MB, softmax / ridge", "train s", "predict s")
    head = ("stream", "learnt by", *levels, "repetitions", *costs_of)
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for part in results.spec.parts:
        ours = results.tables.get((part.name, "ours, ridge"))
        names = [learner.name for learner in results.spec.learners]
        for name in dict.fromkeys(names):
            soft = results.tables.get((part.name, f"{name}, softmax"))
            ridge = results.tables.get((part.name, f"{name}, ridge"))
            if soft is not None and ridge is not None:
                lines.append(_both(part.name, name, soft, ridge, ours))
        for learner in results.spec.learners:
            mine = results.tables.get((part.name, learner.label))
            if mine is not None and learner.name in _OURS:
                lines.append(_our_line(part.name, learner.name, mine, ours))
    return lines


def _our_line(part: str, name: str, table: ErrorTable, ours: ErrorTable | None) -> str:
    against = "–"
    if ours is not None and ours is not table:
        against = verdict(ours, table)
    level = f"{short(_level_of(table))} ± {spread(table)}"
    costs = [_megabytes(table), _mean(table.train_seconds), _mean(table.predict_seconds)]
    cells = [part, f"ours ({name})", "as single", level, "–", against, str(len(table.errors))]
    cells += [f"– / {cost:.3g}" for cost in costs]
    return f"| {' | '.join(cells)} |"


def _both(
    part: str, name: str, soft: ErrorTable, ridge: ErrorTable, ours: ErrorTable | None
) -> str:
    against = "–"
    if ours is not None:
        against = verdict(ours, ridge)
    cells = [part, f"{name} (bound)" if name in BOUNDS else name]
    cells += [f"{short(_level_of(table))} ± {spread(table)}" for table in (soft, ridge)]
    cells += [verdict(ridge, soft), against, str(min(len(soft.errors), len(ridge.errors)))]
    cells += [
        _pair(_megabytes(soft), _megabytes(ridge)),
        _pair(_mean(soft.train_seconds), _mean(ridge.train_seconds)),
        _pair(_mean(soft.predict_seconds), _mean(ridge.predict_seconds)),
    ]
    return f"| {' | '.join(cells)} |"


PAGES: dict[str, Callable[[], list[str]]] = {
    "docs/references.md": who_is_best,
    "docs/experiments/source-of-gain.md": source_of_gain,
    "docs/experiments/read-out.md": read_out,
    "README.md": where_the_gain_comes_from,
}
"""Which table stands in which page."""


def with_table(page: str, lines: Sequence[str]) -> str:
    """The page with these lines between its marks."""
    block = "\n".join([BEGIN, *lines, END])
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    return re.sub(pattern, lambda _: block, page, flags=re.DOTALL)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    stale = []
    for name, lines in PAGES.items():
        page = ROOT / name
        before = page.read_text(encoding="utf-8")
        after = with_table(before, lines())
        if after != before:
            stale.append(name)
            if not check:
                page.write_text(after, encoding="utf-8")
    if check and stale:
        raise SystemExit(f"Out of date: {', '.join(stale)}. Run python -m benchmarks.fair_tables.")


if __name__ == "__main__":
    main()
