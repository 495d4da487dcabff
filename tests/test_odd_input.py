"""What would be misread is refused or warned of, whatever kind of learner reads it."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lifelong import LifelongError, SillyForest, SillyNetwork, Task, TaskStream, load, save
from lifelong.exceptions import InputError, InputWarning, ParameterError, PersistenceError
from lifelong.references.registry import LEARNERS as ALL
from lifelong.tasks.sources import from_frame, rows_of

LEARNERS = {
    "forest": lambda: SillyForest(2, random_state=0),
    "random forests": lambda: ALL["rf"](0, n_estimators=2),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)).astype(np.float32)
Y = np.arange(30) % 2
TEXT = np.where(Y == 0, "no", "yes")


def refused(make, X, y, match=None, **more):
    """A lesson is refused by an error of ours, before the first task and after it."""
    for learner in (make(), make().partial_fit(RNG.normal(size=(30, 4)), TEXT, task="a")):
        before = dict(vars(learner))
        with pytest.raises(LifelongError, match=match):
            learner.partial_fit(X, y, **{"task": "b", **more})
        assert vars(learner) == before


# Labels


def with_a_hole(hole):
    labels = TEXT.astype(object)
    labels[[3, 5, 8]] = hole
    return labels


MISSING = {
    "nan in an array": with_a_hole(np.nan),
    "nan in a list": with_a_hole(float("nan")).tolist(),
    "nan of numpy in a list": with_a_hole(np.float32("nan")).tolist(),
    "NA": with_a_hole(pd.NA),
    "NaT": with_a_hole(pd.NaT),
    "not a time": with_a_hole(np.datetime64("NaT")),
    "a series": pd.Series(with_a_hole(np.nan)),
    "a series of strings": pd.Series(with_a_hole(pd.NA), dtype="string"),
    "None in a series": pd.Series(with_a_hole(None)),
    "categories": pd.Categorical(with_a_hole(np.nan)),
    "a nullable series": pd.Series([None, *Y[1:]], dtype="Int64"),
    "null in polars": pl.Series(with_a_hole(None).tolist()),
    "null among polars' numbers": pl.Series([None, *Y[1:].tolist()]),
    "masked text": np.ma.masked_array(TEXT, mask=Y == 1),
    "masked numbers": np.ma.masked_array(Y, mask=Y == 1),
}


@each_learner
@pytest.mark.parametrize("y", MISSING.values(), ids=MISSING)
def test_a_missing_label_is_no_class(make, y):
    refused(make, X, y, "NaN|masked|missing")


@each_learner
def test_none_is_a_label_where_it_is_given_as_one(make):
    learner = make().partial_fit(X, [None if label else "b" for label in Y], task="a")
    assert set(learner.classes_of("a").tolist()) == {None, "b"}


@each_learner
@pytest.mark.parametrize(
    "y",
    [
        pd.date_range("2026-01-01", periods=30),
        np.arange(30).astype("datetime64[D]"),
        np.arange(30).astype("timedelta64[s]"),
        pl.Series([datetime.date(2026, 1, 1 + day) for day in range(30)]),
    ],
    ids=["pandas", "numpy", "durations", "polars"],
)
def test_dates_are_no_labels(make, y):
    refused(make, X, y, "dates")


@each_learner
@pytest.mark.parametrize("end", ["a\0", "a\0\0", b"a\0"], ids=repr)
@pytest.mark.parametrize("kind", [list, tuple, "object"], ids=str)
def test_a_label_that_ends_in_nul_is_not_taken_for_another(make, end, kind):
    plain = "a" if isinstance(end, str) else b"a"
    y = [end if label else plain for label in Y]
    if kind == "object":
        y = np.array(y, dtype=object)
    else:
        y = kind(y)
    refused(make, X, y, "NUL")


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        (["yes", "Yes", "no"], ["'yes'", "'Yes'"]),
        (["yes", "yes ", "no"], ["'yes'", "'yes '"]),
        (["a b", "a  B"], ["'a b'", "'a  B'"]),
        (["é", "e\u0301"], ["'é'"]),  # one letter, or two
        (["x1", "x１"], ["'x1'"]),  # a wide digit
    ],
)
def test_labels_that_differ_in_case_or_spaces_alone_are_named_in_a_warning(labels, named):
    y = [labels[row % len(labels)] for row in range(30)]
    with pytest.warns(InputWarning) as warned:
        learner = SillyForest(2, random_state=0).partial_fit(X, y, task="a")
    (message,) = [str(warning.message) for warning in warned]
    assert all(name in message for name in named)
    assert set(learner.classes_of("a").tolist()) == set(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        learner.partial_fit(X, y, task="a")
    other = SillyForest(2, random_state=0).partial_fit(X, [labels[0]] * 30, task="a")
    with pytest.warns(InputWarning):
        other.partial_fit(X, [labels[1]] * 30, task="a")


# Declared classes


DECLARED = st.one_of(
    st.lists(st.text(max_size=6).filter(lambda text: not text.endswith("\0")), max_size=5),
    st.lists(st.integers(-(2**70), 2**70), max_size=5),
    st.lists(st.booleans(), max_size=2),
    st.lists(st.one_of(st.none(), st.integers(0, 3), st.sampled_from("abc")), max_size=5),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab")), max_size=3),
)
SHOWN = st.sampled_from(
    [["no"], ["n", "y"], [0, 1], [True, False], [0.0, 1.0], [("a", 1)], [None, "b"], [2**40]]
)


@given(declared=DECLARED, shown=SHOWN, narrow=st.booleans())
@settings(max_examples=80, deadline=None)
@pytest.mark.filterwarnings("ignore:The labels:lifelong.exceptions.InputWarning")
def test_declared_classes_are_learnt_as_they_are_or_refused(
    declared, shown, narrow, tmp_path_factory
):
    y = [shown[row % len(shown)] for row in range(6)]
    if narrow and all(type(label) is int and label < 100 for label in shown):
        y = np.array(y, dtype=np.int8)
    learner = SillyForest(1, max_depth=2, random_state=0)
    if len(set(declared)) < len(declared):
        with pytest.raises(InputError, match="more than once"):
            learner.partial_fit(X[:6], y, task="a", classes=declared)
        return
    learner.partial_fit(X[:6], y, task="a", classes=declared)
    classes = learner.classes_of("a").tolist()
    assert set(classes) == {*declared, *shown}
    assert classes[: len(declared)] == declared
    assert learner.predict_proba(X, task="a").shape == (30, len(classes))
    assert set(learner.predict(X, task="a").tolist()) <= set(shown)
    if all(isinstance(label, str | int | bool | float) for label in classes):
        folder = tmp_path_factory.mktemp("saved")
        save(learner, folder)
        assert load(folder).classes_of("a").tolist() == classes


@each_learner
@pytest.mark.parametrize(
    "classes",
    [
        *("ab", 3, {"no"}, {"no": 1}, ["no", np.nan], [0, 1.5], ["no", "no"], [1, True]),
        *(["a", ["b"]], np.array([["no"], ["yes"]]), ["no", "a\0"]),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_what_is_no_list_of_distinct_labels_declares_no_classes(make, classes):
    if isinstance(classes, np.ndarray):
        classes = np.concatenate([classes, classes], axis=1)
    refused(make, X, TEXT, classes=classes)


# Rows


def frame(**columns):
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "d": X[:, 3]} | columns)


DAYS = pd.date_range("2026-01-01", periods=30)
BAD_ROWS = {
    "five dimensions": X.reshape(30, 1, 2, 1, 2),
    "six dimensions": X.reshape(30, 1, 2, 1, 2, 1),
    "masked": np.ma.masked_array(X, mask=X > 1),
    "masked all over": np.ma.masked_array(X, mask=True),
    "dates": np.arange(120).reshape(30, 4).astype("datetime64[D]"),
    "durations": np.arange(120).reshape(30, 4).astype("timedelta64[s]"),
    "a column of dates": frame(a=DAYS),
    "dates in all columns": pd.DataFrame(dict.fromkeys("abcd", DAYS)),
    "dates with a zone": pd.DataFrame({name: DAYS.tz_localize("UTC") for name in "abcd"}),
    "polars' dates": pl.DataFrame({name: DAYS.to_numpy() for name in "abcd"}),
    "objects that are dates": frame(a=list(DAYS.date)),
    "numpy's dates as objects": np.array([[np.datetime64("2026-01-01")] * 4] * 30, dtype=object),
    "lists of dates": [[datetime.date(2026, 1, 1)] * 4] * 30,
    "near the largest float": np.where(X > 1, 3e38, X),
    "beyond a square": np.where(X > 1, -1e30, X),
    "a fill value": np.where(X > 1, 9.96921e36, X).astype(np.float64),
    "a column twice": pd.DataFrame(X, columns=["a", "b", "a", "c"]),
    "names of several kinds": pd.DataFrame(X, columns=["a", 1, "b", 2]),
    "a structured array": np.zeros(30, dtype=[("a", "f4"), ("b", "f4")]),
    "a dict": {"a": X[:, 0]},
    "a set": {1, 2},
    "a generator": (row for row in X),
    "an iterator": iter(X),
    "a map": map(list, X),
    "a dataset": torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)),
    "a loader": torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    ),
    "a number": 3.0,
    "nothing": None,
    "text": "rows.csv",
}


@each_learner
@pytest.mark.parametrize("bad", BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_rows_that_would_be_misread_are_refused(make, bad):
    refused(make, bad, TEXT)
    with pytest.raises(LifelongError):
        make().partial_fit(X, Y, task="a").predict(bad, task="a")


@each_learner
def test_a_loader_alone_is_told_what_to_give_instead(make):
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    loader = torch.utils.data.DataLoader(dataset)
    with pytest.raises(InputError, match=r"X is a DataLoader, not rows.*rows_of"):
        make().partial_fit(loader)
    rows, labels = rows_of(loader.dataset)
    assert make().partial_fit(rows, labels, task="a").predict(X, task="a").shape == (30,)


@each_learner
def test_a_masked_array_that_masks_nothing_is_an_array(make):
    plain = make().partial_fit(X, Y, task="a").predict_proba(X, task="a")
    rows, labels = np.ma.masked_array(X, mask=False), np.ma.masked_array(Y, mask=False)
    np.testing.assert_array_equal(
        make().partial_fit(rows, labels, task="a").predict_proba(rows, task="a"), plain
    )


@pytest.mark.parametrize("shape", [(28, 28, 1), (28, 28, 3), (32, 48, 3), (8, 8, 4)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_images_with_channels_at_the_end_are_not_taken_for_many_channels(shape, dtype):
    images = RNG.integers(0, 255, size=(6, *shape)).astype(dtype)
    for learner in (SillyForest(2), SillyNetwork(epochs=1, width=0.1)):
        with pytest.raises(InputError, match=r"transpose\(0, 3, 1, 2\)"):
            learner.partial_fit(images, Y[:6], task="a")
    with pytest.raises(InputError, match="channels at the end"):
        Task("a", images, Y[:6], images, Y[:6])
    SillyForest(2).partial_fit(images.transpose(0, 3, 1, 2), Y[:6], task="a")


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 8, 8), (64, 128, 1), (4, 4, 1), (3, 3, 3)])
def test_images_with_channels_first_are_as_before(shape):
    images = RNG.normal(size=(6, *shape))
    assert SillyForest(2).partial_fit(images, Y[:6], task="a").in_shape_ == shape


@pytest.mark.parametrize("channel", ["leaf", "ridge", "forest", "neighbours"])
@pytest.mark.parametrize("scale", [1e18, 1e-30, 1e10])
def test_whatever_size_of_numbers_is_accepted_is_learnt_saved_and_loaded(channel, scale, tmp_path):
    rows = (X / np.abs(X).max() * scale).astype(np.float32)
    if channel in ("leaf", "ridge"):
        learner = SillyForest(3, channel=channel, random_state=0)
    else:
        learner = SillyNetwork((4,), channel=channel, epochs=2, random_state=0)
    learner.partial_fit(rows, Y, task="a").partial_fit(rows, 1 - Y, task="b")
    save(learner, tmp_path)
    posteriors = load(tmp_path).predict_proba(rows, task="a")
    assert np.isfinite(posteriors).all()
    np.testing.assert_array_equal(posteriors, learner.predict_proba(rows, task="a"))


# Weights


@each_learner
@pytest.mark.parametrize(
    "weights",
    [
        *([1e300] * 30, [1e-300] * 30, [1e300, *[1.0] * 29], [1e-310, *[1.0] * 29]),
        np.ma.masked_array(np.ones(30), mask=Y == 1),
        pd.Series(np.ones(30), index=range(1, 31)),
    ],
    ids=["heavy", "light", "one heavy", "one light", "masked", "another index"],
)
def test_weights_that_cannot_be_computed_with_are_refused(make, weights):
    rows = X
    if isinstance(weights, pd.Series):
        rows = pd.DataFrame(X)
    refused(make, rows, TEXT, "sample_weight", sample_weight=weights)


@pytest.mark.parametrize("channel", ["leaf", "ridge", "forest", "neighbours"])
@pytest.mark.parametrize("weight", [1e12, 1e-12])
@pytest.mark.parametrize("all_rows", [True, False])
def test_whatever_weight_is_accepted_is_learnt_and_saved(channel, weight, all_rows, tmp_path):
    weights = np.ones(30)
    weights[: 30 if all_rows else 1] = weight
    if channel in ("leaf", "ridge"):
        learner = SillyForest(3, channel=channel, random_state=0)
    else:
        learner = SillyNetwork((4,), channel=channel, epochs=2, random_state=0)
    learner.partial_fit(X, Y, task="a", sample_weight=weights)
    learner.partial_fit(X, 1 - Y, task="b", sample_weight=weights)
    save(learner, tmp_path)
    assert np.isfinite(load(tmp_path).predict_proba(X, task="a")).all()


# Indexes


INDEXED = pd.DataFrame(X, columns=list("abcd"))
OTHER = {
    "another order": pd.Series(TEXT).sample(frac=1, random_state=0),
    "other numbers": pd.Series(TEXT, index=range(100, 130)),
    "names": pd.Series(TEXT, index=[f"row {row}" for row in range(30)]),
    "a frame": pd.DataFrame({"y": TEXT}, index=range(1, 31)),
}


@each_learner
@pytest.mark.parametrize("y", OTHER.values(), ids=OTHER)
def test_labels_with_another_index_than_the_rows_are_refused(make, y):
    with pytest.raises(InputError, match=r"different indexes.*loc\[X.index\]"):
        make().partial_fit(INDEXED, y, task="a")
    with pytest.raises(InputError, match="different indexes"):
        make().fit(INDEXED, y)
    with pytest.raises(InputError, match="different indexes"):
        make().fit(INDEXED, TEXT).score(INDEXED, y)
    with pytest.raises(InputError, match="different indexes"):
        Task.from_arrays("a", INDEXED, y)


@each_learner
@pytest.mark.parametrize("index", [range(30), range(5, 35), [1] * 30], ids=str)
def test_labels_with_the_rows_index_are_fine(make, index):
    rows, labels = INDEXED.set_axis(index), pd.Series(TEXT, index=index)
    assert make().partial_fit(rows, labels, task="a").predict(rows, task="a").shape == (30,)
    assert make().fit(rows, TEXT).score(rows, labels) > 0


# Tasks


@each_learner
@pytest.mark.parametrize("name", ["", " ", "\n\t", "a\0", "\0"], ids=repr)
def test_an_empty_name_names_no_task(make, name):
    with pytest.raises(InputError, match="cannot name a task"):
        make().partial_fit(X, Y, task=name)
    with pytest.raises(InputError, match="cannot name a task"):
        make().partial_fit(X, Y, task="a").rename("a", name)
    with pytest.raises(InputError, match="cannot name a task"):
        Task(name, X, Y, X, Y)


@each_learner
@pytest.mark.parametrize(
    "task", [["a"], ("a",), {"a"}, {"a": 1}, np.array(["a"]), np.array(["a"] * 30), 1.5, b"a"]
)
def test_a_list_of_tasks_is_no_task(make, task):
    learner = make().partial_fit(X, Y, task="a")
    for ask in (
        lambda: learner.partial_fit(X, Y, task=task),
        lambda: learner.predict(X, task=task),
        lambda: learner.predict_proba(X, task=task),
        lambda: learner.score(X, Y, task=task),
        lambda: learner.classes_of(task),
        lambda: learner.forget(task),
        lambda: learner.rename(task, "b"),
    ):
        with pytest.raises(LifelongError, match="task"):
            ask()
    if isinstance(learner, SillyForest):
        with pytest.raises(LifelongError, match="task"):
            learner.alone(task)


@pytest.mark.parametrize(
    "names",
    [
        *(np.unique(["Lyon", "Paris"]), np.unique([3, 1]), np.array([1, 2], dtype=np.uint8)),
        *(pd.Series(["Lyon", "Paris"]).unique(), pd.Index([3, 1])),
    ],
    ids=["text", "numbers", "small numbers", "pandas", "index"],
)
def test_names_of_tasks_from_numpy_are_learnt_saved_and_loaded(names, tmp_path):
    learner = SillyForest(2, random_state=0)
    for name in names:
        learner.partial_fit(X, Y, task=name)
    assert {type(name) for name in learner.tasks_} <= {str, int}
    save(learner, tmp_path)
    again = load(tmp_path)
    for name in names:
        np.testing.assert_array_equal(
            again.predict_proba(X, task=name), learner.predict_proba(X, task=name)
        )
    stream = TaskStream([Task(name, X, Y, X, Y) for name in names])
    assert {type(name) for name in stream.names} <= {str, int}
    assert list(SillyForest(2).partial_fit_many(stream).tasks_) == stream.names


# Parameters


@pytest.mark.parametrize("device", ["cuda", "cuda:7", "mps", "gpu", "", 3.5])
def test_a_device_that_is_not_there_is_named(device):
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has one")
    for learner in (
        SillyNetwork((4,), epochs=1, device=device),
        ALL["ewc"](0, network=(4,), device=device),
    ):
        with pytest.raises(ParameterError, match=r"device=.* Choose 'auto' or 'cpu'"):
            learner.partial_fit(X, Y, task="a")


def test_a_learner_from_a_machine_with_another_device_says_how_to_load_it(tmp_path):
    learner = SillyNetwork((4,), epochs=1, random_state=0).partial_fit(X, Y, task="a")
    save(learner, tmp_path)
    with pytest.raises(PersistenceError, match=r"load\(directory, device='cpu'\)") as caught:
        load(tmp_path, device="no-such-device")
    assert "damaged" not in str(caught.value)
    again = load(tmp_path, device="cpu")
    np.testing.assert_array_equal(
        again.predict_proba(X, task="a"), learner.predict_proba(X, task="a")
    )


class Own(nn.Module):
    """Somebody's network."""

    def forward(self, X):
        return X


