"""The page of the paper's claims shows the committed figures, one line per claim."""

import re

import pytest
from benchmarks.claims import PAGE, measured, page

VERDICT = re.compile(r"agrees|differs|cannot be tested here|not yet measured|undecided")


def test_the_page_of_claims_has_the_figures_of_the_committed_results():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m benchmarks.claims"


def test_every_claim_has_a_number_a_command_and_a_verdict():
    lines = re.findall(r"^\| (\d+) \|(.*)\|$", page(), flags=re.MULTILINE)
    assert [int(number) for number, _ in lines] == list(range(1, len(lines) + 1))
    assert len(lines) >= 40
    for number, line in lines:
        claim, _found, command, verdict, _why = (cell.strip() for cell in line.split("|"))
        assert claim, number
        assert command.startswith("`"), number
        assert VERDICT.search(verdict), number


def test_a_figure_that_was_never_measured_is_an_error():
    with pytest.raises(KeyError, match="no accuracy of 'nobody'"):
        measured("cifar-10x10", "nobody", "accuracy")
