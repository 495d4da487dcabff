"""Learners by name."""

import pytest

from lifelong import SillyForest, SillyNetwork
from lifelong.exceptions import ParameterError
from lifelong.experiments import LEARNERS, make_learner
from lifelong.experiments.demo import PARTS
from lifelong.experiments.registry import trains_networks


@pytest.mark.parametrize("name", LEARNERS)
def test_every_name_makes_a_learner_with_its_seed(name):
    assert make_learner(name, random_state=3).random_state == 3


@pytest.mark.parametrize("name", LEARNERS)
def test_who_trains_networks_takes_one_and_nobody_else_does(name):
    if trains_networks(name):
        assert make_learner(name, network=(10,)).network == (10,)
    else:
        with pytest.raises(TypeError, match="network"):
            make_learner(name, network=(10,))


def test_the_demo_trains_all_networks_alike():
    for part in PARTS:
        alike = {"network": part.network, "recipe": part.recipe}
        assert part.parameters("silly-n-best") == part.parameters("lwf") == part.parameters("single") == alike
        assert part.parameters("silly-f-best") == {}


def test_a_number_behind_the_name_is_a_budget():
    assert isinstance(make_learner("silly-f-20"), SillyForest)
    learner = make_learner("silly-n-4", network=(10,))
    assert isinstance(learner, SillyNetwork)
    assert (learner.budget, learner.network) == (4, (10,))


def test_a_typo_suggests_the_nearest_name():
    with pytest.raises(ParameterError, match="Unknown learner 'sily-n'. Did you mean 'silly-n'?"):
        make_learner("sily-n")
