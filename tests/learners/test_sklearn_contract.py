"""scikit-learn's own checks on all learners in their one-task form."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from lifelong import LifelongClassifier, LifelongRegressor, SillyForest, SillyNetwork

# The one list of checks that cannot apply: to which learners, and why.
CANNOT_APPLY = {
    "check_array_api_input": (
        lambda learner: True,
        "experimental; only runs with SCIPY_ARRAY_API set before SciPy is imported",
    ),
    "check_sample_weight_equivalence_on_dense_data": (
        lambda learner: isinstance(learner, LifelongClassifier | LifelongRegressor),
        "wants a weight of 2 to be two rows to the last bit; forests draw rows",
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
    LifelongClassifier(n_estimators=20, random_state=0),
    LifelongRegressor(n_estimators=20, random_state=0),
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
    names = {
        check.func.__name__
        for learner in (SillyForest(), LifelongClassifier())
        for _, check in estimator_checks_generator(learner)
    }
    assert set(CANNOT_APPLY) <= names
