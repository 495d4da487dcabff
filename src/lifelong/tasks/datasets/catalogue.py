"""The table of datasets: what there is, by name.

The command line, experiments and ``load`` read this one table. A new dataset is one file and one
entry here.
"""

import inspect
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lifelong._random import RandomState, seed_from
from lifelong._validation import check_choice
from lifelong._words import did_you_mean
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
from lifelong.tasks.datasets.tables import (
    ADULT,
    ADULT_FACTS,
    AMAZON,
    AMAZON_FACTS,
    BEIJING,
    HEART,
    HEART_FACTS,
    SCHOOL,
    SCHOOL_FACTS,
    VOWEL,
    VOWEL_FACTS,
    beijing,
    table_stream,
)

_ALL = (
    Dataset(
        name="spoken-digit",
        loader=spoken_digit,
        tasks=6,
        classes=10,
        shape=(1, 28, 28),
        sources=(FSDD,),
        what="six speakers say ten digits",
    ),
    Dataset(
        name="cifar-10x10",
        loader=cifar_10x10,
        tasks=10,
        classes=100,
        shape=(3, 32, 32),
        sources=(CIFAR_100,),
        what="CIFAR-100, ten classes per task",
    ),
    Dataset(
        name="five-datasets",
        loader=five_datasets,
        tasks=5,
        classes=50,
        shape=(3, 32, 32),
        sources=FIVE,
        what="five image datasets of ten classes",
    ),
    Dataset(
        name="mini-imagenet-20x5",
        loader=mini_imagenet_20x5,
        tasks=20,
        classes=100,
        shape=(3, 84, 84),
        sources=(MINI_IMAGENET,),
        what="100 ImageNet classes",
    ),
    Dataset(
        name="food1k-50x20",
        loader=food1k_50x20,
        tasks=50,
        classes=1000,
        shape=(3, 50, 50),
        sources=(FOOD1K,),
        what="1,000 kinds of food",
    ),
    Dataset(
        name="core50-110x5",
        loader=core50_110x5,
        tasks=110,
        classes=50,
        shape=(3, 32, 32),
        sources=(CORE50,),
        what="50 objects filmed in 11 sessions",
    ),
    Dataset(
        name="tabular-cifar",
        loader=tabular_cifar,
        tasks=10,
        classes=100,
        shape=(3072,),
        sources=(CIFAR_100,),
        what="cifar-10x10 as flat rows",
    ),
    Dataset(
        name="digits",
        loader=digits,
        tasks=6,
        classes=10,
        shape=(1, 8, 8),
        sources=(),
        what="scikit-learn's digits, turned; needs no files",
        terms="BSD-3-Clause (scikit-learn)",
    ),
    Dataset(
        name="tables-heart",
        loader=partial(table_stream, HEART_FACTS),
        tasks=4,
        classes=2,
        shape=(13,),
        sources=(HEART,),
        what="heart disease in four hospitals: text, holes, columns not measured",
        is_table=True,
    ),
    Dataset(
        name="tables-adult",
        loader=partial(table_stream, ADULT_FACTS),
        tasks=14,
        classes=2,
        shape=(12,),
        sources=(ADULT,),
        what="income in 14 occupations: text, rare categories",
        is_table=True,
    ),
    Dataset(
        name="tables-beijing",
        loader=beijing,
        tasks=12,
        classes=3,
        shape=(7,),
        sources=(BEIJING,),
        what="air at 12 stations: a date, text, holes; by time or as a number on request",
        is_table=True,
    ),
    Dataset(
        name="tables-vowel",
        loader=partial(table_stream, VOWEL_FACTS),
        tasks=15,
        classes=11,
        shape=(10,),
        sources=(VOWEL,),
        what="eleven vowels of 15 speakers: few rows, numbers",
        is_table=True,
    ),
    Dataset(
        name="tables-amazon",
        loader=partial(table_stream, AMAZON_FACTS),
        tasks=4,
        classes=2,
        shape=(400,),
        sources=(AMAZON,),
        what="reviews of four kinds of goods: 400 numbers",
        is_table=True,
    ),
    Dataset(
        name="tables-school",
        loader=partial(table_stream, SCHOOL_FACTS),
        tasks=139,
        classes=0,
        shape=(28,),
        sources=(SCHOOL,),
        what="exam scores in 139 schools: the target is a number",
        is_table=True,
    ),
)
DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
"""Every dataset by name, in the order in which they are listed."""


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
        Where the raw files are; else ``$LIFELONG_DATA``, else the user cache. ``digits`` needs
        none.
    order, shuffle_labels, rotate
        See :func:`lifelong.tasks.datasets.arrange.arrange`.
    random_state : int, Generator or None
        The repetition's seed: decides which rows are drawn, and everything else that is random
        here.
    **options
        Of the dataset's own function, such as ``rows_per_class``, ``test_rows_per_class``,
        ``classes_per_task``, ``overlapping_tasks``.

    Returns
    -------
    TaskStream
        Lazy: a task's rows are read when it is asked for.

    Raises
    ------
    DatasetError
        If raw files are missing or damaged; the message says which, and how to get them.
    ParameterError
        If there is no such dataset or option.

    Examples
    --------
    >>> load("digits", n_tasks=2).names
    ['0°', '30°']
    """
    check_choice(name, "dataset", list(DATASETS))
    dataset = DATASETS[name]
    if dataset.sources:
        place = {"data_dir": data_dir}
    else:
        place = {}
    known = [option for option in _options(dataset) if option != "data_dir"]
    unknown = [option for option in options if option not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        there = ", ".join(map(repr, known))
        raise ParameterError(f"{name} has no option {unknown[0]!r}.{hint} Its options: {there}.")
    seed = seed_from(random_state)
    try:
        stream = dataset.loader(**place, random_state=seed, **options)
    except DatasetError as error:
        if any(source.downloads and source.folder(data_dir) is None for source in dataset.sources):
            raise DatasetError(f"{error} Or run: lifelong data fetch {name}") from None
        raise
    return arrange(
        stream, order=order, shuffle_labels=shuffle_labels, rotate=rotate, random_state=seed
    )


def _options(dataset: Dataset) -> list[str]:
    return list(inspect.signature(dataset.loader).parameters)
