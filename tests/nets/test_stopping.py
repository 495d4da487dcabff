"""SiLLy-N as its authors trained it: Keras' batch norm, and early stopping on held-out rows."""

import numpy as np
import pytest
import torch
from torch import nn

from lifelong import Recipe, SillyNetwork, load, save
from lifelong.exceptions import ParameterError
from lifelong.nets.stopping import batch_norm_of, until_no_better

KERAS = Recipe(epochs=6, batch_norm="keras", patience=2)


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 1, 8, 8)).astype(np.float32) + y[:, None, None, None]
    return X, y


def test_the_recipe_of_the_paper_is_as_before_unless_keras_is_asked_for():
    assert Recipe.paper() == Recipe()
    assert Recipe.paper(keras=True) == Recipe(batch_norm="keras", patience=5)


def test_batch_norm_moves_like_keras_and_answers_like_keras_afterwards():
    torch.manual_seed(0)
    layer = nn.BatchNorm1d(3)
    rows = torch.randn(50, 3) * 0.05 + 1
    with batch_norm_of(layer, KERAS):
        layer(rows)
    mean = 0.01 * rows.mean(dim=0)
    variance = 0.99 + 0.01 * rows.var(dim=0)
    torch.testing.assert_close(layer.running_mean, mean)
    wanted = (rows - mean) / (variance + 1e-3).sqrt()
    torch.testing.assert_close(layer.eval()(rows), wanted)
    assert (layer.eps, layer.momentum) == (1e-5, 0.1)


def test_training_ends_when_the_loss_of_held_out_rows_has_not_fallen_for_long_enough():
    losses = iter([3.0, 2.0, 2.5, 2.2, 1.0])
    shown = []

    def epoch(model, batch_loss, n_rows, recipe):
        shown.append(n_rows)

    def batch_loss(rows):
        assert len(rows) == 10
        return torch.tensor(next(losses))

    n_epochs = until_no_better(nn.Identity(), batch_loss, 30, KERAS, epoch)
    assert n_epochs == 4
    assert shown == [20] * 4


def test_a_learner_trained_like_that_is_saved_and_answers_the_same(images, tmp_path):
    X, y = images
    learner = SillyNetwork("cnn", width=0.05, recipe=KERAS, random_state=0)
    learner.partial_fit(X, y, task="a")
    save(learner, tmp_path / "saved")
    again = load(tmp_path / "saved")
    np.testing.assert_array_equal(
        again.predict_proba(X, task="a"), learner.predict_proba(X, task="a")
    )


def test_early_stopping_goes_with_epochs_only():
    with pytest.raises(ParameterError, match="give epochs instead"):
        Recipe(patience=5, iterations=100)
    with pytest.raises(ParameterError, match="batch_norm='tf' is unknown"):
        Recipe(batch_norm="tf")
