"""``lifelong learn`` and ``lifelong predict`` on raw tables: text, holes, a task per row."""

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lifelong import LifelongClassifier, load
from lifelong.cli import app

N = 60


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.output


def a_table(n=N, seed=0, sites=("Lyon", "Turin")):
    """Text, a date, holes, a number; the label depends on the dose."""
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=n).round(3)
    frame = pd.DataFrame(
        {
            "site": rng.choice(sites, n),
            "dose": dose,
            "sex": rng.choice(["f", "m"], n),
            "seen": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "ill": np.where(dose > 0, "yes", "no"),
        }
    )
    frame.loc[3, "sex"] = None
    frame.loc[5, "dose"] = None
    return frame


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    a_table().to_csv(path, index=False)
    return path


@pytest.fixture
def model(tmp_path, file):
    folder = tmp_path / "model"
    run("learn", folder, "--input", file, "--task-column", "site", "--label-column", "ill")
    return folder


def lines(text):
    found = [line for line in text.splitlines() if "," in line or line in ("label", "yes", "no")]
    return list(csv.reader(found))


def test_the_shell_learns_what_python_learns(model, file):
    frame = pd.read_csv(file)
    ours = LifelongClassifier("site", random_state=0)
    ours.fit(frame.drop(columns="ill"), frame["ill"])
    rows = frame.drop(columns="ill")
    np.testing.assert_array_equal(load(model).predict_proba(rows), ours.predict_proba(rows))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_other_delimiters_and_gzip_give_the_same_model(tmp_path, model, delimiter, packed):
    path = tmp_path / "other.csv"
    a_table().to_csv(path, index=False, sep=delimiter)
    if packed:
        path = tmp_path / "other.csv.gz"
        path.write_bytes(gzip.compress((tmp_path / "other.csv").read_bytes()))
    other = tmp_path / "other"
    run("learn", other, "--input", path, "--task-column", "site", "--label-column", "ill")
    rows = a_table().drop(columns="ill")
    np.testing.assert_array_equal(load(other).predict_proba(rows), load(model).predict_proba(rows))


def test_parquet_is_read_as_well(tmp_path, model):
    path = tmp_path / "rows.parquet"
    a_table().to_parquet(path)
    other = tmp_path / "other"
    run("learn", other, "--input", path, "--task-column", "site", "--label-column", "ill")
    rows = a_table().drop(columns="ill")
    np.testing.assert_array_equal(load(other).predict(rows), load(model).predict(rows))


def test_the_same_file_twice_changes_nothing(model, file):
    before = (model / "manifest.json").read_bytes()
    said = run("learn", model, "--input", file, "--label-column", "ill")
    assert "learnt before" in said
    assert (model / "manifest.json").read_bytes() == before


def test_more_rows_bring_new_tasks_columns_and_categories(tmp_path, model):
    more = a_table(40, seed=1, sites=("Lyon", "Oslo")).assign(weight=np.arange(40.0))
    more.loc[0, "sex"] = "x"
    path = tmp_path / "more.csv"
    more.to_csv(path, index=False)
    said = run("learn", model, "--input", path, "--label-column", "ill")
    assert "Oslo" in said
    learnt = load(model)
    assert set(learnt.tasks_) == {"Lyon", "Turin", "Oslo"}
    assert "weight" in learnt.columns_.by_name
    assert sorted(learnt.columns_.by_name["sex"].categories) == ["f", "m", "x"]


def test_a_dry_run_says_what_would_happen_and_writes_nothing(tmp_path, file):
    frame = a_table()
    frame.loc[0, "ill"] = "Yes "
    frame.to_csv(file, index=False)
    folder = tmp_path / "model"
    said = run(
        *("learn", folder, "--input", file, "--task-column", "site"),
        *("--label-column", "ill", "--dry-run"),
    )
    assert not folder.exists()
    for words in ("dose", "number", "category", "date", "'Yes ', 'yes'", "2 tasks", "Lyon"):
        assert words in said


def test_predict_reads_the_very_file_that_was_learnt_from(model, file):
    said = lines(run("predict", model, "--input", file, "--proba"))
    assert said[0] == ["label", "p_no", "p_yes"]
    expected = load(model).predict(a_table().drop(columns="ill")).tolist()
    assert [row[0] for row in said[1 : N + 1]] == expected


