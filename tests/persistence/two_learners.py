"""Two learners on one store, as a state machine: what was acknowledged is there, whoever did it.

There are two models. One is plain dicts: which tasks there are, in order, with how many rows of
which classes. The other is a learner in memory that is taught what the store has acknowledged; it
says what the answers should be.
"""

import shutil
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import ClassVar

import numpy as np
from faults import failing
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from small import forest, rows, same_answers

from lifelong import load
from lifelong.exceptions import LifelongError

WHO = st.sampled_from(["a", "b"])
TASKS = st.sampled_from(["t0", "t1", "t2", "t3", 4])
NUMBERS = st.integers(0, 9)
CLASSES = st.lists(
    st.sampled_from(["class-0", "class-1", "class-2", "not sure", "a class with a long name"]),
    max_size=4,
)


def _refusal(change, learner):
    """Change the learner; the type and message of the error if it refuses, else None."""
    try:
        change(learner)
    except LifelongError as error:
        return type(error), str(error)
    return None, None


class TwoLearners(RuleBasedStateMachine):
    """Learn, extend, forget, rename, refuse, crash and reopen, by either learner."""

    parameters: ClassVar[dict] = {}

    @initialize()
    def start(self):
        self.folder = Path(tempfile.mkdtemp())
        self.learners = {who: self._make() for who in "ab"}
        self.model = forest(**self.parameters)
        self.tasks = {}  # name → {label: rows}

    def _make(self):
        return forest(store=self.folder, **self.parameters)

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _do(self, who, change, after):
        """The change on the store by one learner, and on both models: all do it, or all refuse it.

        ``after`` is what the dicts hold then; None if they refuse.
        """
        expected = deepcopy(self.model)
        expected_error, _ = _refusal(change, expected)
        error, message = _refusal(change, self.learners[who])
        assert error is expected_error, f"refused: {message}" if error else "not refused"
        assert (error is None) == (after is not None), f"refused: {message}"
        if error is None:
            self.model = expected
            self.tasks = after

    def _taught(self, task, number, declared=()):
        """The dicts after a lesson."""
        counts = dict(self.tasks.get(task, {}))
        for label in [*declared, *sorted(set(rows(number)[1].tolist()))]:
            counts.setdefault(label, 0)
        for label in rows(number)[1].tolist():
            counts[label] += 1
        return {**self.tasks, task: counts}

    @rule(who=WHO, task=TASKS, number=NUMBERS)
    def learn(self, who, task, number):
        """A new task, or more rows of one that either of them has learnt."""
        after = self._taught(task, number)
        self._do(who, lambda learner: learner.partial_fit(*rows(number), task=task), after)

    @rule(who=WHO, task=TASKS, number=NUMBERS, classes=CLASSES)
    def declare(self, who, task, number, classes):
        """A lesson with classes that its rows need not show."""
        after = None
        if len(set(classes)) == len(classes):
            after = self._taught(task, number, classes)
        self._do(
            who,
            lambda learner: learner.partial_fit(*rows(number), task=task, classes=classes),
            after,
        )

    @rule(who=WHO, task=TASKS, encoder=st.booleans())
    def forget(self, who, task, encoder):
        after = None
        if task in self.tasks:
            after = {name: counts for name, counts in self.tasks.items() if name != task}
        self._do(who, lambda learner: learner.forget(task, encoder=encoder), after)

    @rule(who=WHO, old=TASKS, new=TASKS)
    def rename(self, who, old, new):
        after = None
        if old in self.tasks and new not in self.tasks:
            after = {new if name == old else name: counts for name, counts in self.tasks.items()}
        self._do(who, lambda learner: learner.rename(old, new), after)

    @rule(
        who=WHO,
        task=TASKS,
        how=st.sampled_from(["length", "NaN", "shape", "five", "classes", "Ctrl-C"]),
    )
    def refuse(self, who, task, how):
        """A lesson that cannot be learnt, and one that is interrupted."""
        X, y = rows(1)
        learner = self.learners[who]
        arguments = {
            "length": (X, y[:-1]),
            "NaN": (np.where(np.arange(4) == 1, np.nan, X), y),
            "shape": (X[:, :, None], y),
            "five": (X[:, :, None, None, None], y),
            "classes": (X, [[0]] * len(y)),
            "Ctrl-C": (X, Interrupting(y)),
        }[how]
        try:
            learner.partial_fit(*arguments, task=task)
        except (LifelongError, KeyboardInterrupt):
            return
        raise AssertionError("not refused")

    @rule(who=WHO, task=TASKS, number=NUMBERS, position=st.integers(0, 25))
    def crash(self, who, task, number, position):
        """The disk fails at some moment of a lesson: it is stored, or it is not."""
        after = deepcopy(self.model).partial_fit(*rows(number), task=task)
        with failing(position) as disk:
            try:
                self.learners[who].partial_fit(*rows(number), task=task)
                acknowledged = True
            except LifelongError:
                acknowledged = False
        taught = self._taught(task, number)
        if acknowledged or (disk.failed and self._stored_tasks() == taught):
            self.model = after
            self.tasks = taught

    @rule(who=WHO)
    def reopen(self, who):
        """The process ends; another one goes on."""
        self.learners[who] = self._make()

    def _stored(self):
        return load(self.folder) if (self.folder / "manifest.json").exists() else None

    def _stored_tasks(self):
        """What is in the store, as dicts."""
        stored = self._stored()
        if stored is None:
            return {}
        return {
            task: dict(zip(record.classes.tolist(), record.class_counts.tolist(), strict=True))
            for task, record in stored._tasks().items()
        }

    @invariant()
    def the_store_holds_what_was_acknowledged(self):
        if not hasattr(self, "model"):
            return
        assert list(self._stored_tasks().items()) == list(self.tasks.items())
        stored = self._stored()
        if stored is None:
            return
        assert same(stored, self.model)


def same(one, other) -> bool:
    """Whether two learners know the same tasks and answer alike."""
    return (not one._tasks() and not other._tasks()) or same_answers(one, other)


class Interrupting:
    """Labels: whoever reads them is interrupted."""

    def __init__(self, y):
        self.y = y

    def __len__(self):
        return len(self.y)

    def __array__(self, dtype=None, copy=None):
        raise KeyboardInterrupt
