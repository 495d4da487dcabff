"""scikit-learn's own checks on both learners in their one-task form."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from lifelong import SillyForest, SillyNetwork

# The one list of checks that cannot apply, each with the reason.
CANNOT_APPLY = {
    "check_array_api_input": "experimental; only runs with SCIPY_ARRAY_API set before SciPy is imported",
}
LEARNERS = [
    SillyForest(random_state=0),
    SillyNetwork((16,), epochs=40, lr=1e-2, random_state=0),
    SillyNetwork((16,), epochs=40, lr=1e-2, channel="neighbours", random_state=0),
]


def checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [pair for learner in LEARNERS for pair in estimator_checks_generator(learner)]
    return [(learner, check) for learner, check in found if check.func.__name__ not in CANNOT_APPLY]


@pytest.mark.filterwarnings("default")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(
    ("learner", "check"), [pytest.param(*pair, id=f"{n}-{pair[1].func.__name__}") for n, pair in enumerate(checks())]
)
def test_scikit_learns_contract_holds(learner, check):
    check(learner)


def test_every_exception_is_still_a_check_of_scikit_learn():
    names = {check.func.__name__ for _, check in estimator_checks_generator(SillyForest())}
    assert set(CANNOT_APPLY) <= names
