"""What Ray and Dask share: work goes out a few pieces ahead, events come back as they happen."""

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlsplit

from threadpoolctl import threadpool_limits

from lifelong.engines.versions import Versions, check_versions, versions_here
from lifelong.exceptions import EngineError

Value = TypeVar("Value")
Generate = Callable[..., Iterator[Any]]

RETRIES = 3  # a piece of work whose worker dies is begun again so many times
PATIENCE = 10.0  # seconds without an answer before a connection counts as lost
_AHEAD = 2  # pieces per worker that are handed out at once: nobody waits, and nothing piles up


class WorkerDiedError(EngineError):
    """A piece of work whose workers died again and again."""


@dataclass(frozen=True)
class Ended:
    """The last event of a piece of work, with what ended it, unless it came to its own end."""

    error: Exception | None = None


class Engine(ABC):
    """A cluster that this process is connected to."""

    name: str
    address: str

    def __init__(self) -> None:
        self._versions = versions_here()

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many pieces of work can run at the same time, now."""

    @abstractmethod
    def place(self, value: Value) -> Value:
        """Where the cluster keeps the value: good for nothing but as an argument of work, where it
        is the value.
        """

    @abstractmethod
    def check(self) -> None:
        """Raise unless every node has the versions that this process has."""

    @abstractmethod
    def close(self) -> None:
        """Leave the cluster; one that was started for this process ends."""

    @abstractmethod
    def _start(self, number: int, generate: Generate, row: tuple[Any, ...]) -> None:
        """Hand out ``work(versions, generate, *row)``."""

    @abstractmethod
    def _next(self) -> list[tuple[int, Any]]:
        """Events that have come, after a second at most; raises if the connection is lost."""

    @abstractmethod
    def _stop(self) -> None:
        """Whatever is still handed out need not be done."""

    def events(
        self, generate: Generate, rows: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """What ``generate(*row)`` yields on workers, all rows at once: row number and event.

        Events of a row are in order, and each comes once, however often its worker dies; the last
        is :class:`Ended`.
        """
        generate = self.place(generate)
        waiting = enumerate(rows)
        running = 0
        try:
            while True:
                for number, row in islice(waiting, max(_AHEAD * self.n_workers - running, 0)):
                    self._start(number, generate, row)
                    running += 1
                if not running:
                    return
                for number, event in self._next():
                    running -= isinstance(event, Ended)
                    yield number, event
        finally:
            self._stop()

    def _lost(self) -> EngineError:
        return EngineError(
            f"Lost the connection to {self.name} at {self.address}. A learner is as it was before"
            " the call, and a run goes on with the same command once the cluster is back."
        )


def work(versions: Versions, generate: Generate, *row: Any) -> Iterator[Any]:
    """One piece of work, on a worker: the same versions and one thread, or bits would differ."""
    check_versions(versions)
    with threadpool_limits(1):
        yield from generate(*row)


def answers(address: str, seconds: float = 3.0) -> bool:
    """Whether somebody listens at host:port."""
    try:
        if "://" not in address:
            address = f"//{address}"
        found = urlsplit(address)
        socket.create_connection((found.hostname, found.port or 0), timeout=seconds).close()
    except (OSError, ValueError):
        return False
    return True


def check_reachable(name: str, address: str, start: str) -> None:
    """Raise in seconds what an engine would say after minutes."""
    if not answers(address):
        raise EngineError(
            f"Nobody answers at {address}. Is {name} running there? Start it with: {start}.",
            see="scale",
        )


def first_line(error: BaseException) -> str:
    """What an engine's error says, without its pages of advice."""
    return _lines(error)[0]


def last_line(error: BaseException) -> str:
    """What an error says that carries a traceback of its own."""
    return _lines(error)[-1]


def _lines(error: BaseException) -> list[str]:
    return [line.strip() for line in str(error).splitlines() if line.strip()] or [
        type(error).__name__
    ]
