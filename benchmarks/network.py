"""SiLLy-N's training against a bare PyTorch loop, and parallel encoders against parallel threads.

    python -m benchmarks.network [--rows 335] [--epochs 5] [--repeats 5]

Both sides of each ratio are measured in turn in the same process. The bare loop has the same network, batches and
optimiser and nothing else.
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.measure import side_by_side
from lifelong import Recipe, SillyNetwork, Task
from lifelong.encoders.network import NetworkEncoder
from lifelong.nets.architectures import Standardise, cnn


def images(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10
    return (rng.random((n, 3, 32, 32)) + y[:, None, None, None] / 10).astype(np.float32), y


def bare_loop(X: np.ndarray, y: np.ndarray, recipe: Recipe, threads: int = 1) -> None:
    torch.set_num_threads(threads)
    inputs, targets = torch.from_numpy(X), torch.from_numpy(y)
    model = nn.Sequential(Standardise(inputs), cnn((3, 32, 32)), nn.Linear(2000, 10))
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.lr, fused=True)
    for _ in range(recipe.epochs):
        for rows in torch.randperm(len(inputs)).split(recipe.batch_size):
            optimiser.zero_grad(set_to_none=True)
            cross_entropy(model(inputs[rows]), targets[rows]).backward()
            optimiser.step()


def parallel_encoders(X: np.ndarray, y: np.ndarray, epochs: int, n_tasks: int) -> None:
    tasks = [Task(t, X, y, X[:1], y[:1]) for t in range(n_tasks)]
    learner = SillyNetwork("cnn", epochs=epochs, max_samples=1.0, replay=0.0, n_jobs=2, random_state=0)
    lessons = [learner._prepare(task.X_train, task.y_train, task.name) for task in tasks]
    learner._train_encoders(lessons)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=335)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    X, y = images(arguments.rows)
    recipe = Recipe(epochs=arguments.epochs)
    encoder = NetworkEncoder("cnn", max_samples=1.0, recipe=recipe)

    bare_loop(X, y, recipe)  # warm up
    side_by_side(
        "training an encoder",
        lambda: encoder.fit(X, y, rng=np.random.default_rng(0)),
        "bare loop, one thread",
        lambda: bare_loop(X, y, recipe),
        repeats=arguments.repeats,
        target="≤ 1.05",
    )
    n_tasks = 4
    parallel_encoders(X, y, 1, 2)  # start the processes
    side_by_side(
        f"{n_tasks} encoders, n_jobs=2",
        lambda: parallel_encoders(X, y, arguments.epochs, n_tasks),
        "one by one, two threads each",
        lambda: [bare_loop(X, y, recipe, threads=2) for _ in range(n_tasks)],
        repeats=max(arguments.repeats // 2, 1),
        target="< 1",
    )


if __name__ == "__main__":
    main()
