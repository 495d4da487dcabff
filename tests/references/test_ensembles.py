"""LMC, Model Zoo and CoSCL: several networks or modules at work together."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from rounds import a_round
from tiny_references import make_stream, taught, teach, tiny
from torch import nn
from torch.nn.functional import kl_div

from lifelong import Recipe, TaskStream
from lifelong.experiments.catalogue.settings import OWN
from lifelong.nets.architectures import build
from lifelong.nets.augmentation import Augment
from lifelong.references.best_state import BestState, held_out
from lifelong.references.coscl import Cooperation, disagreement, with_dropout
from lifelong.references.fisher import batched_fisher
from lifelong.references.lmc import training_losses
from lifelong.references.model_zoo import ModelZoo, sampling_weights, training_loss
from lifelong.references.modular import ModularLayer


def test_lmc_adds_modules_when_the_input_shifts_and_none_when_it_does_not(flat: TaskStream) -> None:
    shifted = make_stream((8,), shift=6.0)
    here, there = (teach(tiny("lmc"), stream[:1]) for stream in (flat, shifted))
    here.partial_fit(flat[0].X_test, flat[0].y_test, task="more of the same")
    there.partial_fit(shifted[1].X_train, shifted[1].y_train, task="second")
    assert [len(layer.modules_) for layer in here.model_.modular_layers()] == [1, 1]
    assert len(there.model_.modular_layers()[0].modules_) == 2
    assert all(module.frozen for module in there.model_.all_modules())


def test_lmcs_statistics_are_of_batch_means_not_of_rows(flat: TaskStream) -> None:
    learner = teach(tiny("lmc"), flat[:1])
    losses = training_losses(learner.model_, torch.from_numpy(flat[0].X_train))
    draw = torch.Generator().manual_seed(0)
    batches = torch.randint(len(flat[0].X_train), (4000, 32), generator=draw)
    for layer, s in zip(learner.model_.modular_layers(), losses, strict=True):
        module = layer.modules_[0]
        batch_means = s[:, 0][batches].mean(dim=1)
        torch.testing.assert_close(module.mean, batch_means.mean(), rtol=0.02, atol=0)
        torch.testing.assert_close(module.std, batch_means.std(), rtol=0.05, atol=0)
        assert float(module.std) < 0.2 * float(s.std())
        assert module.z(module.mean + 3 * s.std()) > 4


def test_reconstruction_trains_the_decoder_and_neither_the_function_nor_what_is_below() -> None:
    layer = ModularLayer(3, 4, None, temperature=0.5, prior_temperature=0.1)
    module = layer.add_module_()
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    module(x)[1].mean().backward()
    assert all(weight.grad is not None for weight in module.decoder.parameters())
    assert all(weight.grad is None for weight in module.function.parameters())
    assert x.grad is None


def test_in_a_projection_the_layers_above_pass_gradients_down_but_not_through_targets() -> None:
    layer = ModularLayer(3, 4, None, temperature=0.5, prior_temperature=0.1)
    module = layer.add_module_().requires_grad_(False)
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x, None, s_trains_function=True)[1].mean(), x)
    again = x.detach().clone().requires_grad_()
    reconstruction = module.decoder(module.function(again))
    by_hand = ((reconstruction - x.detach()) ** 2).mean()
    torch.testing.assert_close(gradient, torch.autograd.grad(by_hand, again)[0])


def test_lmcs_modules_freeze_when_their_task_ends(flat: TaskStream) -> None:
    learner = teach(tiny("lmc"), flat[:1])
    old = [layer.modules_[0] for layer in learner.model_.modular_layers()]
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    new = [layer.modules_[0] for layer in learner.model_.modular_layers()]
    for before, after in zip(old, new, strict=True):
        assert all(
            torch.equal(a, b) for a, b in zip(before.parameters(), after.parameters(), strict=True)
        )


def test_lmc_mixes_by_reconstruction_and_prior() -> None:
    layer = ModularLayer(3, 4, None, temperature=0.5, prior_temperature=0.1)
    layer.add_module_(), layer.add_module_()
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    mixed, s = layer(x, None)
    weights = (-s.log() / 0.5).softmax(dim=1) * (-s.mean(dim=0).log() / 0.1).softmax(dim=0)
    weights = weights / weights.sum(dim=1, keepdim=True)
    outputs = torch.stack([module(x)[0] for module in layer.modules_], dim=1)
    torch.testing.assert_close(mixed, (weights[:, :, None] * outputs).sum(dim=1))


def test_a_task_asks_only_the_modules_of_its_time() -> None:
    layer = ModularLayer(3, 4, None, temperature=0.5, prior_temperature=0.1)
    layer.add_module_(), layer.add_module_()
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    prior = torch.tensor([0.7, 0.4])
    together, s = layer(x, prior)
    weights = (-s.log() / 0.5 - prior.log() / 0.1).softmax(dim=1)
    outputs = torch.stack([module(x)[0] for module in layer.modules_], dim=1)
    torch.testing.assert_close(together, (weights[:, :, None] * outputs).sum(dim=1))
    layer.add_module_()
    torch.testing.assert_close(layer(x, prior)[0], together)
    torch.testing.assert_close(layer(x[:1], prior)[0], together[:1])


def test_lmc_forgets_nothing_when_modules_are_added() -> None:
    shifted = make_stream((8,), shift=6.0)
    learner = teach(tiny("lmc"), shifted[:1])
    before = learner.predict_proba(shifted[0].X_test, "first")
    teach(learner, shifted[1:])
    assert len(learner.model_.modular_layers()[0].modules_) > 1
    np.testing.assert_array_equal(learner.predict_proba(shifted[0].X_test, "first"), before)


def test_the_zoo_draws_badly_known_tasks_more_often() -> None:
    losses = np.array([0.5, 1.0, 1.5])
    mean = (0.5 + 1.0 + 1.5 + np.log(10)) / 4
    expected = np.exp((losses - mean) / mean)
    np.testing.assert_allclose(sampling_weights(losses, 10), expected / expected.sum())
    # clipped at 1e-4 and 1e3: one task of a thousand is far worse than all others
    extreme = sampling_weights(np.array([1000.0] + [1e-9] * 999), 10)
    assert extreme[0] / extreme[1] == pytest.approx(1e3 / np.exp(-1), rel=1e-3)
    np.testing.assert_allclose(sampling_weights(np.zeros(4), 10), 0.25)


def test_the_mean_loss_counts_the_new_task_so_that_fitted_tasks_are_drawn_almost_alike() -> None:
    well_known = np.array([0.001, 0.004, 0.02])
    weights = sampling_weights(well_known, n_classes=10)
    assert weights.max() < 1.05 * weights.min()
    assert (np.diff(weights) > 0).all()
    among_old_tasks_alone = np.exp(well_known / well_known.mean())
    assert among_old_tasks_alone.max() > 5 * among_old_tasks_alone.min()


def test_every_round_adds_a_network_for_the_new_task_and_some_old_ones(flat: TaskStream) -> None:
    learner = teach(tiny("model-zoo", tasks_per_round=2), flat)
    members = [member.tasks for member in learner.model_.members]
    assert members[0] == [0]
    assert members[1] == [1, 0]
    assert members[2][0] == 2
    assert len(members[2]) == 2


def test_the_zoo_crops_and_flips_by_default_for_the_authors_hundred_epochs() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3, 8, 8)).astype(np.float32)  # noise looks like its mirror image
    short = replace(ModelZoo.default_recipe, epochs=1)
    learner = tiny("model-zoo", network="cnn", width=0.05, recipe=short)
    learner.partial_fit(X, np.arange(40) % 2, task="noise")
    front = learner.model_.members[0].network.trunk[0]
    assert isinstance(front[0], Augment)
    assert bool(front[0].mirrors)
    assert ModelZoo.default_recipe.epochs == 100
    assert Recipe(**OWN["model-zoo"]["recipe"]) == ModelZoo.default_recipe


def test_the_zoo_answers_with_the_mean_over_the_networks_that_know_the_task(
    flat: TaskStream,
) -> None:
    learner = taught("model-zoo")
    X = torch.from_numpy(flat[0].X_test)
    with torch.no_grad():
        mean = torch.stack(
            [member(X, 0) for member in learner.model_.members if 0 in member.tasks]
        ).mean(dim=0)
    np.testing.assert_allclose(
        learner.predict_proba(flat[0].X_test, "first"), mean.numpy(), atol=1e-6
    )


def test_the_zoo_never_trains_an_old_network_again(flat: TaskStream) -> None:
    learner = teach(tiny("model-zoo"), flat[:1])
    first = [weight.clone() for weight in learner.model_.members[0].parameters()]
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    assert all(
        torch.equal(a, b)
        for a, b in zip(first, learner.model_.members[0].parameters(), strict=True)
    )


def test_the_zoos_loss_is_the_mean_negative_log_posterior(flat: TaskStream) -> None:
    learner = taught("model-zoo")
    task = flat[1]
    y = np.array([int(label[-1]) for label in task.y_train])
    posteriors = learner.predict_proba(task.X_train, "second")
    loss = training_loss(learner.model_, 1, torch.from_numpy(task.X_train), torch.from_numpy(y))
    assert loss == pytest.approx(-np.log(posteriors[np.arange(len(y)), y]).mean(), rel=1e-4)


def test_disagreement_is_the_sum_of_divergences_with_the_second_side_learning() -> None:
    logits = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
    log_p = logits.log_softmax(dim=2)
    by_hand = sum(
        kl_div(log_p[i], log_p[j].detach(), log_target=True, reduction="batchmean")
        for i in range(3)
        for j in range(3)
        if i != j
    )
    ours = disagreement(logits)
    torch.testing.assert_close(ours, by_hand)
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in (ours, by_hand)]
    torch.testing.assert_close(*gradients)


def test_coscls_learners_together_are_about_as_large_as_one_network(images: TaskStream) -> None:
    def n_weights(name: str) -> int:
        learner = tiny(name, network="cnn", width=0.3, recipe=Recipe(iterations=1, batch_size=8))
        task = images[0]
        return learner.partial_fit(task.X_train, task.y_train, task="first").sizes()["parameters"]

    assert n_weights("coscl") == pytest.approx(n_weights("none"), rel=0.15)


def test_coscl_drops_maps_where_images_are_halved_and_units_of_dense_layers() -> None:
    network = with_dropout(build("cnn", (3, 16, 16), 0.1))
    plain = build("cnn", (3, 16, 16), 0.1)
    assert list(network.state_dict()) == list(plain.state_dict())  # saved networks still fit
    shares = [layer.p for layer in network.modules() if isinstance(layer, nn.Dropout)]
    assert shares == [0.25] * 4 + [0.5] * 2


def test_the_fisher_of_fitted_rows_does_not_vanish_because_dropout_is_at_work() -> None:
    # Rows that are far apart are soon fitted: without dropout hardly any gradient is left.
    X = torch.cat([torch.full((30, 8), -1.0), torch.full((30, 8), 1.0)])
    y = torch.arange(2).repeat_interleave(30)
    learner = tiny("coscl", recipe=Recipe(iterations=400, batch_size=32, lr=1e-2))
    learner.partial_fit(X.numpy(), y.numpy(), task="far apart")
    held = sum(float(F.sum()) for F in learner.penalty_.curvature)
    model = copy.deepcopy(learner.model_)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    weights = list(model.trunks.parameters())
    without = batched_fisher(model, weights, a_round(X, y), 20)
    assert held > 3 * sum(float(F.sum()) for F in without)
    assert not any(module.training for module in learner.model_.modules())


def test_coscl_ends_with_the_state_that_held_out_rows_liked_best() -> None:
    model = nn.Linear(1, 1, bias=False)
    best = BestState(model, lambda: (model.weight - 3).abs().sum(), every=2)
    for value in (1.0, 2.9, 3.2, 2.5, 7.0, 9.0):
        with torch.no_grad():
            model.weight.fill_(value)
        model.train()
        best.after_step()
    best.restore()
    assert float(model.weight.detach()) == pytest.approx(2.9)  # looked at after steps 2, 4 and 6
    assert not model.training


def test_coscls_held_out_rows_are_not_learnt_from() -> None:
    shown, held = held_out(50, 0.1, rng=np.random.default_rng(0))
    assert sorted([*shown.tolist(), *held.tolist()]) == list(range(50))
    assert len(held) == 5
    assert [len(rows) for rows in held_out(3, 0.5, rng=np.random.default_rng(0))] == [2, 1]
    assert [len(rows) for rows in held_out(1, 0.5, rng=np.random.default_rng(0))] == [1, 0]


def test_coscls_importance_adds_up_around_the_last_weights(flat: TaskStream) -> None:
    after_one = teach(tiny("coscl"), flat[:1]).penalty_
    learner = teach(tiny("coscl"), flat[:2])
    for c, theta in zip(learner.penalty_.centre, learner.model_.trunks.parameters(), strict=True):
        torch.testing.assert_close(c, theta.detach(), rtol=0, atol=0)
    pairs = zip(learner.penalty_.curvature, after_one.curvature, strict=True)
    assert all((now >= before).all() for now, before in pairs)


def test_coscl_gates_features_sums_them_and_has_a_penalty(flat: TaskStream) -> None:
    learner = taught("coscl")
    model = learner.model_
    assert isinstance(model, Cooperation)
    X = torch.from_numpy(flat[1].X_test)
    features = sum(
        trunk(X) * (100 * gate).sigmoid()
        for trunk, gate in zip(model.trunks, model.gates[1], strict=True)
    )
    torch.testing.assert_close(model(X, 1), model.heads[1](features))
    assert float(learner.penalty_.value([w.detach() + 0.1 for w in model.trunks.parameters()])) > 0
