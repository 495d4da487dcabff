"""What is printed is printed as it is: no bracket of a name or message is taken for markup."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from typer.testing import CliRunner

import lifelong
from lifelong import SillyForest, evaluate, save
from lifelong._extras import require
from lifelong._progress import progress
from lifelong._terminal import Description, PlainConsole, printable
from lifelong.cli import app
from lifelong.report.tables import summary_table
from lifelong.tasks.simulations import xor_stream

NAMES = ["[red]Lyon[/red]", "a[/]b", "[link=x]y[/link]", ":smile:", "[1, 2]", "x[torch]"]
HOSTILE = "\x1b]0;owned\x07\x1b[31mLyon"
X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
Y = np.arange(20) % 2


def run(*arguments, **options):
    return CliRunner().invoke(app, list(map(str, arguments)), **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    learner = SillyForest(2, random_state=0)
    for name in [*NAMES, HOSTILE]:
        learner.partial_fit(X, Y, task=name)
    save(learner, folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_inspect_and_predict_print_names_of_tasks_as_they_are(name, model):
    shown = run("inspect", model)
    assert shown.exit_code == 0, shown.output
    assert name in shown.stdout
    done = run("predict", model, "--task", name, "--input", "-", input="1,2.5\n")
    assert done.exit_code == 0, done.output
    assert f"1 rows of task {name!r}" in done.stderr
    unknown = run("predict", model, "--task", "none", "--input", "-", input="1,2.5\n")
    assert repr(name) in unknown.stderr


def test_no_escape_sequence_of_a_name_reaches_the_terminal(model):
    shown = run("inspect", model)
    assert "\x1b" not in shown.stdout
    assert printable(HOSTILE) in shown.stdout
    done = run("predict", model, "--task", HOSTILE, "--input", "-", input="1,2.5\n")
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "{}"),
        ("verify", "{}"),
        ("report", "{}"),
        ("list", "{}"),
        ("run", "{}"),
        ("data", "show", "{}"),
        ("data", "check", "{}"),
        ("predict", "{}", "--input", "-"),
    ],
    ids=" ".join,
)
def test_errors_print_what_was_typed_as_it_is(command, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*(word.format(name) for word in command), input="")
    assert done.exit_code == 1
    assert name in done.output
    assert done.output.count("\n") == 1


def test_an_error_says_which_extra_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("lifelong._extras.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"lifelong\[report\]") as error:
        require("matplotlib", extra="report", for_what="A report")
    done = run("report", tmp_path)
    assert done.exit_code == 1
    assert str(error.value) in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_runs_print_names_as_they_are(name):
    stream = xor_stream(20, n_test=10, random_state=0)
    table = evaluate(lambda seed: SillyForest(2, random_state=seed), stream, 1, name=name)
    for kind in (PlainConsole, Console):
        out = io.StringIO()
        kind(file=out, width=200).print(summary_table(name, [table]))
        assert out.getvalue().count(name) == 2


@pytest.mark.parametrize("name", NAMES)
def test_progress_bars_show_names_as_they_are(name):
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=200, color_system=None)
    with Progress(Description(), console=console) as bars:
        bars.add_task(name)
    assert name in out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_one_s_own_shows_its_tasks_as_they_are(name, tmp_path):
    lines = [f'"{name}",{number},{number % 2}' for number in range(8)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["site,x,y", *lines]) + "\n")
    done = run("data", "show", path, "--task-column", "site", "--label-column", "y")
    assert done.exit_code == 0, done.output
    assert name in done.stdout


def test_only_one_module_makes_consoles():
    package = Path(lifelong.__file__).parent
    making = re.compile(r"Console\(|TextColumn\(|from_markup\(")
    makers = {path.name for path in package.rglob("*.py") if making.search(path.read_text())}
    assert makers == {"_terminal.py"}


def test_cells_and_titles_of_tables_are_no_markup():
    out = io.StringIO()
    table = Table(title=NAMES[0])
    table.add_column(NAMES[1])
    table.add_row(NAMES[2])
    PlainConsole(file=out, width=80).print(table, NAMES[3])
    assert all(name in out.getvalue() for name in NAMES[:4])


def test_the_bar_of_a_long_lesson_is_one_of_these():
    with progress(1, NAMES[0]) as bar:
        bar.advance(NAMES[1])
