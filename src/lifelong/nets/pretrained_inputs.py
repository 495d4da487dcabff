"""What a pretrained network reads: images, texts or sounds → the tensors it was trained on."""

import inspect
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.functional import interpolate

from lifelong._validation import Rows
from lifelong.exceptions import DatasetError

Inputs = dict[str, Any]  # tensors and settings, by the names of the model's arguments
Prepare = Callable[[Any], Inputs]


def prepare_for(
    kind: str, model: nn.Module, folder: Path, image_size: int | None, max_tokens: int | None
) -> Prepare:
    """How raw rows become the inputs of ``model``."""
    if kind == "images":
        return partial(
            _images, Pixels.read(folder, image_size), _extra_arguments(model, image_size)
        )
    if kind == "texts":
        return _texts(folder, model, max_tokens)
    return _sounds(folder)


class Pixels(NamedTuple):
    """How the images were scaled that the network was trained on."""

    side: int
    mode: str  # "bilinear" or "bicubic"
    mean: torch.Tensor  # (c, 1, 1)
    std: torch.Tensor

    @classmethod
    def read(cls, folder: Path, image_size: int | None) -> "Pixels":
        """From ``preprocessor_config.json``; ``image_size`` takes the place of its size."""
        path = folder / "preprocessor_config.json"
        if not path.is_file():
            raise DatasetError(
                f"{path} is not there, and nobody knows how the model's images were scaled. Add it."
            )
        settings = json.loads(path.read_text(encoding="utf-8"))
        side = image_size or _trained_side(settings)
        mean = torch.tensor(settings.get("image_mean", 0.0))
        std = torch.tensor(settings.get("image_std", 1.0))
        if not settings.get("do_normalize", True):
            mean = torch.zeros(1)
            std = torch.ones(1)
        # Ours are in [0, 1]; the model's own pipeline starts from 0 … 255.
        factor = 1.0
        if settings.get("do_rescale", True):
            factor = settings.get("rescale_factor", 1 / 255)
        scale = 255 * factor
        mode = "bicubic" if settings.get("resample") == 3 else "bilinear"  # PIL's numbers
        return cls(side, mode, mean.reshape(-1, 1, 1) / scale, std.reshape(-1, 1, 1) / scale)


def _trained_side(settings: dict[str, Any]) -> int:
    """The side of the squares that the network was trained on."""
    size: Any = settings.get("size")
    if settings.get("do_center_crop"):
        size = settings.get("crop_size")
    if size is None:
        return 224
    if isinstance(size, dict):
        size = size.get("shortest_edge") or size.get("height")
    return int(size)


def _extra_arguments(model: nn.Module, image_size: int | None) -> dict[str, Any]:
    """A vision transformer asked for another size must stretch its position embeddings."""
    known = inspect.signature(model.forward).parameters
    if image_size is None or "interpolate_pos_encoding" not in known:
        return {}
    return {"interpolate_pos_encoding": True}


def _images(pixels: Pixels, extra: dict[str, Any], X: Rows) -> Inputs:
    """Images (n, c, h, w) in [0, 1], made square: the short edge ``side``, the long one cropped."""
    x = torch.from_numpy(X)
    if x.shape[1] == 1:
        x = x.repeat(1, 3, 1, 1)
    height, width = x.shape[2:]
    scale = pixels.side / min(height, width)
    size = (max(pixels.side, round(height * scale)), max(pixels.side, round(width * scale)))
    x = interpolate(x, size=size, mode=pixels.mode, antialias=True, align_corners=False).clamp(0, 1)
    top = (size[0] - pixels.side) // 2
    left = (size[1] - pixels.side) // 2
    x = x[:, :, top : top + pixels.side, left : left + pixels.side]
    x = (x - pixels.mean) / pixels.std
    return {"pixel_values": x.contiguous(memory_format=torch.channels_last), **extra}


def _texts(folder: Path, model: nn.Module, max_tokens: int | None) -> Prepare:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    positions = getattr(model.config, "max_position_embeddings", None) or tokenizer.model_max_length
    longest = min(max_tokens or tokenizer.model_max_length, tokenizer.model_max_length, positions)

    def prepare(texts: Any) -> Inputs:
        tokens = tokenizer(
            list(texts),
            padding=len(texts) > 1,
            truncation=True,
            max_length=longest,
            return_tensors="pt",
        )
        return dict(tokens)

    return prepare


def _sounds(folder: Path) -> Prepare:
    from transformers import AutoFeatureExtractor

    extractor = AutoFeatureExtractor.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )

    def prepare(X: Rows) -> Inputs:
        return dict(extractor(list(X), sampling_rate=extractor.sampling_rate, return_tensors="pt"))

    return prepare
