"""Processes that are forked, spawned or interrupted in the middle of a save."""

import os
import signal
import subprocess
import sys
import threading
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from forked import X, ask, ask_while_another_thread_was_saving
from small import forest, rows, same_answers, taught

from lifelong import load
from lifelong.persistence.directory import Directory

FORK = get_context("fork")
SPAWN = get_context("spawn")
HERE = Path(__file__).parent


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_that_was_forked_during_a_save_does_not_keep_the_lock(tmp_path):
    learner = taught(forest(store=tmp_path), 1)
    ends = FORK.Event()
    with Directory(tmp_path).locked():
        child = FORK.Process(target=ends.wait)
        child.start()
    try:
        learner.partial_fit(*rows(1), task="task-1")
        assert same_answers(load(tmp_path), taught(forest(), 2))
    finally:
        ends.set()
        child.join()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_the_lock_of_a_killed_writer_ends_with_it_and_not_with_its_children(tmp_path):
    taught(forest(store=tmp_path), 1)
    ready, theirs = os.pipe()
    writer = os.fork()
    if writer == 0:  # takes the lock, forks a child that goes on, and is killed
        with Directory(tmp_path).locked():
            grandchild = os.fork()
            if grandchild == 0:
                signal.pause()
            os.write(theirs, str(grandchild).encode())
            signal.pause()
    grandchild = int(os.read(ready, 20))
    try:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        forest(store=tmp_path).partial_fit(*rows(1), task="task-1")
        assert list(load(tmp_path).tasks_) == ["task-0", "task-1"]
    finally:
        os.kill(grandchild, signal.SIGKILL)
        os.close(ready)
        os.close(theirs)


@pytest.mark.parametrize("context", [FORK, SPAWN], ids=["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_readers_in_processes_of_any_kind_answer_alike(context, tmp_path):
    learners = [taught(forest(store=tmp_path), 2), taught(forest(), 2), load(tmp_path)]
    expected = learners[0].predict_proba(X, task="task-1")
    answers = context.Queue()
    readers = [context.Process(target=ask, args=(learners, "task-1", answers)) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in readers:
        for found in answers.get(timeout=60):
            np.testing.assert_array_equal(found, expected)
    for reader in readers:
        reader.join()
        assert reader.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_that_is_forked_while_another_thread_saves_can_read(tmp_path):
    learner = taught(forest(store=tmp_path, budget=2), 1)
    expected = learner.predict_proba(X, task="task-0").shape
    done = threading.Event()

    def save_often():
        number = 0
        while not done.is_set():
            number += 1
            learner.partial_fit(*rows(number), task=f"task-{number % 4}")

    writer = threading.Thread(target=save_often)
    writer.start()
    answers = FORK.Queue()
    try:
        for _ in range(6):
            child = FORK.Process(
                target=ask_while_another_thread_was_saving, args=(tmp_path, answers)
            )
            child.start()
            assert answers.get(timeout=60).shape[0] == expected[0]
            child.join()
    finally:
        done.set()
        writer.join()
    assert same_answers(load(tmp_path), learner)


@pytest.mark.parametrize("kind", ["store", "save"])
def test_ctrl_c_at_any_moment_loses_no_lesson_and_leaves_no_half_of_one(kind, tmp_path):
    command = [sys.executable, str(HERE / "forked.py"), str(tmp_path), "15", "1", kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
