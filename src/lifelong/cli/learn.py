"""``lifelong learn``: a model from a table in a file, or more rows for one that is there."""

import warnings
from collections import Counter
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as Lines

from lifelong._terminal import console
from lifelong._words import did_you_mean
from lifelong.exceptions import DatasetError, InputError, InputWarning, ParameterError

if TYPE_CHECKING:
    from lifelong.learners.front import LifelongClassifier, LifelongRegressor
    from lifelong.rows import Columns, Table

_SHOWN = 30
_FEW = 5
EXAMPLES = (
    "Examples: lifelong learn model --input rows.csv --task-column site --label-column ill   ·   "
    "lifelong learn model --input more.csv.gz --label-column ill --dry-run"
)


class Target(StrEnum):
    """What is learnt."""

    CLASS = "class"
    NUMBER = "number"


def learn(
    directory: Annotated[
        Path, typer.Argument(help="Where the model is, or shall be.", metavar="DIR")
    ],
    file: Annotated[
        Path,
        typer.Option(
            "--input", help="Rows: CSV with a header (, ; or tab; .gz) or .parquet; - is a pipe."
        ),
    ],
    label_column: Annotated[str, typer.Option(help="The column that shall be predicted.")],
    task_column: Annotated[
        str | None, typer.Option(help="The column that says which task a row is from.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="One task for all rows of the file.")] = None,
    target: Annotated[
        Target | None, typer.Option(help="What the label column holds. Default: class.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of a new model's randomness.")] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")
    ] = False,
) -> None:
    """Learn the rows of a table: creates a model, or adds to the one that is there.

    The same file twice changes nothing. Killed or refused, the model is as it was. If two
    commands teach one model at the same time, the first one counts and the other is refused.
    """
    from lifelong.persistence.saving import save_unless_changed, version_of
    from lifelong.rows.files import labels_of, read_content, read_table

    terminal = console()
    version = version_of(directory)  # before the model is read: a newer one is then noticed
    model = _model(directory, task_column, task, target, seed)
    known = _known_columns(model)
    content = read_content(file)
    table = read_table(file, content, known)
    labels = labels_of(column_of(table, label_column, "label column", file))
    rows = table.without(label_column)
    if isinstance(model.task_column, str):
        column_of(rows, model.task_column, "task column", file)
    if _learnt_before(model, content.checksum):
        terminal.print(f"{file} was learnt before: nothing changes.")
        return
    for warning in [*_suspicions(labels, model), *_misspelt_columns(rows, model)]:
        terminal.print(f"warning: {warning}")
    if dry_run:
        _say_what_would_happen(terminal, model, rows, labels)
        return
    before = {name: record.n_rows for name, record in _tasks(model).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # they were printed above
        model.partial_fit(rows, labels, task=task)
    model.knowledge_ = replace(
        model.knowledge_, batches=(*model.knowledge_.batches, content.checksum)
    )
    save_unless_changed(model, directory, version)
    _say_what_was_learnt(terminal, model, before, directory)


def _model(
    directory: Path,
    task_column: str | None,
    task: str | None,
    target: Target | None,
    seed: int,
) -> "LifelongClassifier | LifelongRegressor":
    """The model that is there, or a new one."""
    from lifelong.learners import LifelongClassifier, LifelongRegressor
    from lifelong.persistence import load

    if task_column is not None and task is not None:
        raise ParameterError("Give --task-column or --task, not both.")
    if not (directory / "manifest.json").exists():
        if target == Target.NUMBER:
            return LifelongRegressor(task_column, random_state=seed)
        return LifelongClassifier(task_column, random_state=seed)
    model = load(directory)
    if not isinstance(model, LifelongClassifier | LifelongRegressor):
        raise DatasetError(
            f"{directory} holds a {type(model).__name__}, which `lifelong learn` does not teach. "
            "Use partial_fit in Python, or another directory."
        )
    is_number = isinstance(model, LifelongRegressor)
    if target is not None and is_number != (target == Target.NUMBER):
        held = "numbers" if is_number else "classes"
        raise ParameterError(f"{directory} holds a model of {held}, and --target is {target}.")
    if task_column is not None and task_column != model.task_column:
        raise ParameterError(
            f"{directory} was learnt with --task-column {model.task_column}, not {task_column}. "
            "Rename the column, or choose another directory."
        )
    return model


def _tasks(model: Any) -> Any:
    return model.tasks_ if model.__sklearn_is_fitted__() else {}


def _known_columns(model: Any) -> "Columns | None":
    return model.columns_ if model.__sklearn_is_fitted__() else None


def _learnt_before(model: Any, checksum: str) -> bool:
    return model.__sklearn_is_fitted__() and checksum in model.knowledge_.batches


def column_of(table: "Table", name: str, what: str, file: Path) -> Any:
    """A column of a file, or an error that says which there are."""
    try:
        return table.column(name, what)
    except InputError:
        hint = did_you_mean(name, table.columns)
        names = ", ".join(map(repr, list(table.columns)[:_SHOWN]))
        raise DatasetError(f"{file} has no {what} {name!r}.{hint} Columns: {names}.") from None


def _suspicions(labels: list[Any], model: Any) -> list[str]:
    """Labels that are likely the same, such as ``Yes`` beside ``yes ``."""
    texts = {label for label in labels if isinstance(label, str)}
    if model.__sklearn_is_fitted__() and hasattr(model, "classes_"):
        texts |= {label for label in model.classes_.tolist() if isinstance(label, str)}
    alike: dict[str, list[str]] = {}
    for label in sorted(texts):
        alike.setdefault(label.strip().casefold(), []).append(label)
    return [
        f"labels {', '.join(map(repr, names))} are different classes. Typing errors?"
        for names in alike.values()
        if len(names) > 1
    ]


def _misspelt_columns(rows: "Table", model: Any) -> list[str]:
    """Columns that are new, while a known one of a similar name is missing."""
    from lifelong.rows.spelling import misspelt, said

    known = _known_columns(model)
    if known is None:
        return []
    table = rows
    if model.task_column is not None:
        table = rows.without(model.task_column)
    suspects = misspelt(table, known)
    if not suspects:
        return []
    return [said(suspects)]


def _say_what_would_happen(terminal: Console, model: Any, rows: "Table", labels: list[Any]) -> None:
    from lifelong.rows import Columns

    known = _known_columns(model) or Columns()
    shown = rows
    if model.task_column is not None:
        shown = rows.without(model.task_column)
    then = known.learnt(shown)
    lines = Lines(box=None, pad_edge=False)
    for title in ("column", "kind", "what is new"):
        lines.add_column(title)
    for column in then:
        lines.add_row(column.name, column.kind, _news(column, known.by_name.get(column.name)))
    terminal.print(lines)
    missing = [name for name in known.by_name if name not in shown.columns]
    if missing:
        terminal.print(f"not in this file: {', '.join(missing)}")
    tasks = _tasks_of_rows(model, rows, len(labels))
    classes: dict[Any, set[Any]] = {}
    for name, label in zip(tasks, labels, strict=True):
        classes.setdefault(name, set()).add(label)
    counts = Counter(tasks)
    news = [name for name in counts if name not in _tasks(model)]
    terminal.print(
        f"{len(labels):,} rows of {len(counts)} tasks, {len(news)} of them new"
        f" ({', '.join(map(str, news[:_FEW]))}{', …' if len(news) > _FEW else ''})"
    )
    single = [str(name) for name, found in classes.items() if len(found) == 1]
    if single and hasattr(model, "class_weight"):
        terminal.print(f"tasks with one class only: {', '.join(single[:_SHOWN])}")
    terminal.print("Nothing was changed (--dry-run).")


def _tasks_of_rows(model: Any, rows: "Table", n: int) -> list[Any]:
    from lifelong.rows.files import labels_of

    if model.task_column is None:
        return ["all rows"] * n
    return labels_of(rows.columns[model.task_column])


def _news(column: Any, before: Any) -> str:
    if before is None:
        if column.kind == "category":
            return f"{len(column.categories)} categories"
        return "the column"
    new = column.categories[len(before.categories) :]
    if not new:
        return ""
    return f"{len(new)} categories: {', '.join(map(str, new[:_FEW]))}"


def _say_what_was_learnt(
    terminal: Console, model: Any, before: dict[Any, int], directory: Path
) -> None:
    """A line per task that has new rows: how its forest alone and the mix do on held-out rows."""
    known = model.knowledge_
    changed = [name for name, record in known.tasks.items() if record.n_rows != before.get(name, 0)]
    is_number = not hasattr(model, "class_weight")
    lines = Lines(box=None, pad_edge=False)
    lines.add_column("task")
    lines.add_column("new rows", justify="right")
    lines.add_column("rows", justify="right")
    if not is_number:
        lines.add_column("classes", justify="right")
    lines.add_column(
        "held-out error alone" if is_number else "held-out loss alone", justify="right"
    )
    lines.add_column("with others", justify="right")
    for name in changed[:_SHOWN]:
        record = known.tasks[name]
        losses = known.channels[name].losses
        alone, together = losses[0], losses[-1]
        if is_number:
            alone, together = np.sqrt([alone, together])
        cells = [str(name), f"{record.n_rows - before.get(name, 0):,}", f"{record.n_rows:,}"]
        if not is_number:
            cells.append(str(int((record.class_counts > 0).sum())))
        lines.add_row(*cells, f"{alone:.3f}", f"{together:.3f}")
    terminal.print(lines)
    if len(changed) > _SHOWN:
        terminal.print(f"… and {len(changed) - _SHOWN} more tasks")
    n_rows = sum(record.n_rows for record in known.tasks.values())
    terminal.print(f"{directory}: {len(known.tasks)} tasks, {n_rows:,} rows")
