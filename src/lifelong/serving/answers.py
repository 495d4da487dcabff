"""What a served learner says of itself, and what it answers: JSON in, JSON out, no HTTP."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lifelong.exceptions import InputError
from lifelong.learners.base import Learner
from lifelong.learners.front import LifelongClassifier, LifelongRegressor
from lifelong.learners.front_base import LifelongModel
from lifelong.learners.table_knowledge import TablesKnown

Json = dict[str, Any]

MOST_CATEGORIES = 100
"""Of a column, in the description of a model."""

_KEYS = ("rows", "task", "interval")
_EXAMPLE = '{"rows": [{"column": value, …}, …]}'


def read_json(body: bytes) -> Any:
    """The value that a request holds.

    Raises
    ------
    InputError
        For what is no JSON, names a key twice, or holds NaN or infinity.
    """
    try:
        return json.loads(body, parse_constant=_no_constant, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(f"The request is not JSON: {reason}. Send {_EXAMPLE}.") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON; leave the key out, or send null")


def _without_twins(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is there twice")
    return found


def described(learner: Learner) -> Json:
    """What a learner can be asked: its tasks, columns and classes."""
    about: Json = {
        "model": type(learner).__name__,
        "target": "number" if isinstance(learner, LifelongRegressor) else "class",
        "tasks": [{"task": name, "rows": task.n_rows} for name, task in learner.tasks_.items()],
    }
    if isinstance(learner, LifelongClassifier):
        about["classes"] = [plain(label) for label in learner.classes_.tolist()]
    if not _is_of_tables(learner):
        return {**about, "row_shape": list(learner.in_shape_)}
    columns = []
    for column in learner.columns_:
        facts: Json = {"name": column.name, "kind": column.kind}
        if column.categories:
            facts["categories"] = [plain(one) for one in column.categories[:MOST_CATEGORIES]]
        columns.append(facts)
    return {**about, "task_column": learner.task_column, "columns": columns}


def answers_to(learner: Learner, request: Any) -> Json:
    """The answers to the rows of a request.

    Parameters
    ----------
    learner : Learner
    request : dict or list
        ``{"rows": [...], "task": ..., "interval": ...}``, or the rows alone. A row is a dict, or a
        list of numbers for learners without columns; ``task`` is one name, or one for each row.

    Returns
    -------
    dict
        ``answers``, one for each row in their order: label and probabilities; or prediction and, if
        an interval was asked for, lower and upper.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"site": ["a", "b"] * 20, "dose": [float(n) for n in range(40)]})
    >>> ill = ["yes" if dose > 20 else "no" for dose in frame.dose]
    >>> model = LifelongClassifier("site", n_estimators=10, random_state=0).fit(frame, ill)
    >>> found = answers_to(model, {"rows": [{"site": "a", "dose": 38}]})
    >>> found["answers"][0]["label"]
    'yes'
    """
    if isinstance(request, list):
        request = {"rows": request}
    if not isinstance(request, Mapping):
        raise InputError(f"The request is a {type(request).__name__}. Send {_EXAMPLE}.")
    unknown = [key for key in request if key not in _KEYS]
    if unknown:
        raise InputError(f"Unknown key {unknown[0]!r}. Known: {', '.join(_KEYS)}. Send {_EXAMPLE}.")
    rows = request.get("rows")
    if not isinstance(rows, list) or not rows:
        raise InputError(f"'rows' is not a list of rows. Send {_EXAMPLE}.")
    task = request.get("task")
    interval = request.get("interval")
    _check_interval(learner, interval)
    X: Any = rows
    if _is_of_tables(learner):
        _check_records(rows)
    else:
        X = _array(rows)
    if isinstance(learner, LifelongRegressor):
        return {"answers": _numbers(learner, X, task, interval)}
    return {"answers": _labels(learner, X, task)}


def _is_of_tables(learner: Learner) -> bool:
    return isinstance(learner, LifelongModel) and isinstance(learner.knowledge_, TablesKnown)


def _check_records(rows: Sequence[Any]) -> None:
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(
                f"Row {place} is a {type(row).__name__}, and this model reads columns by name."
                f" Send {_EXAMPLE}."
            )


def _check_interval(learner: Learner, interval: Any) -> None:
    if interval is None:
        return
    if not isinstance(learner, LifelongRegressor):
        raise InputError("'interval' is for numbers, and this learner predicts classes.")
    if isinstance(interval, bool) or not isinstance(interval, int | float):
        raise InputError(f"'interval' is a share, such as 0.9, not {interval!r}.")


def _array(rows: Sequence[Any]) -> Any:
    try:
        return np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "A row of this learner is a list of numbers, and all rows have the same length."
        ) from None


def _numbers(learner: LifelongRegressor, X: Any, task: Any, interval: float | None) -> list[Json]:
    found = learner.predict(X, task=task, interval=interval)
    if interval is None:
        return [{"prediction": number} for number in found.tolist()]
    names = ("prediction", "lower", "upper")
    # An interval without an end is null in JSON.
    return [
        {
            name: number if np.isfinite(number) else None
            for name, number in zip(names, row, strict=True)
        }
        for row in found.tolist()
    ]


def _labels(learner: Learner, X: Any, task: Any) -> list[Json]:
    probabilities = learner.predict_proba(X, task)
    labels = [plain(label) for label in learner.labels_of_proba(task).tolist()]
    answers = []
    for row, best in zip(probabilities.tolist(), probabilities.argmax(axis=1), strict=True):
        shares = [{"label": label, "p": p} for label, p in zip(labels, row, strict=True)]
        answers.append({"label": labels[best], "probabilities": shares})
    return answers


def plain(value: Any) -> Any:
    """A label or category as JSON has it; what JSON has no kind for is text.

    >>> plain("yes"), plain(1), plain((1, 2))
    ('yes', 1, '(1, 2)')
    """
    if isinstance(value, str | int | float | bool):
        return value
    return str(value)
