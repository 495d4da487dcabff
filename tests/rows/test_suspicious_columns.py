"""New columns that are likely misread are named: numbers and dates that are written as text."""

import numpy as np
import pytest

from lifelong.exceptions import InputWarning
from lifelong.rows import Columns, table_of
from lifelong.rows.suspicious import suspicions, warn_of_suspicions

NUMBERS = [f"{number / 4:.2f}" for number in range(30)]

MISREAD = {
    "decimal points": (NUMBERS, "numbers that are written as text, such as '0.00'"),
    "decimal commas": ([text.replace(".", ",") for text in NUMBERS], "such as '0,00'"),
    "thousands": (["1 000", "25 500", "3"], "such as '1 000'"),
    "thousands in English": (["1,000", "25,500.5", "3"], "such as '1,000'"),
    "shares": (["5 %", "25 %", "3 %"], "such as '5 %'"),
    "money": (["€5", "€25.50", "€3"], "such as '€5'"),
    "one typing error": ([*NUMBERS[1:], "old"], "but for 1 of 30 different entries: row 29"),
    "a typing error among whole numbers": ([*range(20), "old"], "row 20 has 'old'"),
    "German dates": (["03.04.2024", "13.04.2024"], "dates that are written as text"),
    "American dates": (["04/13/2024", "03/01/2024"], "write them as 2024-03-01"),
}

MEANT = {
    "words": ["red", "green", "blue"],
    "one word": ["1.5", "1.5"],
    "whole numbers as text": [str(number) for number in range(30)],
    "codes": ["12", "13", "13a", "14b"],
    "versions": ["1.2.3", "1.10.0"],
    "sizes": ["10-20", "20-30"],
    "dates": ["2024-03-01", "2024-04-13"],
    "numbers": [1.5, 2.5],
}


@pytest.mark.parametrize("what", MISREAD)
def test_a_new_column_that_is_likely_misread_is_named_with_an_entry(what):
    values, words = MISREAD[what]
    (said,) = suspicions(table_of({"x": values, "y": [1.0] * len(values)}), Columns())
    assert "Column 'x'" in said
    assert words in said


@pytest.mark.parametrize("what", MEANT)
def test_a_column_that_is_what_it_seems_is_not_suspected(what):
    assert suspicions(table_of({"x": MEANT[what]}), Columns()) == []


def test_what_a_known_column_holds_is_settled():
    table = table_of({"x": ["1,5", "2,5"]})
    with pytest.warns(InputWarning, match="Column 'x'"):
        warn_of_suspicions(table, Columns())
    warn_of_suspicions(table, Columns().learnt(table))


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_numbers_of_rows_that_pandas_writes_are_named(name):
    (said,) = suspicions(table_of({name: np.arange(5), "x": np.arange(5)}), Columns())
    assert "counts the rows" in said
