"""Both learners on every benchmark whose files are here, one repetition of each, with small
settings.

    LIFELONG_DATA=… python examples/datasets_end_to_end.py               # a few minutes on one core
    LIFELONG_DATA=… python examples/datasets_end_to_end.py spoken-digit  # one of them

Few rows, one or two epochs: this shows that everything runs, not how well it can work. The paper's
settings are the loaders' and learners' defaults.
"""

import sys
import time

from lifelong import SillyForest, SillyNetwork, TaskStream, evaluate
from lifelong.tasks.datasets import DATASETS, load

FEW = {"rows_per_class": 10, "test_rows_per_class": 5}
SMALL = {  # per dataset: few rows; every task and every class stays
    "spoken-digit": FEW,
    "cifar-10x10": FEW,
    "five-datasets": FEW,
    "mini-imagenet-20x5": FEW,
    "food1k-50x20": FEW,
    "core50-110x5": FEW,
    "tabular-cifar": FEW,
    "digits": {},
}
LEARNERS = {
    "SillyForest": lambda seed: SillyForest(n_estimators=5, random_state=seed),
    "SillyNetwork": lambda seed: SillyNetwork(
        width=0.1, epochs=2, channel="neighbours", random_state=seed
    ),
}


def stream_of(name: str, seed: int) -> TaskStream:
    """The dataset's stream with this repetition's rows."""
    return load(name, random_state=seed, **SMALL[name])


def main(names: list[str]) -> None:
    """One line per dataset and learner: mean accuracy and transfer over the tasks."""
    chosen = names or [name for name, dataset in DATASETS.items() if not dataset.missing()]
    print(
        f"{'dataset':20} {'learner':13} {'tasks':>5} {'accuracy':>9} {'transfer':>9} {'seconds':>8}"
    )
    for name in chosen:
        for learner, make in LEARNERS.items():
            started = time.perf_counter()
            table = evaluate(make, lambda seed, name=name: stream_of(name, seed), repetitions=1)
            seconds = time.perf_counter() - started
            means = f"{table.accuracy.mean():9.3f} {table.transfer.mean():9.3f}"
            print(f"{name:20} {learner:13} {len(table.tasks):5} {means} {seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
