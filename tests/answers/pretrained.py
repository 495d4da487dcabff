"""A tiny network in the Hugging Face format, as somebody might have trained it."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from answers.rows import FEATURES
from lifelong import Recipe, SillyNetwork

_PIXELS = {
    "do_resize": True,
    "size": {"height": 32, "width": 32},
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
}


@cache
def _folder() -> "TemporaryDirectory[str]":
    """The network's files, until the program ends; its random weights are always the same."""
    import torch
    from transformers import ResNetConfig, ResNetModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder = TemporaryDirectory()
    config = ResNetConfig(
        embedding_size=8,
        hidden_sizes=[16, FEATURES[0]],
        depths=[1, 1],
        layer_type="basic",
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        ResNetModel(config).save_pretrained(folder.name)
    Path(folder.name, "preprocessor_config.json").write_text(json.dumps(_PIXELS))
    return folder


@cache
def encoder(tune: str) -> Any:
    """An encoder that stands on it, and on rows that are its features already."""
    from lifelong import PretrainedEncoder

    recipe = Recipe(epochs=2, lr=1e-2)
    settings = {"tune": tune, "hidden": 8, "recipe": recipe, "cache_dir": None, "device": "cpu"}
    return PretrainedEncoder.from_pretrained(_folder().name, **settings)


def learner(tune: str, channel: str, **settings: Any) -> SillyNetwork:
    """A learner with such encoders."""
    return SillyNetwork(encoder=encoder(tune), channel=channel, random_state=0, **settings)
