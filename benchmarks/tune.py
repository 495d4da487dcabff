"""Every learner tuned alike: the same number of trials, ours included, on a stream of its own.

::

    python -m benchmarks.tune [LEARNER ...] [--trials 8] [--tasks 10] [--width 1] [--quick]
        [--out docs/results/tune] [--data DIR]

The first trial of a learner is what experiments use today, the others are drawn from its space of
settings (:data:`SPACES`: λ, learning rate, epochs, or what a learner has instead), without
replacement, by a fixed seed. Each trial teaches the tuning stream (:mod:`benchmarks.tuning_stream`)
and is judged by the mean accuracy over all tasks at the end, on rows that it has not learnt from.

A trial is a line in ``trials.jsonl``, written when it ends; the same command goes on where it
stopped, and several may write to one file. ``tune.md`` has the chosen values and all trials. What
is adopted goes by hand into the one table that experiments read,
``lifelong.references.tuned.TUNED``.
"""

import argparse
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tuning_stream import tuning_stream
from lifelong import Recipe, TaskStream
from lifelong._random import generator
from lifelong.experiments.catalogue.settings import OWN, PLAIN, STRONG
from lifelong.references import LEARNERS

Settings = dict[str, Any]


@dataclass(frozen=True)
class Space:
    """Where a learner's trials come from.

    Parameters
    ----------
    base : mapping
        The settings of its first trial.
    choices : mapping
        Values by name; ``recipe.lr`` is the learning rate of the recipe.
    """

    base: Mapping[str, Any]
    choices: Mapping[str, Sequence[Any]]

    def size(self) -> int:
        """How many different trials there are."""
        return len(list(self._combinations()))

    def trials(self, name: str, n: int) -> list[Settings]:
        """The base and n − 1 other settings, always the same ones."""
        combinations = list(self._combinations())
        if n > len(combinations):
            raise ValueError(
                f"{name} has {len(combinations)} settings; {n} trials are wanted. Ask for fewer, or"
                " widen its space."
            )
        others = [settings for settings in combinations if settings != self.base]
        order = generator(0, name, "trials").permutation(len(others))
        return [deepcopy(dict(self.base)), *(others[place] for place in order[: n - 1])]

    def _combinations(self) -> Iterator[Settings]:
        for values in itertools.product(*self.choices.values()):
            yield with_values(self.base, dict(zip(self.choices, values, strict=True)))


def with_values(base: Mapping[str, Any], values: Mapping[str, Any]) -> Settings:
    """The settings with other values; a dot leads into the recipe."""
    settings = deepcopy(dict(base))
    for name, value in values.items():
        outer, _, inner = name.partition(".")
        if inner:
            settings[outer][inner] = value
        else:
            settings[outer] = value
    return settings


def of_network(base: Mapping[str, Any], **choices: Sequence[Any]) -> Space:
    """Learning rate and length of training around those of the recipe, and other choices."""
    recipe = base["recipe"]
    length = "epochs"
    if "iterations" in recipe:
        length = "iterations"
    rates = [recipe["lr"] * factor for factor in (0.3, 1, 3)]
    lengths = [max(1, round(recipe[length] * factor)) for factor in (0.5, 1, 2)]
    around = {"recipe.lr": rates, f"recipe.{length}": lengths}
    defaults = {name: values[0] for name, values in choices.items()}
    return Space({**defaults, **base}, {**around, **choices})


