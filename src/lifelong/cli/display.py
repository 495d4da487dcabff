"""How a run is watched: a live bar on a terminal, plain lines anywhere else."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lifelong._terminal import Description, console
from lifelong.experiments.rows import Row
from lifelong.experiments.runner import Event

_EVERY = 5.0  # seconds between plain lines


class Display(Protocol):
    """Shows events."""

    def show(self, event: Event) -> None:
        """One more event."""


class LiveBar:
    """Done and total, what is being learnt right now, time so far and time left."""

    def __init__(self, bars: Progress, total: int, done: int) -> None:
        self._bars = bars
        # The bar counts what this start has to do: rows of an earlier one would spoil the estimate
        # of time left.
        self._row = bars.add_task("starting", total=total - done)

    def show(self, event: Event) -> None:
        """Move the bar, or say what is being learnt."""
        if isinstance(event, Row):
            if event.done:
                self._bars.advance(self._row, 1)
            else:
                self._bars.print(f"failed {event.learner}: {event.reason}")
        else:
            what = (
                f"{event.learner} · {event.part} · task {event.task} · repetition"
                f" {event.repetition + 1}"
            )
            self._bars.update(self._row, description=what)


class PlainLines:
    """At most a line every few seconds, and one for every failure."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        self._console = console
        self._total = total
        self._done = done
        self._before = done
        self._started = self._last = time.monotonic()

    def show(self, event: Event) -> None:
        """Count; print if it is time."""
        if not isinstance(event, Row):
            return
        self._done += event.done
        now = time.monotonic()
        if not event.done:
            self._print(f"failed {event.learner} on {event.part}: {event.reason}")
        elif now - self._last > _EVERY or self._done == self._total:
            self._last = now
            left = (
                (now - self._started)
                * (self._total - self._done)
                / max(self._done - self._before, 1)
            )
            self._print(
                f"{self._done}/{self._total} rows · {event.learner} · {event.part} · task"
                f" {event.task} · repetition {event.repetition + 1} · about {_duration(left)} left"
            )

    def _print(self, line: str) -> None:
        self._console.print(line)


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours.

    >>> _duration(8), _duration(100), _duration(9000)
    ('8 s', '2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


@contextmanager
def watched(total: int, done: int) -> Iterator[Display]:
    """The display that suits where the output goes."""
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield PlainLines(shown, total, done)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(Description(), *columns, console=shown, transient=True) as bars:
        yield LiveBar(bars, total, done)
