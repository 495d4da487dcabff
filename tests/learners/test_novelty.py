"""novelty(X): 5 % of known tasks' rows are above 0.95, and far more of a new task's."""

import numpy as np
import pytest
from streams_of_tasks import LEARNERS, apart, taught

from lifelong import SillyForest
from lifelong.exceptions import NotLearntError, UnsupportedError
from lifelong.learners.density import Gaussians
from lifelong.learners.task_inference import calibrate, nearest
from lifelong.references import REFERENCES


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_rows_of_a_new_task_stand_out(make):
    stream = apart(4)
    learner = taught(make(), stream[:3])
    assert (learner.novelty(stream[3].X_test) > 0.95).mean() > 0.9


@pytest.mark.parametrize("more", [{}, {"replay": 0}, {"budget": 1}])
@pytest.mark.parametrize("distance", [0.5, 4.0])
def test_it_is_uniform_on_rows_of_known_tasks(more, distance):
    stream = apart(n=600, distance=distance)
    learner = taught(SillyForest(2, random_state=0, **more), stream)
    scores = np.concatenate([learner.novelty(task.X_test) for task in stream])
    assert scores.min() >= 0
    assert scores.max() <= 1
    for level in (0.5, 0.8, 0.9, 0.95):
        assert (scores > level).mean() == pytest.approx(1 - level, abs=0.035)


def test_it_stays_calibrated_when_a_task_arrives_in_batches():
    task = apart(1, n=900)[0]
    learner = SillyForest(2, random_state=0)
    for start in range(0, 900, 150):
        learner.partial_fit(
            task.X_train[start : start + 150], task.y_train[start : start + 150], task="t"
        )
    assert len(learner.densities_["t"].calibration) <= 201
    assert (learner.novelty(task.X_test) > 0.9).mean() == pytest.approx(0.1, abs=0.035)


def test_calibration_distances_are_from_what_other_rows_say():
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(40, 3)), np.zeros(40, np.intp)
    honest = calibrate(None, z, y, 1)
    dishonest = np.sort(nearest(Gaussians.of(z, y, 1))(z))
    assert honest.mean() > 1.05 * dishonest.mean()
    by_hand = [
        nearest(Gaussians.of(z[np.arange(40) % 10 != f], y[:36], 1))(z[f::10]) for f in range(10)
    ]
    np.testing.assert_allclose(honest, np.sort(np.concatenate(by_hand)), rtol=1e-5)


def test_with_one_row_nothing_is_new():
    learner = SillyForest(2, random_state=0).partial_fit([[0.0, 1.0]], ["a"], task="tiny")
    np.testing.assert_array_equal(learner.novelty([[5.0, 5.0]]), [0.0])


def test_whoever_keeps_no_densities_says_so():
    with pytest.raises(NotLearntError):
        SillyForest().novelty([[0.0]])
    learner = taught(REFERENCES["randumb"](0, n_features=50), apart(1))
    with pytest.raises(
        UnsupportedError, match="RanDumb keeps no densities .* SillyForest and SillyNetwork can"
    ):
        learner.novelty(apart(1)[0].X_test)
