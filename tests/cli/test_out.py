"""``lifelong predict --out``: which files are replaced, and what is only written to."""

import csv
import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from lifelong import SillyForest, save
from lifelong.cli import app


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    save(SillyForest(2, random_state=0).fit(X, X[:, 0] > 0), folder)
    return folder


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    return path


def run(model, rows, *options):
    return CliRunner().invoke(
        app, ["predict", str(model), "--input", str(rows), *map(str, options)]
    )


def is_clear_error(done):
    one_line = done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    return done.exit_code == 1 and one_line


def test_a_symlink_stays_one_and_its_file_is_replaced(model, rows, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "labels.csv"
    target.write_text("old")
    link = tmp_path / "link.csv"
    for content in ("old", None):  # a link may also lead to a file that is not there yet
        link.unlink(missing_ok=True)
        if content is None:
            target.unlink()
        link.symlink_to(target)
        assert run(model, rows, "--out", link).exit_code == 0
        assert link.is_symlink()
        assert target.read_text().splitlines() == ["label", "True", "True"]
        assert [path.name for path in target.parent.iterdir()] == ["labels.csv"]


def test_a_pipe_is_written_to_and_stays_a_pipe(model, rows, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    done = run(model, rows, "--out", pipe)
    if not stat.S_ISFIFO(pipe.stat().st_mode):
        pytest.fail("the pipe has been replaced")
    reader.join(timeout=30)
    assert done.exit_code == 0, done.output
    assert read == ["label\nTrue\nTrue\n"]


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_is_written_to_and_stays_a_device(device, model, rows, tmp_path):
    link = tmp_path / "device"
    link.symlink_to(device)
    done = run(model, rows, "--out", link)
    assert link.is_symlink()
    assert stat.S_ISCHR(Path(device).stat().st_mode)
    if device == "/dev/full":
        assert is_clear_error(done)
        assert "No space left" in done.stderr
    else:
        assert done.exit_code == 0, done.output


def test_the_standard_output_by_its_name_works_in_a_pipe(model, rows, tmp_path):
    # A link of our own: whoever replaces it has not damaged the machine.
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    script = "from lifelong.cli import app; app()"
    command = [sys.executable, "-c", script, "predict", str(model), "--input", str(rows)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "stdout")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "label\nTrue\nTrue\n"


@pytest.mark.parametrize(
    "out", ["", ".", "folder", "folder/", "no/such/folder.csv", "rows.csv/x", "x" * 300]
)
def test_an_odd_path_is_one_clear_line_and_leaves_nothing(out, model, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert is_clear_error(run(model, rows, "--out", out))
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", "folder"}


def test_links_that_lead_to_each_other_are_one_clear_line(model, rows, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert is_clear_error(run(model, rows, "--out", tmp_path / "a"))


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
@pytest.mark.parametrize("size", [2**31, 2**63, 10**30])
def test_a_huge_batch_size_is_one_clear_line(size, kind, model, tmp_path):
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        path.write_text("a,b\n1,2\n")
    elif kind == "npy":
        np.save(path, np.ones((1, 2)))
    else:
        parquet.write_table(pyarrow.table({"a": [1.0], "b": [2.0]}), path)
    assert is_clear_error(run(model, path, "--batch-size", size))


def test_a_parquet_file_with_a_column_twice_is_one_clear_line(model, tmp_path):
    column = pyarrow.array([1.0, 2.0])
    parquet.write_table(pyarrow.table([column, column], names=["a", "a"]), tmp_path / "x.parquet")
    assert is_clear_error(run(model, tmp_path / "x.parquet"))


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
def test_a_damaged_page_of_a_parquet_file_is_one_clear_line(compression, model, tmp_path):
    path = tmp_path / "rows.parquet"
    rng = np.random.default_rng(0)
    table = pyarrow.table({"a": rng.normal(size=2000), "b": rng.normal(size=2000)})
    parquet.write_table(table, path, compression=compression)
    whole = path.read_bytes()
    n_refused = 0
    for seed in range(20):
        content = bytearray(whole)
        places = np.random.default_rng(seed).integers(4, 2000, size=40)
        for place in places:
            content[place] ^= 0x5A
        path.write_bytes(content)
        done = run(model, path)
        assert done.exit_code == 0 or is_clear_error(done), done.output
        n_refused += done.exit_code == 1
    assert n_refused


def test_dates_in_a_parquet_file_are_no_numbers(model, tmp_path):
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[ns]")
    table = pyarrow.table({"a": days, "b": [1.0, 2.0]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    done = run(model, tmp_path / "rows.parquet")
    assert is_clear_error(done)
    assert "'a' holds dates" in done.stderr


@pytest.mark.parametrize("label", ["=cmd()", "+1+1", "@SUM(A1)", "-a"])
def test_no_label_in_a_written_table_is_a_formula(label, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    save(SillyForest(2, random_state=0).fit(X, [label] * 20), tmp_path / "model")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    done = run(tmp_path / "model", tmp_path / "rows.csv", "--proba")
    lines = list(csv.reader(io.StringIO(done.stdout)))
    assert lines == [["label", f"p_{label}"], [f"'{label}", "1"]]


@pytest.mark.parametrize(
    "command",
    [
        "data show digits --out .",
        "data show digits --out rows.csv/x.png",
        "run xor-xnor --smoke --learners rf --out rows.csv",
        "run xor-xnor --smoke --learners rf --out rows.csv/run",
        "demo --out rows.csv",
        "report rows.csv",
        "inspect rows.csv",
    ],
)
def test_a_path_that_cannot_be_used_is_one_clear_line_of_every_command(
    command, rows, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert is_clear_error(CliRunner().invoke(app, command.split()))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize("to_file", [True, False])
def test_a_label_that_is_no_text_is_written_out(to_file, rows, tmp_path):
    """Half a surrogate pair can be a label, and no encoding has bytes for it."""
    X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    learner = SillyForest(2, random_state=0).partial_fit(X, ["caf\ud800"] * 40, task="a\udfff")
    save(learner, tmp_path / "model")
    out = tmp_path / "labels.csv" if to_file else "-"
    done = run(tmp_path / "model", rows, "--out", out, "--proba")
    assert done.exit_code == 0, done.output
    written = out.read_text("utf-8") if to_file else done.stdout
    assert "caf\\ud800" in written
    assert "a\\udfff" in done.stderr
