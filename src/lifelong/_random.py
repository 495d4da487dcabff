"""One seed → one independent generator per purpose.

A generator is addressed by *what it is for* (a task's name, "encoder", "replay", …), never by how
many were drawn before it. So an encoder does not depend on the order in which tasks arrive or on
which process trains it.
"""

from collections.abc import Hashable
from hashlib import blake2b
from typing import Any

import numpy as np

from lifelong._words import shown
from lifelong.exceptions import ParameterError

LARGEST_SEED = 2**128
"""As large as numpy's own entropy; no file holds a larger one."""

RandomState = int | np.random.Generator | np.random.RandomState | None


def seed_from(random_state: RandomState) -> int:
    """The one whole number that everything random about a learner or a stream derives from."""
    if random_state is None:
        entropy: Any = np.random.SeedSequence().entropy
        return int(entropy)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    check_random_state(random_state)
    return int(random_state)


def check_random_state(random_state: Any) -> None:
    """Refuse what no randomness can come from; nothing is drawn."""
    if random_state is None or isinstance(
        random_state, np.random.Generator | np.random.RandomState
    ):
        return
    if (
        isinstance(random_state, bool)
        or not isinstance(random_state, int | np.integer)
        or not 0 <= random_state <= LARGEST_SEED
    ):
        raise ParameterError(
            f"random_state={shown(random_state)} is not usable. Give a whole number from 0 to"
            " 2**128, a numpy Generator, or None."
        )


def generator(seed: int, *purpose: Hashable) -> np.random.Generator:
    """The generator for one purpose.

    >>> drawn = generator(0, "site-a", "encoder").integers(100)
    >>> drawn == generator(0, "site-a", "encoder").integers(100)
    np.True_
    """
    address = tuple(
        int.from_bytes(blake2b(repr(part).encode(), digest_size=8).digest()) for part in purpose
    )
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=address))
