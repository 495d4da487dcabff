"""Where the lines of ``lifelong predict`` go, and how far it has come."""

import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

from lifelong._files import replacing
from lifelong._terminal import Description, console
from lifelong.cli.batches import STDIN
from lifelong.exceptions import DatasetError, ParameterError

_NO_TEXT = "backslashreplace"  # half a surrogate pair in a label, as JSON may hold: \ud800
_EVERY = 5.0  # seconds between lines where nobody looks at a terminal


def check_out(out: Path, file: Path | None, directory: Path, *, ending: str = "") -> None:
    """Refuse an output that would take the place of what is read.

    Parameters
    ----------
    out : Path
        Where something will be written.
    file : Path, optional
        The rows that are read.
    directory : Path
        The model's. What is written may lie there only if its name ends in ``ending``.

    Raises
    ------
    ParameterError
        If ``out`` is the file of rows, by whatever name, or lies in the model's folder.
    """
    if out == STDIN:
        return
    if file is not None and _is_same_file(out, file):
        raise ParameterError(
            f"--out {out} is the file of --input, and its rows would be lost. Give another name."
        )
    in_folder = directory.resolve() in _without_links(out).parents
    if in_folder and not (ending and out.name.endswith(ending)):
        raise ParameterError(
            f"--out {out} lies in the folder of the model, where its own files are. Give a name"
            " elsewhere."
        )


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two names are of one regular file; links are followed."""
    try:
        return other.is_file() and one.samefile(other)
    except OSError:  # one of them is not there
        return False


@contextmanager
def opened(out: Path) -> Iterator[TextIO]:
    """Where lines go.

    A new or regular file gets its name when it is complete. A symlink stays one: the file that it
    leads to is replaced. Devices and pipes are written to.
    """
    if out == STDIN:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors=_NO_TEXT)
        yield sys.stdout
        return
    try:
        if _is_device_or_pipe(out):
            with out.open("w", newline="", encoding="utf-8", errors=_NO_TEXT) as target:
                yield target
            return
        with (
            replacing(_without_links(out)) as scratch,
            scratch.path.open("w", newline="", encoding="utf-8", errors=_NO_TEXT) as target,
        ):
            yield target
    except OSError as error:
        raise DatasetError(f"{out} cannot be written: {error.strerror or error}.") from None


def _is_device_or_pipe(out: Path) -> bool:
    try:
        mode = out.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise DatasetError(f"{out} is a folder. Give the name of a CSV file in it.")
    return not stat.S_ISREG(mode)


def _without_links(out: Path) -> Path:
    try:
        return out.resolve()
    except RuntimeError as error:  # links that lead to each other
        raise DatasetError(f"{out} cannot be written: {error}.") from None


@contextmanager
def watched(of: str) -> Iterator[Any]:
    """A bar on a terminal; elsewhere a line every few seconds and one at the end.

    All of it on stderr.
    """
    terminal = console(stderr=True)
    started = time.monotonic()
    count = 0
    last = started
    bars = Progress(
        Description(),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )

    def show(n_rows: int, share: float | None = None) -> None:
        nonlocal count, last
        count += n_rows
        bars.update(row, completed=share, description=f"{count:,} rows")
        if not terminal.is_terminal and time.monotonic() - last > _EVERY:
            last = time.monotonic()
            known = ""
            if share is not None:
                known = f" · {share:.0%}"
            terminal.print(f"{count:,} rows{known}")

    with bars:
        row = bars.add_task("0 rows", total=1.0)
        yield show
    terminal.print(f"{count:,} rows of {of} in {time.monotonic() - started:.1f} s")
