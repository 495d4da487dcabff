"""Odd values of all parameters and arguments: learnt, saved and loaded alike, or refused."""

import copy
from contextlib import suppress
from enum import IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_tables import MODELS, answers, classifier, inputs, regressor, table

from lifelong import LifelongClassifier, LifelongRegressor, load, save
from lifelong.exceptions import InputError, LifelongError, ParameterError


class Few(IntEnum):
    """A number of an enumeration."""

    TWO = 2


class Word(StrEnum):
    """A word of an enumeration."""

    POOLED = "pooled"
    SQRT = "sqrt"


FRAME = table(8)
ROWS = inputs(FRAME).drop(columns="site")
TASKS = FRAME.site
N = len(FRAME)
ODD = {
    "None": None,
    "True": True,
    "False": False,
    "zero": 0,
    "one": 1,
    "below zero": -1,
    "far below zero": -(2**70),
    "2**31": 2**31,
    "2**53 and one": 2**53 + 1,
    "10**30": 10**30,
    "5000 digits": 10**5000,
    "half": 0.5,
    "one as a float": 1.0,
    "one and a half": 1.5,
    "below zero as a float": -0.5,
    "1e300": 1e300,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": -float("inf"),
    "numpy's 3": np.int64(3),
    "numpy's 0": np.uint8(0),
    "numpy's 2**40": np.int64(2**40),
    "numpy's quarter": np.float32(0.25),
    "numpy's nan": np.float64("nan"),
    "numpy's True": np.bool_(True),
    "complex": 1j,
    "numpy's complex": np.complex64(0.5),
    "an array of one": np.array([3]),
    "an array without axes": np.array(3),
    "an array": np.arange(60).reshape(30, 2),
    "a fraction": Fraction(1, 3),
    "an enumeration's number": Few.TWO,
    "an enumeration's word": Word.POOLED,
    "another enumeration's word": Word.SQRT,
    "numpy's word": np.str_("sqrt"),
    "no text": "",
    "an unknown word": "Pooled",
    "a digit": "3",
    "two lines": "a\nb",
    "brackets": "[red]x",
    "a long text": "x" * 500,
    "bytes": b"sqrt",
    "an empty list": [],
    "a list": [1],
    "an empty tuple": (),
    "a dict": {"a": 1},
    "a set": {1},
    "a range": range(3),
    "a class": int,
    "a function": print,
    "an object": object(),
    "pandas' NA": pd.NA,
    "pandas' NaT": pd.NaT,
    "a date": np.datetime64("2020-01-01"),
    "a path": Path("x"),
    "a frame": ROWS,
    "a series": FRAME.days,
    "a generator": np.random.default_rng(0),
    "an old generator": np.random.RandomState(0),
}
HARMFUL = ("balanced", {"yes": 2.0, "no": 1.0}, {"yes": 2}, {"yes": True}, {"yes": 1j}, {1: None})
each_odd = pytest.mark.parametrize("value", ODD.values(), ids=ODD)


def in_a_line(error):
    assert "\n" not in str(error)
    assert len(str(error)) < 700


def refused_in_a_line(error, *names):
    in_a_line(error)
    assert any(name in str(error) for name in names), str(error)


def same_when_loaded(model, folder):
    expected = answers(model, ROWS, task=TASKS)
    assert np.isfinite(expected).all()
    save(model, folder)
    loaded = load(folder)
    np.testing.assert_array_equal(answers(loaded, ROWS, task=TASKS), expected)
    assert list(loaded.tasks_) == list(model.tasks_)


def parameters():
    for kind, (make, _) in MODELS.items():
        for name in make().get_params():
            for what in ODD:
                # as many trees as asked for take their time
                yield pytest.param(kind, name, ODD[what], id=f"{kind} {name} {what}")
    for weight in HARMFUL:
        yield pytest.param("classifier", "class_weight", weight, id=f"class_weight {weight!r}")


@pytest.mark.parametrize(("kind", "name", "value"), [*parameters()])
def test_a_parameter_is_learnt_and_saved_or_refused_by_name(kind, name, value, tmp_path):
    make, target = MODELS[kind]
    given = {"n_estimators": 1, "shared": False, "task_column": None, name: value}
    try:
        model = make(**given).fit(ROWS, FRAME[target], task=TASKS)
    except LifelongError as error:
        refused_in_a_line(error, name)
    else:
        same_when_loaded(model, tmp_path)


@pytest.mark.parametrize("name", [*classifier().get_params()])
@each_odd
def test_images_refuse_the_parameters_that_tables_refuse(name, value):
    """And before a network is trained, which no test here could wait for."""
    pictures = np.zeros((4, 1, 4, 4), dtype=np.float32)
    given = {"n_estimators": 1, "shared": False, "task_column": None, name: value}
    try:
        classifier(**given).fit(ROWS, FRAME.ill, task=TASKS)
    except LifelongError:
        with pytest.raises(LifelongError) as refused:
            classifier(**given).fit(pictures, ["yes", "no"] * 2)
        refused_in_a_line(refused.value, name)


def arguments():
    """What each call takes, and what an error about it may call it."""
    yield "fit", "task", ("task",)
    yield "fit", "sample_weight", ("sample_weight",)
    yield "partial_fit", "classes", ("classes", "label")
    yield "predict", "task", ("task",)
    yield "score", "sample_weight", ("sample_weight",)
    yield "score", "task", ("task",)
    yield "explain", "task", ("task",)
    yield "explain", "repetitions", ("repetitions",)
    yield "explain", "folds", ("folds",)
    yield "forget", "task", ("task", "Task")
    yield "rename", "new", ("task", "Task")


