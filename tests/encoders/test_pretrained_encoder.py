"""Pretrained encoders: frozen for all tasks, or with layers of each task's own."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from lifelong import (
    PretrainedEncoder,
    Recipe,
    RidgeChannel,
    Silly,
    SillyNetwork,
    Task,
    TaskStream,
    evaluate,
)
from lifelong.exceptions import DatasetError, InputError, ParameterError
from lifelong.experiments.models import find_model
from lifelong.nets.tiny_models import tiny_model
from lifelong.tasks.datasets import load

FAST = Recipe(epochs=3, lr=1e-2)


def images(n, task=0, seed=0):
    """Bars across or down, of a task's own spacing; the class is the direction."""
    rng, y = np.random.default_rng([task, seed]), np.arange(n) % 2
    bars = np.sin(np.arange(16) * (0.7 + 0.4 * task)) * 0.3 + 0.5
    X = np.where(y[:, None, None, None] == 1, bars[:, None], bars[None, :]) * np.ones(
        (n, 3, 16, 16)
    )
    return (X + rng.normal(0, 0.05, X.shape)).clip(0, 1).astype(np.float32), y


def tiny(**settings):
    return PretrainedEncoder.from_pretrained(tiny_model("tiny-resnet"), **settings)


def tuned(**settings):
    return tiny(**{"tune": "last-two", "hidden": 8, "recipe": FAST, **settings})


@pytest.mark.parametrize("channel", ["ridge", "forest", "neighbours"])
def test_one_frozen_encoder_serves_all_tasks(channel):
    learner = SillyNetwork(encoder=tiny(), channel=channel, budget=1, random_state=0)
    for task in range(3):
        learner.partial_fit(*images(40, task), task=task)
    assert list(learner.encoders_) == [0]
    assert learner.memory_ == {}
    for task in range(3):
        assert learner.score(*images(20, task, seed=1), task=task) > 0.9


def test_frozen_features_have_seen_no_label_so_every_row_is_honest():
    X, y = images(30)
    assert not tiny().split(y, rng=np.random.default_rng(0)).any()
    first = SillyNetwork(encoder=tiny(), channel="ridge", budget=1, random_state=0)
    first.partial_fit(X, y, task="a").partial_fit(X, y, task="b")
    np.testing.assert_allclose(
        first.predict_proba(X, task="a"), first.predict_proba(X, task="b"), atol=1e-12
    )


def test_a_frozen_encoder_transfers_nothing_between_tasks():
    stream = TaskStream(
        [Task(task, *images(20, task), *images(10, task, seed=1)) for task in range(2)]
    )
    make = lambda seed: SillyNetwork(encoder=tiny(), channel="ridge", budget=1, random_state=seed)  # noqa: E731
    table = evaluate(make, stream, 1)
    assert not table.forward_transfer.any()
    assert not table.backward_transfer.any()


def test_tuned_layers_are_trained_per_task_on_in_bag_rows_alone():
    X, y = images(30)
    encoder = tuned()
    in_bag = encoder.split(y, rng=np.random.default_rng(1))
    assert 0 < in_bag.sum() < 30
    other = np.where(in_bag[:, None, None, None], X, 1 - X).astype(np.float32)
    one, two = (
        encoder.fit(rows, y, in_bag=in_bag, rng=np.random.default_rng(2)).encode(X)
        for rows in (X, other)
    )
    np.testing.assert_array_equal(one, two)
    assert one.shape == (30, 8)
    assert (one >= 0).all()  # behind a ReLU


def test_more_layers_may_be_trained():
    X, y = images(20)
    fitted = tuned(tune=3).fit(X, y, rng=np.random.default_rng(0))
    assert (
        len([layer for layer in fitted.layers.body.modules() if hasattr(layer, "out_features")])
        == 2
    )
    assert fitted.encode(X).shape == (20, 8)


@pytest.mark.parametrize("channel", ["ridge", "forest"])
def test_a_learner_with_tuned_layers_is_the_same_to_the_last_bit_with_or_without_a_cache(
    channel, tmp_path
):
    posteriors = []
    for cache_dir in (None, tmp_path, tmp_path):
        learner = SillyNetwork(encoder=tuned(cache_dir=cache_dir), channel=channel, random_state=3)
        for task in range(2):
            learner.partial_fit(*images(24, task), task=task)
        posteriors.append(learner.predict_proba(images(10, 0, seed=1)[0], task=0))
        assert len(learner.encoders_) == 2
    np.testing.assert_array_equal(posteriors[0], posteriors[1])
    np.testing.assert_array_equal(posteriors[1], posteriors[2])
    assert list(tmp_path.rglob("*.safetensors"))


def test_a_rows_features_do_not_depend_on_its_company_whatever_the_batch_size():
    X, _ = images(11)
    for batch_size in (1, 4):
        encoder = tiny(batch_size=batch_size, cache_dir=None)
        alone = np.concatenate([encoder.features(X[at : at + 1]) for at in range(11)])
        np.testing.assert_array_equal(encoder.features(X), alone)


def test_rows_that_are_features_already_stay_as_they_are():
    encoder, (X, y) = tiny(), images(20)
    Z = encoder.features(X)
    np.testing.assert_array_equal(encoder.features(Z), Z)
    raw, ready = (
        SillyNetwork(encoder=encoder, channel="ridge", random_state=0).fit(rows, y)
        for rows in (X, Z)
    )
    np.testing.assert_array_equal(raw.predict_proba(X), ready.predict_proba(Z))


