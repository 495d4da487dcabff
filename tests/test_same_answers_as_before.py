"""Learners answer as at commit c4c0343, before their insides were rewritten.

Counts and leaves are the same on every processor, to the last bit. Linear algebra is the same to
1e-5 on processors with AVX2 or AVX-512; without either, ridge channels on networks, which keep
representations in half precision, differ in the third digit.

``python benchmarks/same_answers.py write`` and ``compare`` look at many more cases, bit for bit.
"""

from pathlib import Path

import numpy as np
import pytest

from answers.cases import KEPT, N_KEPT_ROWS
from answers.files import read_packed
from answers.recording import is_inferred

BEFORE = read_packed(Path(__file__).parent / "answers" / "c4c0343.npz")


def test_every_case_that_is_kept_has_answers_of_before():
    assert list(BEFORE) == list(KEPT)


@pytest.mark.parametrize("name", KEPT)
def test_the_answers_are_those_of_before(name):
    case = KEPT[name]
    now = case.answers(N_KEPT_ROWS)
    assert list(now) == list(BEFORE[name])
    for question, answer in now.items():
        before = BEFORE[name][question]
        if answer.dtype.kind == "U":
            assert answer.tolist() == before.tolist(), question
        elif case.exact and not is_inferred(question):
            np.testing.assert_array_equal(answer, before, question, strict=True)
        else:  # linear algebra: other processors add in another order
            close = {"rtol": 0, "atol": 1e-5, "err_msg": question, "strict": True}
            np.testing.assert_allclose(answer, before, **close)
