"""Networks that tasks share: accuracy of tasks that have just come and of all after the last one.

    python -m benchmarks.shared_networks cifar-10x10 --shared 1 2 --seeds 0 1 --out rows.jsonl

A line per stage: the accuracy of the new task, after the last one of all; seconds; and networks
that a task reads. ``lifelong run best-…`` measures every task at every stage, beside its rivals.
What is in the file is not measured again.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from lifelong import SillyNetwork
from lifelong.experiments.catalogue.settings import strong
from lifelong.nets.recipe import Recipe
from lifelong.tasks.datasets import load

STREAMS: dict[str, tuple[str, dict[str, Any], int]] = {
    "cifar-10x10": ("cifar-10x10", {}, 500),
    "spoken-digit": ("spoken-digit", {}, 500),
    "mini-imagenet": ("mini-imagenet-20x5", {"size": 32}, 500),
    "five-datasets-1000": ("five-datasets", {"rows_per_class": 100}, 1000),
    "five-datasets-5000": ("five-datasets", {"rows_per_class": 500}, 5000),
}
"""As in ``lifelong run best-…``: the stream, its options, rows per task of the strong recipe."""


def run(stream_name: str, shared: int | None, seed: int, out: Path) -> None:
    """One learner on one stream; a line per stage is added to the file."""
    name, options, n_rows = STREAMS[stream_name]
    stream = load(name, random_state=seed, **options)
    recipe = Recipe(**strong(n_rows)["recipe"])
    learner = SillyNetwork.best(recipe=recipe, shared=shared, random_state=seed)
    for stage, task in enumerate(stream):
        started = time.perf_counter()
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        seconds = time.perf_counter() - started
        accuracy = []
        asked = [task.name]
        if stage + 1 == len(stream.names):
            asked = stream.names
        for known in asked:
            rows = stream.named(known)
            accuracy.append(round(learner.score(rows.X_test, rows.y_test, task=known), 4))
        row = {
            "stream": stream_name,
            "shared": shared,
            "seed": seed,
            "stage": stage + 1,
            "mean": round(float(np.mean(accuracy)), 4),
            "accuracy": accuracy,
            "seconds": round(seconds, 1),
            "networks": max(len(channel.reads) for channel in learner.channels_.values()),
        }
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")


def _finished(out: Path) -> set[tuple[str, int | None, int]]:
    if not out.exists():
        return set()
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    last = {row["stream"]: 0 for row in rows}
    for row in rows:
        last[row["stream"]] = max(last[row["stream"]], row["stage"])
    return {
        (row["stream"], row["shared"], row["seed"])
        for row in rows
        if row["stage"] == last[row["stream"]]
    }


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("streams", nargs="+", choices=list(STREAMS))
    parser.add_argument("--shared", nargs="+", type=int, default=[1, 2], help="0: none")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--out", type=Path, default=Path("shared-networks.jsonl"))
    given = parser.parse_args()
    done = _finished(given.out)
    for seed in given.seeds:
        for stream in given.streams:
            for n_shared in given.shared:
                wanted = (stream, n_shared or None, seed)
                if wanted not in done:
                    run(*wanted, given.out)


if __name__ == "__main__":
    main()
