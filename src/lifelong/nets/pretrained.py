"""Frozen pretrained networks in the Hugging Face format: images, texts or sounds → feature vectors.

Weights are read from safetensors files only, and a model's own code is never run.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from lifelong._extras import require
from lifelong._validation import Rows, check_choice, check_count
from lifelong.exceptions import DatasetError
from lifelong.nets.model_files import LOCAL, READ, configuration, local_folder, quiet, width_of
from lifelong.nets.pretrained_inputs import Prepare, prepare_for
from lifelong.nets.randomness import one_thread
from lifelong.nets.training import choose_device
from lifelong.tasks.datasets._cache import checksum

_KINDS = {
    "pixel_values": "images",
    "input_ids": "texts",
    "input_values": "sounds",
    "input_features": "sounds",
}
_VERSION = 1  # of what happens to rows before and after the network: raise it when features change


class Backbone(NamedTuple):
    """A pretrained network and how it is used: settings only.

    The weights are loaded when they are first needed.
    """

    folder: str
    checksum: str  # of weights, configuration and preprocessing
    kind: str  # "images", "texts" or "sounds"
    n_features: int
    image_size: int | None
    pooling: str
    max_tokens: int | None
    batch_size: int
    device: str

    @property
    def name(self) -> str:
        """The folder's own name."""
        return Path(self.folder).name

    @property
    def identity(self) -> tuple[Any, ...]:
        """All that a row's features depend on: not where the files lie, nor the device."""
        return (
            _VERSION,
            self.checksum,
            self.kind,
            self.image_size,
            self.pooling,
            self.max_tokens,
            self.batch_size,
        )

    @torch.inference_mode()
    def run(self, rows: Any) -> Rows:
        """Features (n, d) of a batch of raw rows."""
        model, prepare, pooling = _load(self)
        device = next(model.parameters()).device
        with one_thread():
            inputs = {
                name: x.to(device) if torch.is_tensor(x) else x for name, x in prepare(rows).items()
            }
            features = _pool(
                model(**inputs).last_hidden_state, inputs.get("attention_mask"), pooling
            )
        return np.asarray(features.float().cpu().numpy())

    @property
    def n_parameters(self) -> int:
        """Weights of the network."""
        return _size(self.folder, self.checksum)[0]

    @property
    def nbytes(self) -> int:
        """Bytes of weights and buffers."""
        return _size(self.folder, self.checksum)[1]


def open_backbone(
    source: str | Path,
    *,
    image_size: int | None = None,
    pooling: str = "auto",
    max_tokens: int | None = None,
    batch_size: int = 1,
    device: str = "auto",
    revision: str | None = None,
) -> Backbone:
    """Look at a model without loading its weights.

    The parameters are those of :class:`~lifelong.encoders.pretrained.PretrainedEncoder`.
    """
    require("transformers", extra="pretrained", for_what="PretrainedEncoder")
    for value, name in ((image_size, "image_size"), (max_tokens, "max_tokens")):
        check_count(value, name, optional=True)
    check_count(batch_size, "batch_size")
    check_choice(pooling, "pooling", ["auto", "first", "mean"])
    folder = local_folder(source, revision)
    config, model_class = configuration(folder)
    kind = _KINDS.get(model_class.main_input_name)
    if kind is None or (hasattr(config, "text_config") and hasattr(config, "vision_config")):
        raise DatasetError(
            f"{folder}: a {config.model_type} does not read images, texts or sounds alone."
        )
    files = [path for path in sorted(folder.iterdir()) if path.suffix in READ]
    width = width_of(config)
    return Backbone(
        str(folder),
        checksum(files, folder),
        kind,
        width,
        image_size,
        pooling,
        max_tokens,
        batch_size,
        device,
    )


class Loaded(NamedTuple):
    """A network that has been read from its files."""

    model: nn.Module
    prepare: Prepare
    pooling: str


@lru_cache(maxsize=2)
def _load(backbone: Backbone) -> Loaded:
    from transformers import AutoModel

    folder = Path(backbone.folder)
    config, _ = configuration(folder)
    try:
        with quiet():
            whole, report = AutoModel.from_pretrained(
                folder, **LOCAL, use_safetensors=True, dtype=torch.float32, output_loading_info=True
            )
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise DatasetError(
            f"{folder}/model.safetensors cannot be read: {reason}. Fetch it again."
        ) from None
    # A pooling layer may be missing, since none is ever asked; any other missing weight would be a
    # random one.
    missing = [name for name in sorted(report["missing_keys"]) if "pooler" not in name]
    if missing:
        raise DatasetError(
            f"{folder}/model.safetensors lacks {len(missing)} weights, such as {missing[0]!r}."
        )
    model = whole
    if getattr(config, "is_encoder_decoder", False):
        model = whole.get_encoder()
    model = model.eval().requires_grad_(False).to(choose_device(backbone.device))
    if backbone.kind == "images":
        model = model.to(memory_format=torch.channels_last)  # a tenth faster on CPUs
    prepare = prepare_for(backbone.kind, model, folder, backbone.image_size, backbone.max_tokens)
    return Loaded(model, prepare, _pooling(backbone, model))


def _pooling(backbone: Backbone, model: nn.Module) -> str:
    """Vision transformers with a class token put the picture there; all others are averaged."""
    if backbone.pooling != "auto":
        return backbone.pooling
    names = [name.rsplit(".", 1)[-1] for name, _ in model.named_parameters()]
    if backbone.kind == "images" and {"cls_token", "class_embedding"} & set(names):
        return "first"
    return "mean"


def _pool(hidden: torch.Tensor, mask: torch.Tensor | None, pooling: str) -> torch.Tensor:
    if hidden.ndim == 4:  # (n, d, h, w): a convolutional network
        return hidden.mean(dim=(2, 3))
    if pooling == "first":
        return hidden[:, 0]
    if mask is None or mask.shape != hidden.shape[:2]:
        return hidden.mean(dim=1)
    weights = mask.unsqueeze(2).to(hidden.dtype)  # (n, tokens, 1)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


@lru_cache(maxsize=8)
def _size(folder: str, checksum: str) -> tuple[int, int]:  # noqa: ARG001 - other files, another size
    """Number of parameters, and bytes of parameters and buffers, without reading the weights."""
    from transformers import AutoModel

    config, _ = configuration(Path(folder))
    with torch.device("meta"):  # shapes without numbers
        model = AutoModel.from_config(config)
    n_parameters = sum(weight.numel() for weight in model.parameters())
    return n_parameters, n_parameters * 4 + sum(buffer.nbytes for buffer in model.buffers())
