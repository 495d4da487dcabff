"""Checks of what a lesson is made of: parameters, column names, classes and their weights."""

from collections.abc import Hashable, Iterable, Sequence
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from lifelong._labels import Codes, Labels, check_classes, classes_in, join_classes, warn_of_similar
from lifelong._validation import check_kind
from lifelong._words import did_you_mean
from lifelong.channels.base import Weights
from lifelong.exceptions import InputError, InputTypeError, ParameterTypeError
from lifelong.learners.knowledge import TaskRecord, TasksKnown
from lifelong.rows import Table
from lifelong.tasks.base import TaskName


def check_parameters(owner: type, parameters: Iterable[str]) -> None:
    """Refuse names that are no parameters of a constructor.

    >>> class Small:
    ...     def __init__(self, channel="leaf"): ...
    >>> check_parameters(Small, {"chanel": "ridge"})
    Traceback (most recent call last):
    lifelong.exceptions.ParameterTypeError: Small has no parameter 'chanel'. Did you mean 'channel'?
    Its parameters: channel.
    """
    known = signature(owner.__init__).parameters  # type: ignore[misc]
    if any(parameter.kind == Parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in parameters:
        if name not in known:
            there = [other for other in known if other != "self"]
            raise ParameterTypeError(
                f"{owner.__name__} has no parameter {name!r}.{did_you_mean(name, there)}"
                f" Its parameters: {', '.join(there)}."
            )


def check_no_table(X: Any, owner: str) -> None:
    """A table of a task has more than numbers in it: text, dates or missing values."""
    if isinstance(X, Table):
        raise InputTypeError(
            f"{owner} reads rows of numbers, and this is a table with text, dates or missing "
            "values. LifelongClassifier and LifelongRegressor read it as it is.",
            see="my-data",
        )


def check_column_names(X: Any, known: TasksKnown | None, owner: str) -> NDArray[Any] | None:
    """Column names, where X has any; once something is ``known`` they must be those of before.

    scikit-learn looks at them, on an estimator that exists for the time of the question.
    """
    check_kind(X)
    estimator: Any = type(owner, (BaseEstimator,), {})()
    if known is not None:
        estimator.n_features_in_ = known.in_shape[0]
        if known.feature_names is not None:
            estimator.feature_names_in_ = known.feature_names
    try:
        validate_data(estimator, X, reset=known is None, skip_check_array=True)
    except TypeError as error:
        if "eature names" in str(error):  # some are text and some are not
            raise InputTypeError(str(error), see="my-data") from None
    except ValueError as error:
        if "feature names" in str(error):
            raise InputError(str(error), see="my-data") from None
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"X has more than one column {twice!r}. Rename them.", see="my-data")
    return names


def joined_classes(
    record: TaskRecord, labels: Labels, declared: Sequence[Hashable] | None
) -> Labels:
    """The classes that were known, those that are declared, and those that the labels show."""
    present = set(record.classes.tolist())
    shown: Iterable[Hashable] = classes_in(labels)
    if declared is not None:
        shown = [*check_classes(declared), *shown]
    new = [label for label in dict.fromkeys(shown) if label not in present]
    joined = join_classes(record.classes, new, like=labels)
    warn_of_similar(joined.tolist(), new)
    return joined


def class_weights(
    known: TaskRecord, codes: Codes, weights: Weights | None, n_classes: int
) -> Weights | None:
    """The classes' weights with these rows; rows without a weight count 1."""
    if weights is None and known.class_weights is None:
        return None
    mass = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    if known.class_weights is None:
        mass[: len(known.classes)] += known.class_counts
    else:
        mass[: len(known.classes)] += known.class_weights
    return mass


def check_given(task: TaskName | None, what: str) -> TaskName:
    """Tasks are not forgotten or renamed by default."""
    if task is None:
        raise InputTypeError(f"Say which task to {what}: a name of tasks_.")
    return task
