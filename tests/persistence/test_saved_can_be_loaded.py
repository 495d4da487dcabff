"""What is saved can be loaded, whatever users hand in; what cannot be is refused in time."""

import enum

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small import forest, rows, same_answers, taught

from lifelong import SillyForest, load, save
from lifelong.exceptions import InputError, LifelongError, PersistenceError
from lifelong.references import REFERENCES
from lifelong.tasks import Task

QUICK = settings(
    max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)

LABELS = st.one_of(
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=9),
    st.sampled_from(["no", "not sure", "nota", np.float32(1.5), np.str_("maybe"), b"bytes", 1.5]),
    st.tuples(st.integers(0, 1)),
)
ONE_KIND = st.one_of(
    st.lists(st.text(max_size=9), min_size=1, max_size=4),
    st.lists(st.integers(-200, 300), min_size=1, max_size=4),
    st.lists(LABELS, min_size=1, max_size=4),
)
DTYPES = st.sampled_from([None, object, "int8", "uint8", "float32", "U2", "bool"])


def labels_of(values, dtype):
    """Twelve labels, in a type that users might choose."""
    repeated = [values[n % len(values)] for n in range(12)]
    if dtype is None or any(isinstance(value, tuple) for value in values):
        return repeated
    try:
        return np.array(repeated, dtype=dtype)
    except (ValueError, TypeError, OverflowError):
        return repeated


@QUICK
@given(ONE_KIND, DTYPES, st.none() | ONE_KIND, ONE_KIND)
def test_whatever_labels_and_classes_are_learnt_are_there_again(
    tmp_path_factory, values, dtype, declared, later
):
    folder = tmp_path_factory.mktemp("store")
    learner = SillyForest(2, store=folder, random_state=0)
    learner.partial_fit(*rows(0), task="first")
    X = rows(1, n=12)[0]
    for y, classes in ((labels_of(values, dtype), declared), (labels_of(later, None), None)):
        before = load(folder)
        try:
            learner.partial_fit(X, y, task="t", classes=classes)
        except LifelongError:
            assert same_answers(load(folder), before)
            assert list(learner.tasks_) == list(before.tasks_)
            return
        assert same_answers(load(folder), learner)
        known = learner.classes_of("t").tolist()
        shown = list(y) if isinstance(y, list) else y.tolist()
        assert all(label in known for label in shown)
        assert classes is None or all(label in known for label in classes)


@pytest.mark.parametrize(
    ("y", "classes", "expected"),
    [
        (["no"] * 6, ["no", "yes", "maybe"], ["no", "yes", "maybe"]),
        (["no"] * 6, ["no", "not sure"], ["no", "not sure"]),
        (np.zeros(6, dtype=np.int8), [0, 300], [0, 300]),
        (np.zeros(6, dtype=bool), [False, True], [False, True]),
        ([0] * 6, [0, "unknown"], [0, "unknown"]),
        (np.zeros(6), [0, 1, 2], [0, 1, 2]),
    ],
)
def test_declared_classes_stay_as_they_were_declared(y, classes, expected, tmp_path):
    learner = forest(store=tmp_path).partial_fit(rows(0, n=6)[0], y, task="t", classes=classes)
    assert learner.classes_of("t").tolist() == expected
    assert load(tmp_path).classes_of("t").tolist() == expected


@pytest.mark.parametrize("classes", [["no", "yes", "no"], [1, 1.0], [0, 1.5], "no", 3, [[1]]])
def test_declared_classes_that_are_no_classes_are_refused(classes, tmp_path):
    learner = taught(forest(store=tmp_path), 1)
    y = ["no"] * 24 if "no" in str(classes) else [1] * 24
    with pytest.raises((InputError, TypeError)):
        learner.partial_fit(rows(0)[0], y, task="t", classes=classes)
    assert list(load(tmp_path).tasks_) == ["task-0"]


@pytest.mark.parametrize("n_dimensions", [0, 1, 2, 3, 4, 5, 6, 9])
@pytest.mark.parametrize("make", [forest, lambda **more: REFERENCES["randumb"](0, **more)])
def test_rows_of_any_shape_are_refused_or_can_be_saved(make, n_dimensions, tmp_path):
    X = np.random.default_rng(0).normal(size=(12,) + (2,) * max(n_dimensions - 1, 0))
    learner = make()
    try:
        learner.partial_fit(X if n_dimensions else 3.0, [0, 1] * 6, task="t")
    except LifelongError:
        assert n_dimensions not in (2, 4)
        return
    save(learner, tmp_path)
    assert load(tmp_path).in_shape_ == X.shape[1:]


class Colour(enum.StrEnum):
    RED = "red"


class Number(enum.IntEnum):
    SEVEN = 7


class Mixed(str, enum.Enum):  # noqa: UP042 - what users had before StrEnum
    BLUE = "blue"


NAMES = {
    "np.unique of text": np.unique(["a", "b"])[1],
    "np.unique of numbers": np.unique([3, 5])[1],
    "small numbers": np.uint8(5),
    "StrEnum": Colour.RED,
    "IntEnum": Number.SEVEN,
    "text and Enum": Mixed.BLUE,
}


@pytest.mark.parametrize("how", ["learn", "many", "renamed to", "renamed from", "encoder"])
@pytest.mark.parametrize("kind", NAMES)
def test_names_of_any_class_can_be_learnt_and_saved(kind, how, tmp_path):
    name = NAMES[kind]
    plain = str.__str__(name) if isinstance(name, str) else int(name)
    learner = taught(forest(store=tmp_path), 1)
    if how == "learn":
        learner.partial_fit(*rows(1), task=name)
    elif how == "many":
        learner.partial_fit_many([Task(name, *rows(1), *rows(1))])
    elif how == "renamed to":
        learner.rename("task-0", name)
    elif how == "renamed from":
        learner.partial_fit(*rows(1), task=plain).rename(name, "other")
        plain = "other"
    else:
        other = forest().partial_fit(*rows(2), task="t")
        learner.add_encoder(other.encoders_["t"], name=name)
    again = load(tmp_path)
    found = again.encoders_ if how == "encoder" else again.tasks_
    assert plain in found
    assert {type(known) for known in found} <= {str, int}
    assert same_answers(again, learner)
    if how not in ("encoder", "renamed from"):
        assert learner.predict(rows(1)[0], task=name).shape == (24,)
        learner.forget(name)


@pytest.mark.parametrize("scale", [1e-45, 1e30, 3e38])
def test_rows_of_any_size_can_be_saved_or_are_refused_when_they_are(scale, tmp_path):
    X, y = rows(0)
    learner = taught(forest(task_inference=False), 1)
    save(learner, tmp_path)
    with np.errstate(all="ignore"):
        try:
            learner.partial_fit(X / np.abs(X).max() * scale, y, task="large")
            save(learner, tmp_path)
        except (PersistenceError, InputError):
            assert list(load(tmp_path).tasks_) == ["task-0"]
            return
    assert same_answers(load(tmp_path), learner)
