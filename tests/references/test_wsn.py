"""WSN: a subnetwork per task."""

import numpy as np
import pytest
import torch
from tiny_references import taught, teach, tiny

from lifelong import Recipe, TaskStream, evaluate
from lifelong.exceptions import ParameterError
from lifelong.references.wsn import Subnetwork, straight_through, used_by, winners


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_weights_that_old_tasks_use_stay_bit_for_bit(optimiser: str, flat: TaskStream) -> None:
    recipe = Recipe(
        iterations=20, batch_size=20, optimiser=optimiser, lr=1e-2, weight_decay=1e-2, momentum=0.9
    )
    learner = teach(tiny("wsn", recipe=recipe), flat[:1])
    masks = learner.model_.masks(0)
    before = [weight.detach().clone() for weight in learner.model_.weights()]
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    for weight, old, mask in zip(learner.model_.weights(), before, masks, strict=True):
        assert torch.equal(weight[mask], old[mask])
        assert not torch.equal(weight[~mask], old[~mask])


@pytest.mark.parametrize("shape", ["flat", "images"])
def test_old_predictions_stay_bit_for_bit(shape: str, flat: TaskStream, images: TaskStream) -> None:
    stream = flat if shape == "flat" else images
    learner = tiny("wsn") if shape == "flat" else tiny("wsn", network="cnn", width=0.1)
    before = {}
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        before[task.name] = learner.predict_proba(task.X_test, task.name)
        for name, posteriors in before.items():
            np.testing.assert_array_equal(
                learner.predict_proba(stream[name].X_test, name), posteriors
            )


def test_backward_transfer_is_exactly_zero(flat: TaskStream) -> None:
    assert (evaluate(lambda seed: tiny("wsn", seed), flat, 1).backward_transfer == 0).all()


def test_more_rows_of_an_old_task_change_no_other_task(flat: TaskStream) -> None:
    learner = teach(tiny("wsn"), flat)
    before = learner.predict_proba(flat[2].X_test, "third")
    learner.partial_fit(flat[0].X_test, flat[0].y_test, task="first")
    np.testing.assert_array_equal(learner.predict_proba(flat[2].X_test, "third"), before)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_task_uses_its_share_of_every_layer(share: float, flat: TaskStream) -> None:
    model = teach(tiny("wsn", share=share), flat[:2]).model_
    for mask in model.masks(1):
        assert int(mask.sum()) == round(share * mask.numel())
    if share < 1:
        assert any((a != b).any() for a, b in zip(model.masks(0), model.masks(1), strict=True))


def test_masks_come_back_from_their_bits() -> None:
    rng = torch.Generator().manual_seed(0)
    weights = [torch.zeros(3, 5), torch.zeros(2, 3, 3, 3)]
    masks = [torch.rand(weight.shape, generator=rng) > 0.5 for weight in weights]
    stored = Subnetwork([15, 54])
    stored.put(masks)
    assert [len(buffer) for buffer in stored.buffers()] == [2, 7]
    for found, mask in zip(stored.masks(weights), masks, strict=True):
        assert torch.equal(found, mask)


def test_the_mask_is_hard_and_scores_learn_through_it() -> None:
    scores = torch.tensor([0.1, -0.9, 0.5, 0.2], requires_grad=True)
    mask = straight_through(scores, 0.5)
    torch.testing.assert_close(mask.detach(), torch.tensor([0.0, 1.0, 1.0, 0.0]))
    (mask * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [1, -2, 3, 4]
    assert int(winners(torch.rand(7), 0.01).sum()) == 1


def test_a_weight_that_lowers_the_loss_gains_whatever_the_sign_of_its_score() -> None:
    scores = torch.tensor([0.2, -0.2], requires_grad=True)
    (-straight_through(scores, 0.5).sum()).backward()  # both weights are wanted
    assert scores.grad is not None
    after = scores.detach() - 0.1 * scores.grad
    assert (after.abs() > scores.detach().abs()).all()


def test_used_weights_are_those_of_any_old_task() -> None:
    model = taught("wsn").model_
    together = used_by(model, [0, 1, 2])
    for layer, mask in enumerate(together):
        each = [model.masks(task)[layer] for task in range(3)]
        assert torch.equal(mask, each[0] | each[1] | each[2])
    assert not any(mask.any() for mask in used_by(model, []))


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_share_that_makes_no_sense_is_refused(share: float, flat: TaskStream) -> None:
    with pytest.raises(ParameterError, match="share"):
        tiny("wsn", share=share).partial_fit(flat[0].X_train, flat[0].y_train)
