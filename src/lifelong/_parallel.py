"""Parallel work: on this machine through joblib, or on the cluster ``lifelong.engine`` chose."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal, TypeVar

import joblib

from lifelong._validation import check_jobs
from lifelong.engines import Ended, Engine, current

Result = TypeVar("Result")
Value = TypeVar("Value")


def parallel_map(
    function: Callable[..., Result],
    *columns: Iterable[Any],
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
) -> list[Result]:
    """``list(map(function, *columns))`` on ``n_jobs`` threads or processes, or on a cluster."""
    return list(parallel_stream(function, *columns, n_jobs=n_jobs, prefer=prefer))


def parallel_stream(
    function: Callable[..., Result],
    *columns: Iterable[Any],
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
) -> Iterator[Result]:
    """The same results one by one, as soon as they and those before them are there.

    Threads suit work that leaves Python's lock (growing trees, matrix products), and stay on this
    machine; processes suit training networks, and are workers of a cluster where there is one.
    """
    rows = list(zip(*columns, strict=True))
    check_jobs(n_jobs)
    engine = None
    if prefer == "processes":
        engine = current()
    if engine is not None:
        yield from _on_engine(engine, function, rows)
    elif len(rows) < 2 or n_jobs in (None, 1):
        for row in rows:
            yield function(*row)
    else:
        pool: Any = joblib.Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
        yield from pool(joblib.delayed(function)(*row) for row in rows)


def place(value: Value) -> Value:
    """To be handed to several rows of :func:`parallel_map`: a cluster gets the value once, and not
    once per row.
    """
    engine = current()
    if engine is None:
        return value
    return engine.place(value)


def _on_engine(
    engine: Engine, function: Callable[..., Result], rows: list[tuple[Any, ...]]
) -> Iterator[Result]:
    come: dict[int, Result] = {}
    handed_on = 0
    for number, event in engine.events(partial(_once, function), rows):
        if not isinstance(event, Ended):
            come[number] = event
        elif event.error is not None:
            raise event.error
        while handed_on in come:
            yield come.pop(handed_on)
            handed_on += 1


def _once(function: Callable[..., Result], *row: Any) -> Iterator[Result]:
    yield function(*row)
