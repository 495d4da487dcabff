"""``--stages final`` measures each task at its arrival and at the end: the same figures, sooner."""

import numpy as np
import pytest
from tiny import run, tiny_spec

from lifelong.exceptions import ParameterError
from lifelong.experiments.catalogue import experiment
from lifelong.experiments.spec import Part, Spec
from lifelong.experiments.store import Store
from lifelong.experiments.tables import results_of, summary
from lifelong.report.html import write_report

STREAM = {"like": "core50-110x5", "rows_per_class": 4, "size": 4}
N_TASKS = 6
STATISTICS = ("accuracy", "transfer", "forward_transfer", "backward_transfer", "gain")


def spec(stages):
    part = Part("generated", "generated", STREAM)
    return tiny_spec(parts=(part,), repetitions=2, stages=stages)


def results(folder):
    store = Store(folder)
    return results_of(store.read_spec(), store.rows())


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folders = {stages: tmp_path_factory.mktemp(stages) for stages in ("all", "final")}
    for stages, folder in folders.items():
        run(spec(stages), folder)
    return folders


def test_the_figures_of_arrival_and_end_are_those_of_a_full_run(runs):
    full = results(runs["all"])
    final = results(runs["final"])
    assert list(final.tables) == list(full.tables)
    for at, table in full.tables.items():
        for statistic in STATISTICS:
            found = getattr(final.tables[at], statistic)
            np.testing.assert_array_equal(found, getattr(table, statistic))
    clocks = ("train_seconds", "predict_seconds")
    for label, means in summary(full).items():
        for name, value in summary(final)[label].items():
            assert name in clocks or value == means[name]


def test_nothing_between_arrival_and_end_is_measured(runs):
    rows = [row for row in Store(runs["final"]).rows() if row.kind == "stage"]
    for row in rows:
        arrived = int(next(r.stage for r in rows if r.task == row.task))
        assert row.stage in (arrived, row.n_tasks - 1)
    per_learner = 2 * (2 * N_TASKS - 1)
    assert len(rows) == 2 * per_learner


def test_a_report_of_such_a_run_builds_and_shows_no_curve_over_stages(runs, tmp_path):
    write_report([runs["final"]], tmp_path)
    names = {path.stem for path in tmp_path.rglob("*.svg")}
    assert "strip" in names
    assert "stages" not in names


def test_a_run_of_arrival_and_end_goes_on_to_all_stages_in_its_directory(runs, tmp_path):
    run(spec("final"), tmp_path)
    more = run(spec("all"), tmp_path)
    assert {row.kind for row in more} == {"stage"}
    assert Store(tmp_path).read_spec().stages == "all"
    assert len(Store(tmp_path).rows()) == len(Store(runs["all"]).rows())


def test_a_repetition_that_lacks_its_end_is_not_complete(runs):
    rows = [row for row in Store(runs["all"]).rows() if row.stage < N_TASKS - 1]
    assert results_of(spec("final"), rows).tables == {}


def test_the_spec_of_a_full_run_is_written_as_before_and_a_wrong_choice_is_named():
    assert "stages" not in spec("all").to_json()
    assert Spec.from_json(spec("final").to_json()) == spec("final")
    with pytest.raises(ParameterError, match="stages='last' is unknown"):
        experiment("xor-xnor").spec(stages="last")
