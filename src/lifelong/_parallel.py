"""Parallel work through joblib, so that ``joblib.parallel_config`` can hand it to another engine."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeVar

import joblib

Item = TypeVar("Item")
Result = TypeVar("Result")


def parallel_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
) -> list[Result]:
    """``[function(item) for item in items]``, in that order, on ``n_jobs`` threads or processes."""
    return list(parallel_stream(function, items, n_jobs=n_jobs, prefer=prefer))


def parallel_stream(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
) -> Iterator[Result]:
    """The same results one by one, as soon as they and those before them are there.

    Threads suit work that leaves Python's lock (growing trees, matrix products); processes suit training networks.
    """
    items = list(items)
    if n_jobs in (None, 1) or len(items) < 2:
        yield from map(function, items)
        return
    pool: Any = joblib.Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    yield from pool(joblib.delayed(function)(item) for item in items)
