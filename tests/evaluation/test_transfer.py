"""The statistics: identities first, then numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong.evaluation import ErrorTable
from lifelong.evaluation.transfer import half_a_mistake

shares = st.integers(0, 100).map(lambda mistakes: mistakes / 100)


def table(errors, single, reference=None, test_rows=100, **more):
    errors, single = np.array(errors, dtype=float), np.array(single, dtype=float)
    references = {} if reference is None else {"plain": np.array(reference, dtype=float)}
    n_tasks = single.shape[1]
    return ErrorTable(
        "x", list(range(n_tasks)), np.full(n_tasks, test_rows), errors, single, references, **more
    )


@given(st.lists(st.tuples(*[shares] * 5), min_size=1, max_size=6))
def test_transfer_is_forward_plus_backward_exactly(rows):
    """Two tasks, any number of repetitions, zero errors included."""
    errors = [[[a, b], [np.nan, c]] for a, b, c, _, _ in rows]
    measured = table(errors, [[d, e] for *_, d, e in rows])
    np.testing.assert_allclose(
        measured.transfer, measured.forward_transfer + measured.backward_transfer, atol=1e-12
    )
    assert measured.backward_transfer[-1] == 0
    both = measured.veniat_forward_transfer + measured.veniat_backward_transfer
    np.testing.assert_allclose(measured.veniat_transfer, both, atol=1e-12)


def test_numbers_worked_out_by_hand():
    measured = table([[[0.2, 0.1], [np.nan, 0.4]]], [[0.2, 0.5]], [[0.15, 0.4]])
    np.testing.assert_allclose(measured.backward_transfer, [np.log(2), 0])
    np.testing.assert_allclose(measured.forward_transfer, [0, np.log(0.5 / 0.4)])
    np.testing.assert_allclose(measured.transfer, [np.log(2), np.log(0.5 / 0.4)])
    np.testing.assert_allclose(measured.gain, [np.log(1.5), 0], atol=1e-15)
    np.testing.assert_allclose(measured.accuracy, [0.9, 0.6])
    np.testing.assert_allclose(measured.single_accuracy, [0.8, 0.5])
    np.testing.assert_allclose(measured.reference_accuracy, [0.85, 0.6])
    np.testing.assert_allclose(measured.veniat_transfer, [0.1, 0.1])


def test_errors_are_averaged_before_the_ratio_and_the_logarithm():
    measured = table([[[0.1]], [[0.3]]], [[0.4], [0.4]])
    np.testing.assert_allclose(measured.transfer, np.log(0.4 / 0.2))
    assert measured.transfer[0] != pytest.approx(np.mean([np.log(0.4 / 0.1), np.log(0.4 / 0.3)]))


def test_no_mistake_counts_as_half_a_mistake_and_accuracy_stays_one():
    measured = table([[[0.0]]], [[0.1]], test_rows=50)
    np.testing.assert_allclose(measured.transfer, np.log(0.1 / 0.01))
    assert measured.accuracy[0] == 1


def test_fewer_mistakes_never_give_less_transfer():
    """One mistake in ten repetitions must not look better than none at all."""
    none, one = np.zeros((10, 1, 1)), np.zeros((10, 1, 1))
    one[3] = 0.01
    single = np.full((10, 1), 0.2)
    assert table(none, single).transfer[0] > table(one, single).transfer[0]


def test_half_a_mistake_leaves_other_errors_alone():
    np.testing.assert_allclose(half_a_mistake([[0.0, 0.3]], [100, 10]), [[0.005, 0.3]])


def test_the_last_reference_counts_for_the_gain():
    errors, single = np.full((1, 1, 1), 0.1), np.full((1, 1), 0.2)
    two = {"small": np.array([[0.4]]), "same size": np.array([[0.2]])}
    np.testing.assert_allclose(
        ErrorTable("x", ["t"], np.array([10]), errors, single, two).gain, np.log(2)
    )


def test_without_a_reference_the_gain_is_unknown():
    assert np.isnan(table([[[0.1]]], [[0.2]]).gain).all()


def test_the_spread_is_over_repetitions():
    measured = table([[[error]] for error in (0.1, 0.2, 0.3, 0.4, 0.5)], [[0.5]] * 5)
    spread = measured.spread("accuracy")
    np.testing.assert_allclose(
        [spread[side][0] for side in ("lower", "median", "upper")], [0.6, 0.7, 0.8]
    )
    np.testing.assert_allclose(measured.spread("transfer")["median"], np.log(0.5 / 0.3))


def test_the_summary_has_the_keys_of_a_run():
    summary = table(
        [[[0.1]]],
        [[0.2]],
        [[0.2]],
        sizes={"parameters": 5, "encoders": 7, "channels": 1, "rows": 2},
    ).summary()
    keys = (
        "accuracy single_accuracy reference_accuracy transfer forward_transfer backward_transfer"
        " gain"
    )
    assert set(summary) == {*keys.split(), "train_seconds", "predict_seconds", "bytes"}
    assert summary["bytes"] == 10
    assert summary["accuracy"] == pytest.approx(0.9)
