"""PackNet and HAT: one network, of which every task has its part."""

import copy

import numpy as np
import pytest
import torch
from tiny_references import taught, teach, tiny
from torch import nn

from lifelong import Recipe, TaskStream, evaluate
from lifelong.exceptions import ParameterError
from lifelong.nets.randomness import private_randomness
from lifelong.references.hat import annealed, compensated, freedom, protection, sparsity
from lifelong.references.packnet import half_as_long, kept_places

DECAYING = Recipe(iterations=20, batch_size=16, lr=1e-2, weight_decay=0.1)


@pytest.mark.parametrize(
    ("network", "width", "recipe"),
    [((16,), 1.0, DECAYING), ("cnn", 0.08, DECAYING)],
)
def test_packnets_old_weights_and_answers_stay_bit_for_bit(
    network: object, width: float, recipe: Recipe, flat: TaskStream, images: TaskStream
) -> None:
    stream = images if network == "cnn" else flat
    learner = tiny("packnet", network=network, width=width, recipe=recipe)
    answers = {}
    weights: dict[int, list[torch.Tensor]] = {}
    for number, task in enumerate(stream):
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        answers[task.name] = learner.predict_proba(task.X_test, task.name)
        weights[number] = [used.detach().clone() for used in learner.model_.used(number)]
        for name, posteriors in answers.items():
            np.testing.assert_array_equal(
                learner.predict_proba(stream[name].X_test, name), posteriors
            )
        for old, then in weights.items():
            for now, before in zip(learner.model_.used(old), then, strict=True):
                assert torch.equal(now, before)


def test_packnets_backward_transfer_is_exactly_zero(flat: TaskStream) -> None:
    assert (evaluate(lambda seed: tiny("packnet", seed), flat, 1).backward_transfer == 0).all()


def test_every_task_of_packnet_gets_its_share_of_what_was_free() -> None:
    model = taught("packnet").model_
    for owner in model.owners():
        free = owner.numel()
        for task in range(3):
            n_own = int((owner == task + 1).sum())
            assert n_own == pytest.approx(0.25 * free, abs=1)
            free -= n_own
        assert int((owner == 0).sum()) == free
    for weight, owner in zip(model.weights(), model.owners(), strict=True):
        assert not weight[owner == 0].any()  # pruned
        assert weight[owner == 3].any()  # what starts at 0 is learnt


def test_pruning_keeps_the_largest_free_weights_and_no_others() -> None:
    make = torch.Generator().manual_seed(0)
    weight = torch.randn(20, 30, generator=make)
    free = torch.rand(20, 30, generator=make) < 0.6
    kept = kept_places(weight, free, pruned=0.75)
    assert not (kept & ~free).any()
    assert int(kept.sum()) == round(0.25 * int(free.sum()))
    assert weight[kept].abs().min() >= weight[free & ~kept].abs().max()
    assert not kept_places(weight, torch.zeros_like(free), pruned=0.75).any()


def test_retraining_takes_half_the_steps() -> None:
    assert half_as_long(Recipe(epochs=9)).epochs == 4
    assert half_as_long(Recipe(epochs=1)).epochs == 1
    assert half_as_long(Recipe(iterations=500)).iterations == 250


class CountingSteps(nn.Module):
    """A network that counts how often it is trained on a batch."""

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(n_inputs, 8)
        self.n_steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.n_steps += self.training
        return self.layer(x).relu()


def test_what_pruning_leaves_is_trained_again_half_as_long(flat: TaskStream) -> None:
    learner = tiny(
        "packnet",
        network=lambda shape: CountingSteps(shape[0]),
        recipe=Recipe(iterations=20, batch_size=16),
    )
    for number in (0, 1):
        before = learner.model_.network.n_steps if number else 0
        task = flat[number]
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        assert learner.model_.network.n_steps - before == 20 + 10


def test_more_rows_of_an_old_task_change_no_other_task_of_packnet(flat: TaskStream) -> None:
    learner = teach(tiny("packnet"), flat)
    before = {task.name: learner.predict_proba(task.X_test, task.name) for task in flat}
    learner.partial_fit(flat[0].X_test, flat[0].y_test, task="first")
    for name in ("second", "third"):
        np.testing.assert_array_equal(learner.predict_proba(flat[name].X_test, name), before[name])
    assert (learner.predict_proba(flat[0].X_test, "first") != before["first"]).any()


