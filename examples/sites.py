"""One model per site on tabular data: eight plants, the same sensors, and each sorts what it sees
by rules of its own.

    # generated rows
    python examples/sites.py
    # your own
    python examples/sites.py --table rows.csv --task-column site --label-column state

The generated plants run the same machine, which has twelve modes. What counts as ok, watch or stop
is each plant's own decision, so rows of all plants in one pot teach nothing; but whoever can tell
the modes apart helps everybody.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from lifelong import SillyForest, Task, TaskStream
from lifelong.tasks.sources import from_table

WAYS = ["one forest for all", "a forest per site", "alone", "with the other sites"]


def plants(
    n_sites: int, n_rows: int, *, seed: int, n_modes: int = 12, n_sensors: int = 10
) -> TaskStream:
    """Generated rows: the same modes everywhere, a plant's own meaning for each of them."""
    rng = np.random.default_rng(seed)
    modes = rng.normal(size=(n_modes, n_sensors))

    def rows(meaning: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        mode = rng.integers(n_modes, size=n)
        return modes[mode] + 0.45 * rng.normal(size=(n, n_sensors)), meaning[mode]

    tasks = []
    for number in range(1, n_sites + 1):
        meaning = rng.permutation(np.resize(["ok", "watch", "stop"], n_modes))
        tasks.append(Task(f"plant {number}", *rows(meaning, n_rows), *rows(meaning, 400)))
    return TaskStream(tasks)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, help="a .csv or .parquet file with one row per case")
    parser.add_argument("--task-column", default="site")
    parser.add_argument("--label-column", default="label")
    parser.add_argument("--sites", type=int, default=8)
    parser.add_argument(
        "--rows", type=int, default=40, help="rows with a label at each generated plant"
    )
    parser.add_argument("--trees", type=int, default=30)
    parser.add_argument("--picture", type=Path, help="draw it, as .svg and .png")
    chosen = parser.parse_args()

    if chosen.table:
        stream = from_table(
            chosen.table, task_column=chosen.task_column, label_column=chosen.label_column
        )
    else:
        stream = plants(chosen.sites, chosen.rows, seed=0)
        print(f"Generated rows: {chosen.sites} plants with {chosen.rows} labelled rows each.")

    learner = SillyForest(chosen.trees, channel="ridge", random_state=0)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    pot = pooled(stream, chosen.trees)
    scores = np.array([accuracies(learner, task, pot) for task in stream])

    names = [str(name) for name in stream.names]
    print(f"{'site':10} " + " ".join(f"{way:>20}" for way in WAYS))
    for name, row in zip([*names, "mean"], [*scores, scores.mean(axis=0)], strict=True):
        print(f"{name:10} " + " ".join(f"{score:20.2f}" for score in row))
    if chosen.picture:
        from pictures import dumbbells

        _, own, _, shared = 1 - scores.mean(axis=0)
        title = f"Errors: {own:.0%} with a forest per site, {shared:.0%} when sites share encoders"
        dumbbells(
            chosen.picture, dict(zip(WAYS[1:], scores.T[1:].tolist(), strict=True)), names, title
        )


def pooled(stream: TaskStream, n_trees: int) -> RandomForestClassifier:
    """What many do first: all rows in one pot."""
    X, y = (
        np.concatenate([getattr(task, array) for task in stream])
        for array in ("X_train", "y_train")
    )
    return RandomForestClassifier(n_trees * len(stream), random_state=0).fit(X, y)


def accuracies(learner: SillyForest, task: Task, pot: RandomForestClassifier) -> list[float]:
    own = RandomForestClassifier(len(pot.estimators_), random_state=0).fit(
        task.X_train, task.y_train
    )
    test = (task.X_test, task.y_test)
    alone = learner.alone(task.name)
    return [
        pot.score(*test),
        own.score(*test),
        alone.score(*test, task.name),
        learner.score(*test, task.name),
    ]


if __name__ == "__main__":
    main()
