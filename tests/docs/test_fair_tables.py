"""The fair tables of the pages are those of the committed rows, and a tie is called a tie."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # for benchmarks/, which no wheel has

from benchmarks import fair_tables  # noqa: E402

from lifelong.evaluation.errors import ErrorTable  # noqa: E402


def _table(accuracies: list[list[float]]) -> ErrorTable:
    """One with these accuracies (repetitions, tasks) after the last task."""
    errors = 1 - np.array(accuracies)[:, :, None]
    n_tasks = errors.shape[1]
    errors = np.repeat(errors, n_tasks, axis=2)
    return ErrorTable("one", list(range(n_tasks)), np.full(n_tasks, 10), errors, errors[:, :, -1])


@pytest.mark.parametrize("name", fair_tables.PAGES)
def test_the_table_of_a_page_follows_from_the_committed_rows(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    lines = fair_tables.PAGES[name]()
    assert fair_tables.with_table(page, lines) == page, "python -m benchmarks.fair_tables"
    assert fair_tables.BEGIN in page


def test_a_difference_within_two_standard_errors_is_a_tie() -> None:
    ours = _table([[0.60, 0.50], [0.58, 0.54]])
    assert fair_tables.verdict(ours, _table([[0.58, 0.52], [0.61, 0.50]])).endswith("tie")
    assert fair_tables.verdict(ours, _table([[0.50, 0.41], [0.48, 0.43]])) == "+.100 ± .004"
    assert fair_tables.verdict(ours, ours).endswith("tie")


def test_differences_are_paired_and_only_of_repetitions_that_both_have() -> None:
    ours = _table([[0.9, 0.1]])
    other = _table([[0.8, 0.0], [0.0, 0.0]])
    mean, error = fair_tables.difference(ours, other)
    assert mean == pytest.approx(0.1)
    assert error == pytest.approx(0.0, abs=1e-12)


def test_the_best_reference_is_the_best_under_any_recipe() -> None:
    found = fair_tables.entrants("CIFAR 10×10")
    zoos = [entrant for entrant in found if entrant.spec.name == "model-zoo"]
    assert len({entrant.experiment for entrant in zoos}) == 3
    best = fair_tables.best_of(found, lambda entrant: entrant.spec.name == "model-zoo")
    assert best is not None
    assert best.accuracy == max(entrant.accuracy for entrant in zoos)
