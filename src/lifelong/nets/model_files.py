"""A pretrained network's folder in the Hugging Face format: found, checked, described, not run."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lifelong.exceptions import DatasetError

READ = (".json", ".txt", ".model", ".safetensors")  # what a model's numbers depend on
LOCAL = {"local_files_only": True, "trust_remote_code": False}


def local_folder(source: str | Path, revision: str | None) -> Path:
    """The model's folder; one of the hub is fetched first. Weights must be safetensors."""
    folder = Path(source).expanduser()
    if not folder.is_dir():
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", str(source)) or str(source).startswith("."):
            raise DatasetError(
                f"{source} is no folder. Give a folder with config.json and model.safetensors, or a"
                " hub id."
            )
        folder = _from_hub(str(source), revision)
    weights = ("model.safetensors", "model.safetensors.index.json")
    if not (folder / "config.json").is_file() or not any(
        (folder / name).is_file() for name in weights
    ):
        pickled = ""
        if [*folder.glob("*.bin")]:
            pickled = " A pickle (.bin, .pt) is never read: it can run code."
        raise DatasetError(
            f"{folder} is no model in the Hugging Face format: it needs config.json and"
            f" model.safetensors.{pickled} Write one with model.save_pretrained(folder)."
        )
    return folder.resolve()


def _from_hub(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        patterns = [f"*{ending}" for ending in READ]
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
    except Exception as error:
        raise DatasetError(
            f"{name} is no folder here and cannot be fetched from the Hugging Face hub"
            f" ({type(error).__name__}). Without a network give a folder with config.json and"
            " model.safetensors."
        ) from None


def configuration(folder: Path) -> tuple[Any, Any]:
    """The model's configuration and class."""
    from transformers import MODEL_MAPPING, AutoConfig

    try:
        with quiet():
            config = AutoConfig.from_pretrained(folder, **LOCAL)
            return config, MODEL_MAPPING[type(config)]
    except (ValueError, KeyError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise DatasetError(
            f"{folder}/config.json describes no model that transformers knows: {reason}"
        ) from None


def width_of(config: Any) -> int:
    """How many features the network has."""
    width = getattr(config, "hidden_size", None)
    stages = getattr(config, "hidden_sizes", None)  # convolutional networks: channels of each stage
    if stages:
        width = stages[-1]
    if not isinstance(width, int):
        raise DatasetError(
            f"Nobody knows how many features a {config.model_type} has: it gives no hidden_size."
        )
    return width


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' own bars and tables; what matters becomes an error here."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
