"""Cells in several processes, one thread each.

Only this process sees the rows, so only one ever writes them.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from lifelong.experiments.plan import Cell
from lifelong.experiments.rows import Key, Row
from lifelong.experiments.runner import Event, failed_rows, measure

_SPAWN = get_context("spawn")  # a fresh interpreter: torch's threads do not survive a fork
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Worker:
    """A process that is given a cell, sends back its rows, then None, and waits for the next."""

    def __init__(self, spec_hash: str, data_dir: Path | None, share: Path | None) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(
            target=_work, args=(theirs, spec_hash, data_dir, share), daemon=True
        )
        with _environment(_ONE_THREAD | {"LIFELONG_PROGRESS": "0"}):
            self.process.start()
        theirs.close()  # so that the death of the process ends the pipe
        self.cell: Cell | None = None
        self.measured: set[Key] = set()

    def give(self, cell: Cell) -> None:
        """Work for it."""
        self.cell = cell
        self.measured = set()
        with suppress(OSError):  # it has died meanwhile: the end of its pipe will tell
            self.pipe.send(cell)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.process.terminate()
        self.process.join()
        self.pipe.close()


def in_processes(
    cells: list[Cell], spec_hash: str, data_dir: Path | None, n_jobs: int, share: Path | None = None
) -> Iterator[Event]:
    """The events of all cells, as they come."""
    waiting = list(reversed(cells))
    workers: dict[Any, Worker] = {}

    def start() -> None:
        worker = Worker(spec_hash, data_dir, share)
        worker.give(waiting.pop())
        workers[worker.pipe] = worker

    try:
        for _ in range(n_jobs):
            start()
        while workers:
            for pipe in wait(list(workers)):
                worker = workers[pipe]
                assert worker.cell is not None
                try:
                    event = worker.pipe.recv()
                except (EOFError, OSError):
                    # Killed by the system (out of memory) or crashed below Python.
                    del workers[pipe]
                    worker.process.join()
                    yield from _died(worker, spec_hash)
                    if waiting:
                        start()
                    continue
                if event is not None:
                    if isinstance(event, Row):
                        worker.measured.add(event.key)
                    yield event
                elif waiting:
                    worker.give(waiting.pop())
                else:
                    workers.pop(pipe).stop()
    finally:
        for worker in workers.values():
            worker.stop()


def _died(worker: Worker, spec_hash: str) -> list[Row]:
    assert worker.cell is not None
    reason = f"its process died with exit code {worker.process.exitcode}"
    return failed_rows(worker.cell, spec_hash, worker.measured, reason)


def _work(pipe: Connection, spec_hash: str, data_dir: Path | None, share: Path | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        for event in measure(cell, spec_hash, data_dir, share):
            pipe.send(event)
        pipe.send(None)


def _end_with_parent() -> None:
    """A parent that is killed with -9 cannot end us: do it ourselves."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
