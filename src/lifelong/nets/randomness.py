"""Torch's randomness and threads, borrowed for the length of a block and given back unchanged."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

_randomness = threading.RLock()
_threads = threading.Lock()
_users = 0
_threads_before = 1


@contextmanager
def private_randomness(rng: np.random.Generator) -> Iterator[None]:
    """Inside the block torch draws from a generator derived from ``rng``; outside nothing changes.

    Initialisers and dropout only know torch's own generator. One thread at a time may borrow it.
    """
    own = torch.Generator()
    own.manual_seed(int(rng.integers(2**63)))
    with _randomness, torch.random.fork_rng(devices=[]):
        torch.set_rng_state(own.get_state())
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread inside the block: equal bits on all machines, no fight between processes."""
    global _users, _threads_before
    with _threads:
        if _users == 0:
            _threads_before = torch.get_num_threads()
            torch.set_num_threads(1)
        _users += 1
    try:
        yield
    finally:
        with _threads:
            _users -= 1
            if _users == 0:
                torch.set_num_threads(_threads_before)