def test_shares_out_of_range_are_refused(flat: TaskStream) -> None:
    with pytest.raises(ParameterError, match="pruned"):
        tiny("packnet", pruned=1.0).partial_fit(flat[0].X_train, flat[0].y_train, task="first")


def test_hats_gates_of_old_tasks_take_the_gradient_away(images: TaskStream) -> None:
    learner = tiny("hat", network="cnn", width=0.1, recipe=Recipe(iterations=2))
    model = copy.deepcopy(teach(learner, images[:1]).model_)
    with private_randomness(np.random.default_rng(0)):
        model.grow(1, 2)
    with torch.no_grad():
        for e in model.embeddings[0]:  # every other unit belongs to the first task
            e.copy_(6.0 - 12.0 * (torch.arange(len(e)) % 2))
    others = model.gates_of_others(1)
    model(torch.from_numpy(images[1].X_train), 1).square().sum().backward()
    before = [layer.weight.grad.clone() for layer in model.layers]
    protection(model, others)()
    for depth, (layer, gradient) in enumerate(zip(model.layers, before, strict=True)):
        unit = others[depth] > 0.5
        assert not layer.bias.grad[unit].any()
        below = torch.ones(layer.weight.shape[1], dtype=torch.bool)
        if depth > 0:
            positions = layer.weight.shape[1] // len(others[depth - 1])
            below = (others[depth - 1] > 0.5).repeat_interleave(positions)
        protected = unit[:, None] & below[None]
        assert not layer.weight.grad[protected].any()
        torch.testing.assert_close(layer.weight.grad[~protected], gradient[~protected])
        assert gradient[protected].any()


def test_weights_between_two_units_of_an_old_task_do_not_move(flat: TaskStream) -> None:
    one = teach(tiny("hat"), flat[:1]).model_
    two = teach(tiny("hat"), flat[:2]).model_
    factors = freedom(one.layers, one.gates(0))
    moved = 0
    for before, after, (of_weight, _) in zip(one.layers, two.layers, factors, strict=True):
        held = of_weight.detach() == 0
        assert held.any()
        assert torch.equal(before.weight[held], after.weight[held])
        moved += int((before.weight != after.weight).sum())
    assert moved > 0


def test_hat_forgets_next_to_nothing_where_none_forgets(flat: TaskStream) -> None:
    learner = tiny("hat")
    arrival = {}
    for task in flat:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        arrival[task.name] = learner.predict_proba(task.X_test, task.name)
    for name, before in arrival.items():
        np.testing.assert_allclose(
            learner.predict_proba(flat[name].X_test, name), before, atol=0.02
        )


def test_gates_are_open_or_closed_after_training() -> None:
    model = taught("hat").model_
    for task in range(3):
        gates = torch.cat(model.gates(task))
        assert float(((gates < 0.01) | (gates > 0.99)).float().mean()) > 0.8
        assert gates.max() > 0.99
    for embeddings in model.embeddings:
        assert all(bool((e.abs() <= 6).all()) for e in embeddings)


def test_a_stronger_wish_for_sparsity_closes_more_gates(flat: TaskStream) -> None:
    used = []
    for c in (0.0, 0.3):
        gates = teach(tiny("hat", sparsity=c), flat[:1]).model_.gates(0)
        used.append(int((torch.cat(gates) > 0.5).sum()))
    assert 0 < used[1] < used[0]


def test_units_that_others_use_already_cost_nothing() -> None:
    gates = [torch.tensor([1.0, 1.0, 0.0, 0.5])]
    assert float(sparsity(gates, [torch.tensor([1.0, 0.0, 0.0, 0.0])])) == pytest.approx(1.5 / 3)


def test_the_scale_rises_anew_in_every_cycle() -> None:
    scales = [annealed(step, 5, 100.0) for step in range(10)]
    assert scales[:5] == scales[5:]
    assert scales[0] == pytest.approx(0.01)
    assert scales[4] == pytest.approx(100.0)
    assert scales == sorted(scales[:5]) * 2


def test_compensation_makes_the_gradient_that_of_a_gate_without_scale() -> None:
    e = torch.tensor([-1.5, 0.0, 0.3, 2.0], dtype=torch.float64, requires_grad=True)
    scale = 7.0
    (gradient,) = torch.autograd.grad((scale * e).sigmoid().sum(), e)
    (plain,) = torch.autograd.grad(e.sigmoid().sum(), e)
    corrected = compensated(gradient, e.detach(), scale, 400.0)
    torch.testing.assert_close(corrected, 400 * plain)
