"""``lifelong health``: how each task of a saved model of tables is doing, as a table and a page."""

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table as Lines

from lifelong._terminal import console
from lifelong.cli.given import read_rows, said_of
from lifelong.cli.output import check_out
from lifelong.exceptions import InputWarning, ParameterError

if TYPE_CHECKING:
    from lifelong.evaluation.health import Health

_SHOWN = 30
_WIDE = 160  # letters of a line that nobody looks at in a terminal
_SHORT = {"calibration error": "ECE", "absolute error": "abs. error"}
_LEAST = 8  # letters of a name or a note that are left on a narrow terminal
_GAP = 2  # between columns
_NEEDED = ("matplotlib", "jinja2")
EXAMPLES = (
    "Examples: lifelong health model   ·   "
    "lifelong health model --input new.csv --label-column ill --out health.html"
)


def health(
    directory: Annotated[Path, typer.Argument(help="Where a model was saved.", metavar="DIR")],
    file: Annotated[
        Path | None,
        typer.Option(
            "--input",
            help="Rows that were not learnt: CSV with a header (, ; or tab; .gz) or .parquet. "
            "Default: the model's own rows, by trees that have not learnt them.",
        ),
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="The column of --input with the right answers.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="One task for all rows of --input.")] = None,
    out: Annotated[Path | None, typer.Option(help="The page. Default: health.html in DIR.")] = None,
    all_tasks: Annotated[
        bool, typer.Option("--all", help="Every task on the terminal, however many there are.")
    ] = False,
) -> None:
    """How each task is doing: scores, what others bring, whether probabilities can be trusted."""
    from lifelong.evaluation.health import health as measure
    from lifelong.persistence import load

    if (file is None) != (label_column is None):
        raise ParameterError("--input and --label-column go together. Give both or neither.")
    if file is None and task is not None:
        raise ParameterError("--task says which task the rows of --input are from. Give --input.")
    page = out or directory / "health.html"
    check_out(page, file, directory, ending=".html")
    model = load(directory)
    if file is None or label_column is None:
        found = measure(model)
        about = f"{directory}: {found.rows:,} rows of its own, held out"
    else:
        found = _on_file(model, file, label_column, task)
        about = f"{directory}: {found.rows:,} rows of {file}"
    terminal = console(in_a_pipe=_WIDE)
    _print(terminal, found, all_tasks)
    if not all(map(find_spec, _NEEDED)):
        terminal.print("For a page with curves: pip install 'lifelong[report]'")
        return
    from lifelong.report.health import write_health

    written = write_health(found, page, about)
    terminal.print(f"{written}: the same, with reliability curves")


def _on_file(model: Any, file: Path, label_column: str, task: str | None) -> "Health":
    """Measured on the rows of a file."""
    from lifelong.cli.answers import task_called
    from lifelong.evaluation.health import health as measure
    from lifelong.learners import LifelongClassifier, LifelongRegressor
    from lifelong.rows.files import read_content

    if not isinstance(model, LifelongClassifier | LifelongRegressor):
        return measure(model)  # which says what it can look at
    name = None
    if task is not None:
        name = task_called(model, task)
        if model.task_column is not None:
            raise ParameterError(
                f"The model finds tasks in column {model.task_column!r}: leave --task out."
            )
    given = read_rows(model, file, read_content(file), label_column, None)
    with warnings.catch_warnings(), said_of(file):
        warnings.simplefilter("ignore", InputWarning)
        return measure(model, given.rows, given.labels, name)


def _print(terminal: Console, found: "Health", all_tasks: bool) -> None:
    scores = list(found.tasks[0].scores)
    shown = found.tasks
    if not all_tasks:
        shown = shown[:_SHOWN]
    columns = {"task": [str(task.task) for task in shown]}
    columns["rows"] = [f"{task.rows:,}" for task in shown]
    for name in scores:
        columns[_SHORT.get(name, name)] = [_shown(task.scores[name]) for task in shown]
    columns["alone"] = [_shown(task.alone) for task in shown]
    columns["guess"] = [_shown(task.guess) for task in shown]
    columns["notes"] = [", ".join(task.notes) for task in shown]
    widths = _widths(columns, terminal.width)
    terminal.print(_drawn(columns, widths))
    left_out = [title for title in columns if title not in widths]
    if left_out:
        terminal.print(f"No room for {', '.join(left_out)}: the page has them.")
    if len(shown) < len(found.tasks):
        terminal.print(f"… and {len(found.tasks) - len(shown)} more (--all shows them)")
    means = ", ".join(f"{name} {_shown(found.mean(name))}" for name in scores)
    terminal.print(f"mean over tasks: {means}")
    terminal.print(
        f"alone: {found.loss} of the task's own forest · guess: without a look at the row"
    )


def _widths(columns: dict[str, list[str]], width: int) -> dict[str, int]:
    """How wide each column is on a terminal: names and notes are cut, numbers never.

    What there is no room for is left out: first the guess, then scores, the last one first.
    """
    widths = {title: max(len(title), *map(len, cells)) for title, cells in columns.items()}
    texts = {title: widths[title] for title in ("task", "notes")}
    least = sum(min(wanted, _LEAST) for wanted in texts.values())
    can_go = ["guess", *reversed(list(columns)[3:-3])]
    for title in can_go:
        numbers = sum(widths.values()) - sum(texts.values())
        gaps = _GAP * (len(widths) - 1)
        if numbers + gaps + least > width:
            del widths[title]
    numbers = sum(widths.values()) - sum(texts.values())
    room = width - numbers - _GAP * (len(widths) - 1)
    widths["task"] = min(texts["task"], max(_LEAST, room - min(texts["notes"], _LEAST)))
    widths["notes"] = min(texts["notes"], max(_LEAST, room - widths["task"]))
    return widths


def _drawn(columns: dict[str, list[str]], widths: dict[str, int]) -> Lines:
    drawn = Lines(box=None, pad_edge=False)
    for title, width in widths.items():
        justify: Literal["left", "right"] = "right"
        if title in ("task", "notes"):
            justify = "left"
        drawn.add_column(title, justify=justify, no_wrap=True, width=width)
    for cells in zip(*(columns[title] for title in widths), strict=True):
        drawn.add_row(*cells)
    return drawn


def _shown(value: float) -> str:
    """A number for people; what cannot be measured is a dash.

    >>> _shown(0.5), _shown(1234.5), _shown(float("nan"))
    ('0.500', '1234.5', '–')
    """
    if value != value:
        return "–"
    if abs(value) >= 100:
        return f"{value:.1f}"
    return f"{value:.3f}"
