"""Learners and runs on a real Ray cluster of two nodes and a real Dask cluster of two workers."""

import subprocess
import time
from itertools import repeat

import numpy as np
import pytest
from clusters import BIN, wait_until
from deadly import CountsItsPickles, DeadlyEncoder, times
from tiny import Row, run, stored_lines, tiny_spec, without_clocks

import lifelong
from lifelong import LeafChannel, Silly, SillyForest, SillyNetwork, Task, evaluate
from lifelong._parallel import parallel_map, place
from lifelong.engines import current
from lifelong.exceptions import EngineError, InputError
from lifelong.experiments.session import prepare
from lifelong.experiments.spec import LearnerSpec, Part
from lifelong.tasks.simulations import xor_stream


def tasks(n=4, rows=60):
    rng = np.random.default_rng(0)
    draw = lambda: (rng.random((rows, 5), dtype=np.float32), np.arange(rows) % 2)  # noqa: E731
    return [Task(f"t{number}", *draw(), *draw()) for number in range(n)]


def taught(learner, stream):
    with lifelong.engine("local"):
        for task in stream:
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


def assert_same(one, other):
    for state in ("tasks_", "encoders_", "channels_", "memory_", "densities_", "addresses_"):
        assert list(getattr(one, state)) == list(getattr(other, state)), state
    assert one.sizes() == other.sizes()
    for task in tasks():
        answers = [learner.predict_proba(task.X_test, task=task.name) for learner in (one, other)]
        np.testing.assert_array_equal(*answers)
        np.testing.assert_array_equal(one.novelty(task.X_test), other.novelty(task.X_test))


LEARNERS = {
    "forests": lambda: SillyForest(random_state=0),
    "a budget": lambda: SillyForest(budget=3, random_state=0),
    "no replay": lambda: SillyForest(replay=0, random_state=0),
    "a chosen budget": lambda: SillyForest(
        5, channel="ridge", budget=2, keep="useful", random_state=0
    ),
    "networks": lambda: SillyNetwork((8, 8), epochs=2, random_state=0),
    "ridge": lambda: SillyNetwork((8, 8), channel="ridge", epochs=2, replay=0.5, random_state=0),
}


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_many_tasks_on_a_cluster_equal_one_by_one_bit_for_bit(connected, make):
    stream = tasks()
    there = make().partial_fit_many(stream[:2]).partial_fit_many(stream[2:])
    assert_same(there, taught(make(), stream))


def test_repetitions_on_a_cluster_equal_those_at_home(connected):
    measure = lambda: evaluate(  # noqa: E731
        lambda seed: SillyForest(3, random_state=seed),
        lambda seed: xor_stream(40, random_state=seed),
        3,
    )
    there = measure()
    with lifelong.engine("local"):
        here = measure()
    np.testing.assert_array_equal(there.errors, here.errors)


def test_what_many_pieces_of_work_share_is_sent_once(connected):
    large = CountsItsPickles(np.arange(10.0))
    sums = parallel_map(times, range(6), repeat(place(large), 6), n_jobs=None, prefer="processes")
    assert sums == [45.0 * number for number in range(6)]
    assert large.times == 1


def test_a_killed_worker_changes_nothing(connected, tmp_path):
    def make(**deaths):
        encoder = DeadlyEncoder(5, folder=str(tmp_path), **deaths)
        return Silly(encoder, LeafChannel(), random_state=0)

    there = make().partial_fit_many(tasks())
    assert (tmp_path / "0").exists(), "nobody was killed"
    assert_same(there, taught(make(deaths=0), tasks()))


