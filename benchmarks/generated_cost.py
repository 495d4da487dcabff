"""What Food1k and CORe50 cost at full size, measured on generated trees.

``python -m benchmarks.generated_cost food1k DIR --tasks 3`` reads the whole tree that
``benchmarks.generated_trees`` wrote, learns the first tasks with the learners of the experiment and
prints CPU seconds, peak memory and bytes on the disk. Hours for all tasks follow by extrapolation:
an encoder costs the same for each task, channels as many times more as there are encoders.
"""

import argparse
import resource
import time
from pathlib import Path

from lifelong._places import cache_folder
from lifelong.experiments.catalogue import experiment
from lifelong.experiments.parameters import build_learner
from lifelong.experiments.streams import make_stream

EXPERIMENTS = {"food1k": "food1k-50x20", "core50": "core50-110x5"}
LEARNERS = {"food1k": ("silly-n", "silly-f", "lwf"), "core50": ("silly-n-20", "silly-f-20", "lwf")}


def peak() -> str:
    """The most memory this process has had."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def cost(layout: str, folder: Path, n_tasks: int) -> None:
    """Print what reading and learning take."""
    spec = experiment(EXPERIMENTS[layout]).spec()
    start = time.process_time()
    stream = make_stream(spec.parts[0], 0, folder)
    reading = time.process_time() - start
    kept = sum(file.stat().st_size for file in cache_folder("decoded").rglob("*.npy"))
    print(
        f"{len(stream)} tasks; reading {reading:.0f} s, peak {peak()},"
        f" decoded pictures in the cache {kept / 1e9:.2f} GB",
        flush=True,
    )
    for label in LEARNERS[layout]:
        learner = build_learner(spec.learner(label), 0)
        for task in stream[:n_tasks]:
            start = time.process_time()
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
            learning = time.process_time() - start
            start = time.process_time()
            learner.predict(task.X_test, task=task.name)
            answering = time.process_time() - start
            print(
                f"{label}, task {task.name}: {len(task.y_train)} rows learnt in {learning:.1f} s,"
                f" {len(task.y_test)} answered in {answering:.1f} s, peak {peak()}",
                flush=True,
            )


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("layout", choices=tuple(EXPERIMENTS))
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--tasks", type=int, default=3)
    given = parser.parse_args()
    cost(given.layout, given.folder, given.tasks)


if __name__ == "__main__":
    main()
