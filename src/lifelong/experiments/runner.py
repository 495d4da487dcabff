"""A spec becomes rows: they are yielded one by one, as soon as each is measured."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.base import clone
from threadpoolctl import threadpool_limits

from lifelong._once import sharing
from lifelong.engines import current
from lifelong.evaluation.measure import (
    ErrorOn,
    Measurement,
    PlainErrorOn,
    Training,
    error_on,
    measurements,
    plain_error,
    plain_measurements,
)
from lifelong.evaluation.scoring import find_scoring
from lifelong.evaluation.unaware import unaware_error
from lifelong.experiments.parameters import build_learner
from lifelong.experiments.plan import Cell
from lifelong.experiments.rows import FAILED, Key, Row
from lifelong.experiments.streams import make_stream
from lifelong.tasks.base import TaskName


@dataclass(frozen=True)
class Working:
    """What is being done right now."""

    part: str
    learner: str
    repetition: int
    task: TaskName


Event = Working | Row


def run_cells(
    cells: Iterable[Cell],
    spec_hash: str,
    data_dir: Path | None,
    n_jobs: int = 1,
    share: Path | None = None,
) -> Iterator[Event]:
    """Measure what is missing in the cells: in this process, in ``n_jobs`` others, or on a cluster.

    A learner that fails fails its own rows: the reason is in a row with status ``failed``, and the
    run goes on. What learners would train alike is shared through the folder ``share``, except on a
    cluster.
    """
    cells = list(cells)
    engine = current()
    if engine is not None:
        from lifelong.experiments.cluster import on_engine

        yield from on_engine(engine, cells, spec_hash, data_dir)
        return
    if n_jobs == 1:
        for cell in cells:
            yield from measure(cell, spec_hash, data_dir, share)
        return
    from lifelong.experiments.workers import in_processes

    yield from in_processes(cells, spec_hash, data_dir, min(n_jobs, len(cells)), share)


def measure(
    cell: Cell, spec_hash: str, data_dir: Path | None, share: Path | None = None
) -> Iterator[Event]:
    """The rows of one cell that are missing."""
    measured: set[Key] = set()
    try:
        with (
            sharing(share),
            threadpool_limits(1),
        ):  # two threads on a busy machine are slower than one
            for measurement in _measurements(cell, data_dir):
                if isinstance(measurement, Training):
                    yield Working(cell.part.name, cell.label, cell.repetition, measurement.task)
                else:
                    row = _row(cell, spec_hash, measurement)
                    measured.add(row.key)
                    yield row
    except Exception as error:
        yield from failed_rows(cell, spec_hash, measured, f"{type(error).__name__}: {error}")


def _measurements(cell: Cell, data_dir: Path | None) -> Iterator[Training | Measurement]:
    def wanted(kind: str, task: TaskName, stage: int) -> bool:
        return cell.key(kind, task, stage) in cell.missing

    stream = make_stream(cell.part, cell.seed, data_dir)
    error: ErrorOn = error_on
    plain: PlainErrorOn = plain_error
    if cell.part.unaware:
        error = unaware_error
    elif cell.part.scoring:
        scoring = find_scoring(cell.part.scoring, "class")
        error = scoring.of_learner
        plain = scoring.of_plain
    if not cell.plain:
        others = {name: find_scoring(name, "class").of_learner for name in cell.part.others}
        yield from measurements(
            partial(build_learner, cell.learner), stream, cell.seed, wanted, error, others
        )
        return
    model = build_learner(cell.learner, cell.seed).plain_models(len(stream))[cell.plain]
    yield Training(stream.names[0], 0)
    yield from plain_measurements(partial(clone, model), stream, wanted, plain)


def _row(cell: Cell, spec_hash: str, measurement: Measurement) -> Row:
    sizes = dict(measurement.sizes)
    return Row(
        **_origin(cell, spec_hash),
        kind=measurement.kind,
        task=measurement.task,
        stage=measurement.stage,
        error=measurement.error,
        test_rows=measurement.test_rows,
        train_seconds=round(measurement.train_seconds, 6),
        predict_seconds=round(measurement.predict_seconds, 6),
        n_parameters=sizes.pop("parameters", 0),
        bytes=sizes,
        references=list(cell.references),
        others=measurement.others,
        reliability=measurement.reliability,
    )


def failed_rows(cell: Cell, spec_hash: str, measured: set[Key], reason: str) -> list[Row]:
    """One row at the first missing key: why there is no number, here and later in the cell."""
    still = sorted(cell.missing - measured, key=lambda key: (key.stage, str(key)))
    return [
        Row(
            **_origin(cell, spec_hash),
            kind=at.kind,
            task=at.task,
            stage=at.stage,
            status=FAILED,
            reason=reason,
        )
        for at in still[:1]
    ]


def _origin(cell: Cell, spec_hash: str) -> dict[str, Any]:
    return {
        "spec": spec_hash,
        "part": cell.part.name,
        "learner": cell.label,
        "name": cell.plain or cell.learner.name,
        "parameters": dict(cell.learner.parameters),
        "repetition": cell.repetition,
        "seed": cell.seed,
        "n_tasks": len(cell.tasks),
    }
