"""A learner on a pretrained network is saved without that network, and asks for exactly that
network again.
"""

import shutil

import numpy as np
import pytest

from lifelong import PretrainedEncoder, Recipe, SillyNetwork, export_encoder, load, save
from lifelong.exceptions import PersistenceError
from lifelong.nets.tiny_models import tiny_model

FAST = Recipe(epochs=1, lr=1e-2)


def images(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 2
    return (rng.random((12, 3, 8, 8)) * 0.5 + y[:, None, None, None] * 0.5).astype(np.float32), y


def encoder(folder=None, **settings):
    folder = tiny_model("tiny-resnet") if folder is None else folder
    return PretrainedEncoder.from_pretrained(
        folder, **{"cache_dir": None, "hidden": 8, "recipe": FAST, **settings}
    )


def learner(**settings):
    made = SillyNetwork(encoder=encoder(**settings), channel="ridge", random_state=0)
    return made.partial_fit(*images(0), task="a").partial_fit(*images(1), task="b")


@pytest.mark.parametrize("tune", ["none", "last-two"])
def test_it_answers_and_goes_on_learning_to_the_last_bit(tune, tmp_path):
    before = learner(tune=tune)
    save(before, tmp_path / "saved")
    again = load(tmp_path / "saved", encoder=encoder(tune=tune))
    X, y = images(2)
    for model in (before, again):
        model.partial_fit(X, y, task="c")
    for task in "abc":
        np.testing.assert_array_equal(
            again.predict_proba(X, task=task), before.predict_proba(X, task=task)
        )


def test_the_files_hold_the_trained_layers_and_none_of_the_networks_weights(tmp_path):
    before = learner(tune="last-two")
    save(before, tmp_path / "saved")
    written = sum(file.stat().st_size for file in (tmp_path / "saved").rglob("encoder-*"))
    layers = sum(one.layers.nbytes for one in before.encoders_.values())
    assert layers <= written < layers + 2 * 4000 < before.encoders_["a"].shared.nbytes
    place = str(tiny_model("tiny-resnet")).encode()
    assert not any(
        place in file.read_bytes() for file in (tmp_path / "saved").iterdir() if file.is_file()
    )


def test_without_the_network_the_error_says_how_to_bring_it(tmp_path):
    save(learner(), tmp_path / "saved")
    with pytest.raises(
        PersistenceError, match=r"pretrained network tiny-resnet.*load\(directory, encoder="
    ):
        load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"image_size": 16}, "see its weights or preprocessing"),
        ({"tune": "last-two"}, "see its tune"),
    ],
)
def test_another_network_is_refused(other, problem, tmp_path):
    save(learner(), tmp_path / "saved")
    with pytest.raises(PersistenceError, match=problem):
        load(tmp_path / "saved", encoder=encoder(**other))
    with pytest.raises(PersistenceError, match="see its class"):
        load(tmp_path / "saved", encoder="resnet-50")


def test_the_networks_folder_may_have_moved(tmp_path):
    before = learner()
    save(before, tmp_path / "saved")
    shutil.copytree(tiny_model("tiny-resnet"), tmp_path / "elsewhere")
    again = load(tmp_path / "saved", encoder=encoder(tmp_path / "elsewhere"))
    X, _ = images(2)
    np.testing.assert_array_equal(
        again.predict_proba(X, task="a"), before.predict_proba(X, task="a")
    )


def test_a_store_keeps_it_too(tmp_path):
    first = SillyNetwork(encoder=encoder(), channel="ridge", random_state=0, store=tmp_path)
    first.partial_fit(*images(0), task="a")
    X, _ = images(2)
    second = SillyNetwork(encoder=encoder(), channel="ridge", random_state=0, store=tmp_path)
    np.testing.assert_array_equal(second.predict(X, task="a"), first.predict(X, task="a"))


def test_trained_layers_go_to_a_learner_on_the_same_network_and_to_no_other(tmp_path):
    export_encoder(learner(tune="last-two"), "a", tmp_path / "a.encoder")
    same = SillyNetwork(encoder=encoder(tune="last-two"), channel="ridge", random_state=1)
    same.partial_fit(*images(3), task="x").add_encoder(tmp_path / "a.encoder", name="a")
    assert list(same.encoders_) == ["x", "a"]
    other = SillyNetwork(
        encoder=encoder(tune="last-two", image_size=16), channel="ridge", random_state=1
    )
    other.partial_fit(*images(3), task="x")
    with pytest.raises(PersistenceError, match="another pretrained network"):
        other.add_encoder(tmp_path / "a.encoder", name="a")
    assert list(other.encoders_) == ["x"]
