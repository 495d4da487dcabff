"""Models of tables when Ctrl-C comes at any moment, or the disk fails: as before, or as after."""

import errno
import sys
from functools import partial

import numpy as np
import pytest
from faults import failing
from saved_tables import classifier, frame, regressor, same, targets, taught

from lifelong import load, save
from lifelong.exceptions import PersistenceError

each_model = pytest.mark.parametrize("make", [classifier, regressor])
MOMENTS = 12


class Watch:
    """Counts calls of Python functions, and interrupts one of them."""

    def __init__(self, moment: float) -> None:
        self.moment = moment
        self.calls = 0

    def __call__(self, _frame, event, _argument) -> None:
        if event == "call":
            self.calls += 1
            if self.calls == self.moment:
                raise KeyboardInterrupt


def interrupted(action, moment: float = np.inf) -> int:
    """Ctrl-C comes with the call of that number; how many calls there were."""
    watch = Watch(moment)
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(before)
    return watch.calls


def moments(action):
    """Numbers of calls, from the first to the last one that an action makes."""
    return np.unique(np.linspace(1, interrupted(action), MOMENTS).astype(int))


def more_rows(model):
    rows = frame(12, seed=3).assign(site="rome")
    return rows, targets(rows, model)


CHANGES = {
    "more rows": lambda model: model.partial_fit(*more_rows(model)),
    "all anew": lambda model: model.fit(*more_rows(model)),
    "forget": lambda model: model.forget("lyon"),
    "rename": lambda model: model.rename("lyon", "milan"),
}


@each_model
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_ctrl_c_at_any_moment_of_a_lesson_leaves_the_model_as_it_was(make, change):
    after = change(taught(make()))
    known = taught(make()).knowledge_
    some = moments(lambda: change(taught_alike(make, known)))
    assert len(some) > 3
    for moment in some:
        model = taught_alike(make, known)
        interrupted(partial(change, model), moment)
        assert model.knowledge_ is known or same(model, after)
        if model.knowledge_ is known:
            assert same(change(model), after)


def taught_alike(make, known):
    """Another model that knows the same."""
    model = make()
    model.knowledge_ = known
    return model


@each_model
def test_ctrl_c_at_any_moment_of_a_save_leaves_the_old_model_or_the_new_one(make, tmp_path):
    old = taught(make())
    new = CHANGES["more rows"](taught_alike(make, old.knowledge_))
    save(old, tmp_path / "timed")
    some = moments(lambda: save(new, tmp_path / "timed"))
    folder = tmp_path / "model"
    for moment in some:
        save(old, folder)
        interrupted(partial(save, new, folder), moment)
        found = load(folder)
        assert same(found, old) or same(found, new)
    save(new, folder)
    assert same(load(folder), new)
    assert names(folder) == names(tmp_path / "timed")


@each_model
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_at_any_moment_of_a_save_costs_nothing(make, code, tmp_path):
    old = taught(make())
    new = CHANGES["more rows"](taught_alike(make, old.knowledge_))
    save(old, tmp_path)
    for position in range(1000):
        failed = ""
        with failing(position, code) as disk:
            try:
                save(new, tmp_path)
            except PersistenceError:
                failed = disk.failed
                assert same(load(tmp_path), old) or same(load(tmp_path), new)
        if not disk.failed:
            break
        if failed:
            save(old, tmp_path)
    assert position > 5
    assert same(load(tmp_path), new)


def names(folder):
    return sorted(path.name for path in folder.iterdir())
