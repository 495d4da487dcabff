"""Encoders that move between learners: no rows go with them, and the receiver's tasks learn to use
them.
"""

import numpy as np
import pandas
import pytest
from small import QUICK, forest, network, rows, same_answers, taught

from lifelong import (
    ForestEncoder,
    LeafChannel,
    Recipe,
    RidgeChannel,
    Silly,
    SillyForest,
    SillyNetwork,
    Store,
    Task,
    export_encoder,
    import_encoder,
    load,
    save,
)
from lifelong.exceptions import InputError, PersistenceError, UnknownTaskError, UnsupportedError
from lifelong.references import REFERENCES
from lifelong.tasks.simulations import gaussian_xor

IMAGES = (2, 8, 8)
KINDS = {
    "forest": (forest, (4,)),
    "ridge forest": (lambda: forest(channel="ridge"), (4,)),
    "forest on images": (forest, IMAGES),
    "network": (network, (4,)),
    "ridge network": (lambda: network(channel="ridge"), (4,)),
    "neighbours network": (lambda: network(channel="neighbours"), (4,)),
    "images": (lambda: SillyNetwork("cnn", width=0.05, recipe=QUICK, random_state=0), IMAGES),
    "middle": (
        lambda: SillyNetwork(
            "cnn", width=0.05, layer="middle", recipe=Recipe(iterations=3, augment=True)
        ),
        IMAGES,
    ),
    "two networks": (lambda: network(channel="ridge", layer="middle", n_networks=2), (4,)),
    "parts of one's own": (lambda: Silly(ForestEncoder(2), LeafChannel(), random_state=0), (4,)),
}


def giver(make=forest, shape=(4,), number=7):
    """Another site, with rows of its own."""
    return make().partial_fit(*rows(number, shape=shape), task="theirs")


@pytest.fixture
def file(tmp_path):
    export_encoder(giver(), "theirs", tmp_path / "theirs.encoder")
    return tmp_path / "theirs.encoder"


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_arrives_as_it_left_and_every_task_uses_it(kind, tmp_path):
    make, shape = KINDS[kind]
    there, here = giver(make, shape), taught(make(), 2, shape)
    before = here.channels_
    export_encoder(there, "theirs", tmp_path / "file")
    here.add_encoder(tmp_path / "file", name="from afar")
    X = rows(3, shape=shape)[0]
    assert np.array_equal(
        here.encoders_["from afar"].encode(X), there.encoders_["theirs"].encode(X)
    )
    assert list(here.tasks_) == ["task-0", "task-1"]
    for task, channel in here.channels_.items():
        assert channel.nbytes > before[task].nbytes
    here.partial_fit(*rows(2, shape=shape), task="later")
    save(here, tmp_path / "saved")
    again = load(tmp_path / "saved")
    assert same_answers(again, here, shape)
    more = rows(5, shape=shape)
    assert same_answers(
        again.partial_fit(*more, task="last"), here.partial_fit(*more, task="last"), shape
    )


def test_a_stranger_s_encoder_does_what_a_task_s_own_would_have_done(file):
    """An encoder that came before the tasks, or with a task of the same address, teaches channels
    the same.
    """
    there = giver()
    ours = taught(forest(), 2)
    ours.add_encoder(there.encoders_["theirs"], name="theirs")
    both = taught(forest(), 2).partial_fit(*rows(7), task="theirs")
    assert np.array_equal(
        both.encoders_["theirs"].encode(rows(3)[0]), ours.encoders_["theirs"].encode(rows(3)[0])
    )
    X = rows(3)[0]
    for task in ours.tasks_:
        assert np.array_equal(ours.predict_proba(X, task=task), both.predict_proba(X, task=task))


def test_encoders_help_the_receiver():
    """XOR learnt from 30 rows, with an encoder from a site that saw 500."""
    gains = []
    for seed in range(8):
        X, y = gaussian_xor(30, random_state=seed)
        X_test, y_test = gaussian_xor(1000, random_state=100 + seed)
        there = SillyForest(random_state=seed).partial_fit(
            *gaussian_xor(500, random_state=50 + seed), task="xor"
        )
        here = SillyForest(random_state=seed).partial_fit(X, y, task="ours")
        alone = here.score(X_test, y_test, task="ours")
        gains.append(
            here.add_encoder(there.encoders_["xor"]).score(X_test, y_test, task="ours") - alone
        )
    assert np.mean(gains) > 0.03


@pytest.mark.parametrize("channel", ["leaf", "ridge"])
def test_a_learner_without_tasks_takes_encoders_first(file, channel):
    early = forest(channel=channel).add_encoder(file, name="theirs")
    assert list(early.encoders_) == ["theirs"]
    with pytest.raises(InputError, match="4 features"):
        early.partial_fit(*rows(0, shape=(5,)), task="task-0")
    taught(early, 2)
    late = taught(forest(channel=channel), 2).add_encoder(file, name="theirs")
    # The order of encoders is another, so sums are rounded otherwise.
    for task in early.tasks_:
        X = rows(3)[0]
        assert np.allclose(
            early.predict_proba(X, task=task), late.predict_proba(X, task=task), atol=1e-6
        )