def test_batches_do_not_change_answers(model, file):
    whole = run("predict", model, "--input", file, "--proba")
    some = run("predict", model, "--input", file, "--proba", "--batch-size", 7)
    assert lines(some)[: N + 1] == lines(whole)[: N + 1]


def test_one_task_for_all_rows(tmp_path, model):
    path = tmp_path / "no-site.csv"
    a_table().drop(columns=["site", "ill"]).to_csv(path, index=False)
    said = lines(run("predict", model, "--input", path, "--task", "Turin"))
    expected = load(model).predict(a_table().drop(columns="ill").assign(site="Turin")).tolist()
    assert [row[0] for row in said[1 : N + 1]] == expected


def test_rows_of_an_unseen_task_are_answered(tmp_path, model):
    path = tmp_path / "rows.csv"
    a_table(sites=("Oslo",)).to_csv(path, index=False)
    assert len(lines(run("predict", model, "--input", path))) >= N + 1


def test_numbers_with_an_interval(tmp_path):
    frame = a_table().dropna(subset="dose")
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    folder = tmp_path / "model"
    run(
        *("learn", folder, "--input", path, "--task-column", "site"),
        *("--label-column", "dose", "--target", "number"),
    )
    said = lines(run("predict", folder, "--input", path, "--interval", 0.9))
    assert said[0] == ["prediction", "lower", "upper"]
    numbers = np.array(said[1 : len(frame) + 1], dtype=float)
    assert (numbers[:, 1] <= numbers[:, 0]).all()
    assert (numbers[:, 0] <= numbers[:, 2]).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--label-column", "il"], "Did you mean 'ill'?"),
        (["--label-column", "ill", "--task-column", "sight"], "was learnt with --task-column site"),
        (["--label-column", "ill", "--target", "number"], "holds a model of classes"),
        (["--label-column", "ill", "--task", "Lyon"], "task"),
    ],
)
def test_wrong_words_are_explained_and_change_nothing(tmp_path, model, arguments, words):
    path = tmp_path / "new.csv"
    a_table(seed=3).to_csv(path, index=False)
    before = (model / "manifest.json").read_bytes()
    assert words in run("learn", model, "--input", path, *arguments, code=1).replace("\n", " ")
    assert (model / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "", "is empty"),
        (lambda text: text.splitlines()[0], "no rows"),
        (lambda text: text.replace("sex", "dose", 1), "two columns called 'dose'"),
        (lambda text: "\n".join(text.splitlines()[1:]).replace("Lyon", "1"), "no label column"),
        (lambda text: text + "Lyon,1\n", "cells"),
        (lambda text: text + 'Lyon,1,f,2024-01-01,"', "not a readable CSV file"),
        (lambda text: text.replace(text.splitlines()[4], text.splitlines()[4] + "\udcff"), "CSV"),
        (lambda text: text.replace("Lyon", "", 1), "task column 'site' is empty in 1 rows"),
        (lambda text: text.replace(",yes\n", ",\n", 1), "missing in 1 rows"),
    ],
)
def test_bad_files_are_explained(tmp_path, file, change, words):
    text = change(file.read_text())
    file.write_text(text, errors="surrogateescape")
    said = run(
        *("learn", tmp_path / "m", "--input", file, "--task-column", "site"),
        *("--label-column", "ill"),
        code=1,
    )
    assert words in said.replace("\n", " ")
    assert not (tmp_path / "m").exists() or not any((tmp_path / "m").iterdir())


def test_a_number_column_with_text_names_row_and_column(tmp_path, model):
    frame = a_table(seed=4).astype({"dose": object})
    frame.loc[7, "dose"] = "much"
    path = tmp_path / "new.csv"
    frame.to_csv(path, index=False)
    said = run("learn", model, "--input", path, "--label-column", "ill", code=1).replace("\n", " ")
    assert "'dose'" in said
    assert "'much'" in said or "text" in said


def test_a_learner_of_the_paper_is_not_taught_by_learn(tmp_path, file):
    from lifelong import SillyForest, save

    folder = tmp_path / "silly"
    save(SillyForest(random_state=0).fit([[0.0], [1.0]] * 5, ["no", "yes"] * 5), folder)
    said = run("learn", folder, "--input", file, "--label-column", "ill", code=1)
    assert "SillyForest" in said


