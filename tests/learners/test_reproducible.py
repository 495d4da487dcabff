"""Same random_state, same bits: for any n_jobs, in any process, whatever else drew random numbers
before.
"""

import subprocess
import sys

import numpy as np

SCRIPT = """
import sys
import numpy as np
from lifelong import SillyForest, SillyNetwork
from lifelong.tasks.datasets import load

n_jobs, many = int(sys.argv[1]), sys.argv[2] == "many"
np.random.random(n_jobs)
stream = load("digits", n_tasks=3)
for learner in (SillyForest(5, n_jobs=n_jobs, random_state=7),
                SillyForest(5, channel="ridge", n_jobs=n_jobs, random_state=7),
                SillyNetwork((16,), epochs=5, n_jobs=n_jobs, random_state=7),
                SillyNetwork(width=0.05, epochs=2, n_jobs=n_jobs, random_state=7)):
    if many:
        learner.partial_fit_many(stream)
    else:
        for task in stream:
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
    answers = [learner.predict_proba(task.X_test, task=task.name) for task in stream]
    sys.stdout.buffer.write(np.concatenate(answers).tobytes())
"""


def answers(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, check=True, timeout=300
    )
    return np.frombuffer(done.stdout)


def test_two_processes_with_one_and_two_jobs_answer_the_same_bits():
    one = answers("1", "one-by-one")
    assert one.size > 0
    np.testing.assert_array_equal(one, answers("2", "many"))


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
    assert not np.array_equal(
        learner.fit(X, y).predict_proba(X), learner.fit(X, y).predict_proba(X)
    )
