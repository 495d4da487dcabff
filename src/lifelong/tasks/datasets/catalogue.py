"""All datasets by name. Adding one is adding a line here."""

import inspect
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifelong._random import RandomState, seed_from
from lifelong._validation import check_choice
from lifelong.exceptions import DatasetError, ParameterError
from lifelong.tasks.base import TaskName, TaskStream
from lifelong.tasks.datasets._source import Dataset
from lifelong.tasks.datasets.arrange import arrange
from lifelong.tasks.datasets.cifar import CIFAR_100
from lifelong.tasks.datasets.cifar_10x10 import cifar_10x10, tabular_cifar
from lifelong.tasks.datasets.core50 import CORE50, core50_110x5
from lifelong.tasks.datasets.digits import digits
from lifelong.tasks.datasets.five_datasets import FIVE, five_datasets
from lifelong.tasks.datasets.food1k import FOOD1K, food1k_50x20
from lifelong.tasks.datasets.mini_imagenet import MINI_IMAGENET, mini_imagenet_20x5
from lifelong.tasks.datasets.spoken_digit import FSDD, spoken_digit

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset("spoken-digit", spoken_digit, 6, 10, (1, 28, 28), (FSDD,), "six speakers say ten digits"),
        Dataset("cifar-10x10", cifar_10x10, 10, 100, (3, 32, 32), (CIFAR_100,), "CIFAR-100, ten classes per task"),
        Dataset("five-datasets", five_datasets, 5, 50, (3, 32, 32), FIVE, "five image datasets of ten classes"),
        Dataset(
            "mini-imagenet-20x5", mini_imagenet_20x5, 20, 100, (3, 84, 84), (MINI_IMAGENET,), "100 ImageNet classes"
        ),
        Dataset("food1k-50x20", food1k_50x20, 50, 1000, (3, 50, 50), (FOOD1K,), "1,000 kinds of food"),
        Dataset("core50-110x5", core50_110x5, 110, 50, (3, 32, 32), (CORE50,), "50 objects filmed in 11 sessions"),
        Dataset("tabular-cifar", tabular_cifar, 10, 100, (3072,), (CIFAR_100,), "cifar-10x10 as flat rows"),
        Dataset("digits", digits, 6, 10, (1, 8, 8), (), "scikit-learn's digits, turned; needs no files"),
    )
}


def load(
    name: str,
    data_dir: str | Path | None = None,
    *,
    order: Sequence[TaskName] | str | None = None,
    shuffle_labels: Collection[TaskName] = (),
    rotate: Mapping[TaskName, float] | float | None = None,
    random_state: RandomState = 0,
    **options: Any,
) -> TaskStream:
    """The stream of that name.

    Parameters
    ----------
    name : str
        One of ``DATASETS``.
    data_dir : path, optional
        Where the raw files are; else ``$LIFELONG_DATA``, else the user cache. ``digits`` needs none.
    order, shuffle_labels, rotate
        See :func:`lifelong.tasks.datasets.arrange.arrange`.
    random_state : int, Generator or None
        The repetition's seed: decides which rows are drawn, and everything else that is random here.
    **options
        Of the dataset's own function, such as ``rows_per_class``, ``test_rows_per_class``, ``classes_per_task``,
        ``overlapping_tasks``.

    Examples
    --------
    >>> load("digits", n_tasks=2).names
    ['0°', '30°']
    """
    check_choice(name, "dataset", list(DATASETS))
    dataset = DATASETS[name]
    place = {"data_dir": data_dir} if dataset.sources else {}
    known = [option for option in _options(dataset) if option != "data_dir"]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise ParameterError(f"{name} has no option {unknown[0]!r}. Its options: {', '.join(map(repr, known))}.")
    seed = seed_from(random_state)
    try:
        stream = dataset.loader(**place, random_state=seed, **options)
    except DatasetError as error:
        if any(source.downloads and source.folder(data_dir) is None for source in dataset.sources):
            raise DatasetError(f"{error} Or run: lifelong data fetch {name}") from None
        raise
    return arrange(stream, order=order, shuffle_labels=shuffle_labels, rotate=rotate, random_state=seed)


def _options(dataset: Dataset) -> list[str]:
    return list(inspect.signature(dataset.loader).parameters)