def test_the_version_is_shown():
    assert run("--version").startswith("lifelong ")


REAL_TABLES = {
    "heart": ("hospital", "disease", "class"),
    "adult": ("occupation", "income", "class"),
    "beijing": ("station", "PM2.5", "number"),
    "vowel": ("speaker", "vowel", "class"),
    "amazon": ("domain", "review", "class"),
    "school": ("school", "score", "number"),
}


def parts_of(name, folder, n_tasks=3, n_rows=40):
    """An earlier and a later part of some tasks' rows, as files like the real one."""
    path = Path(os.environ["LIFELONG_DATA"]) / "tables" / f"{name}.csv.gz"
    task = REAL_TABLES[name][0]
    with gzip.open(path, "rt", newline="") as file:
        header, *lines = csv.reader(file)
    place = header.index(task)
    chosen = list(dict.fromkeys(line[place] for line in lines))[:n_tasks]
    parts = [folder / "earlier.csv.gz", folder / "later.csv.gz"]
    by_task = {name: [line for line in lines if line[place] == name] for name in chosen}
    for number, part in enumerate(parts):
        start = number * n_rows // 2
        rows = [row for found in by_task.values() for row in found[start : start + n_rows // 2]]
        with gzip.open(part, "wt", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return parts


@pytest.mark.data
@pytest.mark.parametrize("name", REAL_TABLES)
def test_a_real_table_is_learnt_grown_answered_and_measured_from_the_shell(name, tmp_path):
    task, label, target = REAL_TABLES[name]
    earlier, later = parts_of(name, tmp_path)
    folder = tmp_path / "model"
    columns = ("--task-column", task, "--label-column", label)
    run("learn", folder, "--input", earlier, *columns, "--target", target)
    said = run("predict", folder, "--input", later, "--out", tmp_path / "answers.csv")
    n_rows = len(pd.read_csv(later))
    assert f"{n_rows:,} rows" in said
    assert len(pd.read_csv(tmp_path / "answers.csv")) == n_rows
    measured = run("health", folder, "--input", later, "--label-column", label)
    assert "mean over tasks" in measured
    run("learn", folder, "--input", later, *columns)
    assert "learnt before" in run("learn", folder, "--input", later, *columns)
    n_learnt = sum(record.n_rows for record in load(folder).tasks_.values())
    assert n_learnt == len(pd.read_csv(earlier)) + n_rows
    run("inspect", folder)


@pytest.mark.parametrize("is_new", [False, True])
def test_of_two_commands_that_teach_one_model_at_once_none_loses_the_others_rows(
    tmp_path, file, is_new
):
    """The slow one has looked at the model when the other one begins: its rows come by a pipe."""
    folder, pipe = tmp_path / "model", tmp_path / "pipe"
    columns = ("--task-column", "site", "--label-column", "ill")
    if not is_new:
        run("learn", folder, "--input", file, *columns)
    other = tmp_path / "other.csv"
    a_table(seed=1, sites=("Nice",)).to_csv(other, index=False)
    os.mkfifo(pipe)
    command = [sys.executable, "-c", "from lifelong.cli import app; app()"]
    slow = subprocess.Popen(
        [*command, "learn", folder, "--input", pipe, *columns], stderr=subprocess.PIPE, text=True
    )
    with pipe.open("w") as rows:  # opens when the other side reads
        run("learn", folder, "--input", other, *columns)
        a_table(seed=2, sites=("Metz",)).to_csv(rows, index=False)
    said = slow.communicate()[1]
    assert slow.returncode == 1
    assert "Another process has saved" in " ".join(said.split())
    assert "Nice" in load(folder).tasks_
    assert "Metz" not in load(folder).tasks_
    run("learn", folder, "--input", file, *columns)
    assert {"Lyon", "Turin", "Nice"} == set(load(folder).tasks_)


def test_a_misspelt_column_is_a_warning_in_the_shell_too(tmp_path, model):
    more = tmp_path / "more.csv"
    a_table(20, seed=1).rename(columns={"dose": "dosis"}).to_csv(more, index=False)
    said = run("learn", model, "--input", more, "--label-column", "ill", "--dry-run")
    assert "'dosis' (did you mean 'dose'?)" in " ".join(said.split())
    said = run("learn", model, "--input", more, "--label-column", "ill")
    assert said.count("did you mean") == 1
