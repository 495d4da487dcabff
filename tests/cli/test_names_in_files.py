"""Labels and tasks in files: the same word is the same name, whatever stands beside it."""

import numpy as np
import pandas as pd
import pytest

from cli.test_learn import run
from lifelong import LifelongClassifier, load, save

WORDS = ["--task-column", "site", "--label-column", "y"]


def written(path, sites, labels, n=40, seed=0, **options):
    """Rows of sites whose label depends on ``x``."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    site = np.array(sites, dtype=object)[np.arange(n) % len(sites)]
    y = [labels[int(value > 0)] for value in x]
    for place, label in enumerate(labels[2:]):
        y[place] = label
    pd.DataFrame({"site": site, "x": x, "y": y}).to_csv(path, index=False, **options)
    return path


@pytest.fixture
def rows(tmp_path):
    return written(tmp_path / "rows.csv", ["1", "2"], ["0", "1"])


@pytest.fixture
def model(tmp_path, rows):
    run("learn", tmp_path / "model", "--input", rows, *WORDS)
    return tmp_path / "model"


def answers(text):
    """The labels and probabilities that were printed, one list per row, and the titles."""
    found = [line.split(",") for line in text.splitlines() if line and " " not in line]
    return found[0], found[1:]


def test_a_word_beside_numbers_makes_no_other_classes_and_tasks_of_them(tmp_path, model):
    more = written(tmp_path / "more.csv", ["1", "2", "3b"], ["0", "1", "maybe"], seed=1)
    run("learn", model, "--input", more, "--label-column", "y")
    learnt = load(model)
    assert list(learnt.tasks_) == [1, 2, "3b"]
    assert set(learnt.classes_.tolist()) == {0, 1, "maybe"}


def test_numbers_that_began_beside_a_word_stay_text(tmp_path):
    first = written(tmp_path / "first.csv", ["1", "3b"], ["0", "1", "maybe"])
    then = written(tmp_path / "then.csv", ["1"], ["0", "1"], seed=1)
    run("learn", tmp_path / "model", "--input", first, *WORDS)
    run("learn", tmp_path / "model", "--input", then, "--label-column", "y")
    learnt = load(tmp_path / "model")
    assert list(learnt.tasks_) == ["1", "3b"]
    assert learnt.classes_.tolist() == ["0", "1", "maybe"]


def test_a_word_in_some_batch_changes_no_answer_to_other_rows(tmp_path, model):
    asked = written(tmp_path / "asked.csv", ["1"] * 20 + ["2"] * 19 + ["new"], ["0", "1"])
    whole = run("predict", model, "--input", asked, "--proba")
    some = run("predict", model, "--input", asked, "--proba", "--batch-size", 7)
    assert answers(some) == answers(whole)
    learnt = load(model)
    x = pd.read_csv(asked)[["x"]]
    sites = [1] * 20 + [2] * 19 + ["new"]
    expected = learnt.predict_proba(x.assign(site=np.array(sites, dtype=object)))
    found = np.array(answers(whole)[1], dtype=float)[:, 1:]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_zeros_before_a_number_are_kept_in_names(tmp_path):
    first = written(tmp_path / "first.csv", ["01", "02"], ["007", "008"])
    run("learn", tmp_path / "model", "--input", first, *WORDS)
    learnt = load(tmp_path / "model")
    assert list(learnt.tasks_) == ["01", "02"]
    assert learnt.classes_.tolist() == ["007", "008"]
    titles, found = answers(run("predict", tmp_path / "model", "--input", first, "--task", "01"))
    assert titles == ["label"]
    assert {label for (label,) in found} <= {"007", "008"}


def test_true_and_false_stay_labels_of_that_name(tmp_path):
    first = written(tmp_path / "first.csv", ["a", "b"], ["False", "True"])
    then = written(tmp_path / "then.csv", ["a", "b"], ["FALSE", "TRUE"], seed=1)
    run("learn", tmp_path / "model", "--input", first, *WORDS)
    run("learn", tmp_path / "model", "--input", then, "--label-column", "y")
    assert load(tmp_path / "model").classes_.tolist() == [False, True]
    titles, _ = answers(run("predict", tmp_path / "model", "--input", first, "--proba"))
    assert titles == ["label", "p_False", "p_True"]


def test_a_model_of_python_finds_its_names_in_a_file(tmp_path, rows):
    frame = pd.read_csv(rows, dtype={"site": str}).assign(y=lambda found: found.y.astype(float))
    ours = LifelongClassifier("site", n_estimators=4, random_state=0)
    save(ours.fit(frame[["site", "x"]], frame.y), tmp_path / "ours")
    more = written(tmp_path / "more.csv", ["1", "2"], ["0", "1"], seed=1)
    run("learn", tmp_path / "ours", "--input", more, "--label-column", "y")
    learnt = load(tmp_path / "ours")
    assert list(learnt.tasks_) == ["1", "2"]
    assert learnt.classes_.tolist() == [0.0, 1.0]


def test_measurements_are_no_labels(tmp_path):
    file = written(tmp_path / "rows.csv", ["a"], ["0.5", "1.25"])
    said = run("learn", tmp_path / "model", "--input", file, *WORDS, code=1).replace("\n", " ")
    assert "holds fractions, such as" in said
    assert "--target number" in said


def test_similar_tasks_are_named_in_a_warning(tmp_path, rows):
    first = written(tmp_path / "first.csv", ["Oslo", "Lyon"], ["0", "1"])
    then = written(tmp_path / "then.csv", ["oslo "], ["0", "1"], seed=1)
    run("learn", tmp_path / "model", "--input", first, *WORDS)
    asked = run("predict", tmp_path / "model", "--input", then).replace("\n", " ")
    assert asked.count("warning: Task 'oslo ' is not known") == 1
    said = run("learn", tmp_path / "model", "--input", then, "--label-column", "y")
    assert "warning: Task 'oslo '" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda frame: frame.assign(x=frame.x.astype(object).where(frame.index != 7, "old")),
            "'x'",
        ),
        (lambda frame: frame.assign(x=frame.x.where(frame.index != 7, np.inf)), "infinite"),
    ],
)
@pytest.mark.parametrize("size", [3, 8, 100])
def test_rows_count_from_one_below_the_header_in_every_batch(tmp_path, model, change, words, size):
    file = tmp_path / "bad.csv"
    change(pd.DataFrame({"site": 1, "x": np.arange(40) / 4})).to_csv(file, index=False)
    arguments = ["--input", file, "--batch-size", size, "--out", tmp_path / "out.csv"]
    said = run("predict", model, *arguments, code=1).replace("\n", " ")
    assert words in said
    assert "row 8" in said
    assert not (tmp_path / "out.csv").exists()


def test_missing_tasks_and_labels_are_named_by_row_and_file(tmp_path, model):
    file = tmp_path / "bad.csv"
    frame = pd.DataFrame({"site": [1.0] * 6 + [None], "x": 1.5, "y": [0.0, None] + [1.0] * 5})
    frame.to_csv(file, index=False)
    for more in ([], ["--dry-run"]):
        said = run("learn", model, "--input", file, "--label-column", "y", *more, code=1)
        assert "label column 'y' is missing in 1 rows (2)" in said.replace("\n", " ")
    said = run("predict", model, "--input", file, "--batch-size", 4, code=1).replace("\n", " ")
    assert "task column 'site' is empty in 1 rows (7)" in said


def test_text_in_a_column_of_numbers_is_named_by_row_when_it_is_the_target(tmp_path, rows):
    rows.write_text(rows.read_text().replace("\n1,", "\n1,old", 1))
    arguments = ["--label-column", "x", "--target", "number", "--task-column", "site"]
    said = run("learn", tmp_path / "m", "--input", rows, *arguments, code=1).replace("\n", " ")
    assert "holds text in row 1: 'old" in said


def test_a_typing_error_in_a_new_column_is_a_warning(tmp_path):
    file = tmp_path / "rows.csv"
    x = [str(number) for number in range(39)]
    pd.DataFrame({"site": "a", "x": [*x, "old"], "y": [0, 1] * 20}).to_csv(file, index=False)
    said = run("learn", tmp_path / "m", "--input", file, *WORDS, "--dry-run").replace("\n", " ")
    assert "warning: Column 'x'" in said
    assert "row 40 has 'old'" in said


def test_decimal_commas_are_numbers_where_cells_are_not_separated_by_commas(tmp_path, rows, model):
    european = written(
        tmp_path / "european.csv", ["1", "2"], ["0", "1"], sep=";", decimal=",", seed=0
    )
    other = tmp_path / "other"
    run("learn", other, "--input", european, *WORDS)
    assert load(other).columns_.by_name["x"].kind == "number"
    found = answers(run("predict", other, "--input", european))
    assert found == answers(run("predict", model, "--input", rows))


def test_a_name_in_quotes_may_hold_line_breaks_and_delimiters(tmp_path):
    file = tmp_path / "rows.csv"
    rows = "".join(f"a,{number},{number % 2}\n" for number in range(20))
    file.write_text('site,"dose;in;mg;\nper day",y\n' + rows)
    run("learn", tmp_path / "m", "--input", file, *WORDS)
    assert list(load(tmp_path / "m").columns_.by_name) == ["dose;in;mg;\nper day"]


def test_an_empty_line_among_rows_is_refused_and_at_the_end_is_not(tmp_path, model, rows):
    text = rows.read_text()
    rows.write_text(text + "\n\n")
    assert len(answers(run("predict", model, "--input", rows))[1]) == 40
    lines = text.splitlines()
    rows.write_text("\n".join([*lines[:3], "", *lines[3:]]))
    said = run("predict", model, "--input", rows, code=1).replace("\n", " ")
    assert "has an empty line after row 2" in said
    assert "label" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["learn", "rows.csv", "--label-column", "y"], "rows.csv is a file"),
        (
            ["learn", "new", "--label-column", "y", "--task-column", "y"],
            "label column and the task",
        ),
        (["learn", "model", "--label-column", "y", "--task", "1"], "leave --task out"),
        (["predict", "model", "--task-column", "sit"], "Did you mean 'site'?"),
    ],
)
def test_wrong_words_are_explained_before_anything_is_learnt_or_printed(
    tmp_path, model, rows, arguments, words
):
    command, folder, *more = arguments
    said = run(command, tmp_path / folder, "--input", rows, *more, code=1).replace("\n", " ")
    assert words in said.replace(f"{tmp_path}/", "")
    assert "label\n" not in said


def test_a_dry_run_names_new_labels(tmp_path, model):
    more = written(tmp_path / "more.csv", ["1"], ["0", "1", "maybe"], seed=1)
    said = run("learn", model, "--input", more, "--label-column", "y", "--dry-run")
    assert "1 new labels: maybe" in said
