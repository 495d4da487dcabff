"""The task of each row: a column of the table, or names beside it."""

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows, check_task_name
from lifelong._words import shown
from lifelong.exceptions import InputError, InputTypeError, InputWarning
from lifelong.rows import Texts, values_of
from lifelong.tasks.base import TaskName

PAGE = "my-data"
_FEW = 5  # examples in an error message
_MOST_DIGITS = 8  # of a number that is written with zeros before it


def names_in(values: Any, column: str) -> Texts:
    """A column of task names: text, or whole numbers; in the order in which they come."""
    return _names(values, f"The task column {column!r}")


def names_per_row(task: Any, n_rows: int) -> Texts:
    """Task names beside a table, one for each row: as if they were a column of it."""
    try:
        values = values_of(task, "task")
    except TypeError:
        raise InputTypeError(
            f"task={shown(task)} is neither a name nor one name per row.", see=PAGE
        ) from None
    if len(values) != n_rows:
        raise InputError(
            f"X has {n_rows} rows and task has {len(values)} names. Give one name per row, or one "
            "for all.",
            see=PAGE,
        )
    return _names(values, "task=")


def _names(values: Any, what: str) -> Texts:
    if isinstance(values, Texts):
        missing = np.flatnonzero(values.codes < 0)
        found = values
    elif values.dtype.kind == "M":
        raise InputError(f"{what} holds dates. Tasks have names: text or whole numbers.", see=PAGE)
    else:
        missing = np.flatnonzero(np.isnan(values))
        found = _numbers_as_names(values, what, missing)
    if len(missing):
        some = ", ".join(map(str, missing[:_FEW].tolist()))
        if len(missing) > _FEW:
            some += ", …"
        raise InputError(
            f"{what} is empty in {len(missing)} rows ({some}). Fill it in, or leave these rows "
            "out.",
            see=PAGE,
        )
    return Texts(found.codes, [check_task_name(name) for name in found.values])


def _numbers_as_names(values: NDArray[Any], what: str, missing: NDArray[np.intp]) -> Texts:
    there = np.delete(values, missing)
    if (there != np.floor(there)).any():
        raise InputError(
            f"{what} holds fractions. Tasks have names: text or whole numbers.", see=PAGE
        )
    if (np.abs(there) >= 2**53).any():
        raise InputError(
            f"{what} holds numbers of more than 15 digits, which cannot be told apart as numbers. "
            "Give them as text: .astype(str).",
            see=PAGE,
        )
    names, codes = np.unique(np.nan_to_num(values), return_inverse=True)
    return Texts(codes.astype(np.int32), [int(name) for name in names.tolist()]).compact()


def check_task_kinds(
    names: Collection[TaskName], known: Collection[TaskName], *, asked: bool = False
) -> None:
    """Refuse ``"1"`` beside a known task ``1``: somebody has read the names in two ways.

    They would be two tasks, and nobody would know. Names that differ in case or spaces alone, such
    as ``"Oslo"`` and ``"oslo "``, are a warning.

    Parameters
    ----------
    names : collection
        Of the tasks that come.
    known : collection
        Of those that were learnt.
    asked : bool, default False
        Whether they are asked about, and not learnt.

    Raises
    ------
    InputError
        For the first such name.

    Warns
    -----
    InputWarning
        For names that differ in case or spaces alone.
    """
    seen: dict[str, TaskName] = {}
    for name in names:
        if name in known:
            continue
        other = _first(_of_other_kind(name), known, seen)
        if other is not None:
            raise InputError(
                f"Task {name!r} is {_kind(name)}, and task {other!r} is {_kind(other)}: they would"
                f" be two tasks. If they are one, write it as {other!r} everywhere.",
                see=PAGE,
            )
        similar = _first(_written_otherwise(name), known, seen)
        if similar is not None:
            _warn_of_similar(name, similar, asked=asked)
        seen[str(name)] = name


def _first(
    names: Iterable[TaskName], known: Collection[TaskName], seen: Mapping[str, TaskName]
) -> TaskName | None:
    """The first of the names that is known, or has just come. No look at each of many tasks."""
    for name in names:
        if name in known or seen.get(str(name)) == name:
            return name
    return None


def _of_other_kind(name: TaskName) -> Iterator[TaskName]:
    """Text for a number, and the number that a text is."""
    if isinstance(name, int):
        for digits in range(1, _MOST_DIGITS + 1):
            yield f"{name:0{digits}d}"
    elif re.fullmatch(r"[+-]?[0-9]{1,18}", name.strip()):
        yield int(name)


def _written_otherwise(name: TaskName) -> Iterator[str]:
    """The text in upper and lower case, with a space more and with fewer."""
    if isinstance(name, int):
        return
    bare = " ".join(name.split())
    for text in (bare, bare.lower(), bare.upper(), bare.title(), bare.capitalize()):
        for other in (text, f"{text} ", f" {text}"):
            if other != name:
                yield other


def _kind(name: TaskName) -> str:
    if isinstance(name, int):
        return "a whole number"
    return "text"


def _warn_of_similar(name: TaskName, similar: TaskName, *, asked: bool) -> None:
    become = "is learnt as a task of its own"
    if asked:
        become = "is not known, and is answered as an unseen task"
    warnings.warn(
        f"Task {name!r} {become}, though it differs from {similar!r} in case or spaces alone. If"
        " they are one task, write them alike.",
        InputWarning,
        stacklevel=2,
    )


class Asked(NamedTuple):
    """A table to be answered, and the task of each row."""

    X: Rows
    tasks: list[TaskName | None]  # those that occur; None: not known
    place: NDArray[np.intp]  # (n,) in ``tasks``


def by_task(asked: Asked) -> Iterator[tuple[TaskName | None, NDArray[np.intp]]]:
    """The rows of each task; tasks that are not known come together."""
    unseen = []
    for place, rows in rows_by_code(asked.place):
        name = asked.tasks[place]
        if name is None:
            unseen.append(rows)
        else:
            yield name, rows
    if unseen:
        yield None, np.concatenate(unseen)


def rows_by_code(codes: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each code that occurs, and its rows in their order.

    >>> [(code, rows.tolist()) for code, rows in rows_by_code(np.array([1, 0, 1]))]
    [(0, [1]), (1, [0, 2])]
    """
    order = np.argsort(codes, kind="stable")
    found, first = np.unique(codes[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first[1:]), strict=True)
