"""What a command reads is never what it writes: no rows and no model are lost by a wrong name."""

import shutil

import pytest
from typer.testing import CliRunner

from learners.small_tables import table
from lifelong.cli import app


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    table(12).drop(columns="days").to_csv(folder / "rows.csv", index=False)
    done = run(
        *("learn", folder / "model", "--input", folder / "rows.csv"),
        *("--label-column", "ill", "--task-column", "site"),
    )
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A folder with rows, a model, and other names for both."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.csv").symlink_to("rows.csv")
    (tmp_path / "hard.csv").hardlink_to("rows.csv")
    (tmp_path / "also").symlink_to("model")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_clear_error(done):
    one_line = done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    return done.exit_code == 1 and one_line


COMMANDS = {
    "predict": ("predict", "model"),
    "health": ("health", "model", "--label-column", "ill"),
}
each_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@each_command
@pytest.mark.parametrize("name", ["rows.csv", "./rows.csv", "model/../rows.csv", "link.csv"])
@pytest.mark.parametrize("out", ["rows.csv", "also/../rows.csv", "link.csv", "hard.csv"])
def test_the_rows_that_are_read_are_not_written_to(command, name, out, place):
    before = content(place)
    done = run(*command, "--input", name, "--out", out)
    assert is_clear_error(done)
    assert "is the file of --input" in done.stderr
    assert content(place) == before


@each_command
@pytest.mark.parametrize("out", ["model/manifest.json", "also/lock", "also/new.csv"])
def test_nothing_is_written_among_the_files_of_a_model(command, out, place):
    before = content(place)
    done = run(*command, "--input", "rows.csv", "--out", out)
    assert is_clear_error(done)
    assert "lies in the folder of the model" in done.stderr
    assert content(place) == before


def test_the_page_of_a_model_may_lie_in_its_folder(place):
    assert run("health", "model", "--out", "model/page.html").exit_code == 0
    assert run("verify", "model").exit_code == 0


def test_predictions_may_replace_other_files(place):
    (place / "old.csv").write_text("old")
    assert run("predict", "model", "--input", "rows.csv", "--out", "old.csv").exit_code == 0
    assert (place / "old.csv").read_text().startswith("label\n")


def test_a_table_of_labels_alone_is_refused_before_anything_is_written(place):
    (place / "labels.csv").write_text("ill\nyes\nno\n")
    done = run("learn", "new", "--input", "labels.csv", "--label-column", "ill")
    assert is_clear_error(done)
    assert "no column" in done.stderr
    assert not (place / "new").exists()


def test_a_model_of_tables_needs_the_names_of_columns(place):
    done = run("predict", "model", "--input", "rows.csv", "--header", "no")
    assert is_clear_error(done)
    assert "--header no" in done.stderr


@pytest.mark.parametrize("command", ["predict", "inspect", "verify", "health", "report", "learn"])
@pytest.mark.parametrize(
    "model", ["nowhere", "[red]", "rows.csv", "rows.csv/in", "x" * 300, "/dev/null"]
)
def test_what_is_no_model_is_said_in_a_line(command, model, place):
    before = content(place)
    more = []
    if command in ("predict", "learn"):
        more = ["--input", "nowhere.csv"]
    if command == "learn":
        more += ["--label-column", "ill"]
    done = run(command, model, *more)
    said = done.stdout + done.stderr  # what verify finds is its answer
    assert done.exit_code == 1
    assert said.count("\n") == 1
    assert content(place) == before


@pytest.mark.parametrize("names", ["nobody", "", "silly-f,,rf", "[red]"])
def test_the_demo_says_at_once_that_it_knows_no_such_learner(names, place):
    done = run("demo", "--learners", names)
    assert is_clear_error(done)
    assert "Unknown learner" in done.stderr
    assert not (place / "lifelong-demo").exists()


@pytest.mark.parametrize("command", [["run", "xor-xnor", "--smoke"], ["demo"]])
@pytest.mark.parametrize("n_jobs", ["0", "-1", "99999999", "many"])
def test_processes_are_counted_up_to_a_bound(command, n_jobs, place):
    done = run(*command, "--n-jobs", n_jobs)
    assert done.exit_code == 2
    assert "--n-jobs" in done.stderr
    assert not (place / "runs").exists()
