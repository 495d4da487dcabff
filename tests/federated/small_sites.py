"""Three sites in folders, each with a learner of its own that is learnt in milliseconds."""

import numpy as np

from lifelong import SillyForest, save

NAMES = ["ann", "bob", "cem"]


def rows(number, n=30, shape=(6,)):
    """Site number so and so: three classes whose means all sites share, a little off."""
    means = 2 * np.random.default_rng(0).normal(size=(3, *shape))
    rng = np.random.default_rng(number + 1)
    y = np.arange(n) % 3
    return ((means + 0.3 * rng.normal(size=shape))[y] + rng.normal(size=(n, *shape))).astype(
        np.float32
    ), y


def learner(number=0, shape=(6,), **parameters):
    return SillyForest(2, random_state=number, **parameters).partial_fit(
        *rows(number, shape=shape), task="digits"
    )


def make_site(folder, number):
    save(learner(number), folder / NAMES[number])
