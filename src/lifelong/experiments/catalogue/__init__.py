"""Every figure and table of the paper by name: one file each, a dict, no registration on import."""

from collections.abc import Mapping

from lifelong._words import did_you_mean
from lifelong.exceptions import ParameterError
from lifelong.experiments.catalogue import (
    ablation_best,
    ablation_best_forest,
    ablation_budget,
    ablation_replay,
    ablation_trees,
    adversarial_labels,
    adversarial_order,
    adversarial_rotation,
    as_its_authors_train,
    best,
    cifar_10x10,
    core50_110x5,
    five_datasets,
    food1k_50x20,
    food1k_budget,
    glyphs_budget,
    mini_imagenet_20x5,
    overlapping_classes,
    pretrained,
    read_out,
    resources,
    source_of_gain,
    spoken_digit,
    tables,
    tabular_cifar,
    task_unaware_cifar,
    task_unaware_spoken_digit,
    xor_rxor,
    xor_xnor,
)
from lifelong.experiments.catalogue.entry import Experiment

_FILES = (
    xor_xnor,
    xor_rxor,
    cifar_10x10,
    spoken_digit,
    food1k_50x20,
    food1k_budget,
    glyphs_budget,
    core50_110x5,
    mini_imagenet_20x5,
    five_datasets,
    tabular_cifar,
    pretrained,
    ablation_budget,
    ablation_replay,
    ablation_trees,
    ablation_best,
    ablation_best_forest,
    adversarial_order,
    adversarial_labels,
    adversarial_rotation,
    as_its_authors_train,
    overlapping_classes,
    resources,
    source_of_gain,
    read_out,
    task_unaware_cifar,
    task_unaware_spoken_digit,
)
EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *(file.EXPERIMENT for file in _FILES),
        *best.EXPERIMENTS,
        *tables.EXPERIMENTS,
    )
}


def experiment(name: str) -> Experiment:
    """The experiment of that name.

    >>> experiment("xor-xnor").full.repetitions
    100
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    hint = did_you_mean(name, EXPERIMENTS)
    raise ParameterError(f"Unknown experiment {name!r}.{hint} Known: {', '.join(EXPERIMENTS)}.")


__all__ = ["EXPERIMENTS", "Experiment", "experiment"]
