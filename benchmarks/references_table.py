"""All sixteen references (and the controls) on CIFAR 10×10 and spoken digits, beside the published figures.

    LIFELONG_DATA=… python benchmarks/references_table.py run --out benchmarks/results/references.jsonl --n-jobs 2
    python benchmarks/references_table.py table --out benchmarks/results/references.jsonl

One JSON line per (learner, dataset, repetition) is appended as it comes, with the parameters it was made with; the same
command goes on where it stopped. Independent runs are processes of one thread each. ``--budget capped`` (the default)
trains shorter than the authors did, as ``CAPPED`` says; ``--budget authors`` is every algorithm with its defaults.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lifelong import ErrorTable, Recipe, evaluate
from lifelong.learners.base import Learner
from lifelong.references import CONTROLS, REFERENCES
from lifelong.tasks.datasets import load

FACTORIES = {**REFERENCES, **CONTROLS}
DATASETS = ("cifar-10x10", "spoken-digit")

# About 8000 rows shown per task instead of 128 000, in steps of 64 rows instead of 256.
_ADAM = {"recipe": Recipe(iterations=120, batch_size=64, lr=1e-4)}
_RMSPROP = {"recipe": Recipe(epochs=8, batch_size=10, optimiser="rmsprop", lr=1e-4)}
CAPPED: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("none", "si", "lwf", "total-replay", "partial-replay", "single"), _ADAM),
    "ewc": {**_ADAM, "fisher_rows": 200},
    "o-ewc": {**_ADAM, "fisher_rows": 200},
    "er": {"recipe": Recipe(epochs=8, batch_size=10, optimiser="sgd", lr=0.1)},
    "a-gem": {"recipe": Recipe(epochs=8, batch_size=10, optimiser="sgd", lr=0.03), "reference_size": 64},
    "tag": {"recipe": Recipe(epochs=6, batch_size=10, optimiser="rmsprop", lr=2.5e-4)},
    "prognn": _RMSPROP,
    "df-cnn": _RMSPROP,
    "lmc": {"recipe": Recipe(epochs=20, batch_size=64, lr=1e-3)},
    "model-zoo": {
        "recipe": Recipe(
            epochs=12, batch_size=16, optimiser="sgd", lr=0.01, momentum=0.9, weight_decay=1e-5, schedule="cosine"
        )
    },
    "coscl": {"recipe": Recipe(epochs=15, batch_size=64, lr=1e-3)},
}
ONE_ROW_PER_CLASS = {"cifar-10x10": 100, "spoken-digit": 60}  # ER's memory

# SPEC.md §6: accuracy, own single-task accuracy, forward, backward, transfer (None: not published)
PUBLISHED: dict[str, dict[str, tuple[float | None, ...]]] = {
    "cifar-10x10": {
        "model-zoo": (0.458, 0.408, 0.013, 0.076, 0.089),
        "coscl": (0.435, 0.473, 0.008, -0.072, -0.065),
        "lwf": (0.421, 0.447, -0.052, 0.007, -0.045),
        "prognn": (0.391, 0.324, 0.107, 0.0, 0.107),
        "partial-replay": (0.372, 0.447, -0.116, -0.012, -0.128),
        "o-ewc": (0.363, 0.447, -0.137, -0.007, -0.143),
        "total-replay": (0.361, 0.447, -0.110, -0.036, -0.146),
        "ewc": (0.358, 0.447, -0.141, -0.010, -0.151),
        "si": (0.355, 0.447, -0.146, -0.009, -0.155),
        "er": (0.316, 0.402, 0.049, -0.175, -0.126),
        "none": (0.292, 0.447, -0.049, -0.193, -0.241),
        "lmc": (0.278, 0.316, -0.009, -0.045, -0.054),
        "a-gem": (0.274, 0.405, 0.044, -0.232, -0.188),
        "df-cnn": (0.166, 0.254, -0.003, -0.105, -0.108),
        "tag": (0.154, 0.382, -0.254, -0.062, -0.316),
        "randumb": (0.132, 0.132, 0.0, 0.0, 0.0),
    },
    "spoken-digit": {
        name: (accuracy, None, None, None, None)
        for name, accuracy in {
            "model-zoo": 0.985,
            "total-replay": 0.941,
            "partial-replay": 0.940,
            "si": 0.806,
            "ewc": 0.790,
            "lwf": 0.788,
            "o-ewc": 0.788,
            "none": 0.773,
        }.items()
    },
}


class Job(NamedTuple):
    """One line of the result."""

    learner: str
    dataset: str
    repetition: int
    seed: int
    budget: str

    @property
    def parameters(self) -> dict[str, Any]:
        capped = CAPPED.get(self.learner, {}) if self.budget == "capped" else {}
        return {**capped, **({"capacity": ONE_ROW_PER_CLASS[self.dataset]} if self.learner == "er" else {})}


def measure(job: Job) -> dict[str, Any]:
    """Teach a learner the stream, and each task alone; a JSON-ready row."""
    started = time.perf_counter()
    seed = job.seed + job.repetition

    def make(seed: int) -> Learner:
        learner = FACTORIES[job.learner](seed, **job.parameters)
        # The control `single` is everyone's plain model: it is trained once, in its own row, and not sixteen times.
        learner.plain_models = lambda _: {}  # type: ignore[method-assign]
        return learner

    table = evaluate(make, load(job.dataset, random_state=seed), repetitions=1, seed=seed, name=job.learner)
    learner = make(seed)
    recipe = learner._recipe() if hasattr(learner, "_recipe") else None
    return {
        **job._asdict(),
        "parameters": {key: asdict(p) if is_dataclass(p) else p for key, p in job.parameters.items()},
        "recipe": asdict(recipe) if recipe is not None else None,
        "tasks": table.tasks,
        "test_rows": table.test_rows.tolist(),
        "errors": [[None if np.isnan(e) else e for e in row] for row in table.errors[0].tolist()],
        "single": table.single[0].tolist(),
        "train_seconds": table.train_seconds[0].tolist(),
        "predict_seconds": table.predict_seconds[0].tolist(),
        "sizes": dict(table.sizes),
        "wall_seconds": time.perf_counter() - started,
    }


def stored(path: Path) -> list[dict[str, Any]]:
    """The rows measured so far; a line that was cut off by a kill is dropped."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def jobs_to_do(arguments: argparse.Namespace) -> list[Job]:
    """What is not in the file yet; the slowest first."""
    done = {(r["learner"], r["dataset"], r["repetition"], r["seed"], r["budget"]) for r in stored(arguments.out)}
    slow = ("total-replay", "model-zoo", "tag", "a-gem", "prognn", "lmc", "df-cnn", "partial-replay")
    order = sorted(arguments.learners, key=lambda name: slow.index(name) if name in slow else len(slow))
    jobs = [
        Job(learner, dataset, repetition, arguments.seed, arguments.budget)
        for repetition in range(arguments.repetitions)
        for dataset in arguments.datasets
        for learner in order
    ]
    return [job for job in jobs if tuple(job) not in done]


