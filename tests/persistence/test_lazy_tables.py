"""A table's model that is opened lazily: a task's files are read when it is asked."""

import numpy as np
import pytest

from lifelong import LifelongClassifier, load, save
from lifelong.exceptions import PersistenceError
from lifelong.persistence.lazy import Stored

N_TASKS = 5
N_ROWS = 30


def rows_of(task: int):
    rng = np.random.default_rng(task)
    X = rng.normal(size=(N_ROWS, 3)).astype(np.float32)
    return X, (X[:, 0] + task / 10 > 0).astype(int)


@pytest.fixture
def folder(tmp_path):
    model = LifelongClassifier(n_estimators=4, random_state=0)
    for task in range(N_TASKS):
        model.partial_fit(*rows_of(task), task=task)
    save(model, tmp_path)
    return tmp_path


def test_a_model_opened_lazily_answers_as_one_that_was_read_at_once(folder):
    lazy = load(folder, lazy=True)
    assert isinstance(lazy.knowledge_.forests, Stored)
    whole = load(folder)
    for task in [*range(N_TASKS), 99]:
        X, _ = rows_of(7)
        np.testing.assert_array_equal(
            lazy.predict_proba(X, task=task), whole.predict_proba(X, task=task)
        )


def test_opening_reads_no_tasks_files_and_an_answer_reads_that_tasks_alone(folder):
    lazy = load(folder, lazy=True)
    asked = lazy.knowledge_.forests.node_of(2)["file"][0]
    for file in folder.glob("rows-*"):
        file.unlink()
    others = [lazy.knowledge_.forests.node_of(task)["file"][0] for task in (0, 1, 3, 4)]
    for name in set(others) - {asked}:
        (folder / name).unlink()
    X, _ = rows_of(2)
    assert lazy.predict(X, task=2).shape == (N_ROWS,)
    with pytest.raises(PersistenceError):
        lazy.predict(X, task=3)


def test_a_damaged_file_is_noticed_when_its_task_is_asked(folder):
    lazy = load(folder, lazy=True)
    name = lazy.knowledge_.forests.node_of(1)["file"][0]
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    X, _ = rows_of(1)
    with pytest.raises(PersistenceError, match="damaged"):
        lazy.predict(X, task=1)


def test_a_model_opened_lazily_learns_on_and_is_saved_where_it_was_and_elsewhere(folder, tmp_path):
    lazy = load(folder, lazy=True)
    whole = load(folder)
    for model in (lazy, whole):
        model.partial_fit(*rows_of(N_TASKS), task=N_TASKS)
    save(lazy, folder)
    save(lazy, tmp_path / "elsewhere")
    X, _ = rows_of(8)
    for model in (lazy, load(folder), load(tmp_path / "elsewhere", lazy=True)):
        for task in range(N_TASKS + 1):
            np.testing.assert_array_equal(
                model.predict_proba(X, task=task), whole.predict_proba(X, task=task)
            )
