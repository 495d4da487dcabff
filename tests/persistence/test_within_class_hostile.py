"""What rows of one class differ by, as a file may say it: refused, or harmless."""

from dataclasses import replace

import numpy as np
import pytest

from lifelong import SillyNetwork, load, save
from lifelong.encoders.within_class import WithinClass
from lifelong.exceptions import PersistenceError
from lifelong.learners.knowledge import merged
from lifelong.persistence.checking import Arrays
from lifelong.persistence.shared_networks import pack_shared, unpack_shared

RNG = np.random.default_rng(0)
X = RNG.random((40, 1, 6, 6), dtype=np.float32)


@pytest.fixture(scope="module")
def learner():
    made = SillyNetwork.best(epochs=1, width=0.05, shared=1, random_state=0)
    for task in ("a", "b"):
        y = np.arange(40) % 2
        X[np.arange(40), 0, 2, y] += 1
        made.partial_fit(X, y, task=task)
    return made


@pytest.fixture(scope="module")
def network(learner):
    found = learner.encoders_[learner.knowledge_.shared[0]]
    assert found.within is not None
    assert found.within.directions.shape[1] > 1
    return found


def read_with(network, change):
    """The network of a file whose arrays have been changed."""
    arrays = Arrays()
    node = pack_shared(network, arrays, "it")
    arrays = Arrays({name: np.array(array) for name, array in arrays.items()})
    change(arrays)
    found = unpack_shared(node, arrays, "it", (1, 6, 6))
    arrays.nothing_left()
    return found


D = "it.within.directions"
T = "it.within.taken"


def with_number(name, number):
    def change(arrays):
        arrays[name].flat[1] = number

    return change


def instead(name, make):
    def change(arrays):
        arrays[name] = make(arrays[name])

    return change


def both(change):
    def changed(arrays):
        change(arrays, D)
        change(arrays, T)

    return changed


def more_than_columns(arrays):
    width, _ = arrays[D].shape
    arrays[D] = np.zeros((width, width + 1), dtype=np.float32)
    arrays[T] = np.zeros(width + 1, dtype=np.float32)


HOSTILE = {
    "no directions": lambda arrays: arrays.pop(D),
    "nothing taken": lambda arrays: arrays.pop(T),
    **{f"{at} {n}": with_number(at, n) for at in (D, T) for n in (np.nan, np.inf, -np.inf, 1e38)},
    **{f"taken {n}": with_number(T, n) for n in (-0.01, -1e-45, 1.001, -1e30)},
    **{f"direction {n}": with_number(D, n) for n in (2.0, -7.0, 1e19)},
    "whole numbers": instead(D, lambda array: array.astype(np.int32)),
    "whole shares": instead(T, lambda array: array.astype(np.int64)),
    "halves": instead(D, lambda array: array.astype(np.float16)),
    "doubles": instead(D, lambda array: array.astype(np.float64)),
    "double shares": instead(T, lambda array: array.astype(np.float64)),
    "true and false": instead(T, lambda array: array > 0.5),
    "turned": instead(D, lambda array: array.T.copy()),
    "flat": instead(D, np.ravel),
    "three axes": instead(D, lambda array: array[None]),
    "no number": instead(T, lambda array: array[0]),
    "a column of shares": instead(T, lambda array: array[:, None]),
    "one row less": instead(D, lambda array: array[:-1]),
    "one row more": instead(D, lambda array: np.vstack([array, array[:1]])),
    "one direction less": instead(D, lambda array: array[:, :-1]),
    "one share less": instead(T, lambda array: array[:-1]),
    "no rows": instead(D, lambda array: array[:0]),
    "one direction twice": instead(D, lambda array: array[:, [0] * array.shape[1]]),
    "zeros": instead(D, np.zeros_like),
    "denormals": instead(D, lambda array: np.full_like(array, 1e-45)),
    "twice as long": instead(D, lambda array: 2 * array),
    "the largest": instead(D, lambda array: np.full_like(array, 3e38)),
    "more directions than columns": more_than_columns,
    "one array too many": lambda arrays: arrays.update({"it.within.more": np.zeros(1)}),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile_directions_are_refused(change, network):
    with pytest.raises(PersistenceError):
        read_with(network, change)


HARMLESS = {
    "as they are": lambda _: None,
    "none at all": both(lambda arrays, name: arrays.update({name: arrays[name][..., :0]})),
    "one": both(lambda arrays, name: arrays.update({name: arrays[name][..., :1].copy()})),
    "all taken": instead(T, np.ones_like),
    "none taken": instead(T, np.zeros_like),
    "the other way": instead(D, np.negative),
    "neither": both(lambda arrays, name: arrays.pop(name)),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_directions_that_are_read_keep_rows_finite_and_no_longer_than_they_were(change, network):
    found = read_with(network, change)
    before = network.network.encode(X)
    after = found.encode(X)
    assert after.shape == before.shape
    assert np.isfinite(after).all()
    longest = np.linalg.norm(before, axis=1).max()
    assert np.linalg.norm(after, axis=1).max() <= 1.01 * longest


def test_numbers_drawn_at_random_are_refused_or_harmless(network):
    """One bit of one number of each file is another one."""
    n_refused = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        name = (D, T)[seed % 2]

        def change(arrays, rng=rng, name=name):
            bits = arrays[name].view(np.uint32)
            bits.flat[rng.integers(bits.size)] ^= np.uint32(1 << rng.integers(32))

        try:
            found = read_with(network, change)
        except PersistenceError:
            n_refused += 1
        else:
            assert np.isfinite(found.encode(X[:2])).all()
    assert 0 < n_refused < 24


def test_a_learner_with_hostile_directions_cannot_be_saved(learner, network, tmp_path):
    save(learner, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    known = learner.knowledge_
    directions, taken = network.within.directions, network.within.taken
    for within in (
        WithinClass(directions, taken + 1),
        WithinClass(2 * directions, taken),
        WithinClass(directions[:-1], taken),
    ):
        hostile = {known.shared[0]: replace(network, within=within)}
        wrong = SillyNetwork.best(epochs=1, width=0.05, shared=1, random_state=0)
        wrong.knowledge_ = replace(known, encoders=merged(known.encoders, hostile))
        with pytest.raises(PersistenceError):
            save(wrong, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    np.testing.assert_array_equal(
        load(tmp_path).predict_proba(X, task="a"), learner.predict_proba(X, task="a")
    )