def test_column_names_may_come_after_the_first_encoder(file):
    X, y = rows(0)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    learner = forest().add_encoder(file).partial_fit(frame, y, task="a")
    assert learner.feature_names_in_.tolist() == list("abcd")
    learner.predict(frame, task="a")


def test_images_keep_their_shape_on_the_way(tmp_path):
    export_encoder(giver(shape=IMAGES), "theirs", tmp_path / "file")
    learner = forest().add_encoder(tmp_path / "file")
    assert learner.in_shape_ == IMAGES
    taught(learner, 1, IMAGES)
    with pytest.raises(
        PersistenceError,
        match=r"reads rows of shape \(2, 8, 8\), and this SillyForest has \(128,\)",
    ):
        taught(forest(), 1, (128,)).add_encoder(tmp_path / "file")


def test_many_tasks_at_once_use_it_as_one_by_one(file):
    tasks = [Task(f"task-{n}", *rows(n), *rows(n)) for n in range(3)]
    at_once = forest(budget=3).add_encoder(file).partial_fit_many(tasks)
    one_by_one = taught(forest(budget=3).add_encoder(file), 3)
    assert list(at_once.encoders_) == list(one_by_one.encoders_)
    assert len(at_once.encoders_) == 3
    assert same_answers(at_once, one_by_one)


def test_the_same_encoder_twice_is_refused(file, tmp_path):
    there, here = giver(), taught(forest(), 1)
    here.add_encoder(file, name="once")
    with pytest.raises(PersistenceError, match="has that encoder already; it is called 'once'"):
        here.add_encoder(file, name="twice")
    with pytest.raises(PersistenceError, match="already"):
        here.add_encoder(there.encoders_["theirs"], name="twice")
    with pytest.raises(PersistenceError, match="'theirs'"):
        there.add_encoder(file, name="home again")
    save(here, tmp_path / "saved")
    with pytest.raises(PersistenceError, match="'once'"):
        load(tmp_path / "saved").add_encoder(file)
    assert list(here.encoders_) == ["task-0", "once"]


def test_a_network_twice_is_refused_as_well(tmp_path):
    there = giver(network)
    export_encoder(there, "theirs", tmp_path / "file")
    with pytest.raises(PersistenceError, match="already"):
        there.add_encoder(tmp_path / "file")


@pytest.mark.parametrize("name", ["task-0", "task-1", "renamed", "theirs"])
def test_names_of_tasks_and_encoders_are_taken(file, name):
    learner = (
        taught(forest(), 2)
        .rename("task-1", "renamed")
        .add_encoder(giver(number=8).encoders_["theirs"], "theirs")
    )
    encoders, channels = learner.encoders_, learner.channels_
    with pytest.raises(InputError, match="already"):
        learner.add_encoder(file, name=name)
    assert learner.encoders_ is encoders
    assert learner.channels_ is channels


def test_a_task_may_later_have_the_name_of_an_encoder(file):
    learner = taught(forest().add_encoder(file, name="task-0"), 1)
    assert list(learner.encoders_) == ["task-0", "task-0 (2)"]
    assert learner.forget("task-0", encoder=True).encoders_.keys() == {"task-0"}


def test_an_encoder_without_a_name_is_called_after_its_checksum(file):
    learner = taught(forest(), 1).add_encoder(file)
    assert list(learner.encoders_)[1] == f"imported {import_encoder(file).checksum[:8]}"


def test_the_wrong_kind_is_refused(file, tmp_path):
    export_encoder(giver(network), "theirs", tmp_path / "network")
    with pytest.raises(PersistenceError, match="is a forest, and this SillyNetwork has networks"):
        taught(network(), 1).add_encoder(file)
    with pytest.raises(PersistenceError, match="is a network, and this SillyForest has forests"):
        taught(forest(), 1).add_encoder(tmp_path / "network")
    with pytest.raises(PersistenceError, match="is a network, and this Silly has forests"):
        Silly(ForestEncoder(2), LeafChannel()).add_encoder(tmp_path / "network")
    with pytest.raises(PersistenceError, match="reads rows of shape"):
        taught(forest(), 1, (3,)).add_encoder(file)
    with pytest.raises(PersistenceError, match="no encoder that has been learnt"):
        taught(forest(), 1).add_encoder(ForestEncoder(2))


def test_the_budget_counts_it(file):
    learner = taught(forest(budget=2), 1).add_encoder(file)
    assert learner.memory_ == {}  # no encoder is to come, so no row need be kept
    with pytest.raises(InputError, match="budget of 2 encoders is spent"):
        learner.add_encoder(giver(number=9).encoders_["theirs"])
    learner.partial_fit(*rows(1), task="task-1")
    assert len(learner.encoders_) == 2
    with pytest.raises(InputError, match="budget of 1 encoders is spent"):
        forest(budget=1).add_encoder(file).add_encoder(giver(number=9).encoders_["theirs"])