@pytest.mark.parametrize(
    "network", [Own(), Own, nn.Linear(4, 4), nn.Linear, nn.Sequential(nn.Linear(4, 4))]
)
def test_a_module_is_not_a_function_that_makes_one(network):
    for learner in (SillyNetwork(network, epochs=1), ALL["ewc"](0, network=network)):
        with pytest.raises(ParameterError, match=r"lambda in_shape"):
            learner.partial_fit(X, Y, task="a")
    assert SillyNetwork(lambda shape: nn.Linear(shape[0], 3), epochs=1).fit(X, Y).score(X, Y) > 0


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: SillyForest(chanel="ridge"), "channel"),
        (lambda: SillyForest.best(chanel="leaf"), "channel"),
        (lambda: SillyForest().set_params(chanel="leaf"), "channel"),
        (lambda: SillyForest(n_estimator=3), "n_estimators"),
        (lambda: SillyNetwork.best(epoch=3), "epochs"),
        (lambda: SillyNetwork(recipes="strong"), "recipe"),
        (lambda: ALL["ewc"](0, widht=0.5), "width"),
        (lambda: ALL["rf"](0, n_estimator=3), "n_estimators"),
    ],
)
def test_a_misspelt_parameter_gets_a_hint(make, meant):
    with pytest.raises(ParameterError, match=f"Did you mean '{meant}'\\?") as error:
        make()
    assert isinstance(error.value, TypeError)


