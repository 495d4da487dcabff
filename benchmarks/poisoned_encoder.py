"""What an encoder from an attacker does to each channel: ``python -m benchmarks.poisoned_encoder``.

A site learns to read handwritten digits from 150 rows and then takes encoders from outside. Three
kinds: *constant* tells no two rows apart, *noise* was trained on rows and labels that mean nothing,
*liar* was trained on the site's own kind of rows with wrong labels. The table in docs/federated.md
comes from here.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from lifelong import (
    ForestChannel,
    ForestEncoder,
    LeafChannel,
    NeighboursChannel,
    NetworkEncoder,
    Recipe,
    RidgeChannel,
    Silly,
)
from lifelong.encoders.forest import FittedForest
from lifelong.exceptions import LifelongError

ROWS = 150
SEEDS = 5
RECIPE = Recipe(iterations=150, batch_size=32, lr=3e-3)
CHANNELS: dict[str, tuple[Any, Any]] = {
    "leaf, forests": (ForestEncoder(10), LeafChannel()),
    "ridge, forests": (ForestEncoder(10), RidgeChannel()),
    "neighbours, networks": (NetworkEncoder((32,), recipe=RECIPE), NeighboursChannel()),
    "forest, networks": (NetworkEncoder((32,), recipe=RECIPE), ForestChannel()),
    "ridge, networks": (NetworkEncoder((32,), recipe=RECIPE), RidgeChannel()),
}
ATTACKS = ("constant", "noise", "liar")


def attack(kind: str, trainer: Any, X: NDArray[Any], number: int) -> Any:
    """An encoder of that kind; forests have a hundred times the trees of the site's own."""
    # The labels are drawn anew, so that whatever an encoder has learnt from them is wrong.
    rng = np.random.default_rng([number, ATTACKS.index(kind)])
    rows = rng.permutation(X).astype(np.float32)
    if kind == "noise":
        rows = rng.normal(size=X.shape).astype(np.float32)
    if kind == "constant":
        rows = rows + np.float32(1e6)  # no row of the site is anywhere near
    labels = rng.integers(10, size=len(rows))
    if isinstance(trainer, ForestEncoder):
        encoder = trainer.fit(rows, labels, rng=rng)
        trees = [tree for _ in range(100) for tree in encoder.trees]
        return FittedForest.of(trees)
    network = trainer.fit(rows, labels, rng=rng)
    if kind == "constant":
        for weight in network.body.parameters():
            weight.data.zero_()
    return network


def accuracies(name: str, seed: int, counts: list[int]) -> dict[tuple[str, int], float]:
    """By attack and number of encoders from outside; ("", 0) is the site alone."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:ROWS], order[ROWS:]
    trainer, channel = CHANNELS[name]
    found = {}
    for kind in ATTACKS:
        site = Silly(trainer, channel, random_state=seed, task_inference=False)
        site.partial_fit(X[train], y[train], task="digits")
        found["", 0] = site.score(X[test], y[test])
        for number in range(1, max(counts) + 1):
            try:
                site.add_encoder(attack(kind, trainer, X[train], number), name=f"outside {number}")
            except LifelongError as error:
                print(f"  {name}, {kind}: refused: {error}")
                break
            if number in counts:
                found[kind, number] = site.score(X[test], y[test])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoders", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    chosen = parser.parse_args()
    columns = [(kind, number) for kind in ATTACKS for number in chosen.encoders]
    heads = " | ".join(f"{number} × {kind}" for kind, number in columns)
    print(f"| channel | alone | {heads} |")
    print("|---|" + "---:|" * (1 + len(columns)))
    for name in CHANNELS:
        runs = [accuracies(name, seed, chosen.encoders) for seed in range(chosen.seeds)]
        cells = [
            np.mean([run.get(column, np.nan) for run in runs]) for column in [("", 0), *columns]
        ]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
