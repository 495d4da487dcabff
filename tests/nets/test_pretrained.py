"""Frozen pretrained networks: the right numbers from the right files, and no code but ours."""

import json
import shutil

import huggingface_hub.constants
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, CLIPConfig

from lifelong.exceptions import DatasetError, MissingExtraError, ParameterError
from lifelong.experiments.models import find_model
from lifelong.nets.pretrained import open_backbone
from lifelong.nets.tiny_models import tiny_model


def images(n=5, shape=(3, 32, 32)):
    return np.random.default_rng(0).random((n, *shape), dtype=np.float32)


RAW = {
    "tiny-resnet": images(),
    "tiny-vit": images(),
    "tiny-bert": [
        "a cat",
        "two dogs on a lawn",
        "rain",
        "snow and ice",
        "a very long story about nothing",
    ],
    "tiny-wav2vec2": np.random.default_rng(0).normal(size=(5, 900)).astype(np.float32),
}
MODELS = pytest.mark.parametrize("name", RAW)


def copy_of(name, folder):
    """A copy of a tiny model, to be damaged."""
    return shutil.copytree(tiny_model(name), folder / name)


@MODELS
def test_a_rows_features_depend_on_the_row_alone_to_the_last_bit(name):
    backbone = open_backbone(tiny_model(name))
    rows = RAW[name]
    each = np.concatenate([backbone.run(rows[at : at + 1]) for at in range(5)])
    torch.rand(3)
    again = np.concatenate([backbone.run(rows[at : at + 1]) for at in reversed(range(5))])[::-1]
    np.testing.assert_array_equal(each, again)
    assert each.shape == (5, backbone.n_features)
    assert each.dtype == np.float32
    assert len(np.unique(each.round(4), axis=0)) == 5


@MODELS
def test_batches_differ_by_rounding_only(name):
    backbone = open_backbone(tiny_model(name))
    rows = RAW[name]
    each = np.concatenate([backbone.run(rows[at : at + 1]) for at in range(5)])
    np.testing.assert_allclose(backbone.run(rows), each, atol=1e-5)


def test_a_resnets_features_are_its_own_pooled_output_of_standardised_pixels():
    folder = tiny_model("tiny-resnet")
    X = images()
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        wanted = model((torch.from_numpy(X) - 0.5) / 0.5).pooler_output.flatten(1).numpy()
    np.testing.assert_allclose(open_backbone(folder).run(X), wanted, atol=1e-5)


def test_a_vision_transformers_features_are_its_class_token_unless_asked_otherwise():
    folder = tiny_model("tiny-vit")
    X = images()
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        hidden = model((torch.from_numpy(X) - 0.5) / 0.5).last_hidden_state.numpy()
    np.testing.assert_allclose(open_backbone(folder).run(X), hidden[:, 0], atol=1e-5)
    np.testing.assert_allclose(
        open_backbone(folder, pooling="mean").run(X), hidden.mean(axis=1), atol=1e-5
    )


def test_images_of_any_size_become_squares_of_the_models_size():
    backbone = open_backbone(tiny_model("tiny-resnet"))
    wide = np.zeros((2, 3, 32, 64), dtype=np.float32)
    wide[:, :, :, 16:48] = images(2)
    np.testing.assert_allclose(
        backbone.run(wide), backbone.run(images(2)), atol=1e-5
    )  # the middle is what counts
    small = np.full((1, 3, 7, 7), 0.25, dtype=np.float32)
    large = np.full((1, 3, 90, 90), 0.25, dtype=np.float32)
    np.testing.assert_allclose(backbone.run(small), backbone.run(large), atol=1e-5)


def test_grey_images_are_read_as_three_equal_channels():
    backbone = open_backbone(tiny_model("tiny-resnet"))
    grey = images(2, (1, 32, 32))
    np.testing.assert_array_equal(backbone.run(grey), backbone.run(np.repeat(grey, 3, axis=1)))


@pytest.mark.parametrize("name", ["tiny-resnet", "tiny-vit"])
def test_another_image_size_may_be_asked_for(name):
    small, large = (open_backbone(tiny_model(name), image_size=size) for size in (32, 64))
    assert small.run(images()).shape == large.run(images()).shape
    assert np.abs(small.run(images()) - large.run(images())).max() > 1e-3
    assert small.identity != large.identity


def test_long_texts_are_cut_and_short_ones_left_alone():
    backbone = open_backbone(tiny_model("tiny-bert"))
    cut = open_backbone(tiny_model("tiny-bert"), max_tokens=5)
    np.testing.assert_array_equal(cut.run(["ab"]), backbone.run(["ab"]))
    np.testing.assert_array_equal(cut.run(["abcdefgh"]), cut.run(["abcxyz"]))
    assert np.isfinite(backbone.run(["word " * 500])).all()


def test_the_size_is_known_without_reading_the_weights():
    for name in RAW:
        backbone = open_backbone(tiny_model(name))
        model = AutoModel.from_pretrained(tiny_model(name))
        assert backbone.n_parameters == sum(weight.numel() for weight in model.parameters())
        assert backbone.nbytes >= 4 * backbone.n_parameters


