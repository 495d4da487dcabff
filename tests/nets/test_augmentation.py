"""Augmentation: on while training only, and mirroring only where mirror images look like rows."""

import numpy as np
import pytest
import torch

from lifelong.nets import Recipe
from lifelong.nets.augmentation import Augment, both_sides, may_be_mirrored, shifted
from lifelong.nets.classifier import NetworkClassifier
from lifelong.nets.training import forward, front
from lifelong.references import CONTROLS, REFERENCES
from lifelong.tasks.datasets import load


def photographs(n=200, seed=0):
    """Blobs anywhere: as likely as their mirror images."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:16, :16]
    centres = rng.uniform(2, 14, (n, 2, 1, 1))
    blobs = np.exp(-((y - centres[:, 0]) ** 2 + (x - centres[:, 1]) ** 2) / 8)
    return torch.from_numpy(blobs[:, None].astype(np.float32))


def letters(n=200, seed=0):
    """A capital L with some noise: its mirror image is no letter."""
    images = torch.zeros(n, 1, 16, 16)
    images[:, :, 2:14, 3:5] = 1
    images[:, :, 12:14, 3:12] = 1
    return images + 0.3 * torch.from_numpy(
        np.random.default_rng(seed).normal(size=images.shape).astype(np.float32)
    )


def test_rows_that_look_like_their_mirror_images_may_be_mirrored():
    assert may_be_mirrored(photographs())


def test_letters_may_not_be_mirrored():
    assert not may_be_mirrored(letters())


@pytest.mark.data
def test_photographs_may_be_mirrored_and_digits_letters_shoes_and_speech_may_not():
    def decisions(name, **options):
        stream = load(name, random_state=0, **options)
        return [may_be_mirrored(torch.from_numpy(task.X_train)) for task in stream]

    assert decisions("five-datasets", rows_per_class=100) == [True, False, False, False, False]
    assert decisions("spoken-digit") == [False] * 6
    assert np.mean(decisions("cifar-10x10", rows_per_class=50)) > 0.8


def test_a_shift_moves_each_image_by_at_most_an_eighth():
    torch.manual_seed(0)
    x = torch.zeros(300, 1, 16, 16)
    x[:, :, 8, 8] = 1
    moved = shifted(x)
    places = moved[:, 0].nonzero()[:, 1:] - 8
    assert len(places) == 300
    assert places.abs().max() == 2
    assert len(set(map(tuple, places.tolist()))) == 25


def test_predictions_are_not_augmented_and_do_not_change():
    augment = Augment(letters()).eval()
    assert torch.equal(augment(letters()), letters())
    augment.train()
    assert not torch.equal(augment(letters()), letters())


def test_a_model_of_mirrored_rows_answers_a_row_and_its_mirror_image_alike():
    X = photographs()
    model = torch.nn.Sequential(
        front(X, Recipe(augment=True)), torch.nn.Flatten(), torch.nn.Linear(256, 3)
    ).eval()
    device = torch.device("cpu")
    straight, mirrored = (
        forward(both_sides(model), rows.numpy().copy(), device=device) for rows in (X, X.flip(3))
    )
    np.testing.assert_allclose(straight, mirrored, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "settings"), [("single", {}), ("model-zoo", {"tasks_per_round": 1})]
)
def test_letters_are_read_from_one_side_even_where_other_networks_know_photographs(name, settings):
    make = {**REFERENCES, **CONTROLS}[name]
    recipe = Recipe(iterations=2, augment=True)
    y = np.arange(200) % 2
    settings = {"network": "cnn", "width": 0.05, "recipe": recipe, **settings}
    alone, both = (make(0, **settings) for _ in range(2))
    both.partial_fit(photographs().numpy(), y, task="photographs")
    for learner in (alone, both):
        learner.partial_fit(letters().numpy(), y, task="letters")
    asked = letters(20, seed=1).numpy()
    np.testing.assert_array_equal(
        both.predict_proba(asked, task="letters"), alone.predict_proba(asked, task="letters")
    )


def test_flat_rows_are_left_alone():
    rows = torch.rand(50, 7)
    assert not any(
        isinstance(module, Augment) for module in front(rows, Recipe(augment=True)).modules()
    )


def test_one_cycle_rises_to_the_rate_and_falls_to_nothing():
    rate = Recipe(lr=2.0, schedule="one-cycle").rate
    assert rate(0.0) == pytest.approx(0.08)
    assert rate(0.3) == pytest.approx(2.0)
    assert rate(1.0) == pytest.approx(0.0)
    assert rate(0.1) < rate(0.2)
    assert rate(0.5) > rate(0.8)


@pytest.mark.parametrize(
    "name", ["single", *(name for name, entry in REFERENCES.items() if entry.trains_network)]
)
def test_every_network_learner_takes_the_strong_recipe(name):
    recipe = Recipe(epochs=1, batch_size=16, lr=1e-3, schedule="one-cycle", augment=True)
    X = photographs(40).numpy()
    y = np.arange(40) % 2
    learner = {**REFERENCES, **CONTROLS}[name](0, width=0.1, recipe=recipe)
    for task in ("a", "b"):
        learner.partial_fit(X, y, task=task)
    assert learner.predict_proba(X, task="a").shape == (40, 2)


def test_augmentation_changes_the_training_but_not_its_repeatability():
    X = photographs(60).numpy()
    y = np.arange(60) % 3
    recipes = [Recipe(epochs=2, augment=augment) for augment in (True, True, False)]
    once, again, plain = (
        NetworkClassifier("cnn", width=0.1, recipe=recipe, random_state=0)
        .fit(X, y)
        .predict_proba(X)
        for recipe in recipes
    )
    assert np.array_equal(once, again)
    assert not np.array_equal(once, plain)
