"""Rows that another run has measured already: the same learner with the same settings on the same
stream and seed.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lifelong.evaluation.measure import REFERENCE
from lifelong.exceptions import ParameterError
from lifelong.experiments.plan import Cell
from lifelong.experiments.rows import Row
from lifelong.experiments.spec import Part
from lifelong.experiments.store import Store


def rows_of_others(cells: Iterable[Cell], spec_hash: str, folders: Sequence[Path]) -> list[Row]:
    """What is missing in ``cells`` and lies in other run directories, as rows of this run."""
    known: dict[str, Row] = {}
    for folder in folders:
        store = Store(folder)
        spec = store.read_spec()
        if spec is None:
            raise ParameterError(
                f"There is no run in {folder} to take rows from: it has no spec.json."
            )
        parts = {part.name: part for part in spec.parts}
        for row in store.rows():
            if row.done and row.part in parts:
                learner: Any = [row.name, row.parameters]
                if row.kind == REFERENCE:
                    learner = row.learner
                identity = _identity(
                    parts[row.part], learner, row.seed, row.kind, row.task, row.stage
                )
                known[identity] = row
    taken = []
    for cell in cells:
        learner = [cell.learner.name, dict(cell.learner.parameters)]
        if cell.plain:
            learner = cell.label
        for key in cell.missing:
            found = known.get(
                _identity(cell.part, learner, cell.seed, key.kind, key.task, key.stage)
            )
            if found is not None:
                row = replace(found, part=key.part, learner=key.learner, repetition=key.repetition)
                taken.append(replace(row, spec=spec_hash, references=list(cell.references)))
    return taken


def _identity(part: Part, learner: Any, seed: int, kind: str, task: Any, stage: int) -> str:
    """What a number depends on; names of parts, and of learners, do not count."""
    stream = [part.stream, dict(part.options), part.unaware, part.scoring, list(part.others)]
    return json.dumps([stream, learner, seed, kind, task, stage], sort_keys=True)
