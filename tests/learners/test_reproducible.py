"""Same random_state, same bits: for any n_jobs, in any process, whatever else drew random numbers before."""

import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import sys
import numpy as np
from lifelong import SillyForest, SillyNetwork
from lifelong.tasks.datasets import load

kind, n_jobs, many = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "many"
np.random.random(int(sys.argv[2]))
make = {"forest": lambda: SillyForest(5, n_jobs=n_jobs, random_state=7),
        "network": lambda: SillyNetwork((16,), epochs=5, n_jobs=n_jobs, random_state=7),
        "cnn": lambda: SillyNetwork(width=0.05, epochs=2, n_jobs=n_jobs, random_state=7)}[kind]
stream, learner = load("digits", n_tasks=3), make()
if many:
    learner.partial_fit_many(stream)
else:
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
answers = np.concatenate([learner.predict_proba(task.X_test, task=task.name) for task in stream])
sys.stdout.buffer.write(answers.tobytes())
"""


def answers(*arguments):
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, check=True, timeout=300)
    return np.frombuffer(done.stdout)


@pytest.mark.parametrize("kind", ["forest", "network", "cnn"])
def test_two_processes_with_one_and_two_jobs_answer_the_same_bits(kind):
    one = answers(kind, "1", "one-by-one")
    assert one.size > 0
    np.testing.assert_array_equal(one, answers(kind, "2", "many"))


def test_different_seeds_give_different_learners():
    from lifelong import SillyForest
    from lifelong.tasks.simulations import gaussian_xor

    X, y = gaussian_xor(200, random_state=0)
    one, two = (SillyForest(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 1))
    assert not np.array_equal(one, two)


def test_no_random_state_means_a_new_learner_each_time():
    from lifelong import SillyForest
    from lifelong.tasks.simulations import gaussian_xor

    X, y = gaussian_xor(200, random_state=0)
    learner = SillyForest()
    assert not np.array_equal(learner.fit(X, y).predict_proba(X), learner.fit(X, y).predict_proba(X))
