"""Levels of learners on a small cut of CIFAR 10×10, in minutes: does each do what it is known for?

    python -m benchmarks.reference_levels [name …] [--tasks 4] [--width 0.5] [--seeds 1]
        [--data DIR]

The first tasks of the stream, each learner with the settings that the experiment cifar-10x10 gives
it. For each learner and seed: the accuracy of every task when it has just been learnt, and after
the last one (500 test rows each).
"""

import argparse
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch

from benchmarks.reference_settings import accuracy, numbers
from lifelong import Recipe, TaskStream
from lifelong.experiments.catalogue.settings import OWN, PLAIN
from lifelong.references.registry import find_learner
from lifelong.tasks.datasets import load

NAMES = ("single", "none", "er", "own-ensemble", "joint", "der++", "packnet", "hat")


def settings_of(name: str, width: float) -> dict[str, Any]:
    """What the experiment gives the learner, on narrower networks."""
    if not find_learner(name).trains_network:
        return {}
    given: dict[str, Any] = deepcopy({**PLAIN, **OWN.get(name, {})})
    given["recipe"] = Recipe(**given["recipe"])
    return {**given, "width": width}


def level(name: str, stream: TaskStream, seed: int, width: float) -> str:
    """The line of one learner."""
    learner = find_learner(name)(seed, **settings_of(name, width))
    arrival = []
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        arrival.append(accuracy(learner, task))
    end = [accuracy(learner, task) for task in stream]
    return f"{name:<14} seed {seed}  arrival {numbers(arrival)}   end {numbers(end)}"


def main() -> None:
    """Print a line for each learner and seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="name", help="learners; a few if left out")
    parser.add_argument("--tasks", type=int, default=4, help="how many tasks (4)")
    parser.add_argument("--width", type=float, default=0.5, help="of the networks (0.5)")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds (1)")
    parser.add_argument("--data", type=Path, help="official files; LIFELONG_DATA if left out")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    stream = TaskStream(list(load("cifar-10x10", arguments.data))[: arguments.tasks])
    for seed in range(arguments.seeds):
        for name in arguments.names or NAMES:
            print(level(name, stream, seed, arguments.width), flush=True)


if __name__ == "__main__":
    main()
