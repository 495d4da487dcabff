"""Is R-XOR at 45° harmless because the second encoder's channel gets more rows than the own one?

    python -m benchmarks.equal_rows [--repetitions 100]       # some minutes of one core
    python -m benchmarks.equal_rows --print                   # the table from the committed rows

XOR, then XOR turned by 45°, which can only confuse. The own channel of XOR learns from the 33 % of
its rows that are out of bag. The channel on the encoder of the second task learns from the rows
that are kept: from all of them (``replay=1``), or from 33 %, as many as the own one
(``replay=0.33``). Measured is the backward transfer of the second task to XOR, with SiLLy-N and
SiLLy-F as in the experiment xor-rxor. Rows: docs/results/equal-rows/rows.csv; the table is in
docs/experiments/xor-rxor.md.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lifelong import Recipe, SillyForest, SillyNetwork, Task
from lifelong.learners import Learner
from lifelong.tasks.simulations import xor_stream

ROWS = Path(__file__).parents[1] / "docs" / "results" / "equal-rows" / "rows.csv"
PAGE = Path(__file__).parents[1] / "docs" / "experiments" / "xor-rxor.md"
BEGIN = "<!-- equal rows: begin -->\n"
END = "\n<!-- equal rows: end -->"
SIZES = (100, 750)
REPLAYS = (1.0, 0.33)
LEARNERS = ("silly-n", "silly-f")
FIELDS = ("learner", "rows", "replay", "seed", "at_arrival", "after_second")

Line = dict[str, str]


def make(name: str, replay: float, seed: int) -> Learner:
    """The learner as the experiment xor-rxor has it."""
    if name == "silly-f":
        return SillyForest(replay=replay, random_state=seed)
    recipe = Recipe(epochs=30, lr=3e-3)
    return SillyNetwork((10, 10), recipe=recipe, replay=replay, random_state=seed)


def error(learner: Learner, task: Task) -> float:
    """Share of the test rows that are wrong; half a row at least, so that it has a logarithm."""
    wrong = float(np.mean(learner.predict(task.X_test, task=task.name) != task.y_test))
    return max(wrong, 0.5 / len(task.y_test))


def measured(repetitions: int) -> Iterator[Line]:
    """A line per learner, number of rows, replay and seed."""
    for seed in range(repetitions):
        for n in SIZES:
            first, second = xor_stream(n, second="r-xor", angle=45, random_state=seed)
            for name in LEARNERS:
                for replay in REPLAYS:
                    learner = make(name, replay, seed)
                    learner.partial_fit(first.X_train, first.y_train, task=first.name)
                    at_arrival = error(learner, first)
                    learner.partial_fit(second.X_train, second.y_train, task=second.name)
                    after = error(learner, first)
                    values = (name, n, replay, seed, at_arrival, after)
                    yield dict(zip(FIELDS, map(str, values), strict=True))


def read() -> list[Line]:
    """The committed rows."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def transfers(rows: list[Line], learner: str, n: int, replay: float) -> NDArray[np.float64]:
    """log(error at arrival / error after the second task), one for each seed."""
    wanted = (learner, str(n), str(replay))
    chosen = [row for row in rows if (row["learner"], row["rows"], row["replay"]) == wanted]
    pairs = [(float(row["at_arrival"]), float(row["after_second"])) for row in chosen]
    return np.array([np.log(before / after) for before, after in pairs])


def table(rows: list[Line]) -> list[str]:
    """Mean over seeds and its standard error, a line per learner and number of rows."""
    n_seeds = len({row["seed"] for row in rows})
    lines = [
        f"| BT on XOR, {n_seeds} repetitions | all rows for the other channel | as many as for the"
        " own one |",
        "|---|---|---|",
    ]
    for learner in LEARNERS:
        for n in SIZES:
            values = [transfers(rows, learner, n, replay) for replay in REPLAYS]
            lines.append(f"| {learner}, {n} rows | {' | '.join(map(shown, values))} |")
    return lines


def shown(values: NDArray[np.float64]) -> str:
    """Mean ± standard error.

    >>> shown(np.array([0.1, 0.2, 0.3]))
    '+0.200 ± 0.058'
    """
    spread = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.3f} ± {spread:.3f}".replace("-", "−")


def with_table(page: str) -> str:
    """The page with today's table between its marks."""
    before, rest = page.split(BEGIN)
    lines = "\n".join(table(read()))
    return f"{before}{BEGIN}{lines}{END}{rest.split(END)[1]}"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=100, help="seeds (100)")
    parser.add_argument("--print", action="store_true", dest="only_print", help="measure nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if not arguments.only_print:
        ROWS.parent.mkdir(exist_ok=True)
        with ROWS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            for line in measured(arguments.repetitions):
                writer.writerow(line)
                file.flush()
    print("\n".join(table(read())))
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
