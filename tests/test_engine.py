"""What needs no cluster: the choice of an engine, and work that goes through one.

Real clusters are in tests/scale.
"""

import sys
from functools import partial
from itertools import repeat

import cloudpickle
import numpy as np
import pytest
from typer.testing import CliRunner

import lifelong
from lifelong import SillyForest, Task, evaluate
from lifelong._parallel import parallel_map, place
from lifelong.cli import app
from lifelong.engines import Ended, Engine, choice, current
from lifelong.engines.base import check_reachable, work
from lifelong.engines.versions import check_versions, versions_here
from lifelong.exceptions import EngineError, LifelongError, MissingExtraError, ParameterError
from lifelong.experiments.rows import Row
from lifelong.experiments.runner import run_cells
from lifelong.tasks.simulations import xor_stream


class Placed:
    def __init__(self, value):
        self.sent = cloudpickle.dumps(value)


class OneMachine(Engine):
    """An engine without a cluster: everything is sent and comes back as bytes, and the last piece
    ends first.
    """

    name, address, n_workers = "one machine", "here", 2

    def __init__(self):
        super().__init__()
        self.running, self.most = {}, 0

    def place(self, value):
        return Placed(value)

    def check(self):
        check_versions(self._versions)

    def close(self):
        assert not self.running

    def _start(self, number, generate, row):
        arguments = [
            part.sent if isinstance(part, Placed) else cloudpickle.dumps(part)
            for part in (generate, *row)
        ]
        self.running[number] = work(self._versions, *map(cloudpickle.loads, arguments))
        self.most = max(self.most, len(self.running))

    def _next(self):
        number = max(self.running)
        try:
            return [(number, cloudpickle.loads(cloudpickle.dumps(next(self.running[number]))))]
        except StopIteration:
            error = None
        except Exception as raised:
            error = raised
        del self.running[number]
        return [(number, Ended(error))]

    def _stop(self):
        self.running.clear()


@pytest.fixture
def one_machine(monkeypatch):
    engine = OneMachine()
    monkeypatch.setattr(
        choice, "_connect", lambda name, address, n_workers: engine if name == "ray" else None
    )
    monkeypatch.setattr(choice, "_PACKAGES", {})
    with lifelong.engine("ray"):
        yield engine


def tasks(n=4):
    rng = np.random.default_rng(0)
    rows = [(rng.random((50, 3), dtype=np.float32), np.arange(50) % 2) for _ in range(2 * n)]
    return [Task(f"t{t}", *rows[2 * t], *rows[2 * t + 1]) for t in range(n)]


def taught(learner, stream):
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


