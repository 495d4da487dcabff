"""Figure pretrain: encoders that stand on a ResNet-50 or a ViT-B/16 trained on ImageNet.

Where the files of one of them are missing, its rows say so and the others are measured.
"""

from collections.abc import Mapping
from typing import Any

from lifelong.experiments.catalogue.entry import Experiment, Version, learner
from lifelong.experiments.catalogue.food1k_50x20 import GENERATED
from lifelong.experiments.catalogue.settings import PLAIN, TINY
from lifelong.experiments.spec import LearnerSpec, Part

_PAPER = "last-two+forest"
_PAPER_VIT = "ViT, last-two+forest"


def _learners(model: Mapping[str, Any], tuned: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    frozen = {"pretrained": {**model}}
    trained = {"pretrained": {**model, "tune": "last-two", **tuned}}
    return (
        LearnerSpec("frozen+ridge", "silly-n", {**frozen, "channel": "ridge", "budget": 1}),
        LearnerSpec("frozen+forest", "silly-n", {**frozen, "channel": "forest", "budget": 1}),
        LearnerSpec("last-two+ridge", "silly-n", {**trained, "channel": "ridge"}),
        LearnerSpec(_PAPER, "silly-n", {**trained, "channel": "forest"}),
        LearnerSpec("ranpac", "ranpac", frozen),
    )


def _vit(model: Mapping[str, Any], tuned: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    """The paper's learner on a vision transformer."""
    trained = {"pretrained": {**model, "tune": "last-two", **tuned}, "channel": "forest"}
    return (LearnerSpec(_PAPER_VIT, "silly-n", trained),)


def _scratch(settings: Mapping[str, Any]) -> tuple[LearnerSpec, ...]:
    return learner("silly-n", settings), learner("single", settings)


# 128 pixels: as good as 160 or 224 on training rows, at a third of the time (docs/pretrained.md).
_RESNET = {"model": "resnet-50", "image_size": 128, "batch_size": 16}
_VIT = {"model": "vit-b-16", "batch_size": 16}
_LAYERS = {"hidden": 512, "recipe": {"epochs": 10, "lr": 1e-3}}
_FEW = {"hidden": 16, "recipe": {"epochs": 2, "lr": 1e-3}}
_SMALL = {**GENERATED, "of": "generated", "model": "tiny-resnet"}

EXPERIMENT = Experiment(
    name="pretrained",
    of_paper="figure pretrain",
    question="What do encoders bring that were trained on other pictures before the first task?",
    full=Version(
        (Part("CIFAR 10×10", "for-model", {"of": "cifar-10x10", "model": "resnet-50"}),),
        (*_learners(_RESNET, _LAYERS), *_vit(_VIT, _LAYERS), *_scratch(PLAIN)),
        3,
        PLAIN,
    ),
    smoke=Version(
        (Part("generated food", "for-model", _SMALL),),
        (
            *_learners({"model": "tiny-resnet"}, _FEW),
            *_vit({"model": "tiny-vit"}, _FEW),
            *_scratch(TINY),
        ),
        1,
        TINY,
    ),
    published={_PAPER: {"accuracy": 0.527}, _PAPER_VIT: {"accuracy": 0.377}},
)