# The first value is that of the first trial; None: the learner's own rule.
_LAMBDAS = (None, 10, 100, 1e3, 1e4)
SPACES: dict[str, Space] = {
    "silly-n": of_network(PLAIN),
    "silly-n-best": of_network(STRONG),
    "silly-n-shared": of_network(STRONG),
    "silly-n-shared-once": of_network(STRONG),
    "silly-f": Space(
        {"max_depth": 30, "max_samples": 0.67, "min_samples_leaf": 1},
        {
            "max_depth": [5, 10, 30],
            "max_samples": [0.5, 0.67, 0.8],
            "min_samples_leaf": [1, 3, 5],
        },
    ),
    "silly-f-best": Space(
        {"max_depth": 30, "max_samples": 0.67, "min_samples_leaf": 1},
        {
            "max_depth": [5, 10, 30],
            "max_samples": [0.5, 0.67, 0.8],
            "min_samples_leaf": [1, 3, 5],
        },
    ),
    "none": of_network(OWN["none"]),
    "ewc": of_network(OWN["ewc"], strength=_LAMBDAS),
    "o-ewc": of_network(OWN["o-ewc"], strength=_LAMBDAS),
    "si": of_network(OWN["si"], strength=_LAMBDAS),
    "lwf": of_network(OWN["lwf"], temperature=(2.0, 1.0, 4.0)),
    "total-replay": of_network(OWN["total-replay"]),
    "partial-replay": of_network(OWN["partial-replay"]),
    "er": of_network(OWN["er"]),
    "a-gem": of_network(OWN["a-gem"]),
    "tag": of_network(OWN["tag"], b=(5.0, 1.0, 7.0)),
    "prognn": of_network(OWN["prognn"]),
    "df-cnn": of_network(OWN["df-cnn"]),
    "lmc": of_network(OWN["lmc"], threshold=(4.0, 1.5, 10.0)),
    "model-zoo": of_network(OWN["model-zoo"], dropout=(0.2, 0.0, 0.5)),
    "coscl": of_network(OWN["coscl"], strength=(4e4, 40, 400, 4e3)),
    "randumb": Space(
        {"ridge": 1e-4, "kernel_width": None},
        {
            "ridge": [1e-6, 1e-5, 1e-4, 1e-3],
            "kernel_width": [None, 30.0, 50.0, 100.0, 200.0],
        },
    ),
    "der++": of_network(OWN["der++"], alpha=(0.3, 0.1, 1.0), beta=(0.5, 1.0)),
    "packnet": of_network(OWN["packnet"], pruned=(0.75, 0.5, 0.9)),
    "hat": of_network(OWN["hat"], sparsity=(0.75, 0.1, 2.0)),
    "gpm": of_network(OWN["gpm"], energy=(0.97, 0.9, 0.95)),
    "wsn": of_network(OWN["wsn"], share=(0.5, 0.1, 0.3)),
    "der": of_network(OWN["der"], auxiliary=(1.0, 0.0, 0.3)),
    "ranpac": Space(
        {"n_features": 2000},
        {"n_features": [250, 500, 750, 1000, 1500, 2000, 2500, 3000, 4000]},
    ),
    "dn": of_network(OWN["none"]),
    "own-ensemble": of_network(PLAIN),
    "joint": of_network(PLAIN),
    "single": of_network(PLAIN),
    "rf": Space(
        {"n_estimators": 100}, {"n_estimators": [25, 50, 100, 150, 200, 300, 400, 600, 1000]}
    ),
}
"""Where the trials of every learner come from."""


@dataclass(frozen=True)
class Race:
    """What all trials have in common."""

    n_tasks: int = 10
    rows_per_class: int = 30
    judged_per_class: int = 20
    width: float = 1.0

    def stream(self, data_dir: Path | None) -> TaskStream:
        """The tuning stream."""
        return tuning_stream(
            data_dir,
            n_tasks=self.n_tasks,
            rows_per_class=self.rows_per_class,
            judged_per_class=self.judged_per_class,
        )


def run_trial(name: str, settings: Settings, stream: TaskStream, width: float) -> dict[str, Any]:
    """Teach the stream; the mean accuracy over tasks, at their arrival and at the end."""
    given = deepcopy(settings)
    if "recipe" in given:
        given["recipe"] = Recipe(**given["recipe"])
    if LEARNERS[name].trains_network:
        given["width"] = width
    learner = LEARNERS[name](0, **given)
    began = time.perf_counter()
    arrival = []
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        arrival.append(learner.score(task.X_test, task.y_test, task=task.name))
    end = [learner.score(task.X_test, task.y_test, task=task.name) for task in stream]
    return {
        "accuracy": round(float(np.mean(end)), 4),
        "arrival": round(float(np.mean(arrival)), 4),
        "seconds": round(time.perf_counter() - began, 1),
    }


def identity(line: Mapping[str, Any]) -> str:
    """What makes two trials the same."""
    return json.dumps([line["learner"], line["settings"], line["race"]], sort_keys=True)


