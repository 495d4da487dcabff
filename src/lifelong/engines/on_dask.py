"""Work as Dask tasks. (joblib's Dask backend returns whole results; we need rows one by one.)"""

import logging
import queue
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import dask
from distributed import Client, KilledWorker, LocalCluster, get_worker
from distributed.protocol.pickle import dumps, loads

from lifelong.engines.base import (
    PATIENCE,
    RETRIES,
    Ended,
    Engine,
    Generate,
    Value,
    WorkerDiedError,
    check_reachable,
    first_line,
    work,
)
from lifelong.engines.versions import Versions, check_versions
from lifelong.exceptions import EngineError

# Larger events come with the result: those that are sent at once pass through the scheduler.
_AT_ONCE_BYTES = 2**16
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1TB"}


class DaskEngine(Engine):
    """A Dask cluster. Its scheduler keeps the arguments of work until it is done: that is how it
    can begin again.
    """

    name = "dask"

    def __init__(self, address: str | None = None, n_workers: int | None = None) -> None:
        super().__init__()
        self._client, self._ours, self._cluster = _connect(address, n_workers)
        self.address = self._client.scheduler.address
        self._topic = f"lifelong-{uuid4().hex}"
        # key, position, event
        self._news: queue.SimpleQueue[tuple[str, int, bytes | None]] = queue.SimpleQueue()
        self._running: dict[str, _Running] = {}
        self._last_answer = time.monotonic()
        self._client.subscribe_topic(self._topic, lambda event: self._news.put(tuple(event[1])))

    @property
    def n_workers(self) -> int:
        with self._connected():
            threads: dict[str, int] = self._client.nthreads()
        return max(sum(threads.values()), 1)

    def place(self, value: Value) -> Value:
        # Not scatter(): what that places is gone with its worker.
        placed: Value = self._submit(_same, value)
        return placed

    def check(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
            self._client.run(check_versions, self._versions)
        except TimeoutError:
            raise EngineError(
                f"The Dask scheduler at {self.address} has no workers. Start some with: dask worker"
                f" {self.address}"
            ) from None

    def close(self) -> None:
        # A connection that is lost cannot be closed in good order, and Dask would print pages about
        # it.
        with suppress(Exception), _silence(logging.getLogger("distributed.client")):
            self._client.unsubscribe_topic(self._topic)
            if self._ours:
                self._client.close(timeout=PATIENCE)
        if self._cluster is not None:
            with suppress(TimeoutError):
                self._cluster.close(timeout=3 * PATIENCE)

    def _submit(self, function: Any, *arguments: Any, **options: Any) -> Any:
        with dask.config.set(_NO_WARNING), self._connected():
            return self._client.submit(function, *arguments, pure=False, **options)

    def _start(self, number: int, generate: Generate, row: tuple[Any, ...]) -> None:
        key = f"lifelong-{uuid4().hex}"
        future = self._submit(_work, self._topic, key, self._versions, generate, *row, key=key)
        self._running[key] = _Running(number, future)
        future.add_done_callback(lambda _: self._news.put((key, -1, None)))

    def _next(self) -> list[tuple[int, Any]]:
        try:
            key, position, content = self._news.get(timeout=1.0)
        except queue.Empty:
            if self._client.status == "running":
                self._last_answer = time.monotonic()
            elif time.monotonic() - self._last_answer > PATIENCE:
                raise self._lost() from None
            return []
        running = self._running.get(key)
        if running is None:  # it has come with the result already
            return []
        if content is None:
            return [(running.number, event) for event in self._ended(key)]
        return [(running.number, event) for event in running.new(position, [content])]

    def _ended(self, key: str) -> Iterator[Any]:
        running = self._running.pop(key)
        if running.future.cancelled():
            raise self._lost()
        with self._connected():
            error = running.future.exception()
            result = []
            if error is None:
                result = running.future.result()
        if error is None:
            yield from running.new(0, result)
        elif isinstance(error, KilledWorker):
            error = WorkerDiedError(
                f"{RETRIES + 1} workers died of it, the last one at {error.last_worker.address}"
            )
        yield Ended(error)

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Whatever Dask raises when its scheduler is gone is one error of ours."""
        try:
            yield
        except (OSError, TimeoutError, CancelledError):  # Dask's CommClosedError is an OSError
            raise self._lost() from None

    def _stop(self) -> None:
        with suppress(Exception):
            self._client.cancel([running.future for running in self._running.values()])
        self._running = {}


class _Running:
    """A piece of work, and how many of its events have been handed on."""

    def __init__(self, number: int, future: Any) -> None:
        self.number = number
        self.future = future
        self._known = 0

    def new(self, position: int, events: list[bytes]) -> list[Any]:
        """Of events from ``position`` on, those that are next: work begun again says the same."""
        fresh: list[bytes] = []
        if position <= self._known:
            fresh = events[self._known - position :]
        self._known += len(fresh)
        return [loads(event) for event in fresh]


def _connect(address: str | None, n_workers: int | None) -> tuple[Any, bool, Any]:
    """The client, whether it is ours to close, and the cluster if we have started one."""
    if address is not None:
        check_reachable("A Dask scheduler", address, "dask scheduler")
        try:
            return Client(address, timeout=PATIENCE, set_as_default=False), True, None
        except (OSError, ValueError, TimeoutError) as error:
            raise EngineError(f"Dask at {address} does not take us: {first_line(error)}") from None
    with suppress(ValueError):
        return Client.current(), False, None
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.ERROR,
    )
    return Client(cluster, set_as_default=False), True, cluster


@contextmanager
def _silence(logger: logging.Logger) -> Iterator[None]:
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _same(value: Value) -> Value:
    return value


def _work(topic: str, key: str, versions: Versions, generate: Generate, *row: Any) -> list[bytes]:
    """All events of a piece of work; small ones are sent at once, too."""
    events = []
    for position, event in enumerate(work(versions, generate, *row)):
        events.append(dumps(event))
        if len(events[-1]) < _AT_ONCE_BYTES:
            get_worker().log_event(topic, [key, position, events[-1]])
    return events
