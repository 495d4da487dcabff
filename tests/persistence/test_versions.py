"""What was saved once is read for ever; what is too new says what to install."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from mutations import seal, unseal
from small import rows

import lifelong
from lifelong import load, save
from lifelong.exceptions import PersistenceError
from lifelong.persistence.inspection import verify

OLD = Path(__file__).with_name("format_1")


@pytest.mark.parametrize("name", ["forest", "network"])
def test_a_learner_saved_in_format_1_loads_predicts_and_learns_on(name, tmp_path):
    recorded = json.loads((OLD / "answers.json").read_text())
    X = np.array(recorded["rows"], dtype=np.float32)
    assert verify(OLD / name) == []
    learner = load(OLD / name)
    assert list(learner.tasks_) == ["first", 2]
    for task, posteriors in recorded["answers"][name]:
        assert np.allclose(learner.predict_proba(X, task=task), posteriors, atol=1e-6)
    learner.partial_fit(*rows(5), task="third")
    save(learner, tmp_path)
    assert list(load(tmp_path).tasks_) == ["first", 2, "third"]


def changed(tmp_path, change):
    shutil.copytree(OLD / "forest", tmp_path / "copy")
    path = tmp_path / "copy" / "manifest.json"
    node = unseal(path.read_bytes())
    change(node)
    path.write_bytes(seal(node))
    return tmp_path / "copy"


def test_a_newer_format_says_which_version_to_install(tmp_path):
    def newer(node):
        node.update(format=7, written_by={"lifelong": "3.1.0"}, something="new")

    with pytest.raises(PersistenceError, match=r"has format 7; .*pip install 'lifelong>=3\.1\.0'"):
        load(changed(tmp_path, newer))


def test_a_newer_format_of_an_unknown_writer_says_upgrade(tmp_path):
    def newer(node):
        node.update(format=2, written_by={"lifelong": "1.0; rm -rf /"})

    with pytest.raises(PersistenceError, match=r"pip install 'lifelong' --upgrade"):
        load(changed(tmp_path, newer))


def test_a_parameter_that_an_older_version_did_not_have_keeps_its_default(tmp_path):
    folder = changed(tmp_path, lambda node: node["parameters"].pop("min_samples_leaf"))
    assert load(folder).min_samples_leaf == lifelong.SillyForest().min_samples_leaf


def test_the_example_is_small():
    assert sum(path.stat().st_size for path in OLD.rglob("*")) < 200_000
