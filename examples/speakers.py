"""One model per speaker: each speaks every digit a few times, and gets better with every other
speaker who comes.

    # six speakers of the Free Spoken Digit Dataset
    LIFELONG_DATA=… python examples/speakers.py
    # without its files: scikit-learn's digits, seen from six angles
    python examples/speakers.py

A command by voice has to work after five examples of each word. Nobody's recordings are mixed with
anybody else's: a speaker's channel learns from that speaker's recordings alone, but it reads
the encoders of all.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from lifelong import SillyForest, Task, TaskStream
from lifelong.tasks.datasets import DATASETS, load

WAYS = ["one forest for all", "a forest each", "alone", "with the others"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows-per-class", type=int, default=5, help="recordings of each digit by each speaker"
    )
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=3, help="each with other recordings")
    parser.add_argument(
        "--digits",
        action="store_true",
        help="scikit-learn's digits even if the recordings are here",
    )
    parser.add_argument("--picture", type=Path, help="draw it, as .svg and .png")
    chosen = parser.parse_args()

    if chosen.digits or DATASETS["spoken-digit"].missing():
        data = "digits"
        who = "angle"
        print(
            "No recordings are used: written digits (scikit-learn's) seen from six angles stand in"
            " for six speakers."
        )
    else:
        data = "spoken-digit"
        who = "speaker"
    measured = np.mean(
        [
            measure(stream_of(data, chosen, seed), chosen, seed)
            for seed in range(chosen.repetitions)
        ],
        0,
    )

    names = [str(name) for name in load(data).names]
    print(f"{who:12} " + " ".join(f"{way:>18}" for way in WAYS))
    for name, row in zip([*names, "mean"], [*measured, measured.mean(axis=0)], strict=True):
        print(f"{name:12} " + " ".join(f"{score:18.2f}" for score in row))
    if chosen.picture:
        from pictures import dumbbells

        title = (
            f"{10 * chosen.rows_per_class} rows per {who}: {measured[:, 2].mean():.0%} of the"
            " digits alone, "
        )
        title += f"{measured[:, 3].mean():.0%} with the others"
        dumbbells(chosen.picture, dict(zip(WAYS, measured.T.tolist(), strict=True)), names, title)


def stream_of(data: str, chosen: argparse.Namespace, seed: int) -> TaskStream:
    return load(data, rows_per_class=chosen.rows_per_class, random_state=seed)


def measure(stream: TaskStream, chosen: argparse.Namespace, seed: int) -> np.ndarray:
    """Accuracies (tasks, ways): ordinary forests of the same total size, the learner alone, the
    learner with all.
    """
    learner = SillyForest(chosen.trees, channel="ridge", random_state=seed)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    tasks = list(stream)
    pot = forest(tasks, chosen.trees * len(tasks), seed)
    rows = []
    for task in tasks:
        test = task.X_test.reshape(len(task.X_test), -1), task.y_test
        plain = [pot.score(*test), forest([task], chosen.trees * len(tasks), seed).score(*test)]
        ours = [
            learning.score(task.X_test, task.y_test, task.name)
            for learning in (learner.alone(task.name), learner)
        ]
        rows.append([*plain, *ours])
    return np.array(rows)


def forest(tasks: list[Task], n_trees: int, seed: int) -> RandomForestClassifier:
    """An ordinary forest on all rows of some tasks."""
    X, y = (
        np.concatenate([getattr(task, array) for task in tasks]) for array in ("X_train", "y_train")
    )
    return RandomForestClassifier(n_trees, random_state=seed).fit(X.reshape(len(X), -1), y)


if __name__ == "__main__":
    main()
