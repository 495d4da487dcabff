"""A run and its directory: what is there, what is left, and rows that are stored before anyone
hears of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifelong.experiments.plan import Cell, plan, still_missing
from lifelong.experiments.reuse import rows_of_others
from lifelong.experiments.rows import Row
from lifelong.experiments.runner import Event, run_cells
from lifelong.experiments.spec import Spec
from lifelong.experiments.store import Store
from lifelong.experiments.tables import results_of, summary


@dataclass(frozen=True)
class Session:
    """One start of ``lifelong run``."""

    spec: Spec
    store: Store
    data_dir: Path | None
    cells: list[Cell]  # with rows yet to be measured
    total: int  # rows of the whole run
    done: int  # of these, already there
    failed: int  # cells that failed in an earlier start and are tried again
    taken: tuple[
        Row, ...
    ] = ()  # of those that are already there, the ones from other runs: yet to be stored here

    @property
    def left(self) -> int:
        """Rows to be measured now."""
        return self.total - self.done

    def events(self, n_jobs: int = 1, share: Path | None = None) -> Iterator[Event]:
        """Measure what is left; a row is on the disk before it is yielded.

        Ends with a fresh ``summary.json``.

        ``share`` is a folder for networks that several learners, or runs, would train alike.
        """
        with self.store.writing() as writer:
            self.store.write_spec(self.spec)
            for row in self.taken:
                writer.append(row)
            try:
                for event in run_cells(self.cells, self.spec.hash, self.data_dir, n_jobs, share):
                    if isinstance(event, Row):
                        writer.append(event)
                    yield event
            finally:
                self.store.write_json("summary.json", self.summary())

    def summary(self) -> dict[str, dict[str, Any]]:
        """Means of what is complete so far."""
        return summary(results_of(self.spec, self.store.rows()))


def prepare(
    spec: Spec, folder: Path, data_dir: Path | None = None, reuse: Sequence[Path] = ()
) -> Session:
    """Look at what the directory has, and find what is left to do.

    Learners and repetitions may have been added.

    Rows that the run directories ``reuse`` have measured under the same conditions are taken over.
    """
    store = Store(folder)
    stored = store.read_spec()
    if stored is None:
        whole = spec
    else:
        whole = spec.joined_with(stored, str(folder))
    rows = store.rows()
    done = {row.key for row in rows if row.done}
    cells = plan(whole, data_dir)
    expected = {key for cell in cells for key in cell.all_keys()}
    taken = rows_of_others(still_missing(cells, done), whole.hash, reuse)
    done |= {row.key for row in taken}
    failed = {(row.part, row.learner, row.repetition) for row in rows if not row.done}
    return Session(
        spec=whole,
        store=store,
        data_dir=data_dir,
        cells=still_missing(cells, done),
        total=len(expected),
        done=len(expected & done),
        failed=len(failed),
        taken=tuple(taken),
    )