def run(arguments: argparse.Namespace) -> None:
    """Measure what is missing and append it."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", LIFELONG_PROGRESS="0")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    jobs = jobs_to_do(arguments)
    print(f"{len(jobs)} runs to do")
    with ProcessPoolExecutor(arguments.n_jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(measure, job): job for job in jobs}
        for future in as_completed(futures):
            if error := future.exception():  # the others go on; the same command tries this one again
                print(f"FAILED {futures[future]}: {error!r}", flush=True)
                continue
            row = future.result()
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            accuracy = 1 - np.mean([errors[-1] for errors in row["errors"]])
            print(f"{row['dataset']:13} {row['learner']:15} {accuracy:.3f}  {row['wall_seconds']:6.0f} s", flush=True)


def error_table(rows: list[dict[str, Any]]) -> ErrorTable:
    """All repetitions of one learner on one dataset."""
    return ErrorTable(
        learner=rows[0]["learner"],
        tasks=rows[0]["tasks"],
        test_rows=np.array(rows[0]["test_rows"]),
        errors=np.array([r["errors"] for r in rows], dtype=np.float64),
        single=np.array([r["single"] for r in rows]),
        train_seconds=np.array([r["train_seconds"] for r in rows]),
        sizes={key: float(np.mean([r["sizes"][key] for r in rows])) for key in rows[0]["sizes"]},
    )


def markdown(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One table per dataset, best accuracy first; published figures in brackets."""
    for dataset in DATASETS:
        tables = {
            name: error_table(found)
            for name in FACTORIES
            if (found := [r for r in rows if r["learner"] == name and r["dataset"] == dataset])
        }
        if not tables:
            continue
        yield f"\n### {dataset}\n"
        yield "| learner | accuracy | single | forward | backward | transfer | Δ accuracy | training s | MB |"
        yield "|---|---|---|---|---|---|---|---|---|"
        for name, table in sorted(tables.items(), key=lambda item: -item[1].accuracy.mean()):
            yield _line(name, table, PUBLISHED[dataset].get(name, (None,) * 5))


def _line(name: str, table: ErrorTable, published: tuple[float | None, ...]) -> str:
    statistics = ("accuracy", "single_accuracy", "forward_transfer", "backward_transfer", "transfer")
    ours = [float(np.mean(getattr(table, statistic))) for statistic in statistics]
    signs = ("", "", "+", "+", "+")
    cells = [
        f"{value:{sign}.3f}" + ("" if theirs is None else f" ({theirs:{sign}.3f})")
        for value, theirs, sign in zip(ours, published, signs, strict=True)
    ]
    difference = "" if published[0] is None else f"{ours[0] - published[0]:+.3f}"
    megabytes = sum(size for part, size in table.sizes.items() if part != "parameters") / 1e6
    seconds = table.train_seconds.sum(axis=1).mean()
    return f"| {name} | {' | '.join(cells)} | {difference} | {seconds:.0f} | {megabytes:.0f} |"


def write_into(page: Path, tables: str) -> None:
    """Put the tables between the page's two marks."""
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(f"{before}{begin}\n{tables}\n\n{end}{rest.partition(end)[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "table"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/references.jsonl"))
    parser.add_argument("--learners", type=lambda text: text.split(","), default=list(FACTORIES))
    parser.add_argument("--datasets", type=lambda text: text.split(","), default=list(DATASETS))
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", choices=["capped", "authors"], default="capped")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--into", type=Path, help="a page with the marks 'measured: begin' and 'measured: end'")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments)
    chosen = [r for r in stored(arguments.out) if r["budget"] == arguments.budget]
    tables = "\n".join(markdown(chosen))
    print(tables)
    if arguments.into:
        write_into(arguments.into, tables)


if __name__ == "__main__":
    main()
