"""``lifelong run`` and ``lifelong report`` as a person meets them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lifelong.cli import app
from lifelong.experiments.store import Store

CLOCKS = ("train_seconds", "predict_seconds")


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def without_clocks(folder):
    summary = json.loads((folder / "summary.json").read_text())
    return {
        label: {k: v for k, v in means.items() if k not in CLOCKS}
        for label, means in summary.items()
    }


FAST = ("run", "xor-rxor", "--smoke", "--learners", "silly-f")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = invoke(*FAST, "--out", folder)
    assert done.exit_code == 0, done.output
    return folder


def test_a_run_leaves_spec_rows_and_summary_and_says_what_comes_next(whole):
    assert {path.name for path in whole.iterdir()} >= {"spec.json", "rows.jsonl", "summary.json"}
    done = invoke(*FAST, "--out", whole)
    assert done.exit_code == 0
    assert "Going on where an earlier run stopped" in done.output
    assert "nothing left to do" in done.output
    assert f"lifelong report {whole}" in done.output.replace("\n", "")


def test_progress_is_plain_lines_where_there_is_no_terminal(tmp_path):
    done = invoke(*FAST, "--out", tmp_path)
    assert "xor-rxor (smoke): 1 learner × 8 streams × 1 repetition, 62 rows" in done.output
    assert "62/62 rows · " in done.stderr
    assert "\x1b" not in done.stderr


def test_a_run_killed_with_minus_9_ends_with_the_summary_of_an_uninterrupted_one(whole, tmp_path):
    command = [str(Path(sys.executable).with_name("lifelong")), *FAST, "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = tmp_path / "rows.jsonl"
    while process.poll() is None and not (rows.exists() and rows.stat().st_size > 3000):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(Store(tmp_path).rows())
    done = invoke(*FAST, "--out", tmp_path)
    assert done.exit_code == 0
    assert f"{before} rows are done" in done.output
    assert without_clocks(tmp_path) == without_clocks(whole)


def test_failures_are_listed_and_give_an_exit_code_of_their_own(tmp_path):
    done = invoke("run", "xor-rxor", "--smoke", "--learners", "silly-f,df-cnn", "--out", tmp_path)
    assert done.exit_code == 3
    assert "failed: df-cnn on XOR → R-XOR, repetition 1: " in done.output
    assert list(json.loads((tmp_path / "summary.json").read_text())) == ["silly-f"]
    again = invoke("run", "xor-rxor", "--smoke", "--learners", "silly-f,df-cnn", "--out", tmp_path)
    assert "failed before and are tried again" in again.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["xor-xnr"], "Unknown experiment 'xor-xnr'. Did you mean 'xor-xnor'?"),
        (["cifar-10x10"], "cifar-100 is not in"),
        (["core50-110x5"], "core50 is not in"),
        (["xor-xnor", "--learners", "sily-n"], "Unknown learner 'sily-n'. Did you mean 'silly-n'?"),
        (["xor-xnor", "--engine", "cloud"], "engine='cloud' is unknown"),
    ],
)
def test_what_is_unknown_or_missing_is_one_line_and_exit_code_1(arguments, problem, tmp_path):
    done = invoke("run", *arguments, "--data-dir", tmp_path / "nothing", "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert problem in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_report_is_one_page_with_files_beside_it(whole, tmp_path):
    done = invoke("report", whole, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert {"strip.svg", "strip.png", "matrices.svg"} <= {
        path.name for path in (tmp_path / "figures").iterdir()
    }


MARKS = "# A page\n<!-- measured: begin -->\n<!-- measured: end -->\n"


def test_for_a_page_a_report_writes_what_the_page_shows_and_packed_rows(whole, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(MARKS)
    out = tmp_path / "results"
    figures = out / "figures"
    assert invoke("report", whole, "--out", out).exit_code == 0
    assert {"strip.png", "matrices.svg"} <= {path.name for path in figures.iterdir()}
    (out / "report.html").unlink()
    done = invoke("report", whole, "--out", out, "--page", page)
    assert done.exit_code == 0, done.output
    numbers = {"rows.jsonl.gz", "spec.json", "summary.json", "table.csv", "tasks.csv"}
    assert {path.name for path in out.iterdir()} == {*numbers, "figures"}
    shown = {path.name for path in figures.iterdir()}
    assert shown == set(re.findall(r"results/figures/([\w-]+\.svg)", page.read_text()))
    assert "strip.svg" in shown
    assert Store(out).rows() == Store(whole).rows()
    again = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert invoke("report", out, "--out", out, "--page", page).exit_code == 0
    assert again == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_a_run_takes_rows_over_from_a_folder_that_a_report_has_written(whole, tmp_path):
    assert invoke("report", whole, "--out", tmp_path / "results").exit_code == 0
    done = invoke(*FAST, "--out", tmp_path / "run", "--reuse", tmp_path / "results")
    assert done.exit_code == 0, done.output
    assert "Taken over from other runs: 62 rows, nothing left to do." in done.output
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == json.loads(
        (whole / "summary.json").read_text()
    )


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--open"], "--page does not write"),
        (["another"], "--page is for one experiment, and these are 2"),
    ],
)
def test_a_page_is_for_one_experiment_and_is_no_report_to_open(more, problem, whole, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(MARKS)
    store = Store(tmp_path / "another")
    store.write_spec(replace(Store(whole).read_spec(), experiment="another"))
    store.write_packed(Store(whole).rows())
    more = [store.folder if one == "another" else one for one in more]
    done = invoke("report", whole, *more, "--out", tmp_path / "results", "--page", page)
    assert done.exit_code == 1
    assert problem in done.stderr
    assert page.read_text() == MARKS


def test_several_runs_are_compared_side_by_side(whole, tmp_path):
    other = tmp_path / "second"
    assert invoke(*FAST, "--seed", 5, "--out", other).exit_code == 0
    done = invoke("report", whole, other, "--out", tmp_path / "both")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "both" / "report.html").read_text()
    assert f"silly-f · {whole.name}" in text
    assert "silly-f · second" in text
    assert text.count("<main") == 1


def test_a_report_on_something_else_is_one_line(tmp_path):
    done = invoke("report", tmp_path)
    assert done.exit_code == 1
    assert "is no run directory: it has no spec.json" in done.stderr


def test_help_has_examples_and_list_names_every_experiment():
    environment = {**os.environ, "COLUMNS": "120"}
    shown = CliRunner(env=environment).invoke(app, ["run", "--help"]).output
    assert "lifelong run xor-xnor --repetitions 10" in shown
    listed = CliRunner(env=environment).invoke(app, ["list", "experiments"]).output
    for name in (
        "xor-xnor",
        "cifar-10x10",
        "food1k-budget",
        "adversarial-rotation",
        "resources",
        "demo",
    ):
        assert name in listed


def test_the_list_of_experiments_says_what_was_measured_how_often_and_when():
    environment = {**os.environ, "COLUMNS": "200"}
    listed = CliRunner(env=environment).invoke(app, ["list", "experiments"]).output
    lines = {line.split("│")[0].strip(): line for line in listed.splitlines() if "│" in line}
    assert "measured: 100 repetitions, 20" in lines["best-xor"]
    assert "no committed results" in lines["food1k-50x20"]
