"""A disk that is full or cannot rename, or a clock that goes back, does not end a store."""

import errno
import os
import time

import pytest
from faults import PLACES, Patched
from small import forest, rows, same_answers, taught

from lifelong import load, save
from lifelong.exceptions import PersistenceError


class SmallDisk(Patched):
    """``os`` on a disk of so many bytes; every file in the folder counts, as on a real one."""

    def __init__(self, folder, size):
        self.folder = folder
        self.size = size

    def write(self, descriptor, content):
        used = sum(path.stat().st_size for path in self.folder.iterdir())
        room = max(0, min(len(content), self.size - used))
        if room:
            os.write(descriptor, content[:room])
        if room < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return room


class NoRename(Patched):
    """``os`` on a disk where no file can get another name."""

    def replace(self, *_):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


def used(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("more", [0, 10, 400, 1500, 3000, 5000, 9000])
def test_a_failed_save_leaves_nothing_and_the_next_process_can_forget(more, tmp_path):
    taught(forest(store=tmp_path), 3)
    before = names(tmp_path)
    with SmallDisk(tmp_path, used(tmp_path) + more).installed():
        learner = forest(store=tmp_path)
        for number in range(3, 60):
            try:
                learner.partial_fit(*rows(number), task=f"task-{number}")
                before = names(tmp_path)
            except PersistenceError:
                break
        with pytest.raises(PersistenceError, match="Make room"):
            learner.partial_fit(*rows(99), task="once more")
        assert names(tmp_path) == before
        n_tasks = len(load(tmp_path).tasks_)
        forest(store=tmp_path).forget("task-0")
        assert len(load(tmp_path).tasks_) == n_tasks - 1
        again = forest(store=tmp_path).rename("task-1", "one")
        for task in list(again.tasks_)[1:]:
            forest(store=tmp_path).forget(task)
    assert list(load(tmp_path).tasks_) == ["one"]
    forest(store=tmp_path).partial_fit(*rows(77), task="with room again")


def test_leftovers_of_a_kill_that_fill_the_disk_are_no_obstacle(tmp_path):
    taught(forest(store=tmp_path), 3)
    for number in range(20):
        (tmp_path / f"rows-{number:064x}.safetensors").write_bytes(bytes(500))
    (tmp_path / "lock").write_bytes(b"")  # a store of an earlier version keeps no room
    with SmallDisk(tmp_path, used(tmp_path)).installed():
        forest(store=tmp_path).forget("task-0")
    assert list(load(tmp_path).tasks_) == ["task-1", "task-2"]
    assert not [name for name in names(tmp_path) if "000000" in name]


def test_a_disk_that_cannot_rename_is_one_error_and_leaves_everything_as_it_was(tmp_path):
    learner = taught(forest(store=tmp_path), 2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with NoRename().installed():
        for change in (
            lambda: learner.partial_fit(*rows(2), task="task-2"),
            lambda: learner.forget("task-0"),
            lambda: save(taught(forest(), 1), tmp_path),
        ):
            with pytest.raises(PersistenceError, match="is intact"):
                change()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    learner.partial_fit(*rows(2), task="task-2")
    assert same_answers(load(tmp_path), taught(forest(), 3))


def test_a_clock_that_goes_back_changes_nothing(tmp_path, monkeypatch):
    learner = taught(forest(store=tmp_path), 2)
    for path in tmp_path.iterdir():
        os.utime(path, (4e9, 4e9))  # written in the year 2096
    monkeypatch.setattr(time, "time", lambda: 1.0)
    reader = forest(store=tmp_path)
    learner.partial_fit(*rows(2), task="task-2").forget("task-0").partial_fit(*rows(9), task="t")
    expected = taught(forest(), 3).forget("task-0").partial_fit(*rows(9), task="t")
    assert same_answers(load(tmp_path), expected)
    assert same_answers(reader, expected)


def test_every_module_that_writes_is_watched():
    assert all(place.os is os for place in PLACES)