@pytest.mark.parametrize("tune", ["none", "last-two"])
def test_texts_become_rows_and_are_then_learnt_like_any_others(tune):
    encoder = PretrainedEncoder.from_pretrained(
        tiny_model("tiny-bert"), tune=tune, hidden=8, recipe=FAST
    )
    texts = [f"{word} {end}" for end in "abcdefgh" for word in ("zzz zzz zzz", "qqq qqq qqq")]
    y = ["z", "q"] * 8
    X = encoder.features(texts)
    np.testing.assert_array_equal(encoder.features(np.array(texts)), X)
    np.testing.assert_array_equal(encoder.features(np.array(texts, dtype=object)), X)
    learner = SillyNetwork(encoder=encoder, channel="ridge", random_state=0).fit(X, y)
    assert learner.score(X, y) == 1


def test_sounds_go_into_a_learner_as_they_are():
    y, rng = np.arange(16) % 2, np.random.default_rng(0)
    tones = np.sin(np.arange(800) * np.where(y, 0.9, 0.1)[:, None]) + rng.normal(0, 0.05, (16, 800))
    encoder = PretrainedEncoder.from_pretrained(tiny_model("tiny-wav2vec2"))
    learner = SillyNetwork(encoder=encoder, channel="ridge", random_state=0).fit(tones, y)
    assert learner.score(tones, y) == 1


@pytest.mark.parametrize(
    ("model", "rows", "problem"),
    [
        (
            "tiny-resnet",
            np.full((2, 3, 8, 8), 255.0),
            r"values in \[0, 1\]; these go from 255 to 255. Divide by 255",
        ),
        ("tiny-resnet", np.zeros((2, 5, 8, 8)), "images of 1 or 3 channels; these have 5"),
        (
            "tiny-resnet",
            np.zeros((2, 7)),
            r"reads images \(n, c, h, w\), or their features \(n, 32\); .* \(2, 7\)",
        ),
        ("tiny-resnet", ["a text"], "holds text"),
        (
            "tiny-bert",
            np.zeros((2, 7)),
            r"Turn texts into rows first: X = encoder.features\(texts\)",
        ),
        ("tiny-bert", "one text", "a list of texts"),
        ("tiny-bert", [1, 2], "a list of texts"),
        ("tiny-bert", [], "a list of texts"),
        ("tiny-wav2vec2", np.zeros((2, 3, 8, 8)), "reads sounds"),
    ],
)
def test_rows_that_the_network_cannot_read_are_refused(model, rows, problem):
    with pytest.raises(InputError, match=problem):
        PretrainedEncoder(tiny_model(model)).features(rows)


def test_a_missing_model_is_an_error_at_once_and_bad_settings_too(tmp_path):
    with pytest.raises(DatasetError, match="is no folder"):
        PretrainedEncoder.from_pretrained(tmp_path / "nothing")
    for settings, problem in (
        ({"tune": 1}, "trains no hidden layer"),
        ({"tune": "all"}, "'all' is unknown"),
    ):
        with pytest.raises(ParameterError, match=problem):
            PretrainedEncoder("model", **settings)
    with pytest.raises(ParameterError, match="max_samples=2"):
        PretrainedEncoder("model", max_samples=2)


def test_the_frozen_network_counts_once_however_many_encoders_stand_on_it():
    encoder = tuned()
    learner = SillyNetwork(encoder=encoder, channel="ridge", random_state=0)
    for task in range(3):
        learner.partial_fit(*images(20, task), task=task)
    own = 32 * 8 + 8
    assert learner.sizes()["parameters"] == encoder.backbone.n_parameters + 3 * own
    assert learner.encoders_[0].n_parameters == encoder.backbone.n_parameters + own
    assert encoder.backbone.nbytes < learner.sizes()["encoders"] < 1.5 * encoder.backbone.nbytes


def test_an_encoder_is_a_few_settings_and_travels_light():
    encoder = tuned()
    X, y = images(20)
    learner = SillyNetwork(encoder=encoder, channel="ridge", random_state=0, n_jobs=2)
    assert len(pickle.dumps(encoder)) < 2000
    assert len(pickle.dumps(encoder.fit(X, y, rng=np.random.default_rng(0)))) < 20_000
    assert clone(learner).encoder == encoder


def test_it_works_in_silly_with_any_channel():
    X, y = images(20)
    assert Silly(tiny(), RidgeChannel(), random_state=0).fit(X, y).score(X, y) == 1


def test_plain_models_are_the_same_network_with_softmax():
    X, y = images(40)
    for encoder, name in (
        (tiny(), "linear-probe"),
        (tuned(recipe=Recipe(epochs=20, lr=1e-2)), "frozen-network"),
    ):
        ((known, model),) = SillyNetwork(encoder=encoder, random_state=0).plain_models(3).items()
        assert known == name
        assert np.mean(clone(model).fit(X, y).predict(X) == y) > 0.9


def test_transformers_is_not_imported_before_a_model_is_opened():
    script = (
        "import sys, lifelong\n"
        "lifelong.PretrainedEncoder('folder', tune='last-two')\n"
        "assert 'transformers' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.data
@pytest.mark.models("resnet-50")
def test_the_real_resnet_50_learns_ten_classes_of_cifar_from_five_rows_each():
    task = load("cifar-10x10", rows_per_class=5, test_rows_per_class=4)[0]
    encoder = PretrainedEncoder.from_pretrained(find_model("resnet-50"), image_size=64)
    learner = SillyNetwork(encoder=encoder, channel="ridge", budget=1, random_state=0)
    learner.fit(task.X_train, task.y_train)
    assert learner.score(task.X_test, task.y_test) > 0.5
