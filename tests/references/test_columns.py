"""ProgNN and DF-CNN: networks that grow."""

import numpy as np
import pytest
import torch
from tiny_references import N_CLASSES, taught, teach, tiny

from lifelong import TaskStream, evaluate
from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import Convolution
from lifelong.references.df_cnn import FactorisedConvolution, new_base
from lifelong.references.prognn import Column, lateral_width


@pytest.mark.parametrize(("network", "width"), [((16, 16), 1.0), ("cnn", 0.08)])
def test_prognns_old_predictions_stay_bit_for_bit(
    network: object, width: float, flat: TaskStream, images: TaskStream
) -> None:
    stream = images if network == "cnn" else flat
    learner = tiny("prognn", network=network, width=width)
    before = {}
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        before[task.name] = learner.predict_proba(task.X_test, task.name)
        for name, posteriors in before.items():
            np.testing.assert_array_equal(
                learner.predict_proba(stream[name].X_test, name), posteriors
            )


def test_prognns_backward_transfer_is_exactly_zero(flat: TaskStream) -> None:
    assert (evaluate(lambda seed: tiny("prognn", seed), flat, 1).backward_transfer == 0).all()


def test_more_rows_of_an_old_task_change_no_other_task_of_prognn(flat: TaskStream) -> None:
    learner = teach(tiny("prognn"), flat)
    before = learner.predict_proba(flat[2].X_test, "third")
    learner.partial_fit(flat[0].X_test, flat[0].y_test, task="first")
    np.testing.assert_array_equal(learner.predict_proba(flat[2].X_test, "third"), before)


def test_a_column_reads_all_earlier_ones_from_its_second_layer_on() -> None:
    model = taught("prognn").model_
    assert all(isinstance(column, Column) for column in model.columns)
    laterals = [[len(layer.laterals) for layer in column.layers] for column in model.columns]
    assert laterals == [[0, 0], [0, 1], [0, 2]]
    assert not any(weight.requires_grad for weight in model.columns.parameters())


def test_the_lateral_width_never_reaches_zero() -> None:
    assert [lateral_width(16, prev) for prev in (1, 3, 7, 8, 50)] == [4, 2, 1, 1, 1]


def test_laterals_carry_gradients_to_the_new_column_only(flat: TaskStream) -> None:
    model = taught("prognn").model_
    model.columns[2].requires_grad_(True)
    model.train()
    assert [column.training for column in model.columns] == [False, False, True]
    model(torch.from_numpy(flat[2].X_train), 2).sum().backward()
    assert all(
        weight.grad is None for column in list(model.columns)[:2] for weight in column.parameters()
    )
    assert model.columns[2].layers[1].laterals[0].scale.grad is not None
    model.columns.requires_grad_(False)
    model.eval()
    model.zero_grad()


def test_df_cnn_generates_three_by_three_kernels_from_its_two_by_two_bases() -> None:
    model = taught("df-cnn").model_
    assert [tuple(base.shape[1:]) for base in model.bases] == [(2, 2)] * 5
    for factor, base, (c_in, c_out, _) in zip(
        model.parts[0].factors, model.bases, model.sizes.convolutions, strict=True
    ):
        assert factor.kernel(base).shape == (c_out, c_in, 3, 3)
    assert len(model.parts) == len(N_CLASSES)


def test_df_cnn_trains_the_bases_and_the_current_part_only(images: TaskStream) -> None:
    after_one = teach(tiny("df-cnn"), images[:1])
    after_two = teach(tiny("df-cnn"), images[:2])
    for before, after in zip(
        after_one.model_.parts[0].parameters(), after_two.model_.parts[0].parameters(), strict=True
    ):
        assert torch.equal(before, after)
    assert any(
        not torch.equal(a, b)
        for a, b in zip(after_one.model_.bases, after_two.model_.bases, strict=True)
    )
    X = images[0].X_test
    assert (
        after_one.predict_proba(X, "first") != after_two.predict_proba(X, "first")
    ).any()  # the old task's kernels changed


def test_df_cnns_bases_start_as_wide_as_the_authors_not_small_enough_to_be_forgotten() -> None:
    torch.manual_seed(0)
    spreads = []
    for n_channels in (16, 24, 32, 36, 40):
        bases = torch.stack([new_base(n_channels) for _ in range(50)])
        limit = (6 / (4 + 2 * n_channels)) ** 0.5
        assert float(bases.abs().max()) <= limit
        spreads.append(float(bases.std()))
    # Glorot's numbers for the authors' shapes: .15 to .24
    assert spreads == pytest.approx([0.236, 0.196, 0.171, 0.162, 0.154], rel=0.05)


def test_df_cnns_factors_start_by_glorot_whatever_the_bases_are() -> None:
    torch.manual_seed(0)
    factor = FactorisedConvolution(Convolution(8, 12, 2), base_channels=16, mapped_channels=24)
    assert float(factor.tensor.detach().std()) == pytest.approx(
        (2 / (24 * (8 + 12))) ** 0.5, rel=0.05
    )
    spread = float(factor.deconvolution.weight.detach().std())
    assert spread == pytest.approx((2 / (9 * (16 + 24))) ** 0.5, rel=0.05)


@pytest.mark.parametrize("network", ["auto", (8,)])
def test_df_cnn_says_that_it_needs_images(network: object, flat: TaskStream) -> None:
    with pytest.raises(ParameterError, match="images"):
        tiny("df-cnn", network=network).partial_fit(flat[0].X_train, flat[0].y_train, task="first")


def test_a_network_of_ones_own_is_refused_where_layers_must_be_known(flat: TaskStream) -> None:
    with pytest.raises(ParameterError, match="builds its own layers"):
        tiny("prognn", network=lambda shape: torch.nn.Linear(8, 4)).partial_fit(
            flat[0].X_train, flat[0].y_train
        )
