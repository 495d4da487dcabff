"""Decoded copies: made once, made again when files or settings change, complete or absent."""

import os
from pathlib import Path

import numpy as np
import pytest
import raw_files

from lifelong._places import cache_dir, data_directory
from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._cache import decoded
from lifelong.tasks.datasets._source import Source


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A source whose decoder counts how often it runs."""
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path / "cache"))
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("abc")
    calls = []

    def decode(folder, scratch, **settings):
        calls.append(settings)
        content = (folder / "a.txt").read_bytes()
        np.save(scratch / "y_all.npy", np.frombuffer(content, dtype=np.uint8))
        if content == b"bad":
            raise DatasetError("a.txt is bad")

    source = Source(
        "letters", ("letters",), "", "", "", {"all": 3}, lambda folder: [folder / "a.txt"], decode
    )
    return source, calls, tmp_path


def test_a_source_is_decoded_once_and_mapped_read_only(counted):
    source, calls, root = counted
    first, second = decoded(source, root), decoded(source, root)
    assert len(calls) == 1
    assert isinstance(second["y_all"], np.memmap)
    assert not second["y_all"].flags.writeable
    np.testing.assert_array_equal(first["y_all"], second["y_all"])


def test_other_settings_or_other_contents_are_decoded_anew(counted):
    source, calls, root = counted
    decoded(source, root, size=1)
    decoded(source, root, size=2)
    (root / "letters" / "a.txt").write_text("abcd")
    assert len(decoded(source, root, size=2)["y_all"]) == 4
    assert len(calls) == 3


def test_the_same_contents_elsewhere_use_the_same_copy(counted):
    source, calls, root = counted
    decoded(source, root)
    (root / "moved").mkdir()
    (root / "letters").rename(root / "moved" / "letters")
    os.utime(root / "moved" / "letters" / "a.txt", (1, 1))
    decoded(source, root / "moved")
    assert len(calls) == 1


def test_nothing_half_written_stays_in_the_cache(counted):
    source, _, root = counted
    (root / "letters" / "a.txt").write_text("bad")
    with pytest.raises(DatasetError, match=r"a\.txt is bad"):
        decoded(source, root)
    assert not list((root / "cache" / "decoded").iterdir())


def test_a_damaged_copy_is_made_again(counted):
    source, calls, root = counted
    decoded(source, root)
    copy = next((root / "cache" / "decoded").glob("*/y_all.npy"))
    copy.write_bytes(copy.read_bytes()[:20])
    assert decoded(source, root)["y_all"].tolist() == list(b"abc")
    assert len(calls) == 2


def test_a_cache_that_cannot_be_written_says_what_to_set(counted, monkeypatch):
    source, _, root = counted
    (root / "file").write_text("not a folder")
    monkeypatch.setenv("LIFELONG_CACHE", str(root / "file"))
    with pytest.raises(DatasetError, match=r"cannot be created: .*Set LIFELONG_CACHE"):
        decoded(source, root)


def test_the_data_directory_is_the_argument_else_the_variable_else_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LIFELONG_DATA", str(tmp_path / "variable"))
    assert data_directory("argument") == Path("argument")
    assert data_directory() == tmp_path / "variable"
    monkeypatch.delenv("LIFELONG_DATA")
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path / "cache"))
    assert data_directory() == tmp_path / "cache" / "data"
    monkeypatch.delenv("LIFELONG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir().name == "lifelong"


def test_loading_writes_nothing_into_the_data_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("LIFELONG_CACHE", str(tmp_path / "cache"))
    folder = raw_files.write_fsdd(tmp_path / "data")
    before = sorted(folder.rglob("*"))
    from lifelong.tasks.datasets import load

    load("spoken-digit", tmp_path / "data")
    assert sorted(folder.rglob("*")) == before
