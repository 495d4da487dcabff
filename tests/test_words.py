"""A word that is not known: the nearest known one is suggested, and by one function."""

from pathlib import Path

import pytest

import lifelong
from lifelong._validation import check_choice
from lifelong.exceptions import InputError, ParameterError
from lifelong.tasks.datasets import load
from lifelong.tasks.sources import from_frame

FRAME = {"site": ["a", "a"], "ill": [0, 1], "age": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: check_choice("rigde", "channel", ["leaf", "ridge"]), ParameterError, "'ridge'"),
        (lambda: load("digit"), ParameterError, "'digits'"),
        (lambda: load("digits", rows_per_clas=3), ParameterError, "'rows_per_class'"),
        (lambda: load("digits", rotate={"31°": 90}), ParameterError, "'30°'"),
        (lambda: from_frame(FRAME, task_column="sites", label_column="ill"), InputError, "'site'"),
        (lambda: lifelong.SillyForrest, AttributeError, "'SillyForest'"),
    ],
)
def test_an_unknown_word_suggests_the_nearest_known_one(ask, error, message):
    with pytest.raises(error, match=rf"\. Did you mean {message}\? "):
        ask()


def test_a_word_that_is_near_to_nothing_suggests_nothing():
    with pytest.raises(ParameterError, match=r"'tree' is unknown\. Choose one of: 'leaf'"):
        check_choice("tree", "channel", ["leaf", "ridge"])


def test_one_module_looks_for_near_words():
    sources = Path(lifelong.__file__).parent.rglob("*.py")
    users = [path.name for path in sources if "difflib" in path.read_text(encoding="utf-8")]
    assert users == ["_words.py"]
