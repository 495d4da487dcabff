"""What our most accurate learners were to reach, and what they reach: ``python -m
benchmarks.targets``.

Reads the committed tables of the experiments ``best-*`` and puts the answer into docs/channels.md,
between its marks, and the accuracies alone into README.md.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.fair_tables import Entrant, best_of, entrants_in, short, verdict
from benchmarks.table import put
from lifelong.references import CONTROLS, REFERENCES

RESULTS = Path("docs/results")
PAGE = Path("docs/channels.md")
README = Path("README.md")
BEGIN = "<!-- targets: begin -->"
END = "<!-- targets: end -->"

BACKWARD = "backward_transfer"
PAIRS = (
    ("silly-f-best", "silly-f, 100 trees"),
    ("silly-n-best", "silly-n"),
)  # ours, and the paper's of its size

Line = dict[str, str]


@dataclass(frozen=True)
class Race:
    """An experiment in which ours must be ahead of every rival, and perhaps reach an accuracy of
    its own.
    """

    experiment: str
    ours: str = "silly-n-best"
    least: float | None = None
    ahead_of: tuple[str, float] = ("", 0.0)  # a rival that must be beaten by so much
    every_task: bool = False  # must gain, or lose no more than repetitions differ
    own_recipes: str = ""  # the experiment in which the references train as their authors did


RACES = (
    Race("best-cifar-plain", least=0.50, own_recipes="cifar-10x10"),
    Race("best-cifar-strong", least=0.63, own_recipes="cifar-10x10"),
    Race("best-spoken-digit", least=0.985, own_recipes="spoken-digit"),
    Race("best-mini-imagenet"),
    Race("best-five-datasets-1000", every_task=True),
    Race("best-five-datasets-5000", every_task=True),
    Race("best-tabular-cifar", ours="silly-f-best", ahead_of=("rf", 0.015)),
)


def main() -> None:
    """Print the tables, and put them into the page."""
    text = "\n".join([*races(), "", *safety(), "", *shuffled(), *ablations()]) + "\n"
    print(text)
    put(PAGE, BEGIN, text, END)
    put(README, BEGIN, "\n".join(accuracies()) + "\n", END)


def races() -> Iterator[str]:
    """A line per race: accuracies with quartiles over repetitions, transfers and gain of ours, and
    the verdict.
    """
    yield (
        "| experiment | repetitions | ours | rivals | target | FT, BT | gain over single, rf |"
        " tasks that gain | |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for race in RACES:
        lines = {line["learner"]: line for line in read(race.experiment, "table.csv")}
        if race.ours not in lines:
            yield (
                f"| [{race.experiment}](experiments/{race.experiment}.md) |"
                + " |" * 7
                + " not measured yet |"
            )
            continue
        yield "| " + " | ".join(cells(race, lines.pop(race.ours), list(lines.values()))) + " |"


def accuracies() -> Iterator[str]:
    """A short line per race that was measured: ours, ours taught one task alone, the best of all
    references that were run on the stream, and a plain model per task.

    A reference counts with the better of two recipes: that of the race, and its own.
    """
    yield (
        "| experiment | ours | ours alone | best reference (how many were run) | ours − it |"
        " a plain model per task |"
    )
    yield "|---|---|---|---|---|---|"
    for race in RACES:
        experiments = [race.experiment]
        if race.own_recipes:
            experiments.append(race.own_recipes)
        found = entrants_in(experiments, part="")
        ours = best_of(found, partial(_is_in, {race.ours}, race.experiment))
        if ours is None:
            continue
        rival = best_of(found, lambda entrant: entrant.spec.name in REFERENCES)
        control = best_of(found, partial(_is_in, set(CONTROLS), race.experiment))
        assert rival is not None
        assert control is not None
        n_run = len({entrant.spec.name for entrant in found if entrant.spec.name in REFERENCES})
        recipe = ""
        if rival.experiment != race.experiment:
            recipe = ", own recipe"
        cells = (
            f"[{race.experiment}](docs/experiments/{race.experiment}.md)",
            f"{race.ours} **{short(ours.accuracy)}**",
            short(float(np.mean(1 - np.asarray(ours.table.single)))),
            f"{rival.spec.name}{recipe} {short(rival.accuracy)} ({n_run})",
            verdict(ours.table, rival.table),
            f"{control.spec.name} {short(control.accuracy)}",
        )
        yield f"| {' | '.join(cells)} |"


def _is_in(names: set[str], experiment: str, entrant: Entrant) -> bool:
    """Whether it is one of these learners, measured in this experiment."""
    return entrant.spec.name in names and entrant.experiment == experiment


def cells(race: Race, ours: Line, rivals: list[Line]) -> Iterator[str]:
    """What a race gave."""
    gains = [float(line["gain"]) for line in tasks_of(race)]
    yield f"[{race.experiment}](experiments/{race.experiment}.md)"
    yield ours["repetitions"]
    yield f"{race.ours} **{float(ours['accuracy']):.3f}** ({quartiles(ours)})"
    best_first = sorted(rivals, key=lambda line: -float(line["accuracy"]))
    yield "<br>".join(
        f"{line['learner']} {float(line['accuracy']):.3f} ({quartiles(line)})"
        for line in best_first
    )
    yield wanted(race)
    yield f"{float(ours['forward_transfer']):+.3f}, {float(ours['backward_transfer']):+.3f}"
    yield f"{float(ours['gain']):+.3f}"
    yield f"{sum(gain > 0 for gain in gains)} of {len(gains)}"
    yield "met" if met(race, ours, rivals) else "**missed**"


def safety() -> Iterator[str]:
    """A line per second task: what it does to the first one, ours and the paper's learner side by
    side.
    """
    lines = list(read("best-xor", "tasks.csv"))
    first = {(line["stream"], line["learner"]): line for line in lines if line["task"] == "xor"}
    if not first:
        yield "best-xor is not measured yet."
        return
    learners = list(dict.fromkeys(learner for _, learner in first))
    yield (
        "| accuracy on XOR, backward transfer to it (quartiles) | "
        + " | ".join(learners)
        + " | wanted | |"
    )
    yield "|---" * (len(learners) + 3) + "|"
    for stream in dict.fromkeys(stream for stream, _ in first):
        of = {learner: first[stream, learner] for learner in learners}
        shown = [f"{float(line['accuracy']):.3f}, {signed(line, BACKWARD)}" for line in of.values()]
        want, holds = harmless(stream)
        right = all(holds(of[ours], of[papers]) for ours, papers in PAIRS)
        verdict = "met" if right else "**missed**"
        yield (f"| {stream} | " + " | ".join(shown) + f" | {want} | {verdict} |")


def harmless(stream: str) -> tuple[str, Callable[[Line, Line], bool]]:
    """What is wanted of ours after a second task, in words and as a test against the paper's
    learner.

    Of a task that helps, the accuracies are compared: who is weak alone has the higher transfer.
    """
    if "90°" in stream:
        return (
            "accuracy ≥ the paper's",
            lambda ours, papers: float(ours["accuracy"]) >= float(papers["accuracy"]),
        )
    if stream.startswith("750"):
        return "transfer ≥ −0.01", lambda ours, _: float(ours[BACKWARD]) >= -0.01
    return (
        "≤ ⅓ of the paper's harm",
        lambda ours, papers: float(ours[BACKWARD]) >= min(float(papers[BACKWARD]), 0) / 3,
    )


def shuffled() -> Iterator[str]:
    """What a stream of tasks with meaningless labels does to the one task that has real ones."""
    first = [line for line in read("best-adversarial-labels", "tasks.csv") if line["task"] == "1"]
    if not first:
        yield "best-adversarial-labels is not measured yet."
        return
    yield (
        "| nine tasks with shuffled labels after the first | accuracy on the first | backward"
        " transfer to it |"
    )
    yield "|---|---|---|"
    for line in first:
        shown = f"{float(line['accuracy']):.3f} ({quartiles(line)})"
        yield f"| {line['learner']} | {shown} | {signed(line, BACKWARD)} |"


def ablations() -> Iterator[str]:
    """A line per part of our learners, added to the parts above it; a variant names the part that
    it varies.
    """
    for experiment in ("ablation-best", "ablation-best-forest"):
        yield ""
        page = f"[{experiment}](experiments/{experiment}.md)"
        lines = read(experiment, "table.csv")
        if not lines:
            yield f"{page} is not measured yet."
            continue
        yield f"| {page} | accuracy (quartiles) | alone | FT | BT | gain |"
        yield "|---" * 6 + "|"
        for line in lines:
            shown = [f"{float(line[name]):+.3f}" for name in ("forward_transfer", BACKWARD, "gain")]
            accuracy = f"{float(line['accuracy']):.3f} ({quartiles(line)})"
            alone = f"{float(line['single_accuracy']):.3f}"
            yield "| " + " | ".join([line["learner"], accuracy, alone, *shown]) + " |"


def wanted(race: Race) -> str:
    """The target in words."""
    rival, margin = race.ahead_of
    words = ["> all"]
    if race.least:
        words.append(f"≥ {race.least:g}")
    elif rival:
        words.append(f"≥ {rival} + {margin:g}")
    if race.every_task:
        words.append("no task loses")
    return ", ".join(words)


def met(race: Race, ours: Line, rivals: list[Line]) -> bool:
    """Whether ours is ahead of everybody, by enough, and gains and transfers are positive."""
    accuracy = float(ours["accuracy"])
    rival, margin = race.ahead_of
    behind = [
        float(line["accuracy"]) + (margin if line["learner"] == rival else 0) for line in rivals
    ]
    positive = all(
        float(ours[name]) > 0 for name in ("forward_transfer", "backward_transfer", "gain")
    )
    unharmed = not race.every_task or all(float(line["gain_upper"]) >= 0 for line in tasks_of(race))
    return positive and unharmed and accuracy > max(behind) and accuracy >= (race.least or 0)


def tasks_of(race: Race) -> list[Line]:
    """Ours, task by task."""
    return [line for line in read(race.experiment, "tasks.csv") if line["learner"] == race.ours]


def signed(line: Line, statistic: str) -> str:
    """A mean with its quartiles."""
    return f"{float(line[statistic]):+.3f} ({quartiles(line, statistic)})"


def quartiles(line: Line, statistic: str = "accuracy") -> str:
    """First and third, over repetitions."""
    sign = "" if statistic == "accuracy" else "+"
    return " … ".join(
        f"{float(line[f'{statistic}_{side}']):{sign}.3f}" for side in ("lower", "upper")
    )


def read(experiment: str, table: str) -> list[Line]:
    """A committed table; nothing if there is none."""
    file = RESULTS / experiment / table
    if file.exists():
        return list(csv.DictReader(file.open()))
    return []


if __name__ == "__main__":
    main()
