"""Every experiment of the catalogue runs in its smoke version, and its report builds."""

import json
from html import unescape

import pytest

from lifelong.exceptions import DatasetError, ParameterError
from lifelong.experiments.catalogue import EXPERIMENTS, experiment
from lifelong.experiments.parameters import build_learner
from lifelong.experiments.rows import Row
from lifelong.experiments.session import prepare
from lifelong.experiments.spec import Spec
from lifelong.experiments.streams import make_stream
from lifelong.report.html import write_report

WITHOUT_FILES = (
    "xor-xnor",
    "xor-rxor",
    "best-xor",
    "food1k-50x20",
    "food1k-budget",
    "glyphs-budget",
    "core50-110x5",
    "pretrained",
)
NAMES = [
    name if name in WITHOUT_FILES else pytest.param(name, marks=pytest.mark.data)
    for name in EXPERIMENTS
]
STATISTICS = {
    *(
        "accuracy",
        "single_accuracy",
        "reference_accuracy",
        "transfer",
        "forward_transfer",
        "backward_transfer",
    ),
    *("gain", "train_seconds", "predict_seconds", "bytes"),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_smoke_version_runs_and_its_report_builds(name, tmp_path):
    session = prepare(EXPERIMENTS[name].spec(smoke=True), tmp_path)
    rows = [event for event in session.events() if isinstance(event, Row)]
    assert [row.reason for row in rows if not row.done] == []
    assert len(rows) == session.total == len({row.key for row in rows})

    summary = json.loads((tmp_path / "summary.json").read_text())
    assert list(summary) == [learner.label for learner in session.spec.learners]
    assert all(set(means) == STATISTICS for means in summary.values())
    assert all(0 <= means["reference_accuracy"] <= 1 for means in summary.values())

    page, *files = write_report([tmp_path], tmp_path)
    text = unescape(page.read_text())
    assert EXPERIMENTS[name].question in text
    assert all(learner.label in text for learner in session.spec.learners)
    assert {"table.csv", "tasks.csv"} < {file.name for file in files}
    figures = [file for file in files if file.suffix == ".svg"]
    assert len(figures) >= len(session.spec.figures)
    assert text.count('role="img"') == text.count("<figure>") > 0


@pytest.mark.data
@pytest.mark.parametrize("name", sorted({*EXPERIMENTS} - {*WITHOUT_FILES}))
def test_the_full_version_finds_all_the_rows_it_asks_for(name):
    for part in EXPERIMENTS[name].spec().parts:
        stream = make_stream(part, seed=2)
        assert all(len(task.y_train) > 0 and len(task.y_test) > 0 for task in stream)


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("smoke", [False, True])
def test_every_spec_is_data_that_survives_json_and_names_learners_that_exist(name, smoke):
    spec = EXPERIMENTS[name].spec(smoke=smoke)
    copy = Spec.from_json(json.loads(json.dumps(spec.to_json())))
    assert copy == spec
    assert copy.hash == spec.hash
    assert len({part.name for part in spec.parts}) == len(spec.parts)
    assert len({learner.label for learner in spec.learners}) == len(spec.learners)
    for learner in spec.learners:
        assert build_learner(learner, seed=3).random_state == 3
    assert set(spec.published) <= {learner.label for learner in EXPERIMENTS[name].full.learners}


def test_the_hash_tells_streams_and_seeds_apart_but_lets_a_run_grow():
    spec = experiment("xor-xnor").spec
    assert spec().hash == spec(repetitions=3, learners=["silly-f"]).hash
    assert (
        len(
            {
                spec().hash,
                spec(seed=1).hash,
                spec(smoke=True).hash,
                experiment("xor-rxor").spec().hash,
            }
        )
        == 4
    )


def test_an_unknown_experiment_or_learner_suggests_the_nearest():
    with pytest.raises(
        ParameterError, match=r"Unknown experiment 'xor-xnr'. Did you mean 'xor-xnor'\? Known: "
    ):
        experiment("xor-xnr")
    with pytest.raises(ParameterError, match="Did you mean 'silly-f'"):
        experiment("xor-xnor").spec(learners=["sily-f"])


def test_any_learner_of_the_registry_may_be_asked_for_and_gets_the_experiments_settings():
    extra = experiment("cifar-10x10").spec(learners=["silly-n-4", "silly-f-4"]).learners
    assert extra[0].parameters == {"recipe": {"epochs": 20, "batch_size": 32, "lr": 3e-4}}
    assert extra[1].parameters == {}


def test_missing_files_are_found_out_before_anything_is_measured(tmp_path):
    with pytest.raises(DatasetError, match="food1k is not in"):
        prepare(experiment("food1k-50x20").spec(), tmp_path / "run", tmp_path)
    assert not (tmp_path / "run").exists()
