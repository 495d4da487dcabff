"""Cells on the cluster that ``lifelong.engine`` has chosen.

Rows come back one by one, and only this process writes.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lifelong.engines import Ended, Engine, WorkerDiedError
from lifelong.experiments.plan import Cell
from lifelong.experiments.rows import Key, Row
from lifelong.experiments.runner import Event, failed_rows, measure


def on_engine(
    engine: Engine, cells: list[Cell], spec_hash: str, data_dir: Path | None
) -> Iterator[Event]:
    """The events of all cells, as they come; data are read where the cell is measured."""
    measured: list[set[Key]] = [set() for _ in cells]
    there = None if data_dir is None else data_dir.resolve()  # a worker's own folder is another one
    for number, event in engine.events(
        partial(measure, spec_hash=spec_hash, data_dir=there), zip(cells)
    ):
        if isinstance(event, Row):
            measured[number].add(event.key)
        if not isinstance(event, Ended):
            yield event
        elif isinstance(event.error, WorkerDiedError):  # out of memory, most likely
            yield from failed_rows(cells[number], spec_hash, measured[number], str(event.error))
        elif event.error is not None:
            raise event.error