def calls():
    for kind, (make, target) in MODELS.items():
        model = make(n_estimators=1, shared=False, task_column=None)
        model.fit(ROWS, FRAME[target], task=TASKS)
        for call, argument, names in arguments():
            yield pytest.param(model, target, call, argument, names, id=f"{kind} {call} {argument}")


@pytest.mark.parametrize(("model", "target", "call", "argument", "names"), [*calls()])
@each_odd
def test_an_argument_is_taken_or_refused_by_name(
    model, target, call, argument, names, value, tmp_path
):
    asked = copy.deepcopy(model)
    given = {argument: value}
    if call in ("fit", "partial_fit", "score"):
        given = {"X": ROWS, "y": FRAME[target], "task": TASKS, **given}
    elif call == "predict":
        given = {"X": ROWS, **given}
    elif call == "explain":
        given = {"task": "lyon", "repetitions": 1, "folds": 2, **given}
    elif call == "rename":
        given = {"old": "lyon", **given}
    try:
        getattr(asked, call)(**given)
    except LifelongError as error:
        refused_in_a_line(error, *names)
        np.testing.assert_array_equal(
            answers(asked, ROWS, task=TASKS), answers(model, ROWS, task=TASKS)
        )
    else:
        same_when_loaded(asked, tmp_path)


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "score"])
@pytest.mark.parametrize("kind", MODELS)
@each_odd
def test_rows_and_targets_are_taken_or_refused_in_a_line(kind, call, value):
    make, target = MODELS[kind]
    model = make(n_estimators=1, shared=False, task_column=None)
    model.fit(ROWS, FRAME[target], task=TASKS)
    for given in ((value, FRAME[target]), (ROWS, value)):
        if call == "predict":
            given = given[:1]
        try:
            getattr(copy.deepcopy(model), call)(*given, task="lyon")
        except LifelongError as error:
            in_a_line(error)


@each_odd
def test_an_interval_is_a_share(value):
    model = regressor(n_estimators=1, shared=False).fit(inputs(FRAME), FRAME.days)
    try:
        found = model.predict(inputs(FRAME), interval=value)
    except ParameterError as error:
        refused_in_a_line(error, "interval")
    else:
        assert found.shape in {(N,), (N, 3)}


@each_odd
def test_a_directory_is_a_path(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = classifier(n_estimators=1, shared=False).fit(inputs(FRAME), FRAME.ill)
    for call in (lambda: save(model, value), lambda: load(value)):
        with suppress(LifelongError):
            call()


@pytest.mark.parametrize("name", ["on_unseen", "random_state", "class_weight", "shared"])
def test_a_parameter_that_is_set_later_is_checked_before_the_next_lesson(name):
    model = classifier().fit(inputs(FRAME), FRAME.ill)
    model.set_params(**{name: "certainly not"})
    with pytest.raises(ParameterError, match=name):
        model.partial_fit(inputs(FRAME), FRAME.ill)


@pytest.mark.parametrize("make", [LifelongClassifier, LifelongRegressor])
def test_a_misspelt_choice_answers_nothing(make):
    y = FRAME.ill if make is LifelongClassifier else FRAME.days
    model = make("site", n_estimators=1).fit(inputs(FRAME), y).set_params(on_unseen="rais")
    with pytest.raises(ParameterError, match="on_unseen='rais' is unknown. Did you mean 'raise'"):
        model.predict(inputs(FRAME).assign(site="rome"))


def test_a_lesson_of_one_label_may_have_weights_for_others_that_are_known():
    model = classifier(class_weight={"yes": 3.0}).fit(inputs(FRAME), FRAME.ill)
    healthy = FRAME[FRAME.ill == "no"]
    model.partial_fit(inputs(healthy), healthy.ill)
    late = classifier(class_weight={"yes": 3.0})
    with pytest.raises(ParameterError, match="class_weight has no weight for the label 'no'"):
        late.partial_fit(inputs(healthy), healthy.ill)
    late.partial_fit(inputs(healthy), healthy.ill, classes=["no", "yes"])
    assert list(late.classes_) == ["no", "yes"]


def test_labels_of_several_kinds_can_be_balanced(tmp_path):
    labels = FRAME.ill.map({"yes": "yes", "no": 0}).to_numpy()
    model = classifier(task_column=None, class_weight="balanced")
    model.fit(ROWS, labels, task=TASKS)
    assert set(model.classes_) == {"yes", 0}
    same_when_loaded(model, tmp_path)


def test_more_folds_than_rows_leave_each_row_out_once():
    model = classifier(n_estimators=1, shared=False).fit(inputs(FRAME), FRAME.ill)
    every = model.explain(folds=8, repetitions=1)
    more = model.explain(folds=10**9, repetitions=1)
    np.testing.assert_array_equal(every.importance, more.importance)
    assert every.rows.tolist() == [8, 8, 8]


def test_rows_of_unknown_tasks_alone_explain_nothing():
    model = classifier(n_estimators=1).fit(inputs(FRAME), FRAME.ill)
    with pytest.raises(LookupError, match="No row of X is of a task that is known"):
        model.explain(inputs(FRAME).assign(site="rome"), FRAME.ill)


def test_weights_of_a_score_are_weights():
    model = classifier(n_estimators=1).fit(inputs(FRAME), FRAME.ill)
    for weights in (np.zeros(N), np.ones(3), -np.ones(N), np.full(N, np.nan)):
        with pytest.raises(InputError, match="sample_weight"):
            model.score(inputs(FRAME), FRAME.ill, sample_weight=weights)
