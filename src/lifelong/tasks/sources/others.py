"""Streams from other libraries' datasets, told by what they can do; no such library is imported.

* torch: ``len(dataset)`` and ``dataset[i] -> (x, y)``;
* Hugging Face: ``dataset.column_names`` and ``dataset[column]``;
* Avalanche: ``benchmark.train_stream`` and ``test_stream`` of experiences with a ``dataset``.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._random import RandomState, seed_from
from lifelong._words import did_you_mean
from lifelong.exceptions import InputError, InputTypeError
from lifelong.tasks.base import Task, TaskName, TaskStream
from lifelong.tasks.splits import split_classes


def rows_of(dataset: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and labels of a map-style dataset.

    Parameters
    ----------
    dataset : anything with ``len`` and ``[i] -> (x, y, …)``

    Returns
    -------
    X : array (n, …)
    y : array (n,)

    Raises
    ------
    InputError
        If the dataset is empty, does not give pairs, or its rows differ in shape.

    Examples
    --------
    >>> X, y = rows_of([([0.0, 1.0], "a"), ([2.0, 3.0], "b")])
    >>> X.shape, y.tolist()
    ((2, 2), ['a', 'b'])
    """
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise InputTypeError(
            f"{type(dataset).__name__} has no len and [i]: not a map-style dataset of pairs (x, y)."
        )
    pairs = [dataset[position] for position in range(len(dataset))]
    if not pairs:
        raise InputError("The dataset is empty. A task needs rows.")
    if not all(isinstance(pair, tuple | list) and len(pair) >= 2 for pair in pairs):
        raise InputTypeError(f"{type(dataset).__name__}[i] does not give pairs (x, y).")
    return _stack([pair[0] for pair in pairs]), np.asarray([_plain(pair[1]) for pair in pairs])


def from_torch(tasks: Mapping[TaskName, tuple[Any, Any]]) -> TaskStream:
    """A lazy stream from one pair of PyTorch datasets per task.

    Parameters
    ----------
    tasks : mapping of names to (train dataset, test dataset)
        Map-style datasets of pairs (x, y).

    Returns
    -------
    TaskStream

    Examples
    --------
    >>> pairs = [([0.0], 0), ([1.0], 1)]
    >>> from_torch({"site-a": (pairs, pairs)})["site-a"]
    Task('site-a', train (2, 1), test (2, 1), 2 classes)
    """
    return TaskStream.lazy(
        {name: partial(_task, name, train, test) for name, (train, test) in tasks.items()}
    )


def from_torch_classes(train: Any, test: Any, *, classes_per_task: int) -> TaskStream:
    """A stream from one train and one test dataset, whose classes become tasks.

    Parameters
    ----------
    train, test : map-style datasets of pairs (x, y)
    classes_per_task : int
        How many classes, in label order, make a task; the last task may have fewer.

    Returns
    -------
    TaskStream
        Tasks are named 1, 2, ….
    """
    return split_classes(*rows_of(train), *rows_of(test), classes_per_task=classes_per_task)


def from_hugging_face(
    dataset: Any,
    *,
    task_column: str,
    label_column: str,
    feature_column: str,
    test_share: float = 0.25,
    random_state: RandomState = 0,
) -> TaskStream:
    """A stream from a Hugging Face dataset.

    Parameters
    ----------
    dataset : Dataset, or a dict of its splits with ``train`` and ``test``
        With both splits, the test split's rows are for testing.
    task_column, label_column : str
        The columns that name the task and the label.
    feature_column : str
        Holds the rows: lists of numbers, or pictures (which become (c, h, w) in [0, 1]).
    test_share : float, default 0.25
        The share of each class for testing, where there is one split only.
    random_state : int, Generator or None, default 0
        Decides which rows are for testing.

    Returns
    -------
    TaskStream

    Raises
    ------
    InputError
        If a column is missing or rows differ in shape.
    """
    splits = dataset if isinstance(dataset, Mapping) and {"train", "test"} <= set(dataset) else None
    if splits is None:
        parts = [dataset]
    else:
        parts = [splits["train"], splits["test"]]
    columns = [_columns(split, feature_column, label_column, task_column) for split in parts]
    names: list[Any] = list(dict.fromkeys(columns[0][2].tolist()))
    seed = seed_from(random_state)

    def task(name: TaskName) -> Task:
        picked = [
            (X[at], y[at]) for X, y, tasks in columns for at in [np.flatnonzero(tasks == name)]
        ]
        if len(picked) == 1:
            return Task.from_arrays(name, *picked[0], test_share=test_share, random_state=seed)
        return Task(name, *picked[0], *picked[1])

    return TaskStream.lazy({name: partial(task, name) for name in names})


def from_avalanche(benchmark: Any) -> TaskStream:
    """A lazy stream from an Avalanche benchmark.

    Parameters
    ----------
    benchmark : benchmark with ``train_stream`` and ``test_stream``
        Experience 1, 2, … becomes task 1, 2, …, with the test experience of the same number.

    Returns
    -------
    TaskStream

    Raises
    ------
    InputError
        If there are not as many test experiences as training experiences.
    """
    try:
        train = list(benchmark.train_stream)
        test = list(benchmark.test_stream)
    except AttributeError:
        raise InputTypeError(
            f"{type(benchmark).__name__} has no train_stream and test_stream of experiences."
        ) from None
    if not train or len(train) != len(test):
        raise InputError(
            f"The benchmark has {len(train)} training and {len(test)} test experiences. Expected as"
            " many of each, so that every task has its own test rows."
        )
    pairs = enumerate(zip(train, test, strict=True), start=1)
    return TaskStream.lazy(
        {number: partial(_task, number, a.dataset, b.dataset) for number, (a, b) in pairs}
    )


def _task(name: TaskName, train: Any, test: Any) -> Task:
    return Task(name, *rows_of(train), *rows_of(test))


def _columns(split: Any, *names: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    known = list(getattr(split, "column_names", []))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"No column {name!r}.{hint} Columns: {', '.join(map(repr, known))}.")
    features, labels, tasks = (split[name] for name in names)
    return _stack(list(features)), np.asarray(list(labels)), np.asarray(list(tasks))


def _stack(items: list[Any]) -> NDArray[Any]:
    """One array (n, …) of equal items; a picture (h, w[, c]) of bytes becomes (c, h, w)
    in [0, 1].
    """
    arrays = [_array(item) for item in items]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise InputError(
            f"Rows differ in shape: {sorted(shapes)[:3]}. Resize them to one shape first."
        )
    return np.stack(arrays)


def _array(item: Any) -> NDArray[Any]:
    if hasattr(item, "detach"):  # a torch tensor
        return np.asarray(item.detach().cpu().numpy())
    if hasattr(item, "getbands"):  # a Pillow picture
        picture = np.divide(
            np.asarray(item.convert("L" if item.mode in "1L" else "RGB")), 255, dtype=np.float32
        )
        return np.asarray(picture[None] if picture.ndim == 2 else picture.transpose(2, 0, 1))
    return np.asarray(item)


def _plain(label: Any) -> Any:
    if hasattr(label, "item"):
        return label.item()
    return label
