"""Ideas that were tried for speed: ``python -m benchmarks.trials
[walk|sums|training|chunks|neighbours|batches|precision]``.

What each gave is in docs/performance.md; what ``batches`` gave, in
docs/experiments/tabular-cifar.md. The last two need CIFAR-100. Sides take turns; milliseconds are
medians of CPU seconds.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.neighbors import NearestNeighbors
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong.channels.summing import compiled_sum
from lifelong.encoders.forest import FittedForest, ForestEncoder
from lifelong.nets.architectures import Standardise, cnn
from lifelong.nets.classifier import NetworkClassifier
from lifelong.nets.recipe import Recipe
from lifelong.tasks.datasets import load


def in_turns(what: str, sides: dict[str, Callable[[], Any]], repeats: int) -> None:
    """Print each side's milliseconds, and as a multiple of the first side's."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            began = time.process_time()
            side()
            seconds[name].append(time.process_time() - began)
    first = statistics.median(next(iter(seconds.values())))
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    print(
        f"{what}: "
        + ", ".join(f"{name} {1e3 * s:.2f} ms ({s / first:.2f})" for name, s in medians.items())
    )


def walk() -> None:
    """All trees of a forest at once in numpy, level by level, against scikit-learn tree by tree."""
    rng = np.random.default_rng(0)
    for n, p, n_trees, n_train in (
        (1000, 3072, 10, 500),
        (1000, 3072, 100, 500),
        (5000, 54, 100, 5000),
        (1, 64, 10, 500),
    ):
        X = rng.random((n_train, p), dtype=np.float32)
        forest = ForestEncoder(n_trees).fit(X, (10 * X[:, 0]).astype(int), rng=rng)
        rows = rng.random((n, p), dtype=np.float32)
        descend = _descent(forest)
        assert np.array_equal(descend(rows), forest.encode(rows))
        sides = {
            "scikit-learn": lambda f=forest, r=rows: f.encode(r),
            "at once": lambda d=descend, r=rows: d(r),
        }
        in_turns(f"{n} × {p} through {n_trees} trees", sides, 9)


def _descent(forest: FittedForest) -> Callable[[np.ndarray], np.ndarray]:
    starts = np.cumsum([0, *(tree.node_count for tree in forest.trees)])
    nodes = list(zip(forest.trees, starts[:-1], strict=True))
    both = [(tree.children_left, tree.children_right, at) for tree, at in nodes]
    children = np.concatenate(
        [np.stack([left, right], axis=1) + at * (left >= 0)[:, None] for left, right, at in both]
    )
    feature = np.concatenate([np.maximum(tree.feature, 0) for tree in forest.trees])
    threshold = np.concatenate([tree.threshold for tree in forest.trees])
    number = np.concatenate(forest.leaf_of_node)
    inner = children[:, 0] >= 0

    def descend(X: np.ndarray) -> np.ndarray:
        place = np.tile(starts[:-1], len(X))
        row = np.repeat(np.arange(len(X)) * X.shape[1], len(nodes))
        going = np.arange(place.size)
        while len(going := going[inner[place[going]]]):
            at = place[going]
            right = X.ravel().take(row[going] + feature.take(at)) > threshold.take(at)
            place[going] = children.ravel().take(2 * at + right)
        return number.take(place).reshape(len(X), -1)

    return descend


def sums() -> None:
    """Posteriors of 10 trees' leaves, added by numpy and by the compiled loop: the same bits."""
    add = compiled_sum()
    assert add is not None
    rng = np.random.default_rng(0)
    for n, n_leaves, n_classes in ((1000, 170, 5), (500, 1500, 10), (1000, 1500, 2)):
        posteriors = rng.random((n_leaves + 1, n_classes))
        leaves = rng.integers(0, n_leaves, (10, n)).astype(np.int32)

        def by_numpy(P: np.ndarray, Z: np.ndarray) -> np.ndarray:
            votes = np.zeros((Z.shape[1], P.shape[1]))
            for of_tree in Z:
                votes += P.take(of_tree, axis=0)
            return votes

        def compiled(P: np.ndarray, Z: np.ndarray) -> np.ndarray:
            votes = np.zeros((Z.shape[1], P.shape[1]))
            add(P, Z, votes)
            return votes

        assert np.array_equal(by_numpy(posteriors, leaves), compiled(posteriors, leaves))
        sides = {
            "numpy": lambda P=posteriors, Z=leaves: [by_numpy(P, Z) for _ in range(50)],
            "compiled (used)": lambda P=posteriors, Z=leaves: [compiled(P, Z) for _ in range(50)],
        }
        in_turns(f"50 times {n} rows, {n_classes} classes", sides, 9)


