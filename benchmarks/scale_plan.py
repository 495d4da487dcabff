"""What 10⁶ tasks and 10¹⁰ rows would take: a plan on paper, from constants that are measured.

    # the plan, from benchmarks/scale_constants.json
    python -m benchmarks.scale_plan
    # measures the constants anew first (some minutes); those of the engine if it is named
    python -m benchmarks.scale_plan --measure [--engine ray]
    # for another size
    python -m benchmarks.scale_plan --tasks 10000 --rows 1e9

Sizes and CPU seconds are measured at two numbers of rows, and grow linearly in between and beyond.
Nothing is assumed to be free: a piece of work pays the engine's overhead, bytes pay the object
store's speed, and a worker's memory is what its piece of work holds at once. The last column says
which part is full first as tasks grow, and whether the arrangement fits.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

import lifelong
from benchmarks.saturation import first_full, verdict
from lifelong import SillyForest, SillyNetwork
from lifelong._parallel import parallel_map, place
from lifelong.encoders import growing_compiled, walking_many
from lifelong.learners.algorithms import train_encoder, update_old_channels

CONSTANTS = Path(__file__).with_name("scale_constants.json")
COLUMNS = 100
CLASSES = 10
SIZES = (2000, 8000)
LEARNERS: dict[str, Callable[[], Any]] = {
    "forests, leaf channels": lambda: SillyForest(random_state=0),
    "forests of depth ≤ 6, leaf channels": lambda: SillyForest(max_depth=6, random_state=0),
    "networks (128, 128), ridge channels": lambda: SillyNetwork(
        (128, 128), channel="ridge", epochs=5, random_state=0
    ),
}
MB = 1e6
GB = 1e9
TB = 1e12
HOUR = 3600.0
LIMITS = {"keeper GB": 64.0, "worker GB": 64.0, "hours": 24.0}  # a common machine, and a day


def rows_of(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten classes around ten centres, a tenth of the labels wrong: trees grow as on real data."""
    rng = np.random.default_rng(seed)
    y = rng.integers(CLASSES, size=n)
    X = rng.standard_normal((CLASSES, COLUMNS))[y] * 0.7 + rng.standard_normal((n, COLUMNS))
    return X.astype(np.float32), np.where(rng.random(n) < 0.1, rng.integers(CLASSES, size=n), y)


