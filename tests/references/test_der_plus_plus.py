"""DER++: a reservoir of rows, labels and logits."""

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from tiny_references import ADAM, make_stream, taught, teach, tiny

from lifelong import Recipe, TaskStream
from lifelong.exceptions import ParameterError
from lifelong.references.der_plus_plus import (
    LogitMemory,
    LogitReservoir,
    logit_distance,
)


def test_the_reservoir_holds_every_row_equally_often() -> None:
    n = 40
    capacity = 8
    X = np.arange(n, dtype=np.float32)[:, None]
    y = np.zeros(n, np.intp)
    logits = np.zeros((n, 2), np.float32)
    counts = np.zeros(n)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        memory = LogitMemory.none_yet((1,))
        for rows in (slice(0, 15), slice(15, n)):  # two rounds
            reservoir = LogitReservoir(memory, capacity, (1,), 2, rng=rng)
            reservoir.insert(X[rows], y[rows], 0, logits[rows])
            memory = reservoir.frozen()
        assert len(memory.y) == capacity
        assert memory.seen == n
        counts[memory.X[:, 0].astype(int)] += 1
    assert chisquare(counts).pvalue > 0.01


def test_a_round_leaves_the_memory_of_before_as_it_was(flat: TaskStream) -> None:
    learner = teach(tiny("der++"), flat[:1])
    before = learner.memory_
    X = before.X.copy()
    logits = before.logits.copy()
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    np.testing.assert_array_equal(before.X, X)
    np.testing.assert_array_equal(before.logits, logits)


def test_stored_logits_are_those_of_the_step_that_showed_the_row(flat: TaskStream) -> None:
    """With one pass the network of the first step is the untrained one."""
    task = flat[0]
    n_rows = len(task.y_train)
    recipe = Recipe(epochs=1, batch_size=n_rows, optimiser="sgd", lr=0.05)
    learner = tiny("der++", recipe=recipe, capacity=n_rows)
    learner.partial_fit(task.X_train, task.y_train, task="first")
    memory = learner.memory_
    still = Recipe(epochs=1, batch_size=n_rows, optimiser="sgd", lr=1e-30)
    untrained = tiny("der++", recipe=still, capacity=n_rows)
    untrained.partial_fit(task.X_train, task.y_train, task="first")
    X = torch.from_numpy(memory.X)
    with torch.no_grad():
        then = untrained.model_(X, 0).numpy()
        now = learner.model_(X, 0).numpy()
    np.testing.assert_allclose(memory.logits, then, atol=1e-6)
    assert np.abs(memory.logits - now).max() > 1e-3


def test_logits_stay_as_they_were_when_later_tasks_train_the_network(flat: TaskStream) -> None:
    first = teach(tiny("der++", capacity=150), flat[:1]).memory_
    last = teach(tiny("der++", capacity=150), flat).memory_
    n_logits = 3  # classes of the first task
    old = np.hstack([first.X, first.logits[:, :n_logits]])
    of_first = last.tasks == 0
    kept = np.hstack([last.X[of_first], last.logits[of_first, :n_logits]])
    assert len(kept) > 10
    assert {row.tobytes() for row in kept} <= {row.tobytes() for row in old}


def test_rows_are_remembered_with_their_own_labels_tasks_and_heads(flat: TaskStream) -> None:
    memory = taught("der++").memory_
    assert len(memory.y) == 20
    assert memory.seen == 8 * sum(len(task.y_train) for task in flat)  # eight passes
    for x, y, number, n_logits in zip(
        memory.X, memory.y, memory.tasks, memory.n_logits, strict=True
    ):
        task = flat[int(number)]
        (row,) = np.flatnonzero((task.X_train == x).all(axis=1))
        assert task.y_train[row] == f"{task.name}-{y}"
        assert n_logits == len(np.unique(task.y_train))


def test_the_distance_of_logits_is_taken_on_each_rows_own_head(flat: TaskStream) -> None:
    learner = taught("der++")
    model = learner.model_
    memory = learner.memory_
    chosen = np.arange(len(memory.y))[::-1].copy()
    expected = []
    with torch.no_grad():
        for row in chosen:
            k = memory.n_logits[row]
            said = model(torch.from_numpy(memory.X[row : row + 1]), int(memory.tasks[row]))[0, :k]
            expected.append(float(((said - torch.from_numpy(memory.logits[row, :k])) ** 2).mean()))
        features = model.features(torch.from_numpy(memory.X[chosen]))
        distance = logit_distance(model.heads, features, memory, chosen)
    assert float(distance) == pytest.approx(np.mean(expected), rel=1e-5)


def test_old_logits_move_less_with_a_memory_of_logits_than_without() -> None:
    stream = make_stream((8,), shift=1.0, seed=5)
    rows = torch.from_numpy(stream[0].X_test)
    moved = []
    for weight in (0.5, 0.0):
        learner = tiny("der++", recipe=ADAM, capacity=60, alpha=weight, beta=weight)
        before = teach(learner, stream[:1]).model_(rows, 0).detach()
        after = teach(learner, stream[1:]).model_(rows, 0).detach()
        moved.append(float((after - before).square().mean()))
    assert moved[0] < 0.7 * moved[1]


def test_a_negative_weight_is_refused(flat: TaskStream) -> None:
    with pytest.raises(ParameterError, match="alpha"):
        tiny("der++", alpha=-1.0).partial_fit(flat[0].X_train, flat[0].y_train, task="first")
