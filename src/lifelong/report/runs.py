"""Run directories → results; several runs of one experiment side by side."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lifelong.evaluation.errors import ErrorTable
from lifelong.exceptions import DatasetError
from lifelong.experiments.rows import Row
from lifelong.experiments.store import Store
from lifelong.experiments.tables import Results, results_of


def read_run(folder: Path) -> Results:
    """What a run directory holds."""
    store = Store(folder)
    spec = store.read_spec()
    if spec is None:
        raise DatasetError(
            f"{folder} is no run directory: it has no spec.json. Make one: lifelong run xor-xnor."
        )
    results = results_of(spec, store.rows())
    if not results.tables:
        why = ""
        if results.failures:
            why = f" ({results.failures[0].learner}: {results.failures[0].reason})"
        raise DatasetError(
            f"{folder} has no complete repetition of any learner yet{why}. Run the same command"
            " again."
        )
    return results


def side_by_side(folders: Sequence[Path]) -> list[Results]:
    """One result per experiment; its runs are joined, their learners named after their runs."""
    folders = list(
        {folder.resolve(): folder for folder in folders}.values()
    )  # the same one twice is one
    runs = [(_short_name(folder, folders), read_run(folder)) for folder in folders]
    groups: dict[str, list[tuple[str, Results]]] = {}
    for name, results in runs:
        groups.setdefault(results.spec.experiment, []).append((name, results))
    return [group[0][1] if len(group) == 1 else _joined(group) for group in groups.values()]


def _short_name(folder: Path, folders: Sequence[Path]) -> str:
    names = [other.resolve().name for other in folders]
    resolved = folder.resolve()
    if names.count(resolved.name) == 1:
        return resolved.name
    return f"{resolved.parent.name}/{resolved.name}"


def _joined(group: list[tuple[str, Results]]) -> Results:
    tables: dict[tuple[str, str], ErrorTable] = {}
    rows = []
    failures = []
    learners = []
    for name, results in group:
        learners += [
            replace(learner, label=f"{learner.label} · {name}") for learner in results.spec.learners
        ]
        for (stream, label), table in results.tables.items():
            tables[stream, f"{label} · {name}"] = replace(table, learner=f"{label} · {name}")
        rows += [_renamed(row, name) for row in results.rows]
        failures += [_renamed(row, name) for row in results.failures]
    first = group[0][1].spec
    return Results(replace(first, learners=tuple(learners), published={}), tables, failures, rows)


def _renamed(row: Row, run: str) -> Row:
    """A row whose learner, and what it is compared with, are named after their run."""
    references = [f"{label} · {run}" for label in row.references]
    return replace(row, learner=f"{row.learner} · {run}", references=references)
