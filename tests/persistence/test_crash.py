"""Whatever happens while a learner is saved, the directory holds the learner of before
or of after.
"""

import errno
import shutil
from copy import deepcopy

import pytest
from faults import failing
from killing import kill_often
from small import forest, network, rows, same_answers, taught

from lifelong import load, save
from lifelong.exceptions import PersistenceError
from lifelong.persistence.directory import Directory


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_at_any_moment_of_a_save_does_no_harm(code, tmp_path):
    old = taught(forest(), 1)
    new = deepcopy(old).partial_fit(*rows(1), task="task-1")
    save(old, tmp_path / "old")
    position, outcomes = 0, set()
    while True:
        folder = tmp_path / str(position)
        shutil.copytree(tmp_path / "old", folder)
        learner = deepcopy(new)  # whose parts are not known to be saved
        with failing(position, code) as disk:
            try:
                save(learner, folder)
                refused = False
            except PersistenceError as error:
                refused = "Could not write" in str(error)
        if not disk.failed:
            break
        found = load(folder)
        assert same_answers(found, old) or same_answers(found, new)
        assert refused or same_answers(found, new), "a save that did not fail is there"
        outcomes.add(disk.failed)
        save(learner, folder)
        assert same_answers(load(folder), new)
        assert not list(folder.glob(".writing*")), "leftovers are removed by the next writer"
        position += 1
    assert outcomes >= {"open", "write", "fsync", "replace"}
    assert position > 15


def test_a_stored_learner_is_as_before_when_its_disk_fails(tmp_path):
    plain = taught(forest(), 1)
    more = taught(forest(), 2)
    taught(forest(store=tmp_path / "old"), 1)
    position, outcomes = 0, set()
    while True:
        folder = tmp_path / str(position)
        shutil.copytree(tmp_path / "old", folder)
        learner = forest(store=folder)
        assert list(learner.tasks_) == ["task-0"]
        with failing(position) as disk:
            try:
                learner.partial_fit(*rows(1), task="task-1")
            except PersistenceError:
                assert list(learner.tasks_) == ["task-0"]
                assert same_answers(learner, plain)
        if not disk.failed:
            break
        outcomes.add(disk.failed)
        if "task-1" not in load(folder).tasks_:
            learner.partial_fit(*rows(1), task="task-1")
        assert same_answers(load(folder), more)
        position += 1
    assert position > 10
    assert outcomes >= {"open", "write", "fsync", "replace"}


def test_kills_lose_no_acknowledged_lesson(tmp_path):
    figures = kill_often(tmp_path, kills=5)
    assert figures["kills"] == 5


def test_leftovers_of_a_kill_are_ignored_and_cleaned(tmp_path):
    learner = taught(forest(), 2)
    save(learner, tmp_path)
    junk = [f"encoder-{'0' * 64}.safetensors", ".writing-1"]
    for name in junk:
        (tmp_path / name).write_bytes(b"half a file")
    (tmp_path / "notes.txt").write_text("not ours")
    assert same_answers(load(tmp_path), learner)
    save(learner, tmp_path)
    assert not any((tmp_path / name).exists() for name in junk)
    assert (tmp_path / "notes.txt").exists()


def test_a_second_writer_gets_a_clear_error_and_readers_do_not_wait(tmp_path):
    learner = taught(forest(), 2)
    save(learner, tmp_path)
    with Directory(tmp_path).locked():
        with pytest.raises(PersistenceError, match="Another process is writing"):
            save(learner, tmp_path)
        assert same_answers(load(tmp_path), learner)
    save(learner, tmp_path)


def test_a_directory_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PersistenceError, match="Could not write"):
        save(taught(forest(), 1), tmp_path / "file" / "below")


def test_a_network_that_fails_to_be_saved_leaves_the_old_one(tmp_path):
    learner = taught(network(), 1)
    save(learner, tmp_path)
    more = taught(network(), 2)
    with failing(3), pytest.raises(PersistenceError):
        save(more, tmp_path)
    assert same_answers(load(tmp_path), learner)
