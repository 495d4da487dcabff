"""The command line as a person meets it."""

import os
import subprocess
import sys
from pathlib import Path

FAST = ("--repetitions", "1", "--n-jobs", "1")


def lifelong(*arguments, columns="80", timeout=300):
    command = [str(Path(sys.executable).with_name("lifelong")), *arguments]
    environment = {**os.environ, "COLUMNS": columns, "NO_COLOR": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, env=environment
    )


def test_help_names_the_commands():
    done = lifelong("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "list" in done.stdout


def test_list_names_learners_and_datasets():
    done = lifelong("list")
    assert done.returncode == 0, done.stderr
    for name in ("silly-f", "silly-n", "digits", "demo"):
        assert name in done.stdout
    assert "silly-f" not in lifelong("list", "datasets").stdout


def test_a_typo_is_one_line_and_a_non_zero_exit():
    done = lifelong("list", "leaners")
    assert done.returncode == 1
    assert "kind='leaners' is unknown" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_prints_a_table_that_fits_and_writes_its_figures(tmp_path):
    done = lifelong(
        "demo", "--out", str(tmp_path / "figures"), "--learners", "silly-f,silly-n", *FAST
    )
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in (
        "accuracy",
        "single",
        "reference",
        "FT",
        "BT",
        "gain",
        "one table",
        "lifelong",
        "pooled-rf",
        "XOR → XNOR",
        "digits",
        "silly-f",
        "silly-n",
    ):
        assert word in done.stdout
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {
        f"{name}.{kind}" for name in ("data", "error", "transfer") for kind in ("svg", "png")
    } | {"table.csv"}
    assert all(path.stat().st_size > 1000 for path in (tmp_path / "figures").iterdir())
