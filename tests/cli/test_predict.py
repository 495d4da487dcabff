"""``lifelong predict`` as a person meets it: any of three kinds of file, of any size."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from lifelong import SillyForest, SillyNetwork, save
from lifelong.cli import app

PEAK = """
import sys
from pathlib import Path
from lifelong.cli import app
app(sys.argv[1:], standalone_mode=False)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(status["VmHWM"].split()[0], file=sys.stderr)
"""


@pytest.fixture(scope="module")
def learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)).astype(np.float32)
    learner = SillyForest(4, random_state=0)
    learner.partial_fit(X, np.where(X[:, 0] > 0, "yes", "no"), task="sign")
    learner.partial_fit(X, (X[:, 1] > 0).astype(int), task=7)
    return learner


@pytest.fixture(scope="module")
def model(learner, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save(learner, folder)
    return folder


@pytest.fixture(scope="module")
def X():  # noqa: N802
    return np.random.default_rng(1).normal(size=(25, 3)).astype(np.float32)


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)], input=stdin)


def table(text):
    return list(csv.reader(io.StringIO(text)))


def write_csv(path, X, header=None):
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        if header:
            lines.writerow(header)
        lines.writerows(X.tolist())
    return path


def written(folder, kind, X, header=("a", "b", "c")):
    path = folder / f"rows.{kind}"
    if kind == "csv":
        return write_csv(path, X, header)
    if kind == "npy":
        np.save(path, X)
        return path
    parquet.write_table(pyarrow.table({name: X[:, n] for n, name in enumerate(header)}), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("batch", [1, 4, 1000])
def test_every_kind_of_file_gives_the_learner_s_own_answers(
    kind, batch, learner, model, X, tmp_path
):
    path = written(tmp_path, kind, X)
    done = run(model, "--task", "sign", "--input", path, "--proba", "--batch-size", batch)
    assert done.exit_code == 0, done.output
    head, *lines = table(done.stdout)
    assert head == ["label", "p_no", "p_yes"]
    assert [line[0] for line in lines] == learner.predict(X, task="sign").tolist()
    posteriors = np.array([line[1:] for line in lines], dtype=float)
    assert np.allclose(posteriors, learner.predict_proba(X, task="sign"), atol=1e-5)
    assert "25 rows of task 'sign'" in done.stderr


def test_a_header_is_optional_and_labels_alone_are_the_default(learner, model, X, tmp_path):
    path = write_csv(tmp_path / "rows.csv", X)
    done = run(model, "--task", "sign", "--input", path)
    assert table(done.stdout) == [
        ["label"],
        *([label] for label in learner.predict(X, task="sign")),
    ]


def test_a_task_may_be_called_by_a_number(learner, model, X, tmp_path):
    done = run(model, "--task", "7", "--input", written(tmp_path, "npy", X))
    assert [int(line[0]) for line in table(done.stdout)[1:]] == learner.predict(X, task=7).tolist()


def test_rows_may_come_through_a_pipe(learner, model, X, tmp_path):
    text = write_csv(tmp_path / "rows.csv", X).read_text()
    done = run(model, "--task", "sign", "--input", "-", stdin=text)
    assert [line[0] for line in table(done.stdout)[1:]] == learner.predict(X, task="sign").tolist()


def test_columns_are_found_by_name_where_the_learner_knows_names(X, tmp_path):
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    learner = SillyForest(4, random_state=0).fit(frame, X[:, 0] > 0)
    save(learner, tmp_path / "model")
    mixed = np.column_stack([np.arange(len(X)), X[:, 2], X[:, 0], X[:, 1]])
    for kind in ("csv", "parquet"):
        path = written(tmp_path, kind, mixed, header=("id", "c", "a", "b"))
        done = run(tmp_path / "model", "--input", path)
        assert done.exit_code == 0, done.output
        assert [line[0] == "True" for line in table(done.stdout)[1:]] == learner.predict(
            frame
        ).tolist()
        path = written(tmp_path, kind, mixed, header=("id", "c", "a", "B"))
        done = run(tmp_path / "model", "--input", path)
        assert done.exit_code == 1
        assert "has no column 'b'" in done.stderr


def test_images_are_read_as_they_are_or_flat(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 1, 8, 8)).astype(np.float32)
    learner = SillyNetwork((4,), epochs=1, random_state=0).fit(X, np.arange(20) % 2)
    save(learner, tmp_path / "model")
    for rows in (X, X.reshape(20, -1)):
        np.save(tmp_path / "rows.npy", rows)
        done = run(tmp_path / "model", "--input", tmp_path / "rows.npy")
        assert [int(line[0]) for line in table(done.stdout)[1:]] == learner.predict(X).tolist()


def test_the_output_file_is_whole_or_not_there(learner, model, X, tmp_path):
    path, out = written(tmp_path, "csv", X), tmp_path / "labels.csv"
    done = run(model, "--task", "sign", "--input", path, "--out", out)
    assert (done.exit_code, done.stdout) == (0, "")
    assert len(table(out.read_text())) == 26
    out.unlink()
    with path.open("a") as file:
        file.write("1,2,x\n")
    done = run(model, "--task", "sign", "--input", path, "--out", out, "--batch-size", 5)
    assert done.exit_code == 1
    assert "row 26: 'x' is not a number" in done.stderr
    assert {one.name for one in tmp_path.iterdir()} == {"rows.csv"}
    done = run(model, "--task", "sign", "--input", path, "--out", tmp_path / "no" / "labels.csv")
    assert (done.exit_code, "cannot be written" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("a,b\n1,2\n", "has 2 columns, and the learner reads 3."),
        ("1,2,3,4\n", "has 4 columns, and the learner reads 3."),
        ("a,b,c\n1,2,3\n1,2\n", "a row of 2 columns instead of 3"),
        ("a,b,c\n1,2,3\n1,,3\n", "row 2: '' is not a number"),
        ("1,2,3\n1,nan,3\n", "rows 1 to 2: Input X contains NaN"),
        ("1,2,3\n1,1e99,3\n", "rows 1 to 2: Input X contains infinity"),
        ('a,b,c\n1,2,"3\n', "not a readable CSV file"),
        (b"a,b,c\n\xff\xfe\n", "not a readable CSV file"),
    ],
)
def test_a_wrong_table_is_one_clear_line(content, what, model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run(model, "--task", "sign", "--input", path)
    assert done.exit_code == 1
    assert what in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("rows.npy", b"not npy", "not a readable npy file"),
        ("rows.parquet", b"not parquet at all", "not a readable Parquet file"),
        ("rows.txt", b"", "unknown kind of file '.txt'"),
        ("missing.csv", None, "is not a file"),
    ],
)
def test_other_wrong_files_are_one_clear_line(name, content, what, model, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run(model, "--task", "sign", "--input", tmp_path / name)
    assert (done.exit_code, what in done.stderr, done.stderr.count("\n")) == (1, True, 1), (
        done.stderr
    )


def test_npy_files_run_no_code(model, tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[object()] * 3]), allow_pickle=True)
    np.save(tmp_path / "text.npy", np.array([["a"] * 3]))
    np.save(tmp_path / "flat.npy", np.zeros(3))
    for name in ("rows.npy", "text.npy", "flat.npy"):
        done = run(model, "--task", "sign", "--input", tmp_path / name)
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1), done.stderr


def test_an_unknown_task_or_model_is_one_clear_line(model, X, tmp_path):
    path = written(tmp_path, "npy", X)
    done = run(model, "--task", "sgin", "--input", path)
    assert (done.exit_code, "Unknown task 'sgin'. Known tasks: 'sign', 7." in done.stderr) == (
        1,
        True,
    )
    done = run(model, "--input", path)
    assert (done.exit_code, "Several tasks are known" in done.stderr) == (1, True)
    done = run(tmp_path, "--task", "sign", "--input", path)
    assert (done.exit_code, "no saved learner" in done.stderr) == (1, True)
    done = run(model, "--task", "sign", "--input", path, "--batch-size", 0)
    assert done.exit_code == 1


def test_without_pyarrow_a_line_says_what_to_install(model, X, tmp_path, monkeypatch):
    path = written(tmp_path, "parquet", X)
    monkeypatch.setattr("lifelong.cli.batches.find_spec", lambda name: None)
    done = run(model, "--task", "sign", "--input", path)
    assert (done.exit_code, "pip install pyarrow" in done.stderr) == (1, True)


def test_an_empty_file_gives_no_labels(model, tmp_path):
    for content in ("", "a,b,c\n"):
        (tmp_path / "rows.csv").write_text(content)
        done = run(model, "--task", "sign", "--input", tmp_path / "rows.csv")
        assert (done.exit_code, done.stdout) == (0, "label\n")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_file(model, tmp_path):
    line = ",".join(["0.123456", "-1.234567", "2.345678"]) + "\n"
    peaks = []
    for n in (5_000, 200_000):
        path = tmp_path / "rows.csv"
        path.write_text(line * n)
        out = tmp_path / "labels.csv"
        command = [
            sys.executable,
            "-c",
            PEAK,
            "predict",
            str(model),
            "--task",
            "sign",
            "--input",
            str(path),
        ]
        done = subprocess.run(
            [*command, "--out", str(out), "--batch-size", "5000"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        peaks.append(int(done.stderr.splitlines()[-1]))  # kilobytes
        with out.open() as file:
            assert sum(1 for _ in file) == n + 1
    assert peaks[1] - peaks[0] < 25_000  # all rows at once take 80 MB more
