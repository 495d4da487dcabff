"""How much a task listens to whom: the mix of opinions and its weights."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from lifelong.channels import stacking
from lifelong.channels.stacking import (
    FLOOR,
    MOST,
    Evidence,
    common_number_weights,
    common_weights,
    log_losses,
    log_opinion,
    mixed,
    task_number_weights,
    task_weights,
)


def opinion_of(y, sureness, n_classes, rng):
    """Probabilities (n, K): as right as ``sureness`` makes them; 0 says nothing of the class."""
    scores = rng.normal(size=(len(y), n_classes))
    scores[np.arange(len(y)), y] += sureness
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return log_opinion(probabilities)


def evidence(n=200, n_classes=3, sureness=(2.0, 0.0, 1.0), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    opinions = np.stack([opinion_of(y, how, n_classes, rng) for how in sureness])
    times = rng.uniform(0.5, 1.5, n)
    return Evidence(opinions, y, times / times.mean())


def numbers(n=200, noise=(0.3, 5.0, 1.0), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    opinions = np.stack([y + size * rng.normal(size=n) for size in noise])
    return Evidence(opinions, y, np.ones(n))


def nothing(like):
    return Evidence(like.opinions[:, :0], like.targets[:0], like.times[:0])


def test_the_mix_is_the_product_of_powers():
    found = evidence(5)
    weights = np.array([0.5, 1.5, 2.0])
    for row, probabilities in enumerate(mixed(weights, found.opinions)):
        by_hand = np.prod(np.exp(found.opinions[:, row]) ** weights[:, None], axis=0)
        np.testing.assert_allclose(probabilities, by_hand / by_hand.sum(), atol=1e-12)


def test_no_opinion_is_surer_than_the_floor():
    logs = log_opinion(np.array([[0.0, 1.0], [1e-9, 1 - 1e-9]]))
    assert logs.min() == pytest.approx(np.log(FLOOR))
    assert np.isfinite(log_losses(np.array([[0.0, 1.0]]), np.array([0]))).all()


def cost_and_slope(monkeypatch, of_tasks, prior, strength):
    """The cost that the weights minimise, with its slope, as it goes to the optimiser."""
    caught = {}

    def catch(cost, start, **options):
        caught["cost"] = cost
        return minimize(cost, start, **options)

    monkeypatch.setattr(stacking, "minimize", catch)
    stacking._nearest_maximum(of_tasks, prior, strength)
    return caught["cost"]


def test_the_slope_is_that_of_finite_differences(monkeypatch):
    of_tasks = [evidence(40), evidence(30, seed=1)]
    prior = np.full(3, 1 / 3)
    cost = cost_and_slope(monkeypatch, of_tasks, prior, 2.0)
    for weights in np.random.default_rng(0).uniform(0, 2, size=(5, 3)):
        error = check_grad(lambda w: cost(w)[0], lambda w: cost(w)[1], weights)
        assert error < 1e-3 * np.linalg.norm(cost(weights)[1])


def test_the_cost_is_the_weighted_log_loss_and_the_distance_from_the_prior(monkeypatch):
    found = evidence(40)
    prior = np.full(3, 1 / 3)
    cost = cost_and_slope(monkeypatch, [found], prior, 2.0)
    weights = np.array([1.0, 0.2, 0.5])
    by_hand = 2.0 * ((weights - prior) ** 2).sum()
    probabilities = mixed(weights, found.opinions)
    for row, label in enumerate(found.targets):
        by_hand -= found.times[row] * np.log(probabilities[row, label])
    assert cost(weights)[0] == pytest.approx(by_hand)


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_classes_are_never_negative_nor_too_large(seed):
    found = evidence(300, sureness=(3.0, -2.0, 0.5), seed=seed)
    for weights in (common_weights([found]), task_weights(found, np.full(3, 1 / 3))):
        assert (weights >= 0).all()
        assert (weights <= MOST).all()


def test_a_useless_opinion_gets_no_weight_and_a_good_one_gets_most():
    weights = common_weights([evidence(3000, sureness=(2.0, 0.0, 0.0))])
    assert weights[0] > 0.5
    assert weights[1:].max() < 0.05
    contrary = common_weights([evidence(3000, sureness=(2.0, -2.0))])
    assert contrary[1] == 0


def test_a_perfect_opinion_wins():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=500)
    perfect = log_opinion(np.eye(3)[y])
    guess = opinion_of(y, 0.5, 3, rng)
    weights = common_weights([Evidence(np.stack([guess, perfect]), y, np.ones(500))])
    assert weights[1] > 3 * weights[0]
    answers = mixed(weights, np.stack([guess, perfect]))
    assert (answers.argmax(axis=1) == y).all()


def test_weights_minimise_the_loss_of_the_rows():
    found = evidence(400)
    best = common_weights([found])

    def loss(weights):
        away = weights - 1 / 3
        prior = stacking.PRIOR_STRENGTH * away @ away
        return prior + found.times @ log_losses(mixed(weights, found.opinions), found.targets)

    for step in np.vstack([0.05 * np.eye(3), -0.05 * np.eye(3)]):
        assert loss(best) <= loss(np.clip(best + step, 0, MOST)) + 1e-6


def test_a_task_without_rows_has_the_common_weights():
    found = evidence()
    common = common_weights([found])
    np.testing.assert_array_equal(task_weights(nothing(found), common), common)
    found = numbers()
    common = common_number_weights([found])
    np.testing.assert_array_equal(task_number_weights(nothing(found), common), common)


def test_tasks_without_any_row_between_them_listen_to_all_alike():
    found = evidence()
    np.testing.assert_allclose(common_weights([nothing(found)]), [1 / 3] * 3)
    found = numbers()
    np.testing.assert_allclose(common_number_weights([nothing(found)] * 2), [1 / 3] * 3, atol=1e-6)


def test_a_task_moves_from_the_common_weights_the_further_the_more_rows_it_has():
    common = np.array([0.1, 0.1, 1.0])
    away = [
        np.linalg.norm(task_weights(evidence(n, sureness=(3.0, 0.0, 0.0)), common) - common)
        for n in (5, 50, 2000)
    ]
    assert away[0] < away[1] < away[2]


def test_weights_of_numbers_sum_to_one_and_are_never_negative():
    for seed in range(5):
        found = numbers(seed=seed)
        common = common_number_weights([found, numbers(30, seed=seed + 10)])
        for weights in (common, task_number_weights(found, np.array([0.2, 0.5, 0.3]))):
            assert weights.sum() == pytest.approx(1)
            assert (weights >= 0).all()
            assert weights.argmax() == 0
            assert weights[1] < 0.2


def test_a_perfect_number_wins_whatever_the_unit():
    for unit in (1e-6, 1.0, 1e6):
        found = numbers(2000, noise=(1.0, 1e-6))
        found = Evidence(unit * found.opinions, unit * found.targets, found.times)
        assert common_number_weights([found])[1] > 0.95


def test_one_opinion_is_all_there_is():
    found = evidence(20, sureness=(1.0,))
    np.testing.assert_array_equal(task_weights(found, np.array([1.0])), [1.0])
    found = numbers(20, noise=(1.0,))
    np.testing.assert_array_equal(task_number_weights(found, np.array([1.0])), [1.0])


def test_rows_count_as_much_as_their_weights():
    found = evidence(60)
    twice = np.arange(60) % 2 == 0
    weighted = found._replace(times=np.where(twice, 2.0, 1.0))
    repeated = np.repeat(np.arange(60), np.where(twice, 2, 1))
    copied = Evidence(found.opinions[:, repeated], found.targets[repeated], np.ones(len(repeated)))
    np.testing.assert_allclose(common_weights([weighted]), common_weights([copied]), atol=1e-4)