def test_work_that_kills_every_worker_is_given_up_and_the_learner_is_unchanged(connected, tmp_path):
    learner = taught(
        Silly(DeadlyEncoder(5, folder=str(tmp_path), deaths=0), LeafChannel(), random_state=0),
        tasks(1),
    )
    before = dict(vars(learner))
    learner.encoder = DeadlyEncoder(5, folder=str(tmp_path), deaths=100)
    with pytest.raises(EngineError, match="4 workers died of it"):
        learner.partial_fit_many(tasks()[1:2])
    assert {name: value for name, value in vars(learner).items() if name != "encoder"} == {
        name: value for name, value in before.items() if name != "encoder"
    }


def test_an_error_of_the_work_itself_comes_back_as_it_is(connected):
    stream = tasks()
    broken = Task(
        "broken", stream[0].X_train, stream[0].y_train, stream[0].X_test, stream[0].y_test
    )
    learner = SillyForest(max_features="no such thing", random_state=0)
    with pytest.raises(ValueError, match="max_features"):
        learner.partial_fit_many([broken, stream[1]])
    assert not hasattr(learner, "tasks_")
    with pytest.raises(InputError, match="comes twice"):
        SillyForest().partial_fit_many([broken, broken])


def busy_spec():
    """Cells of some seconds, so that a death finds them at work."""
    return tiny_spec(
        parts=(Part("xor, xnor", "xor", {"n": 1500, "n_test": 500, "second": "xnor"}),),
        learners=tuple(LearnerSpec(name, name, {"n_estimators": 40}) for name in ("silly-f", "rf")),
        repetitions=3,
    )


@pytest.fixture(scope="session")
def at_home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    with lifelong.engine("local"):
        run(busy_spec(), folder)
    return folder


def in_order(folder):
    return sorted(stored_lines(folder), key=str)


def test_a_run_on_a_cluster_with_a_killed_worker_ends_as_one_at_home(connected, at_home, tmp_path):
    killed = None
    for event in prepare(busy_spec(), tmp_path).events():
        if killed is None and isinstance(event, Row):
            killed = wait_until(connected.working, "work")[0]
            killed.kill()
    assert killed is not None
    assert in_order(tmp_path) == in_order(at_home)
    assert without_clocks(tmp_path) == without_clocks(at_home)


def test_a_run_whose_second_machine_dies_ends_as_one_at_home(connected, at_home, tmp_path):
    dead = False
    for event in prepare(busy_spec(), tmp_path).events():
        if not dead and isinstance(event, Row):
            connected.second.kill()
            dead = True
    connected.second = connected.join()
    assert in_order(tmp_path) == in_order(at_home)


def test_rows_are_stored_while_the_cell_is_still_measured(connected, tmp_path):
    events = prepare(busy_spec(), tmp_path).events()
    first = next(event for event in events if isinstance(event, Row))
    assert len(stored_lines(tmp_path)) == 1
    events.close()
    assert first.stage == 0


def test_a_node_with_another_version_is_refused_by_name(connected, tmp_path):
    shadow = tmp_path / "numpy-0.0.1.dist-info"
    shadow.mkdir()
    (shadow / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.0.1\n")
    address = (
        connected.address if connected.engine == "dask" else None
    )  # Ray knows one cluster per process
    other = connected.join(
        **({"ip": "127.0.0.4"} if connected.engine == "ray" else {}), first_on_path=tmp_path
    )
    try:
        with (
            pytest.raises(EngineError, match=r"numpy 0.0.1, not \d") as raised,
            lifelong.engine(connected.engine, address),
        ):
            pytest.fail("it was let in")
        assert "\n" not in str(raised.value)
    finally:
        other.kill()
    assert current() is not None


def test_an_address_where_nobody_is_gives_one_line_in_seconds(cluster):
    started = time.monotonic()
    command = ["run", "xor-xnor", "--smoke", "--learners", "silly-f", "--engine", cluster.engine]
    done = subprocess.run(
        [BIN / "lifelong", *command, "--engine-address", "127.0.0.1:1", "--out", "never"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stderr.startswith("error: Nobody answers at 127.0.0.1:1.")
    assert time.monotonic() - started < 100  # most of it is Python's own start
