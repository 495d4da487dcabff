"""Who helps whom, judged by rows that nobody has learnt from."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from streams_of_tasks import LEARNERS, apart, taught

from lifelong import SillyForest, SillyNetwork, Task
from lifelong.exceptions import InputError

STREAM = apart(3)


def rotated(n, flip, seed):
    """Exclusive or: a task that another one with the same boundary can help."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ flip).astype(int)


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_every_learner_explains_every_task(make):
    found = taught(make(), STREAM).explain(folds=3)
    assert found.tasks == found.encoders == ("t0", "t1", "t2")
    assert found.helps.shape == found.needed.shape == (3, 3)
    np.testing.assert_array_equal(np.isnan(found.helps), np.eye(3, dtype=bool))
    for shares in (found.accuracy, found.before, found.alone, found.beside, found.without):
        assert (shares >= 0).all()
        assert (shares <= 1).all()
    np.testing.assert_array_equal(found.alone.diagonal(), found.before)
    assert (found.rows > 10).all()


def test_given_rows_are_judged_by_the_learners_own_channels():
    learner, task = taught(SillyForest(5, random_state=0), STREAM), STREAM[1]
    found = learner.explain("t1", task.X_test, task.y_test)
    assert found.rows == [60]
    assert found.accuracy[0] == learner.score(task.X_test, task.y_test, task="t1")
    assert found.before[0] == learner.alone("t1").score(task.X_test, task.y_test)
    both = learner.explain(X={one.name: (one.X_test, one.y_test) for one in STREAM[:2]})
    assert both.tasks == ("t0", "t1")
    np.testing.assert_array_equal(both.helps[1], found.helps[0])
    without = taught(SillyForest(5, random_state=0), STREAM).forget("t2", encoder=True)
    assert found.without[0, 2] == without.score(task.X_test, task.y_test, task="t1")


def test_a_large_relative_helps_a_small_task_and_noise_does_not():
    rng = np.random.default_rng(0)
    X, y = rotated(3000, flip=True, seed=1)
    noise = rng.uniform(-1, 1, size=(3000, 2)), rng.integers(2, size=3000)
    learner = SillyForest(10, max_depth=6, random_state=0)
    learner.partial_fit(*rotated(60, flip=False, seed=2), task="small")
    learner.partial_fit(X, y, task="relative").partial_fit(*noise, task="noise")
    found = learner.explain("small", *rotated(1000, flip=False, seed=3))
    help_of = dict(zip(found.encoders, found.helps[0], strict=True))
    assert help_of["relative"] > 0.02
    assert help_of["relative"] > help_of["noise"]


def test_no_row_judges_an_encoder_that_trained_on_it():
    """Labels are noise: honest accuracies are at chance, though networks and trees know every row
    by heart.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), rng.integers(2, size=400)
    for learner in (
        SillyForest(10, random_state=0),
        SillyNetwork((64,), epochs=60, lr=1e-2, random_state=0),
        SillyForest(10, channel="ridge", random_state=0),
    ):
        learner.partial_fit(X, y, task="a").partial_fit(X + 1, 1 - y, task="b")
        found = learner.explain()
        judged = np.concatenate([found.accuracy, found.alone.ravel(), found.without.ravel()])
        assert abs(judged - 0.5).max() < 0.15


def test_a_tree_that_is_not_asked_has_no_vote():
    learner = taught(SillyForest(5, random_state=0), STREAM[:1])
    channel, Z = learner.channels_["t0"], learner.encoders_["t0"].encode(STREAM[0].X_test)
    silent = np.where(np.arange(5) < 3, Z, np.int32(-1))
    np.testing.assert_allclose(
        channel.predict_proba({"t0": silent}), channel.predict_proba({"t0": Z[:, :3]})
    )
    nobody = channel.predict_proba({"t0": np.full_like(Z, -1)})
    np.testing.assert_allclose(nobody, np.full((60, 3), 1 / 3))


def test_a_task_without_an_encoder_and_renamed_ones_are_explained():
    learner = taught(SillyForest(5, budget=2, random_state=0), STREAM).rename("t1", "site")
    task = STREAM[2]
    found = learner.explain("t2", task.X_test, task.y_test)
    assert found.encoders == ("t0", "site")
    assert found.before[0] == pytest.approx(1 / 3)
    assert not np.isnan(found.helps).any()


def test_without_rows_there_is_no_judgement():
    for more in ({"replay": 0}, {"budget": 1}):
        learner = taught(SillyForest(3, random_state=0, **more), STREAM[:2])
        with pytest.raises(
            InputError, match=r"no stored rows of task 't0' .* explain\('t0', X, y\)"
        ):
            learner.explain()


def test_the_same_question_gets_the_same_answer():
    learner = taught(SillyNetwork((8,), epochs=3, random_state=0), STREAM[:2])
    np.testing.assert_array_equal(learner.explain().beside, learner.explain().beside)


def test_it_prints_and_draws(tmp_path):
    found = taught(SillyForest(5, random_state=0), STREAM).explain()
    lines = str(found).splitlines()
    assert lines[0].split() == ["task", "all", "own", "t0", "t1", "t2"]
    assert len(lines) == 4
    figure = found.plot(tmp_path / "who.svg")
    assert "An encoder of another task helps in" in figure.axes[0].get_title(loc="left")
    first = (tmp_path / "who.svg").read_bytes()
    assert b"<svg" in first
    found.plot(tmp_path / "who.svg")
    assert (tmp_path / "who.svg").read_bytes() == first
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["t0", "t1", "t2"]


def test_one_task_can_be_explained_and_drawn():
    task = STREAM[0]
    learner = SillyForest(5, random_state=0).partial_fit(task.X_train, task.y_train, task="only")
    assert "nobody to help" in learner.explain().plot().axes[0].get_title(loc="left")


def test_the_example_prints_and_draws(tmp_path, monkeypatch, capsys):
    example = Path(__file__).parents[2] / "examples" / "who_helps_whom.py"
    arguments = ["--tasks", "2", "--trees", "2", "--out", str(tmp_path / "who")]
    monkeypatch.setattr(sys, "argv", [str(example), *arguments])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.split()[:5] == ["task", "all", "own", "0°", "30°"]
    assert {path.name for path in tmp_path.iterdir()} == {"who.svg", "who.png"}


def test_learners_do_not_need_matplotlib():
    code = "import sys; import lifelong.learners; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rows_kept_in_part_remember_what_the_encoder_saw():
    task = Task("t", *rotated(200, flip=False, seed=0), *rotated(10, flip=False, seed=1))
    learner = SillyNetwork((8,), epochs=2, replay=0.5, random_state=0)
    learner.partial_fit(task.X_train, task.y_train, task="t").partial_fit(
        task.X_test, task.y_test, task="t"
    )
    stored = learner.memory_["t"]
    assert stored.in_bag.shape == stored.y.shape == (105,)
    assert not stored.in_bag[100:].any()
    assert 50 < stored.in_bag.sum() < 85
