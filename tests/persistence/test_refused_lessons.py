"""A lesson that is refused is as if it had never been given: to the store, to other learners on it,
and to other threads.
"""

import threading

import numpy as np
import pytest
from faults import failing
from small import forest, rows, same_answers, taught

from lifelong import export_encoder, load
from lifelong.exceptions import InputError, LifelongError, UnknownTaskError
from lifelong.tasks import Task

X, Y = rows(1)


class Interrupting:
    """Labels: whoever reads them is interrupted."""

    def __len__(self):
        return len(Y)

    def __array__(self, dtype=None, copy=None):
        raise KeyboardInterrupt


def full_disk(learner):
    with failing(1):
        learner.partial_fit(X, Y, task="refused")


REFUSED = {
    "wrong length": lambda learner: learner.partial_fit(X, Y[:-1], task="refused"),
    "NaN": lambda learner: learner.partial_fit(X * np.nan, Y, task="refused"),
    "wrong shape": lambda learner: learner.partial_fit(X[:, :2], Y, task="refused"),
    "Ctrl-C": lambda learner: learner.partial_fit(X, Interrupting(), task="refused"),
    "full disk": full_disk,
    "unknown task": lambda learner: learner.forget("never learnt"),
    "name that is taken": lambda learner: learner.rename("t1", "t1"),
    "bad name": lambda learner: learner.partial_fit(X, Y, task=1.5),
    "declared twice": lambda learner: learner.partial_fit(X, Y, "refused", classes=["a", "a"]),
    "old tasks as new ones": lambda learner: learner.partial_fit_many([Task("t1", X, Y, X, Y)]),
    "no encoder": lambda learner: learner.add_encoder("/nowhere"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_refusal_does_not_make_a_learner_forget_what_another_has_learnt(how, tmp_path):
    a = forest(store=tmp_path).partial_fit(*rows(1), task="t1")
    b = forest(store=tmp_path).partial_fit(*rows(2), task="t2")
    with pytest.raises((LifelongError, KeyboardInterrupt)):
        REFUSED[how](a)
    a.partial_fit(*rows(3), task="t3")
    expected = forest()
    for number in (1, 2, 3):
        expected.partial_fit(*rows(number), task=f"t{number}")
    assert same_answers(load(tmp_path), expected)
    assert same_answers(a, expected)
    assert same_answers(b.partial_fit(*rows(4), task="t1"), load(tmp_path))


def two_learners(tmp_path):
    """A learner that has not looked since another one has learnt ``new``, forgotten ``gone`` and
    renamed ``old``.
    """
    late = forest(store=tmp_path)
    for number, name in enumerate(["mine", "gone", "old"]):
        late.partial_fit(*rows(number), task=name)
    other = forest(store=tmp_path).partial_fit(*rows(7), task="new")
    other.forget("gone").rename("old", "renamed")
    return late, other


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda late, _: late.rename("mine", "new"), InputError),
        (lambda late, _: late.rename("mine", "renamed"), InputError),
        (lambda late, _: late.rename("old", "mine too"), UnknownTaskError),
        (lambda late, _: late.forget("gone"), UnknownTaskError),
        (lambda late, _: late.forget("old", encoder=True), UnknownTaskError),
        (lambda late, _: late.partial_fit_many([Task("new", X, Y, X, Y)]), InputError),
        (lambda late, file: late.add_encoder(file, name="new"), InputError),
        (lambda late, _: late.partial_fit(X, Y), UnknownTaskError),
    ],
    ids=["rename", "rename twice", "renamed", "forget", "encoder", "many", "add", "which task"],
)
def test_checks_are_made_on_the_newest_state(change, error, tmp_path):
    late, other = two_learners(tmp_path / "store")
    export_encoder(forest().partial_fit(*rows(9), task="theirs"), "theirs", tmp_path / "file")
    with pytest.raises(error):
        change(late, tmp_path / "file")
    assert list(load(tmp_path / "store").tasks_) == ["mine", "renamed", "new"]
    assert same_answers(load(tmp_path / "store"), other)


@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "stored"])
def test_threads_that_ask_while_lessons_are_refused_get_the_same_answers(stored, tmp_path):
    learner = taught(forest(store=tmp_path if stored else None), 2)
    expected = learner.predict_proba(X, task="task-0")
    wrong: list[object] = []
    done = threading.Event()

    def ask():
        while not done.is_set():
            try:
                if not np.array_equal(learner.predict_proba(X, task="task-0"), expected):
                    wrong.append("another answer")
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(40):
        for lesson in (
            lambda: learner.partial_fit(X, Y[:-1], task="task-0"),
            lambda: learner.partial_fit(X, [[0]] * len(Y), task="new"),
            lambda: learner.fit(X, Y[:-1]),
            lambda: learner.rename("task-0", "task-1"),
        ):
            with pytest.raises(LifelongError):
                lesson()
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
