"""DER: an extractor per task."""

import numpy as np
import torch
from tiny_references import N_CLASSES, taught, teach, tiny

from lifelong import TaskStream
from lifelong.references.der import auxiliary_labels


def test_old_extractors_stay_bit_for_bit_batch_norms_included(images: TaskStream) -> None:
    learner = teach(tiny("der", network="cnn", width=0.1), images[:1])
    before = {name: value.clone() for name, value in learner.model_.networks.state_dict().items()}
    learner.partial_fit(images[1].X_train, images[1].y_train, task="second")
    after = learner.model_.networks.state_dict()
    assert len(after) == 2 * len(before)
    for name, value in before.items():
        assert torch.equal(after[name], value), name
    assert not any(weight.requires_grad for weight in learner.model_.networks.parameters())


def test_every_head_reads_all_extractors_side_by_side(flat: TaskStream) -> None:
    model = taught("der").model_
    x = torch.from_numpy(flat[0].X_test)
    with torch.no_grad():
        each = [network(model.standardise(x)) for network in model.networks]
        assert torch.equal(model.features(x), torch.cat(each, dim=1))
    widths = [(head.in_features, head.out_features) for head in model.heads]
    assert widths == [(3 * 16, n_classes) for n_classes in N_CLASSES.values()]


def test_a_new_extractor_does_not_count_for_an_old_head_before_it_has_learnt(
    flat: TaskStream,
) -> None:
    model = teach(tiny("der"), flat[:1]).model_
    x = torch.from_numpy(flat[0].X_test)
    with torch.no_grad():
        before = model(x, 0)
        model.grow(1, 2)
        torch.testing.assert_close(model(x, 0), before)


def test_old_heads_learn_to_use_the_new_extractor_from_memory(flat: TaskStream) -> None:
    model = teach(tiny("der"), flat[:2]).model_
    assert float(model.heads[0].weight[:, 16:].detach().abs().max()) > 1e-3


def test_each_class_keeps_its_rows(flat: TaskStream) -> None:
    memory = taught("der").memory_
    for number, n_classes in enumerate(N_CLASSES.values()):
        counts = np.bincount(memory.y[memory.tasks == number], minlength=n_classes)
        assert counts.tolist() == [5] * n_classes


def test_the_auxiliary_loss_decides_on_the_new_extractor(flat: TaskStream) -> None:
    with_it = teach(tiny("der"), flat[:2]).model_
    without = teach(tiny("der", auxiliary=0.0), flat[:2]).model_
    first, second = (
        list(zip(a.parameters(), b.parameters(), strict=True))
        for a, b in zip(with_it.networks, without.networks, strict=True)
    )
    assert all(torch.equal(a, b) for a, b in first)
    assert not any(torch.equal(a, b) for a, b in second)


def test_to_the_auxiliary_head_all_old_rows_are_one_class() -> None:
    labels = torch.tensor([0, 2, 1, 0])
    is_new = torch.tensor([True, False, True, False])
    assert auxiliary_labels(labels, is_new, n_classes=3).tolist() == [0, 3, 1, 3]


def test_more_rows_of_a_known_task_change_no_extractor(flat: TaskStream) -> None:
    learner = teach(tiny("der"), flat)
    before = [weight.clone() for weight in learner.model_.networks.parameters()]
    learner.partial_fit(flat[0].X_test, flat[0].y_test, task="first")
    after = list(learner.model_.networks.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