# Tables with a column of tasks

SITES = pd.DataFrame({"site": ["a", "b"] * 15, "y": TEXT, "x": X[:, 0], "z": X[:, 1]})
BAD_TABLES = {
    "a column twice": pd.concat([SITES, SITES[["x"]]], axis=1),
    "dates for tasks": SITES.assign(site=DAYS),
    "dates for labels": SITES.assign(y=DAYS),
    "a missing label": SITES.assign(y=with_a_hole(np.nan)),
    "a missing task": SITES.assign(site=[None, *["a"] * 29]),
    "an empty task": SITES.assign(site=["", *["a"] * 29]),
    "tasks that are fractions": SITES.assign(site=[0.5, 1.5] * 15),
}


@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_table_that_would_be_misread_is_refused(table):
    with pytest.raises(LifelongError):
        from_frame(table, task_column="site", label_column="y")
    assert from_frame(SITES, task_column="site", label_column="y").names == ["a", "b"]


DATES = {
    "pandas": SITES.assign(x=DAYS),
    "polars": pl.DataFrame(SITES.assign(x=DAYS).to_dict("list")),
}


@pytest.mark.parametrize("table", DATES.values(), ids=DATES)
def test_a_learner_of_numbers_refuses_a_table_with_dates(table):
    stream = from_frame(table, task_column="site", label_column="y")
    task = stream["a"]
    with pytest.raises(InputError, match="LifelongClassifier"):
        SillyForest(random_state=0).partial_fit(task.X_train, task.y_train, task="a")
