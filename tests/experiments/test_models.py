"""Pretrained models by name: where they are looked for, and what is said when there is none."""

import shutil

import pytest
from typer.testing import CliRunner

from lifelong.cli import app
from lifelong.exceptions import DatasetError
from lifelong.experiments.models import find_model, pretrained_encoder
from lifelong.nets.tiny_models import tiny_model


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("LIFELONG_MODELS", str(tmp_path / "models-of-mine"))
    monkeypatch.setenv("LIFELONG_DATA", str(tmp_path / "shared" / "data"))
    return tmp_path


def test_models_are_found_in_their_folder_or_beside_the_data(nowhere):
    beside = nowhere / "shared" / "models" / "net"
    shutil.copytree(tiny_model("tiny-vit"), beside)
    assert find_model("net") == beside
    shutil.copytree(tiny_model("tiny-vit"), nowhere / "models-of-mine" / "net")
    assert find_model("net") == nowhere / "models-of-mine" / "net"


def test_a_missing_model_says_where_it_was_looked_for_and_how_to_get_it(nowhere):
    with pytest.raises(
        DatasetError,
        match="resnet-50 is not in .*models-of-mine or .*Set LIFELONG_MODELS .*hf download",
    ):
        find_model("resnet-50")
    pretrained_encoder("resnet-50", tune="last-two")  # a spec can be read anywhere


def test_a_run_without_its_model_is_one_line_and_exit_code_1(nowhere):
    done = CliRunner().invoke(app, ["run", "pretrained", "--out", str(nowhere / "run")])
    assert done.exit_code == 1
    assert "The model resnet-50 is not in" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (nowhere / "run").exists()
