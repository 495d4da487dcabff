"""What patches bring to tasks of images, and where it comes from: on the tuning stream.

    python -m benchmarks.patch_trials --seeds 0 --report

One ``SillyNetwork.best(shared=1)`` learns ten tasks of training rows of CIFAR-100 that no table
uses (:mod:`benchmarks.tuning_stream`). Then each arm learns channels on some of its encoders, and
is judged on other training rows. ``--report`` also writes docs/results/patches/summary.json and the
table of docs/channels.md.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tuning_stream import tuning_stream
from lifelong import SillyNetwork, TaskStream
from lifelong.channels.base import no_counts
from lifelong.encoders.base import FittedEncoder
from lifelong.encoders.patches import FittedPatches, fit_patches
from lifelong.experiments.catalogue.settings import strong
from lifelong.learners.algorithms import Parts, TaskView, answer, see
from lifelong.learners.knowledge import Knowledge
from lifelong.learners.shared_networks import rows_of
from lifelong.nets.recipe import Recipe

ROWS_PER_TASK = 300
RESULTS = Path("docs/results/patches")
PAGE = Path("docs/channels.md")
BEGIN = "<!-- patches: begin -->"
END = "<!-- patches: end -->"
NETWORKS = "two shared networks alone"

Encoders = Mapping[Any, FittedEncoder]
Reads = Mapping[Any, Encoders]  # by task


class Judged(NamedTuple):
    """Of all judging rows: which are right, and the negative logarithm of their probability."""

    right: NDArray[np.float64]
    loss: NDArray[np.float64]


def judged(known: Knowledge, parts: Parts, stream: TaskStream, read: Reads) -> Judged:
    """Every task with a channel on the encoders that it reads."""
    right, loss = [], []
    for task in stream:
        rows = known.memory[task.name]
        counts = known.tasks[task.name].class_counts
        view = TaskView(parts.channel.start(no_counts()).with_class_counts(counts), None)
        shown = {}
        for name, encoder in read[task.name].items():
            view = see(view, rows, name, encoder, known, task.name, parts)
            shown[name] = encoder.encode(task.X_test)
        posteriors = answer(view.channel, shown, known.shares)
        codes = np.searchsorted(known.tasks[task.name].classes, task.y_test)
        right.append(posteriors.argmax(axis=1) == codes)
        loss.append(-np.log(np.maximum(posteriors[np.arange(len(codes)), codes], 1e-6)))
    return Judged(np.concatenate(right).astype(float), np.concatenate(loss))


def arms(known: Knowledge, seed: int) -> Iterator[tuple[str, Reads]]:
    """What tasks read, by the name of the arm."""
    networks = {
        name: known.encoders[name]
        for name in known.shared
        if not isinstance(known.encoders[name], FittedPatches)
    }
    of_tasks = [rows_of(known, task) for task in known.memory]

    def patches(chosen: Sequence[Any]) -> FittedPatches:
        return fit_patches(chosen, rng=np.random.default_rng(seed), device="cpu")

    own = {task: patches([rows_of(known, task)]) for task in known.memory}
    of_all = patches(of_tasks)
    plain = replace(of_all, within=None)

    def every(encoders: Encoders) -> Reads:
        return dict.fromkeys(known.memory, encoders)

    yield NETWORKS, every(networks)
    yield (
        "patches of the task's own rows alone",
        {task: {"patches": found} for task, found in own.items()},
    )
    yield "patches of all tasks alone", every({"patches": plain})
    yield "… with within-class directions", every({"patches": of_all})
    yield (
        "networks and patches of own rows",
        {task: {**networks, "patches": found} for task, found in own.items()},
    )
    yield "networks and patches of all tasks", every({**networks, "patches": plain})
    yield "… with within-class directions, as it is", every({**networks, "patches": of_all})


def measured(seed: int) -> dict[str, Judged]:
    """All arms on one learner."""
    stream = tuning_stream()
    recipe = Recipe(**strong(ROWS_PER_TASK)["recipe"])
    learner = SillyNetwork.best(recipe=recipe, shared=1, random_state=seed)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    known = learner.knowledge_
    parts = replace(learner.parts(), densities=False)
    return {name: judged(known, parts, stream, read) for name, read in arms(known, seed)}


def summary(by_seed: Sequence[Mapping[str, Judged]]) -> list[dict[str, Any]]:
    """An arm per line; differences from the networks alone, with the standard error over rows."""
    lines = []
    for name in by_seed[0]:
        right = np.mean([found[name].right for found in by_seed], axis=0)
        before = np.mean([found[NETWORKS].right for found in by_seed], axis=0)
        difference = right - before
        lines.append(
            {
                "arm": name,
                "accuracy": round(float(right.mean()), 4),
                "log_loss": round(float(np.mean([found[name].loss for found in by_seed])), 4),
                "difference": round(float(difference.mean()), 4),
                "error": round(float(difference.std() / np.sqrt(len(difference))), 4),
                "rows": len(right),
                "seeds": len(by_seed),
            }
        )
    return lines


def text_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """The table."""
    first = lines[0]
    text = [
        f"The [tuning stream](../benchmarks/tuning_stream.py), after the last of ten tasks of 300"
        f" rows: {first['rows']} other training rows of CIFAR-100, seeds: {first['seeds']}; ±"
        " standard error over rows: `python -m benchmarks.patch_trials --report`.",
        "",
        "| a task reads | accuracy | log-loss | difference |",
        "|---|---|---|---|",
    ]
    for line in lines:
        difference = f"{line['difference']:+.3f} ± {line['error']:.3f}"
        if line["arm"] == NETWORKS:
            difference = ""
        text.append(
            f"| {line['arm']} | {line['accuracy']:.3f} | {line['log_loss']:.3f} | {difference} |"
        )
    return "\n".join(text)


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--report", action="store_true", help="also write the table of the page")
    given = parser.parse_args()
    lines = summary([measured(seed) for seed in given.seeds])
    print(text_of(lines))
    if given.report:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / "summary.json").write_text(json.dumps(lines, indent=2) + "\n", encoding="utf-8")
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text_of(lines)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
