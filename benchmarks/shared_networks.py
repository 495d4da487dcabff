"""Networks that tasks share: accuracy of tasks that have just come and of all after the last one.

    python -m benchmarks.shared_networks cifar-10x10 --shared 1 2 --seeds 0 1 --out rows.jsonl
    python -m benchmarks.shared_networks --report

A line per stage: the accuracy of the new task, after the last one of all; seconds; and encoders
that a task reads. ``lifelong run best-…`` measures every task at every stage, beside its rivals.
What is in the file is not measured again. ``--report`` writes the table of docs/channels.md from
docs/results/shared-networks.
"""

import argparse
import json
import time
from collections.abc import Sequence
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


RESULTS = Path("docs/results/shared-networks")
PAGE = Path("docs/channels.md")
BEGIN = "<!-- shared networks: begin -->"
END = "<!-- shared networks: end -->"
FILES = {"before": "rows-networks-alone.jsonl", "now": "rows.jsonl"}
BEFORE = {1: "two networks alone, as before", 2: "four networks alone, as before"}
NOW = {1: "`shared=1`: two networks, patches", 2: "`shared=2`: own network, two shared, patches"}


def text_of(folder: Path) -> str:
    """The table: means over repetitions, and the smallest and the largest of several."""
    lines = [
        "Accuracy of the tasks as each has just come (mean over stages) and of all after the last"
        " one, strong recipe; in brackets the smallest and the largest of several seeds:"
        " `python -m benchmarks.shared_networks STREAM --shared 1 2 --seeds 0 1 2 3 4`, then"
        " `--report`.",
        "",
        "| stream | | seeds | as they came | the last two as they came | all after the last |",
        "|---|---|---|---|---|---|",
    ]
    by_run = {}
    for when, file in FILES.items():
        for line in (folder / file).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            run = by_run.setdefault((row["stream"], when, row["shared"]), {})
            run.setdefault(row["seed"], []).append(row)
    for stream in STREAMS:
        for when, names in (("before", BEFORE), ("now", NOW)):
            for shared, name in names.items():
                runs = _complete(by_run.get((stream, when, shared), {}))
                if runs:
                    lines.append(f"| {stream} | {name} | {len(runs)} | {_cells(runs)} |")
    return "\n".join(lines)


def _complete(by_seed: dict[int, list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Runs that have come to the last task: after it all tasks were asked."""
    return [rows for rows in by_seed.values() if len(rows[-1]["accuracy"]) == len(rows) > 1]


def _cells(runs: list[list[dict[str, Any]]]) -> str:
    came = [[row["accuracy"][-1] for row in rows] for rows in runs]
    figures = (
        [np.mean(one) for one in came],
        [np.mean(one[-2:]) for one in came],
        [rows[-1]["mean"] for rows in runs],
    )
    return " | ".join(_with_range(values) for values in figures)


def _with_range(values: Sequence[float]) -> str:
    text = f"{np.mean(values):.3f}"
    if len(values) > 1:
        text += f" ({min(values):.3f} … {max(values):.3f})"
    return text


def report() -> None:
    """Write the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    text = f"{before}{BEGIN}\n{text_of(RESULTS)}\n{END}{after}"
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("streams", nargs="*", metavar="stream", help=", ".join(STREAMS))
    parser.add_argument("--report", action="store_true", help="write the table of the page")
    parser.add_argument("--shared", nargs="+", type=int, default=[1, 2], help="0: none")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--out", type=Path, default=Path("shared-networks.jsonl"))
    given = parser.parse_args()
    if unknown := set(given.streams) - set(STREAMS):
        parser.error(f"there is no stream {unknown.pop()!r}; choose from {', '.join(STREAMS)}")
    if given.report:
        report()
        return
    done = _finished(given.out)
    for seed in given.seeds:
        for stream in given.streams:
            for n_shared in given.shared:
                wanted = (stream, n_shared or None, seed)
                if wanted not in done:
                    run(*wanted, given.out)


if __name__ == "__main__":
    main()
