"""Learners by name: the one table that the command line, experiments and the report read."""

import subprocess
import sys

import pytest

from lifelong import SillyForest, SillyNetwork
from lifelong.exceptions import ParameterError
from lifelong.experiments import LEARNERS, make_learner
from lifelong.experiments.catalogue.entry import EVERYONE, SIXTEEN
from lifelong.experiments.demo import PARTS
from lifelong.experiments.registry import entry_of, trains_networks
from lifelong.references import CONTROLS, REFERENCES


@pytest.mark.parametrize("name", LEARNERS)
def test_every_name_makes_a_learner_with_its_seed(name):
    assert make_learner(name, random_state=3).random_state == 3


@pytest.mark.parametrize("name", LEARNERS)
def test_who_trains_networks_takes_one_and_nobody_else_does(name):
    if trains_networks(name):
        made = make_learner(name, network=(10,))
        assert (10,) in (made.get_params().get("network"), made.get_params().get("base__network"))
    else:
        with pytest.raises(TypeError, match="network"):
            make_learner(name, network=(10,))


def test_the_demo_trains_all_networks_alike():
    for part in PARTS:
        alike = {"network": part.network, "recipe": part.recipe}
        assert (
            part.parameters("silly-n-best")
            == part.parameters("lwf")
            == part.parameters("single")
            == alike
        )
        assert part.parameters("silly-f-best") == {}


def test_a_number_behind_the_name_is_a_budget():
    assert isinstance(make_learner("silly-f-20"), SillyForest)
    learner = make_learner("silly-n-4", network=(10,))
    assert isinstance(learner, SillyNetwork)
    assert (learner.budget, learner.network) == (4, (10,))


def test_a_typo_suggests_the_nearest_name():
    with pytest.raises(ParameterError, match="Unknown learner 'sily-n'. Did you mean 'silly-n'?"):
        make_learner("sily-n")


def test_ours_the_references_and_the_controls_are_entries_of_one_table():
    kinds = {name: entry.kind for name, entry in LEARNERS.items()}
    assert [name for name, kind in kinds.items() if kind == "ours"] == [
        *("silly-f", "silly-n", "silly-f-best", "silly-n-best"),
        *("silly-n-shared", "silly-n-shared-once", "lifelong", "lifelong-number"),
    ]
    assert [name for name, kind in kinds.items() if kind == "reference"] == list(REFERENCES)
    assert {"single", "rf", "table-rf", "pooled-rf", "nearest-mean", "chance"} <= {
        name for name, kind in kinds.items() if kind == "control"
    }
    assert list(CONTROLS) == ["single", "rf"]
    assert {*EVERYONE} <= {*LEARNERS}


@pytest.mark.parametrize("name", LEARNERS)
def test_an_entry_says_in_a_line_what_it_is_and_which_class_it_makes(name):
    entry = LEARNERS[name]
    assert entry.what
    assert "\n" not in entry.what
    assert bool(entry.paper) == (entry.year is not None)
    assert type(make_learner(name)) is entry.learner_class()
    assert entry.learner_class().__name__ == entry.learner


def test_who_grows_is_as_in_the_paper():
    growing = {name for name in SIXTEEN if REFERENCES[name].growing}
    assert growing == {"prognn", "df-cnn", "lmc", "model-zoo", "coscl"}
    for name in ("silly-f", "silly-n", "silly-f-best", "silly-n-best"):
        assert entry_of(name).growing
        assert not entry_of(f"{name}-4").growing
        assert entry_of(f"{name}-4").parameters == {**entry_of(name).parameters, "budget": 4}


@pytest.mark.parametrize("name", ["silly-n-", "silly-n-four", "silly-n-4-4", "ewc-4", "-4", ""])
def test_only_ours_take_a_budget_and_only_as_a_number(name):
    assert entry_of(name) is None


def test_the_table_is_plain_data_until_a_learner_is_made():
    script = (
        "import sys\n"
        "from lifelong.experiments.registry import LEARNERS, make_learner\n"
        "parts = ('lifelong.learners', 'lifelong.channels', 'lifelong.encoders', 'torch')\n"
        "assert LEARNERS['ewc'].year == 2017\n"
        "assert not [part for part in parts if part in sys.modules], sorted(sys.modules)\n"
        "make_learner('silly-f')\n"
        "assert 'lifelong.learners' in sys.modules and 'torch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
