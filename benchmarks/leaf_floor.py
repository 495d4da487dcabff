"""What a floor for leaf tables costs on XOR: ``python -m benchmarks.leaf_floor`` prints
docs/privacy.md's table.
"""

import numpy as np

from lifelong import LeafChannel, SillyForest
from lifelong.tasks.simulations import gaussian_xor

REPETITIONS = 20


def accuracies(n: int, min_samples_leaf: int, min_rows: int, seed: int) -> tuple[float, float]:
    """Of XOR from n rows, alone and after XNOR."""
    learner = SillyForest(
        min_samples_leaf=min_samples_leaf, channel=LeafChannel(min_rows=min_rows), random_state=seed
    ).partial_fit(*gaussian_xor(n, random_state=seed), task="xor")
    X, y = gaussian_xor(1000, random_state=1000 + seed)
    alone = learner.score(X, y, task="xor")
    learner.partial_fit(*gaussian_xor(n, flip=True, random_state=100 + seed), task="xnor")
    return alone, learner.score(X, y, task="xor")


def main() -> None:
    print("rows  min_samples_leaf  min_rows  alone  after XNOR")
    for n in (50, 100, 500):
        for leaf, floor in ((1, 1), (1, 2), (1, 5), (1, 10), (15, 5), (15, 10)):
            alone, after = np.mean(
                [accuracies(n, leaf, floor, seed) for seed in range(REPETITIONS)], axis=0
            )
            print(f"{n:4}  {leaf:16}  {floor:8}  {alone:.3f}  {after:.3f}", flush=True)


if __name__ == "__main__":
    main()
