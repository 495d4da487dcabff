"""``lifelong inspect`` and ``lifelong verify``."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from lifelong import LifelongClassifier, SillyForest, save
from lifelong.cli import app
from lifelong.tasks.simulations import gaussian_xor


def lifelong(*arguments):
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(
        app, [str(argument) for argument in arguments]
    )


@pytest.fixture
def folder(tmp_path):
    learner = SillyForest(3, budget=2, random_state=0)
    for number in range(3):
        learner.partial_fit(
            *gaussian_xor(50, angle=number, random_state=number), task=f"site-{number}"
        )
    save(learner, tmp_path / "saved")
    return tmp_path / "saved"


def test_inspect_says_what_a_learner_holds(folder):
    done = lifelong("inspect", folder)
    assert done.exit_code == 0, done.output
    for word in (
        "SillyForest: 3 tasks, 150 rows seen, 2 encoders",
        "site-0",
        "site-2",
        "format 1",
        "scikit-learn",
    ):
        assert word in done.stdout
    assert "budget=2" in done.stdout
    assert "checksums: ok" in done.stdout


def test_inspect_says_what_a_model_of_tables_holds(tmp_path):
    frame = pd.DataFrame({"site": ["a", "b"] * 20, "dose": range(40), "sex": ["f", "m"] * 20})
    ill = [str(dose > 20) for dose in frame.dose]
    model = LifelongClassifier("site", n_estimators=2, random_state=0)
    save(model.fit(frame, ill), tmp_path / "both")
    said = lifelong("inspect", tmp_path / "both").stdout
    assert (
        "LifelongClassifier: 2 tasks, 40 rows seen, 2 own forests, 1 shared encoder, 2 columns"
        in " ".join(said.split())
    )
    assert "columns: dose (number), sex (category, 2)" in said
    assert said.count("  own  ") == 2
    save(model.set_params(shared=False).fit(frame, ill), tmp_path / "own")
    assert "2 own forests, no shared encoder" in lifelong("inspect", tmp_path / "own").stdout


def test_verify_finds_a_single_changed_byte(folder):
    assert lifelong("verify", folder).exit_code == 0
    path = next(folder.glob("encoder-*"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    done = lifelong("verify", folder)
    assert done.exit_code == 1
    assert done.stdout.count("\n") == 1
    assert path.name in done.stdout
    assert "wrong checksum" in done.stdout
    shown = lifelong("inspect", folder)
    assert shown.exit_code == 1
    assert "checksums: 1 files are damaged" in shown.stdout


def test_verify_of_nothing_is_one_line(tmp_path):
    done = lifelong("verify", tmp_path)
    assert done.exit_code == 1
    assert "manifest.json" in done.stdout
    shown = lifelong("inspect", tmp_path / "nowhere")
    assert shown.exit_code == 1
    assert "error: " in shown.output
