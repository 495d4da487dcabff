"""One module knows where files are."""

import re
from pathlib import Path

import pytest

import lifelong
from lifelong._places import cache_dir, cache_folder, data_directory, model_folders

VARIABLES = ("LIFELONG_CACHE", "LIFELONG_DATA", "LIFELONG_MODELS", "XDG_CACHE_HOME")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_everything_that_is_kept_lies_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    assert cache_folder("features") == tmp_path / "features"
    assert data_directory() == tmp_path / "data"
    assert model_folders() == [tmp_path / "models"]  # beside the data and in the cache: one place


def test_models_are_looked_for_where_the_user_says_then_beside_the_data(monkeypatch, tmp_path):
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LIFELONG_DATA", str(tmp_path / "shared" / "data"))
    beside = tmp_path / "shared" / "models"
    assert model_folders() == [beside, tmp_path / "cache" / "models"]
    monkeypatch.setenv("LIFELONG_MODELS", str(tmp_path / "mine"))
    assert model_folders() == [tmp_path / "mine", beside, tmp_path / "cache" / "models"]


def test_an_empty_variable_is_one_that_is_not_set_and_a_tilde_is_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LIFELONG_CACHE", "~/kept")
    monkeypatch.setenv("LIFELONG_DATA", "")
    assert data_directory() == tmp_path / "kept" / "data"
    assert data_directory("~/files") == tmp_path / "files"


def test_no_other_module_reads_these_variables():
    reading = re.compile(rf"environ.*({'|'.join(VARIABLES)})|_from_variable\(")
    sources = Path(lifelong.__file__).parent.rglob("*.py")
    readers = [path.name for path in sources if reading.search(path.read_text(encoding="utf-8"))]
    assert readers == ["_places.py"]
