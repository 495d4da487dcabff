"""Fitted exponents."""

import numpy as np
import pytest

from lifelong.evaluation.resources import fitted_exponent


@pytest.mark.parametrize("power", [0, 1, 2, 0.5])
def test_a_power_law_gives_its_exponent(power):
    tasks = np.arange(1, 11)
    assert fitted_exponent(tasks, 7.0 * tasks**power) == pytest.approx(power)


def test_what_every_learner_has_at_the_start_hides_less_of_the_growth():
    tasks = np.arange(1, 101)
    assert fitted_exponent(tasks, 100 + tasks**2) > 1.9


def test_nothing_to_fit_is_not_a_number():
    assert np.isnan(fitted_exponent([1], [2]))
    assert np.isnan(fitted_exponent([1, 2, 3, 4], [0, 0, 0, 0]))
