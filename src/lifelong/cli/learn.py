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

from lifelong._labels import folded
from lifelong._terminal import console
from lifelong.cli.given import FIRST_ROW, Given, known_labels, known_tasks, read_rows, said_of
from lifelong.exceptions import DatasetError, InputWarning, ParameterError

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
    from lifelong.rows.files import read_content

    terminal = console()
    if directory.exists() and not directory.is_dir():
        raise DatasetError(f"{directory} is a file. Give the name of a folder for the model.")
    version = version_of(directory)  # before the model is read: a newer one is then noticed
    model = _model(directory, task_column, task, target, seed)
    content = read_content(file)
    if _learnt_before(model, content.checksum):
        terminal.print(f"{file} was learnt before: nothing changes.")
        return
    given = read_rows(model, file, content, label_column, task)
    for warning in _warnings(given, model):
        terminal.print(f"warning: {warning}")
    if dry_run:
        with said_of(file):
            _say_what_would_happen(terminal, model, given)
        return
    before = {name: record.n_rows for name, record in _tasks(model).items()}
    with warnings.catch_warnings(), said_of(file):
        warnings.simplefilter("ignore", InputWarning)  # they were printed above
        model.partial_fit(given.rows, given.labels, task=given.task)
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
        how = "without --task-column"
        if model.task_column is not None:
            how = f"with --task-column {model.task_column}"
        raise ParameterError(
            f"{directory} was learnt {how}, not with --task-column {task_column}. Rename the "
            "column, or choose another directory."
        )
    if task is not None and model.task_column is not None:
        raise ParameterError(
            f"{directory} finds each row's task in column {model.task_column!r}: leave --task out."
        )
    return model


def _tasks(model: Any) -> Any:
    return model.tasks_ if model.__sklearn_is_fitted__() else {}


def _known_columns(model: Any) -> "Columns | None":
    return model.columns_ if model.__sklearn_is_fitted__() else None


def _learnt_before(model: Any, checksum: str) -> bool:
    return model.__sklearn_is_fitted__() and checksum in model.knowledge_.batches


def _warnings(given: Given, model: Any) -> list[str]:
    """What may not be what it was meant to be."""
    from lifelong.rows import Columns
    from lifelong.rows.suspicious import suspicions

    table = given.features(model)
    known = _known_columns(model) or Columns()
    found = [*_similar_labels(given.labels, model), *_misspelt_columns(table, known)]
    found += _similar_tasks(given, model)
    return [*found, *suspicions(table, known, first=FIRST_ROW)]


def _similar_labels(labels: Any, model: Any) -> list[str]:
    """Labels that are likely the same, such as ``Yes`` beside ``yes ``, if one of them is new."""
    if not hasattr(model, "class_weight"):
        return []
    known = {label for label in known_labels(model) if isinstance(label, str)}
    texts = {label for label in labels if isinstance(label, str)} | known
    alike: dict[str, list[str]] = {}
    for label in sorted(texts):
        alike.setdefault(folded(label), []).append(label)
    return [
        f"labels {', '.join(map(repr, names))} are different classes. Typing errors?"
        for names in alike.values()
        if len(names) > 1 and not set(names) <= known
    ]


def _similar_tasks(given: Given, model: Any) -> list[str]:
    """Tasks that are likely the same, such as ``Oslo`` beside ``oslo ``, if one of them is new."""
    from lifelong.learners.task_names import check_task_kinds

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", InputWarning)
        check_task_kinds(list(dict.fromkeys(given.tasks(model))), known_tasks(model))
    return [str(warning.message) for warning in found]


def _misspelt_columns(table: "Table", known: "Columns") -> list[str]:
    """Columns that are new, while a known one of a similar name is missing."""
    from lifelong.rows.spelling import misspelt, said

    suspects = misspelt(table, known)
    if not suspects:
        return []
    return [said(suspects)]


def _say_what_would_happen(terminal: Console, model: Any, given: Given) -> None:
    from lifelong.rows import Columns

    known = _known_columns(model) or Columns()
    shown = given.features(model)
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
    tasks = given.tasks(model)
    counts = Counter(tasks)
    news = [name for name in counts if name not in _tasks(model)]
    which = ", ".join(map(str, news[:_FEW]))
    if len(news) > _FEW:
        which += ", …"
    if news:
        which = f" ({which})"
    terminal.print(f"{len(tasks):,} rows of {len(counts)} tasks, {len(news)} of them new{which}")
    if hasattr(model, "class_weight"):
        _say_which_labels(terminal, model, tasks, given.labels)
    terminal.print("Nothing was changed (--dry-run).")


def _say_which_labels(terminal: Console, model: Any, tasks: list[Any], labels: Any) -> None:
    """Labels that no task has had, and tasks with one label only."""
    known = known_labels(model)
    new = list(dict.fromkeys(label for label in labels if label not in known))
    if new:
        more = ", …" if len(new) > _SHOWN else ""
        terminal.print(f"{len(new)} new labels: {', '.join(map(str, new[:_SHOWN]))}{more}")
    classes: dict[Any, set[Any]] = {}
    for name, label in zip(tasks, labels, strict=True):
        classes.setdefault(name, set()).add(label)
    single = [str(name) for name, found in classes.items() if len(found) == 1]
    if single:
        terminal.print(f"tasks with one class only: {', '.join(single[:_SHOWN])}")


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
