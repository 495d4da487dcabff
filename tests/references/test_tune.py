"""Tuning: as many trials for everybody, on rows of their own, and nothing is measured twice."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import tune
from benchmarks.tuning_stream import class_order, split, unused
from tiny_references import make_stream

from lifelong.references import LEARNERS
from lifelong.references.tuned import TUNED, with_tuned

SHORT = {"recipe": {"epochs": 2, "batch_size": 16, "lr": 0.01}, "network": (8,)}
FEW = tune.Race(n_tasks=3)


@pytest.fixture
def spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tune.SPACES, "none", tune.of_network(SHORT))
    monkeypatch.setitem(
        tune.SPACES, "rf", tune.Space({"n_estimators": 3}, {"n_estimators": [2, 3, 5]})
    )
    monkeypatch.setattr(tune.Race, "stream", lambda self, data_dir: make_stream((8,)))


@pytest.mark.parametrize("name", tune.SPACES)
def test_every_learner_gets_eight_different_trials_and_the_first_is_todays(name: str) -> None:
    trials = tune.SPACES[name].trials(name, 8)
    assert len({json.dumps(settings, sort_keys=True) for settings in trials}) == 8
    assert trials[0] == tune.SPACES[name].base
    assert trials == tune.SPACES[name].trials(name, 8)
    with pytest.raises(ValueError, match="trials are wanted"):
        tune.SPACES[name].trials(name, 1000)


def test_every_reference_and_control_and_ours_are_tuned() -> None:
    cannot = {"nearest-mean", "chance"}  # have nothing to choose
    cannot |= {"companions-n", "companions-f"}  # arms of silly-n-best and silly-f-best
    cannot |= {"lifelong", "lifelong-number", "table-rf", "pooled-rf"}  # read tables, not images
    cannot |= {"table-lightgbm", "pooled-lightgbm", "pooled-catboost", "table-silly-f-best"}
    assert set(tune.SPACES) == {name for name in LEARNERS if name not in cannot}


def test_trials_go_on_where_they_stopped_and_the_page_shows_the_best(
    tmp_path: Path, spaces: None
) -> None:
    file = tmp_path / "trials.jsonl"
    tune.tune(["none", "rf"], 2, FEW, file)
    before = file.read_text()
    with file.open("a") as broken:
        broken.write('{"learner": "rf", "tri')  # killed while it wrote
    assert len(tune.read_trials(file)) == 4
    file.write_text(before)
    tune.tune(["none", "rf"], 3, FEW, file)
    trials = tune.read_trials(file)
    assert file.read_text().startswith(before)  # nothing is measured twice
    assert [(trial["learner"], trial["trial"]) for trial in trials] == [
        ("none", 0),
        ("rf", 0),
        ("none", 1),
        ("rf", 1),
        ("none", 2),
        ("rf", 2),
    ]
    best = tune.chosen(trials)
    for name in ("none", "rf"):
        assert best[name]["accuracy"] == max(
            trial["accuracy"] for trial in trials if trial["learner"] == name
        )
    assert f"| rf | 3 | {best['rf']['accuracy']:.3f} |" in tune.page(trials)


def test_the_tuning_stream_shares_no_row_with_tables_and_learns_from_none_that_judges() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(60, 3, 2, 2), dtype=np.uint8)
    y = np.arange(60) % 3
    X[59] = X[0]  # a duplicate of a row that is used
    free = unused(X, {row.tobytes() for row in X[:12]})
    assert free.tolist() == list(range(12, 59))
    learn, judge = split(y, free, np.array([0, 2]), 5, 4)
    assert not {*learn.tolist()} & {*judge.tolist()}
    assert np.bincount(y[learn]).tolist() == [5, 0, 5]
    assert np.bincount(y[judge]).tolist() == [4, 0, 4]
    with pytest.raises(ValueError, match="free rows"):
        split(y, free, np.array([0]), 40, 4)


def test_the_tuning_streams_tasks_have_other_classes_together_than_tables_have() -> None:
    groups = class_order(np.arange(100))
    assert sorted(np.concatenate(groups).tolist()) == list(range(100))
    tables = [set(range(start, start + 10)) for start in range(0, 100, 10)]
    assert max(len(set(group.tolist()) & table) for group in groups for table in tables) < 6


def test_what_is_tuned_is_a_setting_of_its_learner() -> None:
    for name, settings in TUNED.items():
        known = LEARNERS[name](0).get_params()
        assert set(settings) <= set(known), name


def test_tuned_values_take_the_place_of_others_within_a_recipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = {"ewc": {"strength": 7.0, "recipe": {"lr": 0.5}}}
    monkeypatch.setattr("lifelong.references.tuned.TUNED", chosen)
    own = {"ewc": {"recipe": {"lr": 0.1, "epochs": 3}, "fisher_rows": 5}, "si": {"xi": 1.0}}
    assert with_tuned(own) == {
        "ewc": {"recipe": {"lr": 0.5, "epochs": 3}, "fisher_rows": 5, "strength": 7.0},
        "si": {"xi": 1.0},
    }
    assert own["ewc"]["recipe"]["lr"] == 0.1


def test_a_learner_that_has_tried_more_has_no_advantage() -> None:
    def trial(learner: str, number: int, accuracy: float) -> dict[str, object]:
        return {"learner": learner, "trial": number, "accuracy": accuracy}

    trials = [trial("a", 0, 0.3), trial("b", 0, 0.2), trial("a", 1, 0.9)]
    assert [line["accuracy"] for line in tune.as_many_for_all(trials)] == [0.3, 0.2]
    trials.append(trial("b", 1, 0.1))
    assert len(tune.as_many_for_all(trials)) == 4
