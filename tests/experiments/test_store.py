"""Run directories: torn lines, failures, growth, and who may write."""

import json
from dataclasses import replace
from multiprocessing import active_children

import pytest
from threadpoolctl import threadpool_info, threadpool_limits
from tiny import Row, run, stored_lines, tiny_spec, without_clocks

from lifelong.exceptions import DatasetError, ParameterError
from lifelong.experiments.session import prepare
from lifelong.experiments.spec import LearnerSpec
from lifelong.experiments.store import Store


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    run(tiny_spec(), folder)
    return folder


def test_a_torn_last_line_is_ignored_and_measured_again(tmp_path, finished):
    whole = (finished / "rows.jsonl").read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(whole[: len(whole) // 2])
    before = Store(tmp_path).rows()
    assert all(row.done for row in before)
    rows = run(tiny_spec(), tmp_path)
    assert not {row.key for row in rows} & {row.key for row in before}
    assert len(rows) + len(before) == len(stored_lines(finished))
    assert without_clocks(tmp_path) == without_clocks(finished)


def test_a_damaged_line_in_the_middle_is_named(tmp_path, finished):
    lines = (finished / "rows.jsonl").read_bytes().split(b"\n")
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join([*lines[:2], b'{"half', *lines[2:]]))
    with pytest.raises(DatasetError, match="line 3 is not a row"):
        Store(tmp_path).rows()


def test_a_row_says_everything_about_where_it_came_from(finished):
    row = next(row for row in stored_lines(finished) if row["kind"] == "stage")
    wanted = {
        *(
            "spec",
            "learner",
            "name",
            "parameters",
            "task",
            "stage",
            "repetition",
            "seed",
            "error",
            "test_rows",
        ),
        *("bytes", "versions", "machine", "status", "reason"),
    }
    assert wanted < set(row)
    assert row["spec"] == tiny_spec().hash
    assert set(row["bytes"]) == {"encoders", "channels", "rows"}
    assert {"lifelong", "numpy", "scikit-learn", "python"} <= set(row["versions"])


def test_a_finished_run_has_nothing_left_to_do(finished):
    session = prepare(tiny_spec(), finished)
    assert (session.left, session.cells) == (0, [])
    assert session.done == session.total == len(stored_lines(finished))


def test_a_run_grows_by_repetitions_and_learners(tmp_path):
    run(tiny_spec(repetitions=1, learners=tiny_spec().learners[:1]), tmp_path)
    first = len(stored_lines(tmp_path))
    run(tiny_spec(repetitions=2, learners=tiny_spec().learners[1:]), tmp_path)
    assert len(stored_lines(tmp_path)) > 2 * first
    spec = Store(tmp_path).read_spec()
    assert [learner.label for learner in spec.learners] == ["two trees", "rf"]
    assert prepare(tiny_spec(repetitions=1), tmp_path).spec.repetitions == 2


def test_another_experiment_or_other_parameters_need_another_directory(finished):
    with pytest.raises(ParameterError, match=r"holds another run: tiny \(full\), seed 0"):
        prepare(tiny_spec(seed=1), finished)
    other = replace(tiny_spec().learners[0], parameters={"n_estimators": 3})
    with pytest.raises(ParameterError, match="'two trees' with other parameters"):
        prepare(tiny_spec(learners=(other,)), finished)


def test_two_runs_never_write_to_one_directory(tmp_path):
    with Store(tmp_path).writing(), pytest.raises(ParameterError, match="Another run is writing"):
        run(tiny_spec(), tmp_path)


def test_plain_models_are_measured_once_for_all_learners_of_a_family(finished):
    twins = (
        LearnerSpec("a", "silly-f", {"n_estimators": 2}),
        LearnerSpec("b", "silly-f", {"n_estimators": 2, "replay": 0}),
    )
    cells = prepare(tiny_spec(learners=twins, repetitions=1), finished / "other").cells
    here = [cell for cell in cells if cell.part.name == "xor, xnor"]
    plain = [cell.label for cell in here if cell.plain]
    assert len(plain) == 2  # forests of one encoder's size and of the ensemble's
    assert [list(cell.references) for cell in here if not cell.plain] == [plain, plain]


def test_a_failing_learner_fails_its_own_rows_and_is_tried_again(tmp_path):
    broken = LearnerSpec("broken", "silly-f", {"n_estimators": 2, "replay": 2})
    rows = run(tiny_spec(learners=(broken, *tiny_spec().learners), repetitions=1), tmp_path)
    failed = [row for row in rows if not row.done]
    assert {row.learner for row in failed} == {"broken"}
    assert all("replay=2 is not a share" in row.reason for row in failed)
    assert set(json.loads((tmp_path / "summary.json").read_text())) == {"two trees", "rf"}
    session = prepare(tiny_spec(learners=(broken, *tiny_spec().learners), repetitions=1), tmp_path)
    assert {cell.label for cell in session.cells} == {"broken"}
    assert session.failed == len(session.cells) == 2


def test_processes_measure_the_same_numbers(tmp_path, finished):
    rows = run(tiny_spec(), tmp_path, n_jobs=2)
    assert len({row.key for row in rows}) == len(rows) == len(stored_lines(finished))
    assert without_clocks(tmp_path) == without_clocks(finished)


def test_a_process_that_dies_fails_its_cell_alone(tmp_path):
    session = prepare(tiny_spec(repetitions=2), tmp_path)
    others = set(active_children())  # pools of other tests
    events, rows = session.events(n_jobs=2), []
    for event in events:
        if isinstance(event, Row):
            rows.append(event)
            if len(rows) == 1:
                next(child for child in active_children() if child not in others).kill()
    failed = [row for row in rows if not row.done]
    assert len(failed) == 1
    assert "its process died with exit code -9" in failed[0].reason
    again = run(tiny_spec(repetitions=2), tmp_path)
    assert all(row.done for row in again)
    assert {row.key for row in Store(tmp_path).rows() if row.done} >= {row.key for row in again}
    assert prepare(tiny_spec(repetitions=2), tmp_path).left == 0


def test_a_run_in_this_process_has_one_thread_as_well(tmp_path):
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2):
        inside = [threads() for _ in prepare(tiny_spec(), tmp_path).events(n_jobs=1)]
        assert inside
        assert all(one == {1} for one in inside)
        assert threads() == {2}


