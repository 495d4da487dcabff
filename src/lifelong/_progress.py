"""A progress bar for whatever takes more than a second; silent when nobody looks at a terminal."""

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from lifelong._terminal import Description, console

_PATIENCE = 1.0  # seconds before a bar appears
_showing = False  # one bar at a time: what runs inside a shown step stays silent


class Bar:
    """Counts steps; appears on the terminal once the work has taken a second."""

    def __init__(self, total: int, title: str) -> None:
        self._total = total
        self._title = title
        self._done = 0
        self._started = time.perf_counter()
        self._display: Progress | None = None

    def advance(self, note: str = "") -> None:
        """One more step is done; ``note`` says what comes next."""
        self._done += 1
        if (
            self._display is None
            and time.perf_counter() - self._started > _PATIENCE
            and self._done < self._total
        ):
            self._display = Progress(
                Description(),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=console(stderr=True),
                transient=True,
            )
            self._row = self._display.add_task(self._title, total=self._total)
            self._display.start()
        if self._display is not None:
            self._display.update(
                self._row, completed=self._done, description=f"{self._title} {note}".strip()
            )

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self._display is not None:
            self._display.stop()


class SilentBar(Bar):
    """Counts nothing and shows nothing."""

    def advance(self, note: str = "") -> None:
        """Do nothing."""


@contextmanager
def progress(total: int, title: str) -> Iterator[Bar]:
    """A bar over ``total`` steps. ``LIFELONG_PROGRESS=0`` switches all bars off."""
    global _showing
    watched = sys.stderr.isatty() and multiprocessing.parent_process() is None
    if _showing or not watched or os.environ.get("LIFELONG_PROGRESS") == "0":
        yield SilentBar(total, title)
        return
    bar = Bar(total, title)
    _showing = True
    try:
        yield bar
    finally:
        _showing = False
        bar.close()
