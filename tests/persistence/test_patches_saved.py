"""Patches in a file: they come back bit for bit, and what does not fit is refused."""

import numpy as np
import pytest

from lifelong.encoders.patches import fit_patches
from lifelong.encoders.several_tasks import RowsOfTask
from lifelong.persistence.checking import Arrays
from lifelong.persistence.encoders import encoder_shape, pack_encoder, unpack_encoder
from lifelong.persistence.text import Unfit

SHAPE = (3, 12, 10)


def rows_of(task, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((30, *SHAPE), dtype=np.float32)
    return RowsOfTask(task, X, np.arange(30) % 2, np.arange(30), np.arange(30) % 4 > 0, 2)


TASKS = [rows_of("a", 0), rows_of(7, 1)]


def fitted(of_tasks=TASKS):
    return fit_patches(of_tasks, rng=np.random.default_rng(0), device="cpu")


def packed():
    arrays = Arrays()
    return pack_encoder(fitted(), SHAPE, arrays), arrays


@pytest.mark.parametrize("of_tasks", [TASKS, TASKS[:1]])
def test_it_comes_back_bit_for_bit(of_tasks):
    patches = fitted(of_tasks)
    arrays = Arrays()
    structure = pack_encoder(patches, SHAPE, arrays)
    again = unpack_encoder(structure, arrays, SHAPE)
    arrays.nothing_left()
    X = TASKS[0].X
    np.testing.assert_array_equal(again.encode(X), patches.encode(X))
    assert again.tasks == patches.tasks
    np.testing.assert_array_equal(again.seen("a", np.arange(30)), patches.seen("a", np.arange(30)))
    assert encoder_shape(again, SHAPE).columns == patches.encode(X).shape[1]


def complete(structure, arrays):
    """As a file is read: nothing may be left."""
    unpack_encoder(structure, arrays, SHAPE)
    arrays.nothing_left()


def replaced(name, make):
    def change(structure, arrays):
        arrays[f"patches.{name}"] = make(arrays[f"patches.{name}"])

    return change


def said(name, value):
    def change(structure, arrays):
        structure["patches"][name] = value

    return change


def without(name):
    def change(structure, arrays):
        del arrays[f"patches.{name}"]

    return change


HOSTILE = {
    "filters of other channels": replaced("filters", lambda a: a[:, :2].copy()),
    "filters that are no squares": replaced("filters", lambda a: a[:, :, :, :2].copy()),
    "no filters": replaced("filters", lambda a: a[:0]),
    "filters that are NaN": replaced("filters", lambda a: a * np.float32(np.nan)),
    "filters of whole numbers": replaced("filters", lambda a: a.astype(np.int32)),
    "filters larger than the image": replaced(
        "filters", lambda a: np.zeros((2, 3, 11, 11), np.float32)
    ),
    "filters without end": replaced("filters", lambda a: np.zeros((200_000, 3, 1, 1), np.float32)),
    "fewer offsets than filters": replaced("offsets", lambda a: a[:-1]),
    "offsets that are infinite": replaced("offsets", lambda a: a + np.float32(np.inf)),
    "offsets missing": without("offsets"),
    "directions of other columns": replaced("within.directions", lambda a: a[1:]),
    "directions without shares": without("within.taken"),
    "shares without directions": without("within.directions"),
    "a factor of nothing": said("shrink", 0),
    "a factor larger than the image": said("shrink", 11),
    "a factor that is text": said("shrink", "2"),
    "a spread below nothing": said("flat", -1.0),
    "a spread without end": said("flat", 1e300),
    "mirrors that are a word": said("mirrors", "yes"),
    "no tasks": said("tasks", []),
    "the same task twice": said("tasks", ["a", "a"]),
    "rows that are not in order": replaced("seen.0", lambda a: a[::-1].copy()),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_what_does_not_fit_is_refused(name):
    structure, arrays = packed()
    HOSTILE[name](structure, arrays)
    with pytest.raises(Unfit):
        complete(structure, arrays)


def test_rows_that_are_no_images_are_refused():
    structure, arrays = packed()
    structure["in_shape"] = [360]
    with pytest.raises(Unfit):
        unpack_encoder(structure, arrays, (360,))
