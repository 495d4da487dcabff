"""A network that several tasks share: what it remembers, and that it is a function of its seed."""

import numpy as np
import pytest
import torch

from lifelong.encoders.network import NetworkEncoder
from lifelong.encoders.several_tasks import RowsOfTask
from lifelong.encoders.shared_network import fit_shared_network, shortened
from lifelong.nets.recipe import Recipe
from lifelong.nets.warm_start import learnt_layers

ENCODER = NetworkEncoder(
    "cnn", width=0.05, recipe=Recipe(epochs=2, batch_size=16), layer="middle", max_samples=0.8
)


def rows_of(task, n_classes, seed, n=40):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.random((n, 1, 8, 8), dtype=np.float32)
    return RowsOfTask(task, X, y, np.arange(n) + 100, ENCODER.split(y, rng=rng), n_classes)


TASKS = [rows_of("a", 2, 0), rows_of("b", 3, 1)]


def fit(of_tasks=TASKS, seed=0, previous=None):
    rng = np.random.default_rng(seed)
    return fit_shared_network(of_tasks, ENCODER, rng=rng, previous=previous)


def weights_of(network):
    return [weight.detach().numpy() for weight in network.body.parameters()]


def test_it_remembers_the_rows_of_each_task_that_it_has_trained_on():
    network = fit()
    for rows in TASKS:
        np.testing.assert_array_equal(network.seen(rows.task, rows.rows), rows.in_bag)
    assert not network.seen("a", np.arange(500, 510)).any()
    assert network.seen("c", np.arange(3)) is None


def test_held_out_rows_have_no_part_in_what_it_learns():
    other = [rows._replace(X=rows.X.copy()) for rows in TASKS]
    for rows in other:
        rows.X[~rows.in_bag] = 0.5
    for ours, theirs in zip(weights_of(fit()), weights_of(fit(other)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(fit().within.directions, fit(other).within.directions)


def test_what_rows_of_one_class_differ_by_counts_less_in_its_layers_and_not_in_its_answers():
    network = fit()
    layers = network.network.encode(TASKS[0].X)
    n_layers = layers.shape[1] - network.n_answers
    read = network.encode(TASKS[0].X)
    np.testing.assert_array_equal(read[:, n_layers:], layers[:, n_layers:])
    np.testing.assert_array_equal(read[:, :n_layers], network.within(layers[:, :n_layers]))
    assert read[:, :n_layers].var() < 0.9 * layers[:, :n_layers].var()


def test_a_network_that_has_seen_one_task_is_read_as_it_is():
    network = fit(TASKS[:1])
    assert network.within is None
    np.testing.assert_array_equal(network.encode(TASKS[0].X), network.network.encode(TASKS[0].X))


def test_its_last_columns_are_posteriors_over_the_classes_of_all_tasks():
    network = fit()
    answers = network.encode(TASKS[0].X)[:, -network.n_answers :]
    assert network.n_answers == 5
    assert network.answers_about("a") == (0, 2)
    assert network.answers_about("b") == (2, 3)
    assert network.answers_about("c") is None
    np.testing.assert_allclose(answers.sum(axis=1), 1, atol=1e-4)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    first = fit().encode(TASKS[0].X)
    np.testing.assert_array_equal(first, fit().encode(TASKS[0].X))
    assert not np.array_equal(first, fit(seed=1).encode(TASKS[0].X))


def test_a_warm_start_begins_with_all_layers_and_the_answers_that_stay():
    first = fit()
    still = NetworkEncoder(
        "cnn", width=0.05, recipe=Recipe(epochs=1, lr=1e-30), layer="middle", max_samples=0.8
    )
    more = [*TASKS, rows_of("c", 2, 2)]
    second = fit_shared_network(more, still, rng=np.random.default_rng(5), previous=first)
    *layers, head = learnt_layers(first.body)
    *later_layers, later_head = learnt_layers(second.body)
    for layer, later in zip(layers, later_layers, strict=True):
        torch.testing.assert_close(later.weight, layer.weight)
    torch.testing.assert_close(later_head.weight[:5], head.weight)
    assert len(later_head.weight) == 7


def test_the_answers_of_a_task_that_has_got_more_classes_are_kept_up_to_there():
    grown = [TASKS[0]._replace(n_classes=3), TASKS[1]]
    network = fit(grown, previous=fit())
    assert network.answers_about("b") == (3, 3)


@pytest.mark.parametrize(("share", "steps"), [(0.4, 240), (0.2, 120), (1e-9, 1)])
def test_a_shortened_recipe_has_that_share_of_the_steps(share, steps):
    assert shortened(Recipe.strong(), share, n_rows=640).iterations == steps


def test_a_recipe_of_so_many_steps_per_task_has_more_steps_for_more_tasks():
    assert shortened(Recipe(iterations=100), 0.4, n_rows=99, n_tasks=4).iterations == 160


def test_a_recipe_with_patience_goes_on_counting_epochs():
    recipe = shortened(Recipe(epochs=10, patience=2), 0.5, n_rows=99)
    assert recipe.epochs == 5
    assert recipe.iterations is None
