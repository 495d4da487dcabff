"""scikit-learn's own checks on both learners in their one-task form."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from lifelong import SillyForest, SillyNetwork

# The one list of checks that cannot apply: to which learners, and why.
CANNOT_APPLY = {
    "check_array_api_input": (
        lambda learner: True,
        "experimental; only runs with SCIPY_ARRAY_API set before SciPy is imported",
    ),
    "check_methods_subset_invariance": (
        lambda learner: isinstance(learner, SillyNetwork) and learner.channel == "ridge",
        (
            "wants 1e-7; the last bits of a float32 network depend on the size of the batch, and"
            " ridge passes them on"
        ),
    ),
}
LEARNERS = [
    SillyForest(random_state=0),
    SillyNetwork((16,), epochs=40, lr=1e-2, random_state=0),
    SillyNetwork((16,), epochs=40, lr=1e-2, channel="neighbours", random_state=0),
    SillyForest(channel="ridge", random_state=0),
    SillyNetwork((16,), epochs=40, lr=1e-2, channel="ridge", random_state=0),
]


def checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [pair for learner in LEARNERS for pair in estimator_checks_generator(learner)]
    return [(learner, check) for learner, check in found if not cannot_apply(learner, check)]


def cannot_apply(learner, check):
    return check.func.__name__ in CANNOT_APPLY and CANNOT_APPLY[check.func.__name__][0](learner)


@pytest.mark.filterwarnings("default")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(
    ("learner", "check"),
    [pytest.param(*pair, id=f"{n}-{pair[1].func.__name__}") for n, pair in enumerate(checks())],
)
def test_scikit_learns_contract_holds(learner, check):
    check(learner)


def test_every_exception_is_still_a_check_of_scikit_learn():
    names = {check.func.__name__ for _, check in estimator_checks_generator(SillyForest())}
    assert set(CANNOT_APPLY) <= names
