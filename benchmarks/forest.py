"""SiLLy-F against the trees it is made of, as ratios of two things measured in the same process.

    python -m benchmarks.forest [--tasks 10] [--rows 500] [--features 3072] [--repeats 5]

Lower is better; 1.0 would mean that everything but scikit-learn's own tree code is free.
"""

import argparse

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import seconds, side_by_side
from lifelong import SillyForest
from lifelong._random import generator
from lifelong.encoders import ForestEncoder


def make_tasks(n_tasks: int, n_rows: int, n_features: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    means = rng.random((10, n_features))
    labels = [rng.permutation(np.arange(n_rows) % 10) for _ in range(n_tasks)]
    return [((means[y] + rng.normal(size=(n_rows, n_features))).astype(np.float32), y) for y in labels]


def learn(tasks: list[tuple[np.ndarray, np.ndarray]]) -> SillyForest:
    learner = SillyForest(random_state=0)
    for t, (X, y) in enumerate(tasks):
        learner.partial_fit(X, y, task=t)
    return learner


def grow_and_push(tasks: list[tuple[np.ndarray, np.ndarray]], n_trees: int = 10) -> list[DecisionTreeClassifier]:
    """scikit-learn alone: grow the same trees on the same rows, then push all rows through all trees once."""
    trees = []
    for t, (X, y) in enumerate(tasks):
        rng = generator(0, t, "encoder")
        in_bag = ForestEncoder(n_trees).split(y, rng=rng)
        for b, seed in enumerate(rng.integers(2**31 - 1, size=n_trees)):
            tree = DecisionTreeClassifier(max_depth=30, max_features="sqrt", random_state=int(seed))
            trees.append(tree.fit(X[in_bag[:, b]], y[in_bag[:, b]]))
    push(trees, np.concatenate([X for X, _ in tasks]))
    return trees


def push(trees: list[DecisionTreeClassifier], X: np.ndarray) -> None:
    for tree in trees:
        tree.tree_.apply(X)


def channel_growth(tasks: list[tuple[np.ndarray, np.ndarray]], sizes: list[int]) -> list[tuple[int, float, float]]:
    """Seconds for all channels, and bytes per (task, encoder), at several numbers of tasks."""
    learner, rows = learn(tasks), []
    pushed = {t: learner._represent(X) for t, (X, _) in enumerate(tasks)}
    for size in sizes:

        def fill(size: int = size) -> None:
            for t in range(size):
                channel = learner._channel().with_class_counts(learner.tasks_[t].class_counts)
                for s in range(size):
                    channel = channel.update(s, learner.encoders_[s], pushed[t][s], tasks[t][1], rng=None)

        cells = [learner.channels_[t].tables[s].nbytes for t in range(size) for s in range(size)]
        rows.append((size, min(seconds(fill) for _ in range(5)), float(np.mean(cells))))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--features", type=int, default=3072)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    tasks = make_tasks(arguments.tasks, arguments.rows, arguments.features)

    repeats = arguments.repeats
    side_by_side(
        f"partial_fit, {arguments.tasks} tasks",
        lambda: learn(tasks),
        "grow the trees, push the rows",
        lambda: grow_and_push(tasks),
        repeats=repeats,
        target="≤ 1.3",
    )
    learner, trees, (X, _) = learn(tasks), grow_and_push(tasks), make_tasks(1, 1000, arguments.features)[0]
    side_by_side(
        "predict, 1000 rows",
        lambda: learner.predict(X, task=0),
        "push the rows",
        lambda: push(trees, X),
        repeats=5 * repeats,
        target="≤ 1.3",
    )

    sizes = [10, 20, 40]
    growth = channel_growth(make_tasks(max(sizes), arguments.rows, 50), sizes)
    for n_tasks, spent, cell in growth:
        print(f"channels of {n_tasks:3d} tasks     {spent:8.4f} s   bytes per (task, encoder) {cell:,.0f}")
    (small, fast, _), (large, slow, _) = growth[0], growth[-1]
    exponent = np.log(slow / fast) / np.log(large / small)
    print(f"channel time grows as T^{exponent:.2f}   (target ≤ 2)")


if __name__ == "__main__":
    main()
