"""A cache keeps what was used last, within its bytes, and nothing that belongs to nobody."""

import gc

import numpy as np
import pytest

from lifelong._cache import Cache


class Owner:
    pass


def test_the_values_used_last_stay_within_the_bytes():
    cache, owners = Cache(100), [Owner() for _ in range(3)]
    for owner in owners[:2]:
        cache.put(owner, np.zeros(5))  # 40 bytes
    assert cache.get(owners[0]) is not None
    cache.put(owners[2], np.zeros(5))
    assert [cache.get(owner) is not None for owner in owners] == [True, False, True]
    assert cache.nbytes == 80


def test_what_is_larger_than_the_cache_is_not_kept():
    cache, owner = Cache(10), Owner()
    cache.put(owner, np.zeros(5))
    assert cache.get(owner) is None
    assert cache.nbytes == 0


@pytest.mark.parametrize("make", [Owner, lambda: np.zeros(3)], ids=["object", "array"])
def test_a_value_goes_with_its_owner(make):
    cache = Cache(100)
    owner = make()
    cache.put(owner, np.zeros(5))
    assert cache.nbytes == 40
    del owner
    gc.collect()
    assert cache.nbytes == 0
    assert all(
        cache.get(make()) is None for _ in range(100)
    )  # also where a new object has the old one's address