def test_torchs_threads_and_randomness_are_left_as_they_were():
    torch.set_num_threads(2)
    state = torch.get_rng_state()
    open_backbone(tiny_model("tiny-resnet"), image_size=40).run(images())
    assert torch.get_num_threads() == 2
    assert torch.equal(state, torch.get_rng_state())


def test_the_same_files_in_another_folder_are_the_same_model_and_other_weights_are_not(tmp_path):
    backbone = open_backbone(tiny_model("tiny-resnet"))
    folder = copy_of("tiny-resnet", tmp_path)
    assert open_backbone(folder).identity == backbone.identity
    weights = load_file(folder / "model.safetensors")
    save_file(
        {**weights, "embedder.embedder.convolution.weight": torch.zeros(8, 3, 7, 7)},
        folder / "model.safetensors",
    )
    assert open_backbone(folder).identity != backbone.identity


def test_a_pickle_is_never_read(tmp_path):
    folder = copy_of("tiny-resnet", tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(DatasetError, match="A pickle .* is never read: it can run code"):
        open_backbone(folder)


def test_a_models_own_code_is_never_run(tmp_path):
    folder = copy_of("tiny-resnet", tmp_path)
    trace = tmp_path / "was-run"
    (folder / "own.py").write_text(f"open({str(trace)!r}, 'w')\nclass Config: pass\n")
    config = {
        "model_type": "own",
        "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Config"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DatasetError, match="describes no model that transformers knows"):
        open_backbone(folder)
    assert not trace.exists()


def test_a_network_that_wants_two_kinds_of_input_is_refused(tmp_path):
    folder = copy_of("tiny-resnet", tmp_path)
    CLIPConfig().save_pretrained(folder)
    with pytest.raises(DatasetError, match="a clip does not read images, texts or sounds alone"):
        open_backbone(folder)


def test_a_missing_weight_is_an_error_and_never_a_random_number(tmp_path):
    folder = copy_of("tiny-vit", tmp_path)
    weights = load_file(folder / "model.safetensors")
    gone = next(name for name in weights if "layernorm" in name)
    save_file(
        {name: tensor for name, tensor in weights.items() if name != gone},
        folder / "model.safetensors",
    )
    with pytest.raises(DatasetError, match="lacks 1 weights, such as"):
        open_backbone(folder).run(images())


def test_a_missing_pooling_layer_does_not_matter_since_none_is_asked(tmp_path):
    folder = copy_of("tiny-vit", tmp_path)
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: tensor for name, tensor in weights.items() if "pooler" not in name},
        folder / "model.safetensors",
    )
    np.testing.assert_array_equal(
        open_backbone(folder).run(images()), open_backbone(tiny_model("tiny-vit")).run(images())
    )


def test_damaged_weights_and_unknown_scaling_are_named(tmp_path):
    folder = copy_of("tiny-resnet", tmp_path)
    (folder / "preprocessor_config.json").unlink()
    with pytest.raises(DatasetError, match="nobody knows how the model's images were scaled"):
        open_backbone(folder).run(images())
    (folder / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(DatasetError, match=r"model.safetensors cannot be read"):
        open_backbone(folder).run(images())


def test_what_is_no_model_is_explained(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DatasetError, match="is no folder. Give a folder with config.json"):
        open_backbone(tmp_path / "nothing")
    with pytest.raises(DatasetError, match="cannot be fetched from the Hugging Face hub"):
        open_backbone("nobody/nothing")
    with pytest.raises(DatasetError, match="needs config.json and model.safetensors"):
        open_backbone(tmp_path)
    with pytest.raises(ParameterError, match="pooling='max' is unknown"):
        open_backbone(tmp_path, pooling="max")


def test_without_transformers_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("lifelong._extras.find_spec", lambda _: None)
    with pytest.raises(
        MissingExtraError, match=r"PretrainedEncoder needs transformers.*lifelong\[pretrained\]"
    ):
        open_backbone("anything")


@pytest.mark.models("resnet-50")
def test_the_real_resnet_50_is_read_and_tells_a_ramp_from_noise():
    backbone = open_backbone(find_model("resnet-50"), image_size=64)
    assert (backbone.n_features, backbone.n_parameters) == (2048, 23_508_032)
    ramp = np.broadcast_to(np.linspace(0, 1, 32, dtype=np.float32), (3, 32, 32))
    first, second, noise = (
        backbone.run(X[None].astype(np.float32))[0] for X in (ramp, ramp * 0.9, images(1)[0])
    )
    assert np.linalg.norm(first - second) < 0.5 * np.linalg.norm(first - noise)


@pytest.mark.models("all-minilm-l6-v2")
def test_the_real_minilm_knows_which_sentences_mean_the_same():
    backbone = open_backbone(find_model("all-minilm-l6-v2"))
    texts = [
        "The parcel never arrived.",
        "My delivery is lost.",
        "Integrals of smooth functions converge.",
    ]
    Z = np.concatenate([backbone.run([text]) for text in texts])
    assert Z.shape == (3, 384)
    same, other = (Z[0] @ Z[at] / np.linalg.norm(Z[0]) / np.linalg.norm(Z[at]) for at in (1, 2))
    assert same > other + 0.3