def plain_lines(folder):
    return [json.loads(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]


def test_what_rows_share_is_written_once(finished):
    lines = plain_lines(finished)
    assert [line["kind"] for line in lines].count("provenance") == 1
    assert lines[0]["kind"] == "provenance"
    for row in lines[1:]:
        assert row["provenance"] == lines[0]["number"]
        assert not {"spec", "versions", "machine"} & set(row)


def test_a_run_adds_a_provenance_only_when_it_goes_on_elsewhere(tmp_path, finished):
    one_repetition = tiny_spec(repetitions=1)
    run(one_repetition, tmp_path)
    run(tiny_spec(repetitions=2), tmp_path)
    assert [line["kind"] for line in plain_lines(tmp_path)].count("provenance") == 1
    other = replace(Store(finished).rows()[0], machine="another machine", repetition=5)
    with Store(tmp_path).writing() as writer:
        writer.append(other)
    described = [line for line in plain_lines(tmp_path) if line["kind"] == "provenance"]
    assert [line["number"] for line in described] == [1, 2]
    assert Store(tmp_path).rows()[-1] == other
    assert len({row.machine for row in Store(tmp_path).rows()}) == 2


def test_a_kill_between_a_provenance_and_its_row_loses_that_row_alone(tmp_path, finished):
    lines = (finished / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_bytes(lines[0] + lines[1][:20])
    assert Store(tmp_path).rows() == []
    run(tiny_spec(), tmp_path)
    assert without_clocks(tmp_path) == without_clocks(finished)
    assert [line["kind"] for line in plain_lines(tmp_path)].count("provenance") == 1


def older_rows(folder, target):
    """A run directory from before provenance had lines of its own."""
    target.mkdir(parents=True, exist_ok=True)
    rows = Store(folder).rows()
    text = "".join(json.dumps(row.to_json()) + "\n" for row in rows)
    (target / "rows.jsonl").write_text(text, encoding="utf-8")
    (target / "spec.json").write_bytes((folder / "spec.json").read_bytes())
    return rows


def test_rows_that_carry_their_provenance_themselves_are_read_and_go_on(tmp_path, finished):
    rows = older_rows(finished, tmp_path)
    assert Store(tmp_path).rows() == rows
    assert prepare(tiny_spec(), tmp_path).left == 0
    run(tiny_spec(repetitions=4), tmp_path)
    assert len(Store(tmp_path).rows()) == len(rows) * 4 // 3


def test_a_row_of_an_unknown_provenance_is_named(tmp_path, finished):
    lines = (finished / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_bytes(b"".join(lines[1:]))
    with pytest.raises(DatasetError, match="line 1 is not a row .*provenance 1 is not described"):
        Store(tmp_path).rows()


def test_packed_rows_are_the_same_rows_and_the_same_bytes(tmp_path, finished):
    rows = Store(finished).rows()
    packed = [Store(tmp_path / name).write_packed(rows) for name in ("one", "two")]
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert packed[0].read_bytes()[4:8] == bytes(4)  # no time in the header
    assert Store(tmp_path / "one").rows() == rows


def test_a_run_goes_on_from_packed_rows(tmp_path, finished):
    store = Store(tmp_path)
    store.write_packed(Store(finished).rows())
    assert prepare(tiny_spec(), tmp_path).left == 0
    added = run(tiny_spec(repetitions=4), tmp_path)
    assert {row.repetition for row in added} == {3}
    assert len(store.rows()) == len(Store(finished).rows()) + len(added)


@pytest.mark.parametrize("damage", [b"not gzip", b"", None])
def test_damaged_packed_rows_are_one_line(tmp_path, finished, damage):
    path = Store(tmp_path).write_packed(Store(finished).rows())
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    with pytest.raises(DatasetError, match=r"rows\.jsonl\.gz is damaged"):
        Store(tmp_path).rows()
