"""Randomly initialised networks of a few thousand weights in the Hugging Face format: for smoke
runs and tests.

They know nothing, but everything around them is real.
"""

import json
from pathlib import Path
from shutil import rmtree
from string import ascii_lowercase
from tempfile import mkdtemp
from typing import Any

import numpy as np

from lifelong._extras import require
from lifelong._validation import check_choice
from lifelong.nets.model_files import quiet
from lifelong.nets.randomness import private_randomness
from lifelong.tasks.datasets._places import cache_dir

_PIXELS = {
    "do_resize": True,
    "size": {"height": 32, "width": 32},
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
}
_WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *ascii_lowercase,
    *(f"##{c}" for c in ascii_lowercase),
)
_LAYERS = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def tiny_resnet(folder: Path) -> None:
    """Two stages of one block; reads images."""
    from transformers import ResNetConfig, ResNetModel

    config = ResNetConfig(
        embedding_size=8, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic"
    )
    ResNetModel(config).save_pretrained(folder)
    _write(folder, "preprocessor_config.json", _PIXELS)


def tiny_vit(folder: Path) -> None:
    """A vision transformer of the class of ViT-B/16 with two layers."""
    from transformers import ViTConfig, ViTModel

    ViTModel(ViTConfig(**_LAYERS, image_size=32, patch_size=16)).save_pretrained(folder)
    _write(folder, "preprocessor_config.json", _PIXELS)


def tiny_bert(folder: Path) -> None:
    """A text transformer that reads letter by letter."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    BertModel(
        BertConfig(**_LAYERS, vocab_size=len(_WORDS), max_position_embeddings=64)
    ).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(_WORDS), encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)


def tiny_wav2vec2(folder: Path) -> None:
    """A transformer on sound waves."""
    from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    convolutions: dict[str, Any] = {
        "conv_dim": (8, 8),
        "conv_kernel": (10, 4),
        "conv_stride": (5, 4),
    }
    positions = {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    config = Wav2Vec2Config(**_LAYERS, **convolutions, **positions, num_feat_extract_layers=2)
    Wav2Vec2Model(config).save_pretrained(folder)
    Wav2Vec2FeatureExtractor(sampling_rate=8000).save_pretrained(folder)


_MODELS = {
    "tiny-resnet": tiny_resnet,
    "tiny-vit": tiny_vit,
    "tiny-bert": tiny_bert,
    "tiny-wav2vec2": tiny_wav2vec2,
}


def tiny_model(name: str) -> Path:
    """The folder of a tiny network, made once and kept in the cache; always the same weights.

    Parameters
    ----------
    name : "tiny-resnet", "tiny-vit", "tiny-bert" or "tiny-wav2vec2"
    """
    make = _MODELS[check_choice(name, "name", list(_MODELS))]
    require("transformers", extra="pretrained", for_what=name)
    folder = cache_dir() / "generated" / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The folder is complete or not there at all, whoever else makes it meanwhile.
    scratch = Path(mkdtemp(dir=folder.parent))
    with quiet(), private_randomness(np.random.default_rng(0)):
        make(scratch)
    try:
        scratch.rename(folder)
    except OSError:  # another process was first
        rmtree(scratch)
    return folder


def _write(folder: Path, name: str, content: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
