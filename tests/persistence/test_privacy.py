"""Without stored rows, no number of a row is left in memory or on disk; docs/privacy.md says what
is left.
"""

import gc
import pickle
import weakref
from copy import copy
from dataclasses import replace
from types import FunctionType, ModuleType

import numpy as np
import pytest
from small import forest, network

from lifelong import LeafChannel, SillyForest, export_encoder, load, save
from lifelong.tasks.simulations import gaussian_xor

LEARNERS = {
    "leaf": lambda **kw: forest(**kw),
    "ridge on forests": lambda **kw: forest(channel="ridge", **kw),
    "forest": lambda **kw: network(**kw),
    "ridge": lambda **kw: network(channel="ridge", **kw),
    "neighbours": lambda **kw: network(channel="neighbours", **kw),
}


def marked(seed, n=24):
    """Rows of numbers that occur nowhere else."""
    rng = np.random.default_rng(1000 + seed)
    y = np.arange(n) % 2
    return (rng.normal(size=(n, 5)) * 7.7 + y[:, None] * 3.3).astype(np.float32), y


def marks(*seeds):
    """Each number of each row as it would look in memory or in a file: 32 or 64 bits."""
    numbers = np.concatenate([marked(seed)[0].ravel() for seed in seeds])
    return {number.astype(kind).tobytes() for number in numbers for kind in ("<f4", "<f8")}


def found(content, needles):
    """How many of the marks are in some bytes."""
    return sum(needle in content for needle in needles)


def arrays_of(learner):
    """Bytes of every array and tensor that can be reached from the learner, whole buffers behind
    views included.
    """
    seen, waiting, contents = set(), [learner], []
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, ModuleType | FunctionType | type):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            contents.append(one.tobytes())
            waiting.append(one.base)
        elif hasattr(one, "untyped_storage"):
            contents.append(bytes(one.untyped_storage().tolist()))
        elif isinstance(one, bytes | bytearray | memoryview):
            contents.append(bytes(one))
        waiting += gc.get_referents(one)
    return b"|".join(contents)


def on_disk(folder):
    return b"|".join(path.read_bytes() for path in sorted(folder.iterdir()))


def taught(learner, n_tasks=2):
    for seed in range(n_tasks):
        learner.partial_fit(*marked(seed), task=f"task-{seed}")
    return learner


@pytest.mark.parametrize(
    "settings", [{"replay": 0.0}, {"budget": 1}], ids=["no replay", "budget spent"]
)
@pytest.mark.parametrize("kind", LEARNERS)
def test_no_number_of_a_row_is_left(kind, settings, tmp_path):
    learner, needles = taught(LEARNERS[kind](**settings)), marks(0, 1)
    assert learner.memory_ == {}
    learner.predict(marked(2)[0], task="task-0")  # channels may solve when they are first asked
    save(learner, tmp_path / "saved")
    export_encoder(learner, "task-0", tmp_path / "file")
    places = {
        "attributes": pickle.dumps(vars(learner)),
        "memory": arrays_of(learner),
        "disk": on_disk(tmp_path / "saved"),
        "exported": (tmp_path / "file").read_bytes(),
        "loaded again": arrays_of(load(tmp_path / "saved")),
    }
    assert {place: found(content, needles) for place, content in places.items()} == dict.fromkeys(
        places, 0
    )


def test_the_search_finds_rows_that_are_kept(tmp_path):
    learner, needles = taught(forest()), marks(0, 1)
    save(learner, tmp_path)
    for content in (pickle.dumps(vars(learner)), arrays_of(learner), on_disk(tmp_path)):
        assert found(content, needles) == 240


def test_rows_go_from_the_directory_when_the_budget_is_spent(tmp_path):
    learner = taught(forest(budget=3))
    save(learner, tmp_path)
    assert found(on_disk(tmp_path), marks(0, 1)) == 240
    learner.partial_fit(*marked(2), task="task-2")
    save(learner, tmp_path)
    assert found(on_disk(tmp_path), marks(0, 1, 2)) == 0


def test_a_copy_without_rows_predicts_the_same(tmp_path):
    """docs/deploy.md says so."""
    learner = taught(forest())
    slim = copy(learner)
    slim.knowledge_ = replace(learner.knowledge_, memory={})
    save(slim, tmp_path)
    assert found(on_disk(tmp_path), marks(0, 1)) == 0
    X = marked(2)[0]
    assert np.array_equal(
        load(tmp_path).predict_proba(X, task="task-1"), learner.predict_proba(X, task="task-1")
    )
    assert set(learner.memory_) == {"task-0", "task-1"}


def test_a_class_of_one_row_is_its_own_mean():
    """docs/privacy.md says so, and how to leave densities out."""
    X, y = marked(0)
    y[:] = 0
    y[3] = 1
    learner = forest(replay=0.0).partial_fit(X, y, task="a")
    scaling = learner.scaling_
    again = learner.densities_["a"].rows.means[1] * scaling.scale + scaling.mean
    assert np.allclose(again, X[3], atol=1e-3)


def test_a_learner_without_densities_predicts_and_is_saved(tmp_path):
    learner = taught(forest(replay=0.0))
    before = learner.predict_proba(marked(2)[0], task="task-0")
    learner.knowledge_ = replace(learner.knowledge_, densities={}, scaling=None)
    save(learner, tmp_path)
    assert np.array_equal(load(tmp_path).predict_proba(marked(2)[0], task="task-0"), before)


def test_a_floor_leaves_no_leaf_with_fewer_rows(tmp_path):
    learner = SillyForest(3, channel=LeafChannel(min_rows=4), min_samples_leaf=8, random_state=0)
    for seed in range(2):
        learner.partial_fit(*gaussian_xor(200, random_state=seed), task=seed)
    learner.partial_fit(*gaussian_xor(30, random_state=5), task=0)
    save(learner, tmp_path)
    again = load(tmp_path)
    for channel in [*learner.channels_.values(), *again.channels_.values()]:
        assert channel.min_rows == 4
        for table in channel.tables.values():
            rows = table.sum(axis=1)
            assert rows[rows > 0].min() >= 4
            assert (rows > 0).any()


def test_a_floor_counts_rows_whatever_they_weigh():
    X, y = gaussian_xor(60, random_state=0)
    learner = SillyForest(2, channel=LeafChannel(min_rows=61), random_state=0)
    learner.partial_fit(X, y, task="a", sample_weight=np.full(60, 100.0))
    assert not any(table.any() for table in learner.channels_["a"].tables.values())


def test_rows_of_a_forgotten_task_leave_the_cache_of_a_store(tmp_path):
    learner = taught(forest(store=tmp_path))
    task = next(iter(learner.tasks_))
    rows = weakref.ref(learner.memory_[task].X)
    assert rows() is not None
    learner.forget(task)
    gc.collect()
    assert rows() is None
