"""A number that another run has measured under the same conditions is not measured again."""

from dataclasses import replace

import pytest
from tiny import run, stored_lines, tiny_spec, without_clocks

from lifelong.exceptions import ParameterError
from lifelong.experiments.rows import Row
from lifelong.experiments.session import prepare
from lifelong.experiments.spec import LearnerSpec, Part
from lifelong.experiments.store import Store


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    run(tiny_spec(), folder)
    return folder


def another(**changes):
    """Another experiment with the same first stream, and the same forest under another name beside
    a new one.
    """
    parts = (replace(tiny_spec().parts[0], name="the same stream"),)
    learners = (
        LearnerSpec("small", "silly-f", {"n_estimators": 2}),
        LearnerSpec("three", "silly-f", {"n_estimators": 3}),
    )
    return tiny_spec(**{"experiment": "another", "parts": parts, "learners": learners, **changes})


def test_what_is_taken_over_equals_what_would_have_been_measured(tmp_path, finished):
    session = prepare(another(), tmp_path / "taken", reuse=[finished])
    measured = [event for event in session.events() if isinstance(event, Row)]
    assert {row.name for row in measured if row.kind != "reference"} == {"silly-f"}
    assert {row.learner for row in measured if row.kind != "reference"} == {"three"}
    run(another(), tmp_path / "alone")
    by_key = [
        sorted(map(str, stored_lines(tmp_path / folder)))  # the order in which rows come may differ
        for folder in ("taken", "alone")
    ]
    assert by_key[0] == by_key[1]
    assert without_clocks(tmp_path / "taken") == without_clocks(tmp_path / "alone")


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 50},
        {"parts": (Part("xor, xnor", "xor", {"n": 13, "n_test": 10, "second": "xnor"}, at=0),)},
        {"learners": (LearnerSpec("two trees", "silly-f", {"n_estimators": 4}),)},
    ],
    ids=["seed", "stream", "learner"],
)
def test_nothing_is_taken_over_that_another_seed_stream_or_setting_gave(
    changes, tmp_path, finished
):
    taken = prepare(another(**changes), tmp_path, reuse=[finished]).taken
    assert not [row for row in taken if row.kind != "reference"]


def test_nothing_is_stored_before_the_run_begins_and_nothing_twice(tmp_path, finished):
    prepare(another(), tmp_path, reuse=[finished])
    assert not (tmp_path / "rows.jsonl").exists()
    for _ in range(2):
        list(prepare(another(), tmp_path, reuse=[finished]).events())
    keys = [
        tuple(line[name] for name in ("part", "learner", "repetition", "kind", "task", "stage"))
        for line in stored_lines(tmp_path)
    ]
    assert len(keys) == len(set(keys))


def test_a_directory_without_a_run_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"There is no run in .*nowhere"):
        prepare(another(), tmp_path, reuse=[tmp_path / "nowhere"])


def test_rows_are_taken_over_from_a_packed_folder_and_keep_their_provenance(tmp_path, finished):
    elsewhere = [replace(row, machine="another machine") for row in Store(finished).rows()]
    packed = Store(tmp_path / "packed")
    packed.write_spec(Store(finished).read_spec())
    packed.write_packed(elsewhere)
    taken = prepare(another(), tmp_path / "new", reuse=[packed.folder]).taken
    assert len(taken) == len(prepare(another(), tmp_path / "new", reuse=[finished]).taken) > 0
    list(prepare(another(), tmp_path / "new", reuse=[packed.folder]).events())
    machines = {row.learner: row.machine for row in Store(tmp_path / "new").rows()}
    assert machines["small"] == "another machine"
    assert machines["three"] != "another machine"
    assert {row.spec for row in Store(tmp_path / "new").rows()} == {another().hash}