def read_trials(file: Path) -> list[dict[str, Any]]:
    """All trials of a file; a last line that was never finished is left out."""
    if not file.is_file():
        return []
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def tune(
    names: Sequence[str], n_trials: int, race: Race, file: Path, data_dir: Path | None = None
) -> None:
    """Run what is missing, learner after learner within each round of trials."""
    settings = {name: SPACES[name].trials(name, n_trials) for name in names}
    known = {identity(line) for line in read_trials(file)}
    stream: TaskStream | None = None
    for number in range(n_trials):
        for name in names:
            line = {
                "learner": name,
                "trial": number,
                "settings": settings[name][number],
                "race": vars(race),
            }
            if identity(line) in known:
                continue
            if stream is None:
                stream = TaskStream(list(race.stream(data_dir)))
            found = run_trial(name, settings[name][number], stream, race.width)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({**line, **found}) + "\n")
            print(
                f"{name:<16} trial {number}  {found['accuracy']:.4f}  {found['seconds']} s",
                flush=True,
            )


def chosen(trials: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The best trial of each learner; of equal ones the first."""
    best: dict[str, Mapping[str, Any]] = {}
    for trial in trials:
        name = trial["learner"]
        if name not in best or trial["accuracy"] > best[name]["accuracy"]:
            best[name] = trial
    return best


def as_many_for_all(trials: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The trials of every learner up to the number that the slowest one has."""
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial["learner"]] = max(counts.get(trial["learner"], 0), trial["trial"] + 1)
    fewest = min(counts.values(), default=0)
    return [trial for trial in trials if trial["trial"] < fewest]


def page(trials: Sequence[Mapping[str, Any]]) -> str:
    """Chosen values, and all trials, as tables."""
    equal = as_many_for_all(trials)
    counts = {name: sum(trial["learner"] == name for trial in equal) for name in chosen(equal)}
    races = sorted({json.dumps(trial["race"]) for trial in trials})
    lines = [
        "# Tuning",
        "",
        f"Written by `python -m benchmarks.tune`; races: {'; '.join(races)}.",
        "Accuracy is the mean over tasks after the last one, on rows that were not learnt from.",
        "Values are chosen from as many trials for everybody; what some learners have tried beyond"
        " that stands below and does not count yet.",
        "",
        "## Chosen",
        "",
        "| learner | trials | accuracy | today's settings | chosen |",
        "|---|---|---|---|---|",
    ]
    first = {trial["learner"]: trial for trial in reversed(trials) if trial["trial"] == 0}
    for name, best in chosen(equal).items():
        today = "–"
        if name in first:
            today = f"{first[name]['accuracy']:.3f}"
        settings = json.dumps(best["settings"])
        lines.append(
            f"| {name} | {counts[name]} | {best['accuracy']:.3f} | {today} | `{settings}` |"
        )
    lines += [
        "",
        "## Trials",
        "",
        "| learner | trial | accuracy | at arrival | seconds | settings |",
    ]
    lines.append("|---|---|---|---|---|---|")
    for trial in sorted(trials, key=lambda trial: (trial["learner"], trial["trial"])):
        lines.append(
            f"| {trial['learner']} | {trial['trial']} | {trial['accuracy']:.3f} |"
            f" {trial['arrival']:.3f} | {trial['seconds']:.0f} |"
            f" `{json.dumps(trial['settings'])}` |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("learners", nargs="*", metavar="LEARNER", help="all if left out")
    parser.add_argument("--trials", type=int, default=8, help="of every learner")
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--width", type=float, default=1.0, help="of all networks")
    parser.add_argument("--quick", action="store_true", help="3 tasks, networks of a quarter")
    parser.add_argument("--out", type=Path, default=Path("docs/results/tune"))
    parser.add_argument("--data", type=Path, help="folder with the official files")
    given = parser.parse_args()
    race = Race(n_tasks=given.tasks, width=given.width)
    if given.quick:
        race = Race(n_tasks=3, width=0.25)
    unknown = [name for name in given.learners if name not in SPACES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. Known: {', '.join(SPACES)}.")
    trials = given.out / "trials.jsonl"
    tune(given.learners or list(SPACES), given.trials, race, trials, given.data)
    (given.out / "tune.md").write_text(page(read_trials(trials)), encoding="utf-8")


if __name__ == "__main__":
    main()