CHOSEN = {"channel": "ridge", "budget": 2, "keep": "useful"}
OPTIONS = [
    {},
    {"budget": 3},
    {"budget": 1},
    {"replay": 0.4},
    {"replay": 0},
    {"channel": "ridge"},
    CHOSEN,
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_tasks_that_are_learnt_apart_equal_tasks_learnt_in_turn(one_machine, options):
    stream, make = tasks(), lambda: SillyForest(4, random_state=0, **options)
    apart = make().partial_fit_many(stream[:2]).partial_fit_many(stream[2:])
    in_turn = taught(make(), stream)
    for state in ("tasks_", "encoders_", "channels_", "memory_", "densities_", "addresses_"):
        assert list(getattr(apart, state)) == list(getattr(in_turn, state))
    assert apart.sizes() == in_turn.sizes()
    for task in stream:
        np.testing.assert_array_equal(
            apart.predict_proba(task.X_test, task=task.name),
            in_turn.predict_proba(task.X_test, task=task.name),
        )
        np.testing.assert_array_equal(apart.novelty(task.X_test), in_turn.novelty(task.X_test))


def test_tasks_that_come_again_after_they_were_forgotten_are_learnt_apart_alike(one_machine):
    stream = tasks(3)
    apart, in_turn = (taught(SillyForest(3, random_state=0), stream).forget("t1") for _ in range(2))
    apart.partial_fit_many(tasks()[1:2] + tasks()[3:])
    taught(in_turn, tasks()[1:2] + tasks()[3:])
    assert apart.addresses_ == in_turn.addresses_ == {"t1": "t1 (2)"}
    for task in tasks():
        np.testing.assert_array_equal(
            apart.predict_proba(task.X_test, task=task.name),
            in_turn.predict_proba(task.X_test, task=task.name),
        )


def test_results_come_in_order_and_little_is_handed_out_ahead(one_machine):
    squares = parallel_map(
        lambda x, y: x * y, range(20), range(20), n_jobs=None, prefer="processes"
    )
    assert squares == [x * x for x in range(20)]
    assert one_machine.most == 2 * one_machine.n_workers
    shared = parallel_map(
        lambda x, y: x + y, range(3), repeat(place(10), 3), n_jobs=None, prefer="processes"
    )
    assert shared == [10, 11, 12]
    assert parallel_map(len, [], n_jobs=None, prefer="processes") == []


def test_an_error_ends_the_rest_and_leaves_the_learner_as_it_was(one_machine):
    learner = taught(SillyForest(3, random_state=0), tasks(1))
    before = dict(vars(learner))
    learner.max_features = "no such thing"
    with pytest.raises(ValueError, match="max_features"):
        learner.partial_fit_many(tasks()[1:])
    assert not one_machine.running
    assert vars(learner) == {**before, "max_features": "no such thing"}


def _forest(n_trees, seed):
    return SillyForest(n_trees, random_state=seed)


def _xor(n, seed):
    return xor_stream(n, random_state=seed)


def test_repetitions_through_an_engine_are_those_without(one_machine):
    def measure():
        return evaluate(partial(_forest, 2), partial(_xor, 30), 3)

    through = measure()
    with lifelong.engine("local"):
        assert current() is None
        np.testing.assert_array_equal(through.errors, measure().errors)
    assert current() is one_machine


def test_a_name_that_is_close_is_suggested_and_an_engine_ends_with_its_block():
    with pytest.raises(
        ParameterError,
        match="engine='rey' is unknown. Did you mean 'ray'\\? Choose one of: 'local', ",
    ):
        lifelong.engine("rey").__enter__()
    with (
        pytest.raises(ParameterError, match="The local engine has no address"),
        lifelong.engine("local", "here:1"),
    ):
        pass
    assert current() is None


@pytest.mark.parametrize(("name", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_an_engine_that_is_not_installed_names_its_extra(name, package, monkeypatch, tmp_path):
    monkeypatch.setitem(
        sys.modules, package, None
    )  # Python's own way to say that there is no such module
    with (
        pytest.raises(MissingExtraError, match=rf"pip install 'lifelong\[{name}\]'"),
        lifelong.engine(name),
    ):
        pass
    command = ["run", "xor-xnor", "--smoke", "--engine", name, "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert (
        f"'{name}' needs {package}, which is not installed. Run: pip install 'lifelong[{name}]'"
        in done.stderr
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "tcp://127.0.0.1:1", "nonsense", "host:port", ""]
)
def test_an_address_where_nobody_answers_is_one_line(address):
    with pytest.raises(EngineError) as raised:
        check_reachable("Ray", address, "ray start --head")
    assert str(raised.value).startswith(
        f"Nobody answers at {address}. Is Ray running there? Start it with: ray start"
    )
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, LifelongError)


def test_other_versions_are_one_line_that_names_them():
    with pytest.raises(
        EngineError, match="numpy [0-9.]+, not 0.0.1; torch .*, not 0.0.2"
    ) as raised:
        check_versions({**versions_here(), "numpy": "0.0.1", "torch": "0.0.2"})
    assert "\n" not in str(raised.value)


def test_cells_of_a_run_go_through_the_engine(one_machine):
    from lifelong.experiments.plan import plan, still_missing
    from lifelong.experiments.spec import LearnerSpec, Part, Spec

    part = Part("xor, xnor", "xor", {"n": 12, "n_test": 10, "second": "xnor"})
    spec = Spec("tiny", "full", "?", (part,), (LearnerSpec("rf", "rf", {"n_estimators": 2}),), 3)
    cells = still_missing(plan(spec), set())

    def errors():
        rows = [event for event in run_cells(cells, spec.hash, None) if isinstance(event, Row)]
        return sorted((str(row.key), row.error) for row in rows)

    through = errors()
    with lifelong.engine("local"):
        assert through == errors()
