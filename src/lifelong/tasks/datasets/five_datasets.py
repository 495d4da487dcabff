"""Five datasets of ten classes: CIFAR-10, MNIST, SVHN, notMNIST, Fashion-MNIST, all as 3×32×32."""

from functools import partial
from pathlib import Path

import numpy as np

from lifelong._random import RandomState, seed_from
from lifelong.exceptions import DatasetError
from lifelong.tasks.base import Task, TaskName, TaskStream
from lifelong.tasks.datasets._cache import decoded
from lifelong.tasks.datasets._source import Source
from lifelong.tasks.datasets._streams import Choice, Part, colour, stream_of_classes
from lifelong.tasks.datasets.cifar import CIFAR_10
from lifelong.tasks.datasets.mnist import FASHION_MNIST, MNIST
from lifelong.tasks.datasets.notmnist import NOTMNIST
from lifelong.tasks.datasets.svhn import SVHN

FIVE: tuple[Source, ...] = (CIFAR_10, MNIST, SVHN, NOTMNIST, FASHION_MNIST)  # the paper's order


def five_datasets(
    data_dir: str | Path | None = None,
    *,
    rows_per_class: int | None = None,
    test_rows_per_class: int | None = None,
    random_state: RandomState = 0,
) -> TaskStream:
    """Tasks ``cifar-10``, ``mnist``, ``svhn``, ``notmnist``, ``fashion-mnist``; images (3, 32, 32)
    in [0, 1].

    Grey pictures of 28×28 pixels are enlarged and their channel repeated. By default a task has all
    rows of its dataset; ``rows_per_class`` draws so many of each class, anew for each
    ``random_state``.
    """
    choice = Choice(rows_per_class, test_rows_per_class, seed_from(random_state))
    missing = [source for source in FIVE if source.folder(data_dir) is None]
    if missing:
        names = ", ".join(source.name for source in missing)
        raise DatasetError(f"five-datasets lacks {names}. {missing[0].advice(data_dir)}")
    streams = {
        source.name: stream_of_classes(
            *_parts(source, data_dir), {source.name: list(range(10))}, choice, colour
        )
        for source in FIVE
    }

    def task(name: TaskName) -> Task:
        return streams[str(name)][name]

    return TaskStream.lazy({name: partial(task, name) for name in streams})


def _parts(source: Source, data_dir: str | Path | None) -> tuple[Part, Part]:
    arrays = decoded(source, data_dir, **source.settings)

    def rows_of(split: str) -> Part:
        y = np.asarray(arrays[f"y_{split}"])
        return Part(arrays[f"X_{split}"], y, f"{source.name} ({split} rows)")

    return rows_of("train"), rows_of("test")
