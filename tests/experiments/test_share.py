"""Networks that learners would train alike are trained once, and nobody can tell from
the numbers.
"""

from functools import partial

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from tiny import run, stored_lines, tiny_spec
from typer.testing import CliRunner

from lifelong import _once
from lifelong._once import digest, once, saved_seconds, sharing
from lifelong.cli import app
from lifelong.evaluation.measure import Measurement, measurements
from lifelong.experiments.parameters import build_learner
from lifelong.experiments.spec import LearnerSpec
from lifelong.tasks.datasets.digits import digits

NETWORK = {"network": [8], "recipe": {"epochs": 2, "batch_size": 16, "lr": 3e-3}}
FAMILY = ("none", "ewc", "o-ewc", "lwf", "total-replay", "partial-replay", "single")
LEARNERS = {
    **{
        name: (name, NETWORK)
        for name in (*FAMILY, "si", "prognn", "model-zoo", "silly-n", "silly-n-best")
    },
    "five trees": ("silly-n", {**NETWORK, "trees_per_channel": 5}),
    "little replay": ("silly-n", {**NETWORK, "replay": 0.4}),
}


@pytest.fixture(scope="module")
def stream():
    return digits(n_tasks=3)


def measured(name, parameters, stream, seed=0):
    """Errors and sizes of the learner on the stream, without clocks."""
    make = partial(build_learner, LearnerSpec(name, name, parameters))
    rows = [one for one in measurements(make, stream, seed) if isinstance(one, Measurement)]
    return [(row.kind, row.task, row.stage, row.error, row.sizes) for row in rows]


def files(folder):
    return {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("label", LEARNERS)
def test_what_is_shared_gives_the_numbers_of_what_is_not(label, stream, tmp_path):
    alone = measured(*LEARNERS[label], stream)
    with sharing(tmp_path, at_least=0):
        first, second = (measured(*LEARNERS[label], stream) for _ in range(2))
    assert alone == first == second


def test_references_that_know_a_single_task_are_one_network(stream, tmp_path):
    with sharing(tmp_path, at_least=0):
        measured("none", NETWORK, stream)
        known = files(tmp_path)
        assert len(known) == len(stream)
        for name in FAMILY:
            measured(name, NETWORK, stream)
        assert files(tmp_path) == known


def test_learners_with_other_channels_share_their_encoders(stream, tmp_path):
    with sharing(tmp_path, at_least=0):
        measured(*LEARNERS["silly-n"], stream)
        known = files(tmp_path)
        measured(*LEARNERS["five trees"], stream)
        assert files(tmp_path) == known


@pytest.mark.parametrize(
    ("changes", "seed"),
    [({"recipe": {**NETWORK["recipe"], "lr": 1e-3}}, 0), ({"network": [9]}, 0), ({}, 1)],
    ids=["recipe", "network", "seed"],
)
def test_nothing_is_shared_that_differs(changes, seed, stream, tmp_path):
    with sharing(tmp_path, at_least=0):
        measured("none", NETWORK, stream)
        known = files(tmp_path)
        measured("none", {**NETWORK, **changes}, stream, seed)
        assert len(files(tmp_path)) == 2 * len(known)


def test_torn_and_deleted_files_are_made_again(stream, tmp_path):
    with sharing(tmp_path, at_least=0):
        numbers = measured("silly-n", NETWORK, stream)
        whole = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
        for position, (name, content) in enumerate(sorted(whole.items())):
            if position % 2:
                (tmp_path / name).write_bytes(content[: len(content) // 2])
            else:
                (tmp_path / name).unlink()
        assert measured("silly-n", NETWORK, stream) == numbers
        assert files(tmp_path) == set(whole)


def test_a_clock_shows_what_the_work_took_when_it_was_done(stream, tmp_path):
    make = partial(build_learner, LearnerSpec("none", "none", NETWORK))
    with sharing(tmp_path, at_least=0):
        measured("none", NETWORK, stream)
        for file in tmp_path.iterdir():
            save_file(load_file(file), file, {"seconds": "1000.0"})
        (first, *_) = (row for row in measurements(make, stream, 0) if isinstance(row, Measurement))
    assert 1000 <= first.train_seconds < 1900


def test_a_file_that_is_not_ours_is_written_anew(tmp_path):
    with sharing(tmp_path, at_least=0):
        one = partial(once, lambda: ["settings"], lambda: {"a": np.ones(3)})
        one()
        (file,) = tmp_path.iterdir()
        save_file({"b": np.zeros(2)}, file)  # no seconds in it
        assert list(one()) == ["a"]


def test_clusters_do_not_share():
    result = CliRunner().invoke(
        app, ["run", "xor-xnor", "--smoke", "--share", "anywhere", "--engine", "ray"]
    )
    assert result.exit_code == 1
    assert "leave it out with --engine ray" in " ".join(result.output.split())


def test_work_that_is_not_worth_a_file_leaves_none(tmp_path):
    with sharing(tmp_path, at_least=1000):
        assert once(lambda: ["settings"], lambda: {"a": np.ones(3)})["a"].sum() == 3
    assert not files(tmp_path)


def test_without_a_folder_nothing_is_looked_at():
    def never():
        raise AssertionError

    assert list(once(never, lambda: {"a": np.ones(1)})) == ["a"]
    assert saved_seconds() == 0


def test_a_full_disk_costs_the_file_and_not_the_result(tmp_path):
    folder = tmp_path / "gone"
    with sharing(folder, at_least=0):
        folder.rmdir()
        assert once(lambda: ["settings"], lambda: {"a": np.ones(3)})["a"].sum() == 3


def test_layout_and_type_and_shape_of_arrays_count():
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    variants = [
        rows,
        np.asfortranarray(rows),
        rows.reshape(4, 3),
        rows.view(np.int32),
        rows + 1,
        "rows",
    ]
    assert len({digest([variant]) for variant in variants}) == len(variants)
    assert digest(["a", "b"]) != digest(["ab"])
    assert digest([rows]) == digest([rows.copy()])


def test_torch_draws_on_as_if_the_network_had_been_trained(stream, tmp_path):
    from lifelong.nets.architectures import build
    from lifelong.nets.once import train_once
    from lifelong.nets.randomness import private_randomness

    def drawn():
        with private_randomness(np.random.default_rng(0)):
            model = build([4], (3,), 1.0)
            train_once(model, lambda: [torch.rand(7) for _ in range(3)], "rows")
            return torch.rand(2).tolist()

    with sharing(tmp_path, at_least=0):
        assert drawn() == drawn()
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_shares_through_its_folder(n_jobs, tmp_path):
    long = {"network": [16], "recipe": {"epochs": 200, "batch_size": 8}}
    learners = tuple(LearnerSpec(name, name, long) for name in ("none", "ewc"))
    spec = tiny_spec(parts=tiny_spec().parts[:1], learners=learners, repetitions=1, figures=())
    run(spec, tmp_path / "alone")
    run(spec, tmp_path / "shared", n_jobs=n_jobs, share=tmp_path / "trained")
    by_key = [sorted(map(str, stored_lines(tmp_path / folder))) for folder in ("alone", "shared")]
    assert by_key[0] == by_key[1]
    assert files(tmp_path / "trained")


def test_where_little_of_the_disk_is_left_work_is_done_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(_once, "_MODEST", 1e-15)  # of a petabyte, one byte
    with sharing(tmp_path, at_least=0):
        for _ in range(2):
            assert once(lambda: ["work"], lambda: {"a": np.arange(3)})["a"].tolist() == [0, 1, 2]
    assert not list(tmp_path.iterdir())
