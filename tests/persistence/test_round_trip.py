"""A learner that comes back from the disk predicts the same bits and learns on as if it had never
been away.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small import OURS, QUICK, forest, network, rows, same_answers, taught

from lifelong import Recipe, RidgeChannel, SillyForest, SillyNetwork, load, save
from lifelong.exceptions import NotLearntError, PersistenceError
from lifelong.references import BOUNDS, CONTROLS, REFERENCES

REFERENCE = {
    **{
        name: {"network": (6,), "recipe": QUICK}
        for name, entry in {**REFERENCES, **BOUNDS}.items()
        if entry.trains_network
    },
    "er": {"network": (6,), "recipe": QUICK, "capacity": 9},
    "a-gem": {"network": (6,), "recipe": QUICK, "rows_per_class": 3, "reference_size": 20},
    "df-cnn": {"network": "cnn", "width": 0.05, "recipe": QUICK},
    "lmc": {"network": (6, 6), "recipe": QUICK, "threshold": -100.0},  # so that modules are added
    "model-zoo": {"network": (6,), "recipe": QUICK, "tasks_per_round": 2},
    "der++": {"network": (6,), "recipe": QUICK, "capacity": 9},
    "randumb": {"n_features": 30},
    "ranpac": {"n_features": 30},
    "single": {"network": (6,), "recipe": QUICK},
    "rf": {"n_estimators": 3},
}


def learners():
    yield from ((name, make, shape) for name, (make, shape) in OURS.items())
    for name, factory in {**REFERENCES, **CONTROLS, **BOUNDS}.items():
        parameters = REFERENCE[name]
        shape = (2, 8, 8) if name == "df-cnn" else (4,)
        yield name, lambda factory=factory, parameters=parameters: factory(0, **parameters), shape


@pytest.mark.parametrize(
    ("make", "shape"), [pytest.param(make, shape, id=name) for name, make, shape in learners()]
)
def test_a_learner_comes_back_bit_for_bit_and_goes_on_learning_alike(make, shape, tmp_path):
    learner = taught(make(), 2, shape)
    save(learner, tmp_path)
    again = load(tmp_path)
    assert type(again) is type(learner)
    assert again.get_params() == learner.get_params() or "encoder" in again.get_params()
    assert same_answers(learner, again, shape)
    assert again.sizes() == learner.sizes()
    for one in (
        learner,
        again,
    ):  # a third task, and more rows of the first with a class that is new to it
        one.partial_fit(*rows(2, shape=shape), task="task-2")
        one.partial_fit(*rows(1, n=9, shape=shape), task="task-0")
    assert same_answers(learner, again, shape)
    save(again, tmp_path)
    assert same_answers(learner, load(tmp_path), shape)


@pytest.mark.parametrize(
    "name", ["ewc", "prognn", "tag", "model-zoo", "coscl", "lmc", "der++", "packnet", "hat"]
)
def test_references_on_images_come_back_too(name, tmp_path):
    learner = taught(REFERENCES[name](0, network="cnn", width=0.05, recipe=QUICK), 2, (2, 8, 8))
    save(learner, tmp_path)
    again = load(tmp_path)
    for one in (learner, again):
        one.partial_fit(*rows(2, shape=(2, 8, 8)), task="task-2")
    assert same_answers(learner, again, (2, 8, 8))


@pytest.mark.parametrize("channel", ["leaf", "ridge", "forest", "neighbours"])
def test_weighted_rows_and_forgotten_and_renamed_tasks_survive(channel, tmp_path):
    learner = (
        forest()
        if channel == "leaf"
        else network(channel=channel)
        if channel != "ridge"
        else forest(channel="ridge")
    )
    taught(learner, 2)
    X, y = rows(2)
    weights = None if channel == "ridge" else np.linspace(0.1, 2, len(y))  # which takes none
    learner.partial_fit(X, y, task="weighted", sample_weight=weights)
    learner.rename("task-0", "renamed").forget("task-1")
    save(learner, tmp_path)
    again = load(tmp_path)
    assert same_answers(learner, again)
    for one in (learner, again):
        one.partial_fit(X, y, task="task-0")
    assert same_answers(learner, again)
    X = rows(5)[0]
    assert learner.predict(X).tolist() == again.predict(X).tolist(), (
        "the task is inferred from stored densities"
    )


def test_two_processes_exchange_a_learner(tmp_path):
    learner = taught(forest(), 2)
    save(learner, tmp_path)
    X = rows(99, n=5)[0]
    script = (
        "import sys, numpy as np, lifelong\nlearner ="
        f" lifelong.load(sys.argv[1])\nprint(learner.predict_proba(np.array({X.tolist()},"
        " np.float32), task='task-1').tobytes().hex())\nassert 'torch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == learner.predict_proba(X, task="task-1").tobytes().hex(), (
        done.stderr
    )


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [True, False],
        [1.0, 2.0],
        ["ü", "\n"],
        [None, "x"],
        [3, "three"],
        np.array([200, 1], np.uint8),
        np.array([-1, 1], np.int16),
        np.array(["a", "longer"]),
        np.array([2**62, 1], np.int64),
    ],
)
def test_labels_come_back_as_they_were(labels, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = labels[np.arange(20) % 2] if isinstance(labels, np.ndarray) else labels * 10
    learner = SillyForest(2, random_state=0).fit(X, y)
    save(learner, tmp_path)
    before, after = learner.predict(X), load(tmp_path).predict(X)
    assert before.dtype == after.dtype
    assert before.tolist() == after.tolist()
    assert [type(label) for label in before.tolist()] == [type(label) for label in after.tolist()]


@pytest.mark.parametrize(
    "labels", [[(1, 2), (3, 4)], [b"a", b"b"], [1 + 0j, "x"], [frozenset("a"), "x"]]
)
def test_labels_that_json_cannot_hold_are_refused_before_anything_is_written(labels, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))
    learner = SillyForest(2, random_state=0).partial_fit(X, labels * 10, task="t")
    with pytest.raises(PersistenceError, match="cannot be saved"):
        save(learner, tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} <= {"lock"}


def test_names_and_column_names_come_back(tmp_path):
    X = pd.DataFrame(rows(0)[0], columns=["a", "b", "c", "ü"])
    learner = forest()
    for task in ("ü/../x", 7, -(2**70), "\ud800"):
        learner.partial_fit(X, rows(0)[1], task=task)
    save(learner, tmp_path)
    again = load(tmp_path)
    assert list(again.tasks_) == list(learner.tasks_)
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "ü"]
    assert again.predict(X, task=7).tolist() == learner.predict(X, task=7).tolist()


def test_a_generator_is_stored_as_the_number_that_was_drawn_from_it(tmp_path):
    learner = taught(SillyForest(3, random_state=np.random.default_rng(5)), 1)
    save(learner, tmp_path)
    again = load(tmp_path)
    assert again.random_state == again.seed_ == learner.seed_
    for one in (learner, again):
        one.partial_fit(*rows(1), task="task-1")
    assert same_answers(learner, again)


def two_layers(in_shape):
    from torch import nn

    return nn.Sequential(nn.Linear(in_shape[0], 7), nn.Tanh())  # Tanh is none of ours


def test_a_network_of_the_users_own_needs_the_function_again(tmp_path):
    for learner in (
        SillyNetwork(two_layers, recipe=QUICK, random_state=0),
        SillyNetwork(two_layers, recipe=QUICK, n_networks=2, random_state=0),
        REFERENCES["ewc"](0, network=two_layers, recipe=QUICK),
    ):
        save(taught(learner, 2), tmp_path)
        with pytest.raises(
            PersistenceError, match=r"two_layers.*load\(directory, network=function\)"
        ):
            load(tmp_path)
        again = load(tmp_path, network=two_layers)
        assert same_answers(learner, again)
        for one in (learner, again):
            one.partial_fit(*rows(2), task="task-2")
        assert same_answers(learner, again)
        with pytest.raises(PersistenceError):
            load(tmp_path, network=lambda in_shape: two_layers((5,)))


def test_channels_with_settings_and_recipes_come_back(tmp_path):
    learner = taught(
        SillyForest(2, channel=RidgeChannel(weights="equal"), max_features=2, random_state=0), 2
    )
    save(learner, tmp_path)
    assert load(tmp_path).channel.weights == "equal"
    recipe = Recipe(iterations=2, optimiser="sgd", momentum=0.9, lr=0.01, schedule="one-cycle")
    save(taught(SillyNetwork((4,), recipe=recipe, random_state=0), 1), tmp_path)
    assert load(tmp_path).recipe == recipe


def test_what_is_not_ours_or_not_learnt_is_refused_with_advice(tmp_path):
    class Mine(SillyForest):
        pass

    with pytest.raises(PersistenceError, match="only the library's own learners"):
        save(taught(Mine(2, random_state=0), 1), tmp_path)
    with pytest.raises(NotLearntError, match="nothing to save"):
        save(SillyForest(), tmp_path)
    with pytest.raises(PersistenceError, match="no learner"):
        save({"a": 1}, tmp_path)
    with pytest.raises(PersistenceError, match="is not a directory"):
        load(tmp_path / "nowhere")
    with pytest.raises(PersistenceError, match="There is no saved learner"):
        load(tmp_path)


def test_files_are_ordinary_safetensors(tmp_path):
    from safetensors import safe_open

    save(taught(forest(), 1), tmp_path)
    paths = list(tmp_path.glob("*.safetensors"))
    for path in paths:
        with safe_open(path, "numpy") as file:
            assert all(np.isfinite(file.get_tensor(name)).all() for name in file.keys())  # noqa: SIM118
    assert {path.name.split("-")[0] for path in paths} >= {"encoder", "channel", "rows"}


def test_no_unpickler_is_anywhere_in_the_read_path():
    import lifelong.persistence

    text = "".join(
        path.read_text() for path in Path(lifelong.persistence.__file__).parent.glob("*.py")
    )
    for word in (
        "import pickle",
        "import dill",
        "import joblib",
        "torch.load",
        "eval(",
        "exec(",
        "import_module",
    ):
        assert word not in text.replace(".eval(", "")


def test_a_large_task_comes_back_with_all_rows_of_its_own_encoder(tmp_path):
    X = np.random.default_rng(0).normal(size=(5500, 3)).astype(np.float32)
    learner = SillyForest(2, max_depth=3, channel="ridge", random_state=0)
    for task in ("a", "b"):
        learner.partial_fit(X, X[:, 0] > 0, task=task)
    save(learner, tmp_path)
    views = load(tmp_path).channels_["a"].views
    assert {name: len(view.y) for name, view in views.items()} == {"a": 5500, "b": 5000}
