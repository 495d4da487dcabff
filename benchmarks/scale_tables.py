"""What a million tasks of tables would take: ``python -m benchmarks.scale_tables [--measure]``.

Constants of LifelongClassifier are measured at two numbers of rows and drawn on as lines, except
the shared encoder, which trains on at most ``MAX_ROWS`` rows however many there are. The last
column says which part is full first as tasks grow, and whether the arrangement fits.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth_tables import N_COLUMNS, tasks
from benchmarks.saturation import first_full, verdict
from lifelong import LifelongClassifier
from lifelong.encoders import growing_compiled, walking_many
from lifelong.encoders.shared_fit import MAX_ROWS
from lifelong.learners.table_learning import LATE_GROWTH
from lifelong.learners.table_weights import mixes

CONSTANTS = Path(__file__).with_name("scale_tables.json")
ENGINE = Path(__file__).with_name("scale_constants.json")
SIZES = (200, 1000)
ROW_BYTES = 4 * N_COLUMNS + 8
HELD_OUT_BYTES = 4 * 4 * 2  # four opinions on two classes, for each row
GB = 1e9
TB = 1e12
HOUR = 3600.0
LIMITS = {  # a common machine, and a day
    "one learner's rows and opinions GB": 64.0,
    "disk of one machine TB": 4.0,
    "hours": 24.0,
}


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds: others share the machine."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure() -> dict[str, float]:
    """Of one task's forest at two numbers of rows, and of a shared encoder at 25 and 50 tasks."""
    growing_compiled.WARM_UP = 0  # a day's work is done in compiled loops, where there is numba
    walking_many.WARM_UP = 0
    rows = list(tasks(50))
    X = np.concatenate([X for X, _ in rows])
    y = np.concatenate([y for _, y in rows])
    LifelongClassifier(random_state=0).fit(X[:1000], y[:1000], task=np.repeat(np.arange(10), 100))
    own: dict[int, tuple[float, float]] = {}
    for n in SIZES:
        alone = LifelongClassifier(shared=False, random_state=0)
        spent = seconds(lambda m=alone, n=n: m.fit(X[:n], y[:n], task=0))
        own[n] = (spent, alone.sizes()["encoders"])
    names = np.repeat(np.arange(50), 100)
    together = LifelongClassifier(random_state=0)
    making = seconds(lambda: together.fit(X, y, task=names))
    shared = together.knowledge_.shared
    half = len(X) // 2
    smaller = LifelongClassifier(random_state=0)
    making_half = seconds(lambda: smaller.fit(X[:half], y[:half], task=names[:half]))
    shared.answers(X[:1000], 0, None)
    answering = seconds(lambda: shared.answers(X, 0, None)) / len(X)
    mixing = seconds(lambda: mixes(together.knowledge_, "classes")) / 50
    gap = SIZES[1] - SIZES[0]
    growth = np.log(making / making_half) / np.log(2)
    return {
        "own seconds per row": (own[SIZES[1]][0] - own[SIZES[0]][0]) / gap,
        "own bytes per row": (own[SIZES[1]][1] - own[SIZES[0]][1]) / gap,
        "making seconds": making * (MAX_ROWS / len(X)) ** growth / 2,  # half as many trees
        "making bytes": shared.nbytes * MAX_ROWS / len(X) / 2,
        "answer seconds per row": answering,
        "mix seconds": mixing,
    }


@dataclass(frozen=True)
class Arrangement:
    """Who keeps what: ``shards`` learners, each of its own tasks; ``makings`` encoders in all."""

    name: str
    shards: float
    encoders: float  # shared encoders that are made at one time
    spread: bool  # whether workers answer and mix, or one process does


def arrangements(n_tasks: float, shard: float) -> Iterator[Arrangement]:
    """From one learner to shards that share one encoder."""
    yield Arrangement("one learner in one process", 1, 1, spread=False)
    yield Arrangement("one learner, forests grown by workers", 1, 1, spread=True)
    yield Arrangement(f"a learner per {shard:,.0f} tasks", n_tasks / shard, n_tasks / shard, True)
    yield Arrangement("the same, one shared encoder for all", n_tasks / shard, 1, True)


def cost(
    plan: Arrangement, known: dict[str, float], n_tasks: float, n_rows: float, workers: int
) -> dict[str, float]:
    """Bytes and hours."""
    engine = json.loads(ENGINE.read_text())["engine"]
    own = n_rows * known["own seconds per row"]
    forests = n_rows * known["own bytes per row"]
    rounds = LATE_GROWTH / (LATE_GROWTH - 1)  # all makings together answer so many times the rows
    n_makings = np.log(max(n_rows / plan.shards / MAX_ROWS, 1)) / np.log(LATE_GROWTH) + 1
    making = plan.encoders * n_makings * known["making seconds"]
    answering = rounds * n_rows * known["answer seconds per row"]
    mixing = rounds * n_tasks * known["mix seconds"]
    kept = forests + n_rows * (ROW_BYTES + HELD_OUT_BYTES)
    moved = n_rows * ROW_BYTES + forests  # rows out, forests home
    at_once = workers
    if plan.shards > 1:  # each worker keeps its shard: only shared encoders travel
        moved = plan.shards * known["making bytes"] * n_makings
    if not plan.spread:
        moved = 0.0
        at_once = 1
    machines = workers if plan.shards > 1 else 1
    disk = kept + plan.shards * known["making bytes"]
    working = own + answering + mixing
    alone = making if plan.encoders == 1 else making / workers
    return {
        "disk TB": disk / TB,
        "disk of one machine TB": disk / machines / TB,
        "one learner's rows and opinions GB": (kept - forests) / plan.shards / GB,
        "moved TB": moved / TB,
        "forests, core hours": own / HOUR,
        "making, core hours": making / HOUR,
        "answering and mixing, core hours": (answering + mixing) / HOUR,
        "hours": (working / at_once + alone + moved / engine["bytes per second"]) / HOUR,
    }


def show(known: dict[str, float], n_tasks: float, n_rows: float, workers: int, shard: float) -> str:
    """The table, as in docs/scale.md."""
    n = n_rows / n_tasks
    lines: list[str] = []
    for number, plan in enumerate(arrangements(n_tasks, shard)):
        costs = cost(plan, known, n_tasks, n_rows, workers)
        if not lines:
            lines.append("| arrangement | " + " | ".join(costs) + " | full first |")
            lines.append("|---|" + "---:|" * len(costs) + "---|")

        def at(t: float, number: int = number) -> dict[str, float]:
            """The same arrangement of so many tasks of as many rows."""
            same = list(arrangements(t, shard))[number]
            return cost(same, known, t, n * t, workers)

        cells = [*map(_digits, costs.values()), verdict(first_full(at, LIMITS), n_tasks)]
        lines.append(f"| {plan.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}"


def main() -> None:
    """Print the plan; measure first if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--tasks", type=float, default=1e6)
    parser.add_argument("--rows", type=float, default=1e10)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--shard", type=float, default=1000)
    chosen = parser.parse_args()
    if chosen.measure:
        CONSTANTS.write_text(json.dumps(measure(), indent=1) + "\n")
    known: Any = json.loads(CONSTANTS.read_text())
    print(show(known, chosen.tasks, chosen.rows, chosen.workers, chosen.shard))


if __name__ == "__main__":
    main()