def seconds(
    work: Callable[[], object],
    repeats: int = 3,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """The fastest of a few: on a busy machine the others measure its neighbours."""
    times = []
    for _ in range(repeats):
        started = clock()
        work()
        times.append(clock() - started)
    return min(times)


def measure_learner(make: Callable[[], Any], n: int) -> dict[str, float]:
    """Of one task with ``n`` rows, one encoder, and one (task, encoder)."""
    learner = make().partial_fit(*rows_of(n, 0), task="a").partial_fit(*rows_of(n, 1), task="b")
    known = learner.knowledge_
    parts = learner._parts()
    X, y = rows_of(n, 2)
    lesson = learner._lesson(known, X, y, "c")
    encoder, _ = train_encoder(parts.encoder, known.seed, "c", lesson)
    single = learner.alone("a").knowledge_

    def spread() -> None:
        update_old_channels(single, "c", encoder, parts)

    return {
        "encoder bytes": learner.sizes()["encoders"] / 2,
        "channel bytes": learner.sizes()["channels"] / 4,
        "encoder seconds": seconds(lambda: train_encoder(parts.encoder, known.seed, "c", lesson)),
        "channel seconds": seconds(spread),
    }


def measure_engine(name: str) -> dict[str, float]:
    """Overhead of a piece of work, and bytes per second through the object store and back out of
    it.
    """
    with lifelong.engine(name, n_workers=1):
        parallel_map(len, [b""] * 4, n_jobs=None, prefer="processes")

        def nothing() -> None:
            parallel_map(len, [b""] * 50, n_jobs=None, prefer="processes")

        overhead = seconds(nothing, clock=time.perf_counter) / 50
        large = np.zeros(int(5e6))  # 40 MB

        def send() -> None:
            parallel_map(np.sum, repeat(place(large), 1), n_jobs=None, prefer="processes")

        sending = seconds(send, clock=time.perf_counter)
        speed = large.nbytes / max(sending - 2 * overhead, 1e-3)
    return {"overhead seconds": overhead, "bytes per second": speed}


def measure_worker() -> float:
    """Resident bytes of a process that has imported everything and done nothing."""
    code = (
        "import resource, lifelong.experiments.runner, torch;"
        " print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1024


def measure(engine: str | None, known: dict[str, Any]) -> dict[str, Any]:
    """All constants; those of the engine are kept if none is named."""
    growing_compiled.WARM_UP = 0  # a day's work is done in compiled loops, where there is numba
    walking_many.WARM_UP = 0
    of_engine = known["engine"]
    if engine is not None:
        of_engine = {"name": engine, **measure_engine(engine)}
    learners = {}
    for name, make in LEARNERS.items():
        small, large = (measure_learner(make, n) for n in SIZES)
        slope = {what: (large[what] - small[what]) / (SIZES[1] - SIZES[0]) for what in small}
        learners[name] = {
            what: {
                "per row": max(slope[what], 0.0),
                "fixed": max(small[what] - SIZES[0] * max(slope[what], 0.0), 0.0),
            }
            for what in small
        }
        print(f"measured {name}", flush=True)
    return {
        "learners": learners,
        "engine": of_engine,
        "worker bytes": measure_worker(),
        "row bytes": 4 * COLUMNS + 8,
    }


@dataclass(frozen=True)
class Plan:
    """One way to arrange so many tasks.

    Every task trains one of ``encoders`` (the first ones, once a budget is spent); its channel
    reads ``read`` of them. ``stored`` is the share of rows that must be kept for encoders to come;
    ``asked`` the share of channels that anybody ever asks for.
    """

    name: str
    encoders: float
    read: float
    stored: float
    asked: float = 1.0


def plans(tasks: float, budget: int, shard: int) -> Iterator[Plan]:
    """From the paper's own arrangement to those that fit."""
    yield Plan("every encoder for every task", tasks, tasks, 1.0)
    yield Plan("the same, lazy channels: 1 % asked", tasks, tasks, 1.0, asked=0.01)
    yield Plan(f"shards of {shard} tasks", tasks, shard, 1.0)
    yield Plan(f"budget of {budget} encoders", budget, budget, budget / tasks)
    yield Plan(
        f"budget of {budget}, lazy channels: 1 % asked", budget, budget, budget / tasks, asked=0.01
    )


def cost(
    plan: Plan, known: dict[str, Any], learner: str, tasks: float, rows: float, workers: int
) -> dict[str, float]:
    """Bytes, memory and hours."""
    n = rows / tasks
    measured = known["learners"][learner]
    per_task = {what: at["fixed"] + at["per row"] * n for what, at in measured.items()}
    task_bytes = n * known["row bytes"]
    engine = known["engine"]
    pairs = tasks * plan.read * plan.asked
    readers = min(
        workers, tasks * plan.asked
    )  # each gets the encoders it reads once per shard, and keeps them
    groups = max(plan.encoders / plan.read, 1.0)  # learners, each in a process that keeps it
    moved = (
        rows * known["row bytes"]  # rows, once
        + plan.encoders * per_task["encoder bytes"]  # encoders home
        + max(readers, groups)
        * plan.read
        * per_task["encoder bytes"]  # and out to whoever reads them
        + pairs * per_task["channel bytes"]  # channels home
    )
    working = plan.encoders * per_task["encoder seconds"] + pairs * per_task["channel seconds"]
    pieces = plan.encoders + tasks * plan.asked
    kept = (
        pairs * per_task["channel bytes"]
        + plan.encoders * per_task["encoder bytes"]
        + plan.stored * rows * known["row bytes"]
    )
    handing_out = pieces * engine["overhead seconds"] + moved / engine["bytes per second"]
    return {
        "channels TB": pairs * per_task["channel bytes"] / TB,
        "encoders GB": plan.encoders * per_task["encoder bytes"] / GB,
        "stored rows GB": plan.stored * rows * known["row bytes"] / GB,
        "keeper GB": kept / groups / GB,
        "worker GB": (
            (
                known["worker bytes"]
                + task_bytes
                + plan.read * (per_task["encoder bytes"] + per_task["channel bytes"])
            )
            / GB
        ),
        "moved TB": moved / TB,
        "core hours": working / HOUR,
        "hours": (working / workers + handing_out / min(groups, workers)) / HOUR,
    }


def show(
    known: dict[str, Any], tasks: int, rows: float, workers: int, budget: int, shard: int
) -> None:
    """The table, as in docs/scale.md."""
    n = rows / tasks
    print(
        f"\n{tasks} tasks, {rows:.0e} rows of {COLUMNS} columns ({n:.0f} per task), {workers}"
        " workers"
    )
    for learner, measured in known["learners"].items():
        per_task = {what: at["fixed"] + at["per row"] * n for what, at in measured.items()}
        print(
            f"\n**{learner}**: encoder {per_task['encoder bytes'] / MB:.2g} MB,"
            f" {per_task['encoder seconds']:.2g} s; channel per encoder"
            f" {per_task['channel bytes'] / MB:.2g} MB, {per_task['channel seconds']:.2g} s\n"
        )
        heads: list[str] = []
        for number, plan in enumerate(plans(tasks, budget, shard)):
            costs = cost(plan, known, learner, tasks, rows, workers)
            if not heads:
                heads = list(costs)
                print("| arrangement | " + " | ".join(heads) + " | full first |")
                print("|---|" + "---:|" * len(heads) + "---|")

            def at(t: float, number: int = number, learner: str = learner) -> dict[str, float]:
                """The same arrangement of so many tasks of as many rows."""
                same = list(plans(t, budget, shard))[number]
                return cost(same, known, learner, t, n * t, workers)

            cells = [*map(_digits, costs.values()), verdict(first_full(at, LIMITS), tasks)]
            print(f"| {plan.name} | " + " | ".join(cells) + " |")


def _digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--engine", choices=["ray", "dask"])
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rows", type=float, default=1e10)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--shard", type=int, default=100)
    chosen = parser.parse_args()
    known = json.loads(CONSTANTS.read_text())
    if chosen.measure:
        known = measure(chosen.engine, known)
        CONSTANTS.write_text(json.dumps(known, indent=2) + "\n")
    show(known, chosen.tasks, chosen.rows, chosen.workers, chosen.budget, chosen.shard)


if __name__ == "__main__":
    main()
