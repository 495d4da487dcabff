"""Tasks that share networks: when they are made, who reads them, and that they are honest."""

from dataclasses import replace

import numpy as np
import pytest

from lifelong import RidgeChannel, SillyNetwork, load, save
from lifelong.channels.base import Seen
from lifelong.channels.ridge.solver import kernel, linear_map, solve
from lifelong.encoders import shared_network
from lifelong.encoders.shared_network import shortened
from lifelong.exceptions import ParameterError
from lifelong.learners import shared_networks
from lifelong.learners.knowledge import merged
from lifelong.learners.shared_networks import MOST_READ, is_due


def images(seed, n=40, n_classes=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.random((n, 1, 6, 6), dtype=np.float32)
    X[np.arange(n), 0, 2, y] += 2
    return X, y


def learner(shared=2, **parameters):
    return SillyNetwork.best(
        **{"epochs": 5, "width": 0.05, "shared": shared, "random_state": 0, **parameters}
    )


def learnt(n_tasks, shared=2, **parameters):
    made = learner(shared, **parameters)
    for number in range(n_tasks):
        made.partial_fit(*images(number), task=f"t{number}")
    return made


FIVE = learnt(5)


def test_new_shared_networks_come_with_every_task_and_replace_those_before():
    made = learner(1)
    for number in range(3):
        made.partial_fit(*images(number), task=f"t{number}")
        names = {1: "shared by 1 task"}.get(number + 1, f"shared by {number + 1} tasks")
        assert made.knowledge_.shared[:2] == (names, f"{names} (2)")
        assert set(made.encoders_) == set(made.knowledge_.shared)


def test_new_patches_are_found_whenever_tasks_have_doubled():
    made = learner(1)
    found = []
    for number in range(5):
        made.partial_fit(*images(number), task=f"t{number}")
        found.append(made.knowledge_.shared[-1])
        assert len(made.knowledge_.shared) == 3
    assert found == [
        "patches of 1 task",
        "patches of 2 tasks",
        "patches of 2 tasks",
        "patches of 4 tasks",
        "patches of 4 tasks",
    ]


def test_flat_rows_have_no_patches():
    made = SillyNetwork.best(network=(8,), epochs=2, shared=1, random_state=0)
    rng = np.random.default_rng(0)
    for task in "ab":
        made.partial_fit(rng.random((40, 5)), np.arange(40) % 2, task=task)
    assert list(made.encoders_) == ["shared by 2 tasks", "shared by 2 tasks (2)"]


def test_shared_networks_differ():
    first, second, *_ = (network.encode(images(0)[0]) for network in FIVE.encoders_.values())
    assert not np.array_equal(first, second)


def test_a_task_reads_its_own_network_the_shared_ones_and_no_other_task_s():
    assert len(FIVE.knowledge_.shared) == 3  # two networks, and patches
    for task, channel in FIVE.channels_.items():
        assert set(channel.reads) == {task, *FIVE.knowledge_.shared}


def test_with_one_unit_a_task_reads_what_is_shared_alone():
    reads = {"shared by 3 tasks", "shared by 3 tasks (2)", "patches of 2 tasks"}
    for channel in learnt(3, shared=1).channels_.values():
        assert set(channel.reads) == reads


def test_the_own_network_of_a_task_is_that_of_a_learner_that_shares_nothing():
    X, _ = images(9)
    apart = learnt(5, shared=None)
    for task in FIVE.tasks_:
        np.testing.assert_array_equal(
            FIVE.encoders_[task].encode(X), apart.encoders_[task].encode(X)
        )


def test_there_are_never_more_encoders_than_a_task_reads():
    made = learnt(2, shared=4)
    assert len(made.knowledge_.shared) == MOST_READ - 1
    for channel in made.channels_.values():
        assert len(channel.reads) == MOST_READ


@pytest.fixture
def rarely(monkeypatch):
    """Shared networks come with the first, second, fourth and eighth task."""
    monkeypatch.setattr(shared_networks, "GROWTH", 2)


def test_a_task_in_between_reads_its_own_network_until_the_next_shared_one(rarely):
    made = learnt(3, shared=1)
    assert set(made.channels_["t2"].reads) == {"t2", *made.knowledge_.shared}
    assert made.score(*images(102), task="t2") > 0.7
    made.partial_fit(*images(3), task="t3")
    assert "t2" not in made.encoders_
    assert set(made.channels_["t2"].reads) == set(made.knowledge_.shared)


def test_a_task_in_between_reads_no_more_networks_than_others(rarely):
    for shared in (1, 2, 3):
        made = learnt(3, shared=shared)
        assert len(made.channels_["t2"].reads) == MOST_READ


def test_among_many_tasks_shared_networks_come_with_a_tenth_more():
    made = learnt(1)
    known = made.knowledge_
    name = known.shared[0]
    network = known.encoders[name]
    ten = replace(network, heads=network.heads * 30)
    known = replace(known, encoders={**known.encoders, name: ten})
    assert not is_due(known, n_new=31)
    assert is_due(known, n_new=32)


def test_every_encoder_that_is_kept_is_read_by_some_task():
    read = {name for channel in FIVE.channels_.values() for name in channel.reads}
    assert set(FIVE.encoders_) == read


def test_rows_that_test_one_network_of_a_task_were_held_out_by_all():
    channel = FIVE.channels_["t2"]
    networks = ["t2", *FIVE.knowledge_.shared[:2]]
    first, *others = [channel.views[name].in_bag for name in networks]
    assert 0 < first.sum() < len(first)
    for in_bag in others:
        np.testing.assert_array_equal(in_bag, first)


def test_patches_have_looked_at_no_label_that_networks_have_not():
    patches = FIVE.knowledge_.shared[-1]
    for task, channel in FIVE.channels_.items():
        in_bag = channel.views[task].in_bag
        if task == "t4":  # it came after the patches
            in_bag = np.zeros_like(in_bag)
        np.testing.assert_array_equal(channel.views[patches].in_bag, in_bag)


def test_a_task_in_between_has_not_been_seen_by_shared_networks(rarely):
    made = learnt(3, shared=1)
    for name in made.knowledge_.shared[:2]:
        assert made.channels_["t2"].views[name].in_bag is None


@pytest.mark.parametrize("growth", [1.1, 2])
def test_beside_own_networks_shared_ones_take_the_passes_that_are_left(monkeypatch, growth):
    monkeypatch.setattr(shared_networks, "GROWTH", growth)
    passes = []

    def counted(recipe, share, n_rows, n_tasks=1):
        passes.append(2 * share * n_rows)
        return shortened(recipe, share, n_rows, n_tasks)

    monkeypatch.setattr(shared_network, "shortened", counted)
    made = learnt(4, shared=2)
    n_rows = sum(stored.in_bag.sum() for stored in made.memory_.values())
    assert sum(passes) == pytest.approx((2 - 1) * n_rows)


@pytest.mark.parametrize("growth", [1.1, 2])
def test_shared_networks_take_as_many_row_passes_as_a_network_per_task(monkeypatch, growth):
    monkeypatch.setattr(shared_networks, "GROWTH", growth)
    passes = []

    def counted(recipe, share, n_rows, n_tasks=1):
        n_networks = 2
        if n_tasks == 1 and share == shared_networks.OWN_PASSES:
            n_networks = 1
        passes.append(n_networks * share * n_rows)
        return shortened(recipe, share, n_rows, n_tasks)

    monkeypatch.setattr(shared_network, "shortened", counted)
    made = learnt(4, shared=1)
    n_rows = sum(stored.in_bag.sum() for stored in made.memory_.values())
    assert sum(passes) == pytest.approx(n_rows)


def test_tasks_are_answered_well():
    for number in range(5):
        assert FIVE.score(*images(100 + number), task=f"t{number}") > 0.7


def test_the_same_seed_gives_the_same_bits():
    X, _ = images(9)
    again = learnt(5)
    for task in FIVE.tasks_:
        np.testing.assert_array_equal(
            FIVE.predict_proba(X, task=task), again.predict_proba(X, task=task)
        )


def test_many_tasks_at_once_are_learnt_as_one_by_one():
    from lifelong import Task

    X, y = images(9)
    tasks = [Task(f"t{number}", *images(number), X, y) for number in range(3)]
    at_once = learner().partial_fit_many(tasks)
    one_by_one = learnt(3)
    for task in at_once.tasks_:
        np.testing.assert_array_equal(
            at_once.predict_proba(X, task=task), one_by_one.predict_proba(X, task=task)
        )


def test_it_is_saved_loaded_and_goes_on_as_if_nothing_had_happened(tmp_path):
    X, _ = images(9)
    first = learnt(3)
    save(first, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.predict_proba(X, task="t1"), first.predict_proba(X, task="t1")
    )
    first.partial_fit(*images(3), task="t3")
    loaded.partial_fit(*images(3), task="t3")
    assert loaded.knowledge_.shared == first.knowledge_.shared == tuple(loaded.knowledge_.shared)
    for task in first.tasks_:
        np.testing.assert_array_equal(
            loaded.predict_proba(X, task=task), first.predict_proba(X, task=task)
        )
    name = first.knowledge_.shared[0]
    ours = first.encoders_[name].heads
    for head, other in zip(ours, loaded.encoders_[name].heads, strict=True):
        np.testing.assert_array_equal(head.seen, other.seen)


def test_shared_networks_of_files_from_before_are_read_as_they_were(tmp_path):
    X, _ = images(9)
    first = learnt(3)
    known = first.knowledge_
    networks = known.shared[:2]
    before = {name: replace(known.encoders[name], within=None) for name in networks}
    first.knowledge_ = replace(known, encoders=merged(known.encoders, before))
    save(first, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for name in networks:
        assert loaded.encoders_[name].within is None
    np.testing.assert_array_equal(
        loaded.predict_proba(X, task="t1"), first.predict_proba(X, task="t1")
    )


def test_more_rows_of_a_task_are_seen_by_the_next_shared_networks_alone():
    made = learnt(3, shared=1)
    made.partial_fit(*images(50), task="t1")
    before = made.encoders_[made.knowledge_.shared[0]]
    assert not before.seen("t1", np.arange(40, 80)).any()
    made.partial_fit(*images(3), task="t3")
    after = made.encoders_[made.knowledge_.shared[0]]
    new = after.seen("t1", np.arange(40, 80))
    assert 25 < new.sum() < 40
    in_bag = made.channels_["t1"].views[made.knowledge_.shared[0]].in_bag
    np.testing.assert_array_equal(in_bag[40:], new)


def test_a_new_class_of_a_known_task_is_learnt():
    made = learnt(3, shared=1)
    X, y = images(60, n_classes=3)
    made.partial_fit(X, y, task="t1")
    made.partial_fit(*images(3), task="t3")
    assert made.predict_proba(X, task="t1").shape == (40, 3)


def test_no_shared_network_that_has_seen_a_forgotten_task_stays():
    made = learnt(4, shared=1)
    made.forget("t1", encoder=True)
    assert set(made.tasks_) == {"t0", "t2", "t3"}
    for name in made.knowledge_.shared:
        assert "t1" not in made.encoders_[name].tasks
    reads = {"shared by 3 tasks", "shared by 3 tasks (2)", "patches of 3 tasks"}
    for task in made.tasks_:
        assert set(made.channels_[task].reads) == reads


def test_a_forgotten_task_takes_its_own_network_with_it_and_no_other_s():
    X, _ = images(9)
    made = learnt(4, shared=2)
    kept = made.encoders_["t2"].encode(X)
    made.forget("t1", encoder=True)
    assert set(made.encoders_) == {"t0", "t2", "t3", *made.knowledge_.shared}
    np.testing.assert_array_equal(made.encoders_["t2"].encode(X), kept)
    for name in made.knowledge_.shared:
        assert "t1" not in made.encoders_[name].tasks
    for task, channel in made.channels_.items():
        assert set(channel.reads) == {task, *made.knowledge_.shared}


def test_the_last_task_that_is_left_has_a_network_that_has_seen_it_alone():
    made = learnt(2, shared=1)
    made.forget("t0", encoder=True)
    reads = ["shared by 1 task", "shared by 1 task (2)", "patches of 1 task"]
    assert list(made.encoders_) == reads
    assert made.score(*images(101), task="t1") > 0.7


def test_alone_is_not_for_tasks_that_share_networks():
    assert FIVE.alone("t4") is None
    assert learnt(2, shared=1).alone("t1") is None


def test_explain_asks_the_networks_that_a_task_reads_about_rows_that_none_has_seen():
    explained = FIVE.explain("t2")
    n_held_out = 40 - int(FIVE.memory_["t2"].in_bag.sum())
    assert explained.rows.tolist() == [n_held_out]
    assert set(explained.encoders) == {"t2", *FIVE.knowledge_.shared}


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"replay": 0}, "replay=0 stores none"),
        ({"budget": 3}, "bounds the networks"),
        ({"channel": "forest"}, "channel='ridge'"),
        ({"shared": 0}, "shared"),
    ],
)
def test_what_cannot_be_shared_is_said(parameters, says):
    with pytest.raises(ParameterError, match=says):
        learner(**parameters).partial_fit(*images(0), task="a")


def test_without_sharing_the_learner_is_what_it_was():
    apart = learnt(3, shared=None)
    assert list(apart.encoders_) == ["t0", "t1", "t2"]
    assert apart.knowledge_.shared == ()
    assert set(apart.channels_["t0"].reads) == {"t0", "t1", "t2"}


def channel_of_shared(names, in_bag):
    """A task's channel on encoders that have trained on some of its rows, without an answer."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    Z = rng.normal(size=(60, 20)).astype(np.float32)
    Z[np.arange(60), y] += 1
    channel = RidgeChannel().start(np.bincount(y))
    for name in names:
        seen = Seen(Z, y, np.arange(60), in_bag=in_bag, about_task=(0, 0))
        channel = channel.update(name, seen)
    return channel, Z, y


def test_all_rows_and_not_the_held_out_ones_alone_choose_the_penalty_for_shared_networks():
    channel, Z, y = channel_of_shared(["a", "a copy"], np.arange(60) > 0)
    K, scale = kernel(Z)
    alpha = solve(K, np.eye(3)[y] - 1 / 3).alpha
    expected = linear_map(Z, alpha, scale).coefficients
    for found in channel.readout.maps.values():
        np.testing.assert_allclose(2 * found.coefficients, expected, atol=1e-3)
