"""SiLLy-X does what Algorithms 1–4 say."""

from dataclasses import replace

import numpy as np
import pytest

from lifelong import Recipe, Silly, SillyForest, SillyNetwork, Task
from lifelong.channels import LeafChannel, Seen
from lifelong.encoders import ForestEncoder
from lifelong.exceptions import ParameterError, UnknownTaskError, UnsupportedError
from lifelong.tasks.simulations import gaussian_xor, xor_stream

NETWORK = {"network": (8,), "epochs": 3, "lr": 1e-2}
LEARNERS = {
    "forest": lambda **more: SillyForest(4, random_state=0, **more),
    "network": lambda **more: SillyNetwork(**NETWORK, random_state=0, **more),
    "neighbours": lambda **more: SillyNetwork(
        **NETWORK, channel="neighbours", random_state=0, **more
    ),
    "ridge forest": lambda **more: SillyForest(4, channel="ridge", random_state=0, **more),
    "ridge network": lambda **more: SillyNetwork(
        **NETWORK, channel="ridge", random_state=0, **more
    ),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def tasks(n_tasks=4, n=60, n_classes=3, shape=(5,)):
    rng = np.random.default_rng(0)
    made = []
    for t in range(n_tasks):
        y = np.arange(n) % n_classes
        X = rng.normal(size=(n, *shape)) + np.roll(np.arange(n_classes), t)[y].reshape(
            -1, *[1] * len(shape)
        )
        made.append(Task(f"t{t}", X, y, X, y))
    return made


def taught(learner, stream):
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


class Spy:
    """A channel that writes down which rows of which task it was shown through which encoder."""

    def __init__(self, log):
        self.log = log

    nbytes = 0

    def start(self, class_counts):
        return Spy(self.log)

    def with_class_counts(self, class_counts):
        return Spy(self.log)

    def update(self, name, seen):
        honest = seen.held_out()
        self.log.append((name, honest.Z.copy(), honest.y.copy(), seen.in_bag is not None))
        return Spy(self.log)

    def only(self, names):
        return self

    def predict_proba(self, representations):
        return np.ones((len(next(iter(representations.values()))), 1))


class Identity:
    """An encoder that shows every row as it is and trains on the first half."""

    nbytes = n_parameters = 0

    def split(self, y, *, rng):
        return np.arange(len(y)) < len(y) // 2

    def fit(self, X, y, *, in_bag=None, rng):
        return self

    def encode(self, X):
        return X


def test_channels_are_shown_exactly_the_rows_that_the_algorithms_say():
    log, stream = [], tasks(3, n=10)
    taught(Silly(Identity(), Spy(log), random_state=0), stream)
    rows = {task.name: task.X_train for task in stream}
    expected = [
        ("t0", rows["t0"][5:], True),  # task 0 arrives: held-out rows on its own encoder
        (
            "t0",
            rows["t1"],
            False,
        ),  # task 1 arrives: all its rows on the older encoder (Algorithm 2)
        ("t1", rows["t1"][5:], True),  # … held-out rows on its own
        ("t1", rows["t0"], False),  # … and task 0's stored rows on the new encoder (Algorithm 3)
        ("t0", rows["t2"], False),
        ("t1", rows["t2"], False),
        ("t2", rows["t2"][5:], True),
        ("t2", rows["t0"], False),
        ("t2", rows["t1"], False),
    ]
    assert [(name, in_task) for name, _, _, in_task in log] == [
        (name, in_task) for name, _, in_task in expected
    ]
    for (_, shown, _, _), (_, wanted, _) in zip(log, expected, strict=True):
        np.testing.assert_array_equal(np.sort(shown, axis=0), np.sort(wanted, axis=0))


def test_a_forest_learner_equals_the_paper_written_as_loops():
    stream = tasks(3)
    learner = taught(SillyForest(4, random_state=0), stream)
    X, codes = stream[0].X_test[:7], {task.name: task.y_train for task in stream}
    for task in stream:
        votes = np.zeros((len(X), 3))
        voters = np.zeros((len(X), 1))
        for source in stream:
            rng = learner._rng(source.name, "encoder")
            in_bag = ForestEncoder(4).split(codes[source.name], rng=rng)
            forest = ForestEncoder(4).fit(source.X_train, source.y_train, in_bag=in_bag, rng=rng)
            for b, tree in enumerate(forest.trees):
                honest = ~in_bag[:, b] if source is task else np.ones(len(task.y_train), dtype=bool)
                leaves = tree.apply(task.X_train[honest])
                for i, leaf in enumerate(tree.apply(X)):
                    members = task.y_train[honest][leaves == leaf]
                    if len(members):
                        votes[i] += np.bincount(members, minlength=3) / len(members)
                        voters[i] += 1
        expected = np.where(voters > 0, votes / np.maximum(voters, 1), 1 / 3)
        np.testing.assert_allclose(learner.predict_proba(X, task=task.name), expected)


def test_held_out_rows_of_each_tree_are_disjoint_from_its_in_bag_rows():
    """Every row is unique, so a counted row that a tree trained on would show."""
    rng = np.random.default_rng(0)
    X, y = rng.permutation(200).reshape(-1, 1).astype(np.float32), np.arange(200) % 2
    learner = SillyForest(5, random_state=0).partial_fit(X, y, task="t")
    in_bag = ForestEncoder(5).split(y, rng=learner._rng("t", "encoder"))
    seen = Seen(learner.encoders_["t"].encode(X), y, np.arange(200), in_bag=in_bag)
    assert ((seen.held_out().Z >= 0) == ~in_bag).all()
    assert learner.channels_["t"].tables["t"].sum() == (~in_bag).sum()


@each_learner
def test_the_order_of_tasks_changes_no_encoder_and_no_answer_once_all_are_known(make):
    stream = tasks()
    one, two = taught(make(), stream), taught(make(), stream[::-1])
    for task in stream:
        np.testing.assert_allclose(
            one.predict_proba(task.X_test, task=task.name),
            two.predict_proba(task.X_test, task=task.name),
            atol=1e-12,
        )


@each_learner
def test_many_tasks_at_once_equal_one_by_one_bit_for_bit(make):
    stream = tasks()
    one_by_one, at_once = (
        taught(make(budget=3), stream),
        make(budget=3, n_jobs=2).partial_fit_many(stream),
    )
    for task in stream:
        np.testing.assert_array_equal(
            one_by_one.predict_proba(task.X_test, task=task.name),
            at_once.predict_proba(task.X_test, task=task.name),
        )
    assert list(at_once.encoders_) == ["t0", "t1", "t2"]


@each_learner
def test_a_learner_alone_equals_one_taught_that_task_only(make):
    stream = tasks()
    learner = taught(make(), stream)
    for task in stream:
        alone, fresh = learner.alone(task.name), taught(make(), [task])
        np.testing.assert_array_equal(
            alone.predict_proba(task.X_test), fresh.predict_proba(task.X_test)
        )
        assert list(alone.tasks_) == [task.name]
        other = stream[
            task is stream[0]
        ]  # the copy goes on learning as a fresh learner would, and ours stays as it is
        np.testing.assert_array_equal(
            taught(alone, [other]).predict_proba(task.X_test, task=task.name),
            taught(fresh, [other]).predict_proba(task.X_test, task=task.name),
        )
    assert list(learner.tasks_) == [task.name for task in stream]


@each_learner
def test_a_budget_stops_training_encoders_and_keeping_rows(make):
    stream = tasks()
    learner = make(budget=2)
    taught(learner, stream[:1])
    assert list(learner.memory_) == ["t0"]
    taught(learner, stream[1:2])
    assert learner.memory_ == {}
    assert learner.sizes()["rows"] == 0
    old = learner.channels_["t0"], learner.channels_["t1"]
    taught(learner, stream[2:])
    assert list(learner.encoders_) == ["t0", "t1"]
    assert list(learner.channels_) == ["t0", "t1", "t2", "t3"]
    assert learner.memory_ == {}
    assert (learner.channels_["t0"], learner.channels_["t1"]) == old
    assert learner.score(stream[3].X_test, stream[3].y_test, task="t3") > 1 / 3


@pytest.mark.parametrize("share", [0.0, 0.25, 0.4, 0.6, 1.0])
@each_learner
def test_replay_stores_exactly_that_share_of_the_rows(make, share):
    stream = tasks(2)
    learner = taught(make(replay=share), stream)
    stored = {name: len(rows.y) for name, rows in learner.memory_.items()}
    assert stored == ({} if share == 0 else {"t0": round(60 * share), "t1": round(60 * share)})
    for name, rows in learner.memory_.items():
        known = {tuple(row) for row in stream[int(name[1])].X_train}
        assert len({tuple(row) for row in rows.X} & known) == len(rows.X)


def test_stored_rows_are_a_copy():
    (task,) = tasks(1)
    X = task.X_train.copy()
    learner = SillyForest(random_state=0).partial_fit(X, task.y_train, task="t0")
    X[:] = -1
    assert (learner.memory_["t0"].X != -1).any()


def test_without_replay_nothing_old_changes_and_nothing_is_stored():
    stream = tasks()
    learner = taught(SillyForest(random_state=0, replay=0.0), stream[:1])
    before = learner.predict_proba(stream[0].X_test, task="t0")
    taught(learner, stream[1:])
    np.testing.assert_array_equal(learner.predict_proba(stream[0].X_test, task="t0"), before)
    assert learner.sizes()["rows"] == 0


@each_learner
def test_old_encoders_are_never_touched(make):
    stream = tasks()
    learner = taught(make(), stream[:2])
    before = {
        name: (encoder, encoder.encode(stream[0].X_test))
        for name, encoder in learner.encoders_.items()
    }
    taught(learner, stream[2:])
    for name, (encoder, Z) in before.items():
        assert learner.encoders_[name] is encoder
        np.testing.assert_array_equal(encoder.encode(stream[0].X_test), Z)


@each_learner
def test_more_rows_of_a_known_task_reach_its_channels_and_leave_its_encoder(make):
    first, second = tasks(2, n=90)
    learner = taught(make(), [first, second])
    encoder, other = learner.encoders_["t0"], learner.predict_proba(second.X_test, task="t1")
    before = learner.predict_proba(first.X_test, task="t0")
    learner.partial_fit(first.X_test + 0.1, first.y_test, task="t0")
    assert learner.encoders_["t0"] is encoder
    assert learner.tasks_["t0"].n_rows == 180
    assert len(learner.memory_["t0"].y) == 180
    assert not np.array_equal(learner.predict_proba(first.X_test, task="t0"), before)
    np.testing.assert_array_equal(learner.predict_proba(second.X_test, task="t1"), other)


@each_learner
def test_a_known_task_may_gain_classes(make):
    (task,) = tasks(1)
    learner = taught(make(), [task])
    more = task.X_train + 20
    learner.partial_fit(more, ["new"] * len(more), task="t0")
    assert learner.classes_of("t0").tolist() == [0, 1, 2, "new"]
    assert learner.predict_proba(more, task="t0").shape == (60, 4)
    learner.partial_fit(task.X_train, task.y_train, task="t1")
    assert learner.predict(more, task="t0").tolist().count("new") > 30


@each_learner
def test_tasks_may_differ_in_their_number_of_classes(make):
    learner = make()
    for n_classes, task in [(2, "two"), (5, "five"), (1, "one"), (3, "three")]:
        (made,) = tasks(1, n_classes=n_classes)
        learner.partial_fit(made.X_train, made.y_train, task=task)
    for n_classes, task in [(2, "two"), (5, "five"), (1, "one"), (3, "three")]:
        posteriors = learner.predict_proba(made.X_test, task=task)
        assert posteriors.shape == (60, n_classes)
        np.testing.assert_allclose(posteriors.sum(axis=1), 1)


@each_learner
def test_images_are_welcome(make):
    stream = tasks(2, shape=(1, 6, 6))
    learner = taught(make(), stream)
    assert learner.predict(stream[0].X_test, task="t0").shape == (60,)


def test_the_paper_cnn_is_the_default_for_images():
    (task,) = tasks(1, n=20, shape=(1, 8, 8))
    learner = SillyNetwork(width=0.05, epochs=1, random_state=0).partial_fit(
        task.X_train, task.y_train
    )
    assert "Conv2d" in repr(learner.encoders_["task"].body)


def test_the_best_network_trains_as_long_and_as_fast_as_it_is_told():
    strong, own = Recipe.strong(), Recipe(epochs=7, weight_decay=0.1)
    assert SillyNetwork.best().training_recipe() == strong
    changes = {"epochs": 3, "lr": 1e-2, "batch_size": 16}
    assert SillyNetwork.best(**changes).training_recipe() == replace(strong, **changes)
    assert SillyNetwork.best().set_params(epochs=2).training_recipe().epochs == 2
    assert SillyNetwork.best(recipe=own).training_recipe() == own
    assert SillyNetwork().training_recipe() == Recipe.paper()
    assert SillyNetwork(epochs=7).training_recipe() == replace(Recipe.paper(), epochs=7)


@pytest.mark.parametrize("name", ["epochs", "lr", "batch_size"])
def test_a_recipe_and_what_would_change_it_are_an_error(name):
    (task,) = tasks(1)
    learner = SillyNetwork((8,), recipe=Recipe(epochs=2), **{name: 1})
    with pytest.raises(ParameterError, match=f"{name} would change it"):
        learner.partial_fit(task.X_train, task.y_train)


def test_parameters_that_an_encoder_takes_the_place_of_must_be_left_alone():
    (task,) = tasks(1)
    learner = SillyNetwork(encoder=Identity(), channel="ridge", epochs=5)
    with pytest.raises(ParameterError, match="epochs=5 would be ignored"):
        learner.partial_fit(task.X_train, task.y_train)


@each_learner
def test_without_task_inference_everything_else_is_the_same(make):
    stream = tasks(3)
    whole, lean = taught(make(), stream), taught(make(task_inference=False), stream)
    for task in stream:
        np.testing.assert_array_equal(
            whole.predict_proba(task.X_test, task=task.name),
            lean.predict_proba(task.X_test, task=task.name),
        )
    assert lean.densities_ == {}
    assert lean.sizes()["channels"] < whole.sizes()["channels"]
    with pytest.raises(UnknownTaskError, match="Say which one"):
        lean.predict(stream[0].X_test)
    with pytest.raises(UnsupportedError, match="keeps no densities"):
        lean.novelty(stream[0].X_test)


def test_xor_helps_xnor_and_xnor_helps_xor():
    """Averaged over seeds, as one pair of errors is noisy."""
    errors = []
    for seed in range(12):
        xor, xnor = xor_stream(300, random_state=seed)
        learner = taught(SillyForest(random_state=seed), [xor])
        arrival = 1 - learner.score(xor.X_test, xor.y_test)
        taught(learner, [xnor])
        final = 1 - learner.score(xor.X_test, xor.y_test, task="xor")
        alone = 1 - learner.alone("xnor").score(xnor.X_test, xnor.y_test)
        forward = 1 - learner.score(xnor.X_test, xnor.y_test, task="xnor")
        errors.append([arrival, final, alone, forward])
    arrival, final, alone, forward = np.mean(errors, axis=0)
    assert np.log(arrival / final) > 0
    assert np.log(alone / forward) > 0


def test_a_channel_of_the_users_own_is_taken():
    stream = tasks(2)
    learner = taught(SillyForest(4, channel=LeafChannel(), random_state=0), stream)
    same = taught(SillyForest(4, random_state=0), stream)
    np.testing.assert_array_equal(
        learner.predict(stream[0].X_test, task="t0"), same.predict(stream[0].X_test, task="t0")
    )


@each_learner
def test_sizes_count_parameters_and_bytes_by_part(make):
    learner = taught(make(), tasks(2))
    sizes, in_bag = (
        learner.sizes(),
        sum(stored.in_bag.nbytes for stored in learner.memory_.values()),
    )
    assert set(sizes) == {"parameters", "encoders", "channels", "rows"}
    assert all(size > 0 for size in sizes.values())
    assert sizes["rows"] == 2 * 60 * (5 * 4 + 8 + 8) + in_bag


def test_many_rows_are_answered_in_pieces_as_if_they_were_one():
    learner = SillyForest(3, random_state=0).partial_fit(
        *gaussian_xor(200, random_state=0), task="xor"
    )
    learner.partial_fit(*gaussian_xor(200, flip=True, random_state=1), task="xnor")
    X, _ = gaussian_xor(9000, random_state=2)
    whole = learner.channels_["xor"].predict_proba(
        {name: one.encode(X) for name, one in learner.encoders_.items()}
    )
    np.testing.assert_array_equal(learner.predict_proba(X, task="xor"), whole)