def test_the_most_useful_encoders_stay(file):
    learner = taught(forest(channel="ridge", budget=2, keep="useful"), 2)
    learner.add_encoder(file, name="theirs")
    assert len(learner.encoders_) == 2
    fresh = forest(channel="ridge", budget=1, keep="useful").add_encoder(file)
    with pytest.raises(InputError, match="spent"):
        fresh.add_encoder(giver(number=9).encoders_["theirs"])


def test_without_replay_old_tasks_cannot_use_it_and_new_ones_can(file):
    learner = taught(forest(replay=0.0), 1)
    X = rows(3)[0]
    before = learner.predict_proba(X, task="task-0")
    learner.add_encoder(file, name="theirs").partial_fit(*rows(1), task="task-1")
    assert np.array_equal(learner.predict_proba(X, task="task-0"), before)
    assert set(learner.channels_["task-1"].tables) == {"task-0", "theirs", "task-1"}


class Spoilt:
    """An encoder of the user's own that fails half way."""

    nbytes = n_parameters = 0
    in_shape = (4,)

    def __init__(self, calls=10):
        self.calls = calls

    def encode(self, X):
        self.calls -= 1
        if self.calls < 0:
            raise RuntimeError("half way")
        return np.full((len(X), 2), np.nan, dtype=np.float32)


class AnyEncoder(ForestEncoder):
    pass


def test_all_or_nothing():
    learner = taught(Silly(AnyEncoder(2), RidgeChannel(), random_state=0), 2)
    before = dict(vars(learner))
    with pytest.raises(RuntimeError, match="half way"):
        learner.add_encoder(Spoilt(0))
    with pytest.raises(InputError, match="NaN or infinity"):
        learner.add_encoder(Spoilt())
    assert vars(learner) == before
    fresh = Silly(AnyEncoder(2), RidgeChannel(), random_state=0, budget=0)
    with pytest.raises(ValueError, match="budget"):
        fresh.add_encoder(Spoilt())
    assert not hasattr(fresh, "tasks_")


def test_a_stored_learner_keeps_it(file, tmp_path):
    stored = taught(forest(store=tmp_path / "store"), 2)
    stored.add_encoder(file, name="theirs")
    plain = taught(forest(), 2).add_encoder(file, name="theirs")
    again = forest(store=Store(tmp_path / "store", cache_bytes=0))
    assert same_answers(again, plain)
    with pytest.raises(PersistenceError, match="'theirs'"):
        again.add_encoder(file)
    with pytest.raises(InputError, match="once it has learnt a task"):
        forest(store=tmp_path / "empty").add_encoder(file)
    assert not (tmp_path / "empty" / "manifest.json").exists()


def test_an_encoder_may_go_on_to_a_third_learner(file, tmp_path):
    second = taught(forest(), 1).rename("task-0", "new name").add_encoder(file, name="theirs")
    export_encoder(second, "theirs", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()
    export_encoder(second, "new name", tmp_path / "renamed")
    assert import_encoder(tmp_path / "renamed").checksum != import_encoder(file).checksum


def test_what_cannot_be_exported_is_said_in_one_line(tmp_path):
    learner = taught(forest(budget=1), 2)
    with pytest.raises(
        UnknownTaskError, match="There is no encoder of 'task-1'. Encoders: 'task-0'."
    ):
        export_encoder(learner, "task-1", tmp_path / "file")
    with pytest.raises(UnknownTaskError, match="Encoders: none"):
        export_encoder(forest(), "task-1", tmp_path / "file")
    with pytest.raises(UnsupportedError, match="no encoders to export"):
        export_encoder(REFERENCES["randumb"](0), "a", tmp_path / "file")
    with pytest.raises(PersistenceError, match="Could not write"):
        export_encoder(learner, "task-0", tmp_path / "missing" / "file")
    own = Silly(AnyEncoder(2), RidgeChannel(), random_state=0).add_encoder(Spoilt(), name="own")
    with pytest.raises(PersistenceError, match="Spoilt is yours"):
        export_encoder(own, "own", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_layers_of_one_s_own_need_the_receiver_s_function(tmp_path):
    from torch import nn

    class Odd(nn.Module):
        def __init__(self, in_shape):
            super().__init__()
            self.layer = nn.Linear(*in_shape, 3)

        def forward(self, x):
            return self.layer(x).abs()

    there = giver(lambda: SillyNetwork(Odd, recipe=QUICK, random_state=0))
    export_encoder(there, "theirs", tmp_path / "file")
    here = SillyNetwork(Odd, recipe=QUICK, random_state=0).add_encoder(
        tmp_path / "file", name="theirs"
    )
    X = rows(3)[0]
    assert np.array_equal(here.encoders_["theirs"].encode(X), there.encoders_["theirs"].encode(X))
    with pytest.raises(PersistenceError, match="layers of your own"):
        network().add_encoder(tmp_path / "file")
