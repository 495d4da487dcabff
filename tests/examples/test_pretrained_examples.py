"""The examples with pretrained networks run in their smoke versions, without files and without
warnings.
"""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "says"),
    [("frozen_backbone_images", "after all tasks: "), ("text_minilm", "bag of words")],
)
def test_the_example_runs(name, says, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", [name, "--smoke", "--picture", str(tmp_path / name)])
    monkeypatch.syspath_prepend(str(EXAMPLES))
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert says in capsys.readouterr().out
    assert (tmp_path / f"{name}.png").stat().st_size > 5000
