"""Patches that images of several tasks have in common."""

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from lifelong.encoders.patches import FittedPatches, fit_patches
from lifelong.encoders.several_tasks import RowsOfTask, even_sample
from lifelong.encoders.within_class import within_class
from lifelong.nets.patches import LikePatches


def images(n=30, shape=(3, 12, 12), seed=0):
    return np.random.default_rng(seed).random((n, *shape), dtype=np.float32)


def rows_of(X, task="a", y=None):
    y = np.arange(len(X)) % 2 if y is None else y
    in_bag = np.arange(len(X)) % 5 > 0
    return RowsOfTask(task, X, y, np.arange(len(X)) + 100, in_bag, 2)


def fit(*images_of_tasks, seed=0) -> FittedPatches:
    of_tasks = [rows_of(X, task) for X, task in zip(images_of_tasks, "abcd", strict=False)]
    return fit_patches(of_tasks, rng=np.random.default_rng(seed), device="cpu")


def by_hand(body, image):
    """Cells of one image, loop by loop."""
    filters = body.filters.double().numpy()
    offsets = body.offsets.double().numpy()
    size = filters.shape[-1]
    side = image.shape[1] - size + 1
    like = np.empty((len(filters), side, side))
    for row in range(side):
        for column in range(side):
            piece = image[:, row : row + size, column : column + size].astype(np.float64)
            spread = np.sqrt(piece.var() + float(body.flat))
            normal = (piece - piece.mean()) / spread
            like[:, row, column] = (filters * normal).sum(axis=(1, 2, 3)) - offsets
    both = np.concatenate([np.maximum(like - 1, 0), np.maximum(-like - 1, 0)])
    columns = []
    for grid in (1, 2, 3, 4):
        edges = [(i * side // grid, -(-(i + 1) * side // grid)) for i in range(grid)]
        cells = [
            both[:, top:bottom, left:right].mean(axis=(1, 2))
            for top, bottom in edges
            for left, right in edges
        ]
        of_grid = np.stack(cells, axis=1).ravel()
        columns.append(np.sqrt(of_grid / len(of_grid)))
    return np.concatenate(columns)


def test_it_is_what_a_loop_over_all_pieces_of_an_image_gives():
    X = images()
    patches = fit(X)
    body = patches.body
    body.mirrors = False
    np.testing.assert_allclose(patches.encode(X[:2]), [by_hand(body, x) for x in X[:2]], atol=2e-4)
    body.mirrors = True
    both = (by_hand(body, X[0]) + by_hand(body, X[0][:, :, ::-1])) / 2
    np.testing.assert_allclose(patches.encode(X[:1])[0], both, atol=2e-4)


def test_brightness_and_contrast_hardly_count():
    X = images()
    patches = fit(X)
    patches.body.flat.zero_()
    np.testing.assert_allclose(patches.encode(0.5 * X + 0.2), patches.encode(X), atol=1e-3)


def test_patches_do_not_know_in_which_units_pixels_are_measured():
    X = images()
    np.testing.assert_allclose(fit(255 * X).encode(255 * X), fit(X).encode(X), atol=1e-3)


def test_a_row_s_answer_does_not_depend_on_the_rows_beside_it():
    X = images(200)
    patches = fit(X)
    every = patches.encode(X)
    np.testing.assert_allclose(patches.encode(X[50:60]), every[50:60], atol=1e-6)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    X = images()
    np.testing.assert_array_equal(fit(X).encode(X), fit(X).encode(X))
    assert not np.array_equal(fit(X).encode(X), fit(X, seed=1).encode(X))


def test_large_images_are_averaged_down():
    X = images(5, (1, 70, 96))
    patches = fit(X)
    small = X.reshape(5, 1, 35, 2, 48, 2).mean(axis=(3, 5))
    assert patches.body.shrink == 2
    body = LikePatches(
        patches.body.filters,
        patches.body.offsets,
        flat=float(patches.body.flat),
        shrink=1,
        mirrors=patches.body.mirrors,
    )
    np.testing.assert_allclose(patches.encode(X), body(torch.from_numpy(small)).numpy(), atol=1e-5)


def test_photographs_are_seen_from_both_sides_and_digits_are_not():
    digits = (load_digits().images[:, None] / 16).astype(np.float32)
    assert not fit(digits).body.mirrors
    assert fit(np.concatenate([images(100), images(100)[:, :, :, ::-1]])).body.mirrors


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 4),
    shape=st.tuples(st.integers(1, 4), st.integers(1, 40), st.integers(1, 40)),
    kind=st.sampled_from(["random", "constant", "zero", "huge", "one pixel"]),
)
def test_whatever_the_images_rows_are_finite_and_as_wide_as_is_said(n, shape, kind):
    X = images(n, shape)
    if kind == "constant":
        X[:] = 0.7
    elif kind == "zero":
        X[:] = 0
    elif kind == "huge":
        X *= 1e6
    elif kind == "one pixel":
        X[:] = 0
        X[0, 0, 0, 0] = 1
    patches = fit(X)
    Z = patches.encode(X)
    assert Z.shape == (n, patches.body.n_columns(shape))
    assert np.isfinite(Z).all()


def test_what_rows_of_one_class_differ_by_counts_less():
    X, other = images(), images(seed=1)
    patches = fit(X, other)
    labels = np.concatenate([np.arange(30) % 2, 2 + np.arange(30) % 2])
    in_bag = np.tile(np.arange(30) % 5 > 0, 2)
    every = np.concatenate([X, other])
    plain = replace(patches, within=None)
    within = within_class(plain.encode(every[in_bag]), labels[in_bag])
    np.testing.assert_allclose(patches.encode(X), within(plain.encode(X)), atol=1e-5)


def test_it_remembers_whose_labels_it_has_looked_at():
    patches = fit(images(), images(seed=1))
    assert patches.tasks == ("a", "b")
    rows = np.arange(100, 130)
    np.testing.assert_array_equal(patches.seen("b", rows), np.arange(30) % 5 > 0)
    assert not patches.seen("c", rows).any()
    assert patches.answers_about("a") is None
    assert patches.nbytes > 4 * patches.n_parameters


def test_labels_of_held_out_rows_have_no_part_in_it():
    X = images()
    y = np.arange(30) % 2
    changed = np.where(np.arange(30) % 5 > 0, y, 1 - y)
    ours, theirs = (
        fit_patches(
            [rows_of(X, "a", labels), rows_of(images(seed=1), "b")],
            rng=np.random.default_rng(0),
            device="cpu",
        )
        for labels in (y, changed)
    )
    np.testing.assert_array_equal(ours.encode(X), theirs.encode(X))


def test_patches_of_one_task_have_looked_at_no_label():
    patches = fit(images())
    assert patches.within is None
    assert not patches.seen("a", np.arange(100, 130)).any()


def test_of_many_classes_a_sample_has_rows_of_fewer_tasks():
    of_tasks = [rows_of(images(20, (1, 4, 4), seed), seed) for seed in range(100)]
    X, y = even_sample(of_tasks, 500)
    labels, counts = np.unique(y, return_counts=True)
    assert len(X) <= 500
    assert len(labels) == 50
    assert counts.min() >= 6
