"""The race over tables, on two tiny tables: every part runs, and what is measured is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks import table_report, table_stack, tables
from benchmarks.table_data import Draw, arriving_task, no_rows, related_tasks, rows_of_each_class
from benchmarks.table_stack import mixing_weights

QUICK = ["own logistic", "pooled logistic", "stacked prototype"]
QUICK_NUMBERS = ["own ridge", "pooled ridge", "mixed effects"]


@pytest.fixture(autouse=True)
def tiny_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A table of classes with text and holes, and one of numbers, both of three tasks."""
    rng = np.random.default_rng(0)
    n = 150
    task = np.array(["a", "b", "c"])[np.arange(n) % 3]
    dose = rng.normal(size=n)
    ill = np.where(dose + rng.normal(scale=0.5, size=n) > 0, "yes", "no")
    pain = rng.choice(["none", "some"], size=n).astype(object)
    pain[::9] = None
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    heart = pd.DataFrame({"hospital": task, "dose": dose, "age": age, "pain": pain, "disease": ill})
    school = pd.DataFrame(
        {"school": task, "x0": dose, "x1": age, "score": 3 * dose + (task == "a")}
    )
    folder = tmp_path / "tables"
    folder.mkdir()
    heart.to_csv(folder / "heart.csv.gz", index=False)
    school.to_csv(folder / "school.csv.gz", index=False)
    monkeypatch.setattr(table_stack, "N_TREES", 20)
    monkeypatch.setattr(table_stack, "_FORESTS", {})
    monkeypatch.setenv("LIFELONG_DATA", str(tmp_path))
    tables.cached_table.cache_clear()
    yield
    tables.cached_table.cache_clear()


def measured(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("part", ["tasks", "new", "unseen", "one-class", "numbers"])
def test_each_part_measures_ours_beside_its_rivals(part: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    cell = next(iter(tables.cells([part], ["heart", "school"], [20], [0])))
    tables.run(file, [cell], only=["ours", *QUICK, *QUICK_NUMBERS])
    rows = measured(file)
    assert not [row for row in rows if "error" in row]
    expected = {"ours", *QUICK}
    if part == "numbers":
        expected = {"ours", *QUICK_NUMBERS}
    if part == "unseen":
        expected = {"ours", "pooled logistic"}
    assert {row["learner"] for row in rows} == expected
    best = {row["learner"]: row.get("relative_rmse", row.get("log_loss")) for row in rows}
    assert best["ours"] < 1


def test_every_rival_answers_every_row() -> None:
    draw = related_tasks(tables.cached_table("heart", False), 20, 0)
    learners, _ = tables.learners_of("tasks")
    for name, learner in learners.items():
        answers = learner(draw)
        assert answers.shape == (len(draw.test), 2), name
        np.testing.assert_allclose(answers.sum(axis=1), 1, atol=1e-6, err_msg=name)


def test_a_cell_that_is_there_is_not_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    cells = list(tables.cells(["tasks"], ["heart"], [20], [0]))
    assert tables.run(file, cells, only=["own logistic"]) == 1
    assert tables.run(file, cells, only=["own logistic"]) == 0
    with file.open("a") as lines:
        lines.write('{"part": "tas')  # a run that was stopped in the middle of a line
    assert tables.run(file, cells, only=["own logistic", "pooled logistic"]) == 1
    assert [row["learner"] for row in measured(file)] == ["own logistic", "pooled logistic"]


def test_ours_is_measured_again_when_its_code_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.jsonl"
    cells = list(tables.cells(["tasks"], ["heart"], [20], [0]))
    assert tables.run(file, cells, only=["ours"]) == 1
    assert tables.run(file, cells, only=["ours"]) == 0
    monkeypatch.setattr(tables, "code_of_package", lambda: "of tomorrow")
    assert tables.run(file, cells, only=["ours"]) == 1
    kept = table_report.latest(table_report.read_rows(file))
    assert [row["code"] for row in kept] == ["of tomorrow"]


def test_training_and_test_rows_are_disjoint_and_the_unseen_task_has_no_row() -> None:
    table = tables.cached_table("heart", False)
    new = arriving_task(table, "b", rows_of_each_class, seed=0)
    unseen = arriving_task(table, "b", no_rows, seed=0)
    for draw in (related_tasks(table, 20, 0), new, unseen):
        assert not set(draw.train) & set(draw.test)
    assert set(new.test_tasks) == {"b"}
    assert "b" not in unseen.train_tasks
    assert np.array_equal(new.test, unseen.test)
    assert np.bincount(new.y[new.train_tasks == "b"]).tolist() == [5, 5]


def test_what_rivals_read_of_test_rows_does_not_depend_on_other_test_rows() -> None:
    table = tables.cached_table("heart", False)
    draw = related_tasks(table, 20, 0)
    fewer = Draw(table, draw.train, draw.test[:10], 0)
    np.testing.assert_array_equal(draw.matrix_with_task[1][:10], fewer.matrix_with_task[1])
    np.testing.assert_array_equal(draw.matrix_with_task[0], fewer.matrix_with_task[0])


def test_mixing_weights_prefer_the_opinion_that_is_right() -> None:
    y = np.array([0, 1] * 20)
    right = np.where(np.eye(2)[y] > 0, 0.8, 0.2)
    logs = np.log([right, 1 - right])
    weights = mixing_weights(logs, y, np.full(2, 0.5), pull=2.0)
    assert weights[0] > 1
    assert weights[1] == pytest.approx(0, abs=1e-6)


def test_the_report_compares_ours_with_the_best_rival_seed_by_seed(tmp_path: Path) -> None:
    rows = [
        {
            "part": "tasks",
            "table": "heart",
            "rows": 20,
            "seed": seed,
            "split": "random",
            "task": "",
            "learner": learner,
            "accuracy": accuracy + seed / 10,
        }
        for seed in range(3)
        for learner, accuracy in {"ours": 0.6, "good": 0.5, "poor": 0.3}.items()
    ]
    text = table_report.write(rows, tmp_path)
    found = json.loads((tmp_path / "summary.json").read_text())["tasks"]["accuracy"]
    assert found["means"]["ours"] == [0.7, round(0.1 / np.sqrt(3), 5)]
    assert found["verdicts"]["good"] == {"win": 1, "tie": 0, "loss": 0}
    best = found["against_best"][0]
    assert (best["best_rival"], best["gain"], best["standard_error"]) == ("good", 0.1, 0.0)
    assert "| **ours** | 0.700 ± 0.058 |" in text
    assert (tmp_path / "rows.jsonl.gz").exists()
    assert len(pd.read_csv(tmp_path / "table.csv")) == 3
