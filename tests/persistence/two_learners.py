"""Two learners on one store, as a state machine: what was acknowledged is there, whoever did it.

The model is a learner in memory that is taught what the store has acknowledged, in that order.
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
        self.refused = 0

    def _make(self):
        return forest(store=self.folder, **self.parameters)

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _do(self, who, change):
        """The change on the store by one learner, and on the model: both do it, or both
        refuse it.
        """
        expected = deepcopy(self.model)
        expected_error, _ = _refusal(change, expected)
        error, message = _refusal(change, self.learners[who])
        assert error is expected_error, f"refused: {message}" if error else "not refused"
        if error is None:
            self.model = expected

    @rule(who=WHO, task=TASKS, number=NUMBERS)
    def learn(self, who, task, number):
        self._do(who, lambda learner: learner.partial_fit(*rows(number), task=task))

    @rule(who=WHO, task=TASKS, encoder=st.booleans())
    def forget(self, who, task, encoder):
        self._do(who, lambda learner: learner.forget(task, encoder=encoder))

    @rule(who=WHO, old=TASKS, new=TASKS)
    def rename(self, who, old, new):
        self._do(who, lambda learner: learner.rename(old, new))

    @rule(who=WHO, task=TASKS, how=st.sampled_from(["length", "NaN", "shape", "classes", "Ctrl-C"]))
    def refuse(self, who, task, how):
        """A lesson that cannot be learnt, and one that is interrupted."""
        X, y = rows(1)
        learner = self.learners[who]
        arguments = {
            "length": (X, y[:-1]),
            "NaN": (np.where(np.arange(4) == 1, np.nan, X), y),
            "shape": (X[:, :, None], y),
            "classes": (X, [[0]] * len(y)),
            "Ctrl-C": (X, Interrupting(y)),
        }[how]
        try:
            learner.partial_fit(*arguments, task=task)
        except (LifelongError, KeyboardInterrupt):
            self.refused += 1
        else:
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
        if acknowledged or (
            disk.failed and self._stored() is not None and same(self._stored(), after)
        ):
            self.model = after

    @rule(who=WHO)
    def reopen(self, who):
        """The process ends; another one goes on."""
        self.learners[who] = self._make()

    def _stored(self):
        return load(self.folder) if (self.folder / "manifest.json").exists() else None

    @invariant()
    def the_store_holds_what_was_acknowledged(self):
        if not hasattr(self, "model"):
            return
        stored = self._stored()
        known = self.model._tasks()
        if stored is None:
            assert not known
            return
        assert list(stored._tasks()) == list(known)
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