def training() -> None:
    """One epoch of the paper's CNN and of a narrow one, in several ways."""
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.random((335, 3, 32, 32), dtype=np.float32))
    y = torch.arange(335) % 10
    last = torch.channels_last
    default = torch.contiguous_format

    def epoch(
        width: float, weights: torch.memory_format, *, fused: bool = True, once: bool = False
    ) -> None:
        body = cnn((3, 32, 32), width).to(memory_format=weights)
        standardise = Standardise(X)
        if once:
            rows = standardise(X).to(memory_format=weights)
        else:
            rows = X
        head = nn.Linear(body[-2].out_features, 10)
        if once:
            model = nn.Sequential(body, head)
        else:
            model = nn.Sequential(standardise, body, head)
        optimiser = torch.optim.Adam(model.parameters(), fused=fused)
        for batch in torch.randperm(335).split(32):
            optimiser.zero_grad()
            cross_entropy(model(rows[batch]), y[batch]).backward()
            optimiser.step()

    for width in (1.0, 0.25):
        sides = {
            "bare": lambda w=width: epoch(w, default, fused=False),
            "fused": lambda w=width: epoch(w, default),
            "fused, channels_last": lambda w=width: epoch(w, last),
            "… and standardised once (used)": lambda w=width: epoch(w, last, once=True),
            "fused, standardised once": lambda w=width: epoch(w, default, once=True),
        }
        in_turns(f"CNN × {width}", sides, 6)


def chunks() -> None:
    """500 images through the paper's CNN, so many at a time."""
    for shape in ((3, 32, 32), (3, 84, 84)):
        net = cnn(shape).eval()
        X = torch.randn(500, *shape)
        sides = {
            str(n): lambda n=n, net=net, X=X: [net(batch) for batch in X.split(n)]
            for n in (500, 250, 128, 97, 32)
        }
        with torch.inference_mode():
            in_turns(f"{shape[1]} × {shape[2]} pixels", sides, 5)


def neighbours() -> None:
    """The 13 nearest of 165 rows in 2000 dimensions, for 500 rows."""
    rng = np.random.default_rng(0)
    known, rows = (rng.random((n, 2000), dtype=np.float32) for n in (165, 500))

    def product(dtype: type) -> np.ndarray:
        a = known.astype(dtype)
        b = rows.astype(dtype)
        return np.argpartition((a * a).sum(axis=1) - 2 * (b @ a.T), 12, axis=1)[:, :13]

    def searched() -> np.ndarray:
        return NearestNeighbors(n_neighbors=13).fit(known).kneighbors(rows, return_distance=False)

    sides = {
        "scikit-learn": searched,
        "float64": lambda: product(np.float64),
        "float32": lambda: product(np.float32),
    }
    in_turns("neighbours", sides, 15)


def batches() -> None:
    """The tabular network with smaller and larger batches."""
    for size in (32, 64, 128):
        _judge(
            f"batches of {size}",
            "tabular-cifar",
            "mlp",
            Recipe(epochs=20, batch_size=size, lr=3e-4),
        )


def precision() -> None:
    """The paper's CNN with the strong recipe, its products in float32 and in bfloat16."""
    for name in ("float32", "bfloat16"):
        _judge(name, "cifar-10x10", "cnn", replace(Recipe.strong(), precision=name))


def _judge(what: str, stream_name: str, network: str, recipe: Recipe) -> None:
    """Networks of five tasks, judged by a quarter of each task's training rows."""
    stream = load(stream_name, random_state=100)
    shares = []
    began = time.process_time()
    for name in stream.names[:5]:
        task = stream.named(name)
        rows = np.random.default_rng(0).permutation(500)
        known = rows[:375]
        held = rows[375:]
        model = NetworkClassifier(network, recipe=recipe, random_state=0)
        model.fit(task.X_train[known], task.y_train[known])
        shares.append(model.score(task.X_train[held], task.y_train[held]))
    print(f"{what}: {np.mean(shares):.3f} of rows right, {time.process_time() - began:.0f} s")


TRIALS = {
    trial.__name__: trial
    for trial in (walk, sums, training, chunks, neighbours, batches, precision)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "trials", nargs="*", choices=[*TRIALS, []], metavar="trial", help=", ".join(TRIALS)
    )
    torch.set_num_threads(1)
    for name in parser.parse_args().trials or TRIALS:
        TRIALS[name]()
